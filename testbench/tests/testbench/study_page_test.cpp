// SPDX-License-Identifier: Apache-2.0
// The page of a study in a real browser, used as a reader would use it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/browser.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

/// Rows of a table, cells joined by blanks.
constexpr const char* rows_of_table =
    "return [...document.querySelectorAll('#table tbody tr')].map(r => [...r.cells].map(c => c.textContent)"
    ".join(' '));";

class study_page : public testing::Test {
protected:
    void SetUp() override {
        if (!browser::is_installed())
            GTEST_SKIP() << "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)";
        vinic.write("t.lua", trivial_workload);
    }
    /// Runs a study by that verb and opens its page.
    void open(browser& in, const std::string& study, const char* verb = "run") const {
        vinic.write("s.yaml", study);
        vinic.run(std::string("study ") + verb + " s.yaml");
        ASSERT_EQ(vinic.run("study report s.yaml").status, 0);
        in.open(vinic.folder() / "s.html");
    }
    /// Takes another value of a control, as a reader does.
    static void choose(browser& in, const std::string& view, const std::string& label,
                       const std::string& option) {
        const json done = in.run("const label = [...document.querySelectorAll('#" + view +
                                 " .controls label')].find(l => l.firstChild.textContent === `" + label +
                                 "`); if (!label) return false; const select = label.querySelector('select');"
                                 "const option = [...select.options].find(o => o.textContent === `" +
                                 option +
                                 "`); if (!option) return false; select.value = option.value;"
                                 "select.dispatchEvent(new Event('change')); return true;");
        ASSERT_EQ(done, true) << label << ": " << option;
    }
    static json data_of_chart(browser& in, const std::string& view, const std::string& of_set) {
        return in.run("return Chart.getChart(document.querySelector('#" + view +
                      " canvas')).data.datasets.map(d => " + of_set + ");");
    }
    /// Clicks on a point that a chart has drawn. Chart.js looks at what the mouse did in the next frame.
    static void click_on_chart(browser& in, const std::string& view, int set, int index) {
        const json at = in.run("const p = Chart.getChart(document.querySelector('#" + view +
                               " canvas')).getDatasetMeta(" + std::to_string(set) + ").data[" +
                               std::to_string(index) + "].getCenterPoint(); return [p.x, p.y];");
        in.click_at("#" + view + " canvas", at[0], at[1]);
        in.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));");
    }
    static std::string text(browser& in, const std::string& element) {
        return in.run("return document.querySelector(`" + element + "`).textContent;");
    }
    static json parts(browser& in) {
        return in.run("return [...document.querySelectorAll('main section:not([hidden])')].map(s => s.id);");
    }
    program vinic;
};

TEST_F(study_page, reader_finds_curves_table_and_points) {
    browser in(vinic.folder());
    open(in,
         "question: Which <n> & how?\nworkload: ./t.lua\nmetrics: [value_us]\naxes:\n"
         " - arguments.n: [1, 2, 4]\n - bus.clock_mhz: [33, 66]\n - arguments.fate: [well, error]\n"
         "only: arguments.fate == 'well' or arguments.n == 4\n");
    EXPECT_EQ(text(in, "h1"), "Which <n> & how?");
    EXPECT_EQ(text(in, "#summary"), "s.yaml: 8 points of ./t.lua, 2 bad input, 6 done.");
    EXPECT_EQ(data_of_chart(in, "curves", "[d.label, d.data.map(p => [p.x, p.y])]"),
              json::parse(R"([["bus.clock 33 MHz, arguments.fate well", [[1, 1.5], [2, 3], [4, 6]]],
                              ["bus.clock 66 MHz, arguments.fate well", [[1, 1.5], [2, 3], [4, 6]]]])"));
    EXPECT_EQ(in.run("return document.querySelector('#curves canvas').ariaLabel.slice(0, 41);"),
              "value (us) against arguments.n: 2 curves.");
    choose(in, "curves", "bus.clock (MHz)", "their mean");
    EXPECT_EQ(data_of_chart(in, "curves", "d.label"), json({"arguments.fate well"}));
    choose(in, "curves", "bus.clock (MHz)", "only 66");
    EXPECT_EQ(data_of_chart(in, "curves", "d.data.length"), json({3}));
    choose(in, "curves", "bus.clock (MHz)", "a curve for each");

    EXPECT_EQ(in.run(rows_of_table).size(), 8u);
    in.type("#filter", "n>1 33");
    EXPECT_EQ(in.run(rows_of_table),
              json({"3 2 33 well 2 3 done", "5 4 33 well 4 6 done", "6 4 33 error   bad input"}));
    in.clear("#filter");
    in.type("#filter", "status=done bus.clock_mhz=66");
    EXPECT_EQ(in.run(rows_of_table).size(), 3u);
    EXPECT_EQ(text(in, "#count"), "3 of 8 lines");
    in.clear("#filter");
    in.click("#table th:nth-child(2) button");
    in.click("#table th:nth-child(2) button");
    EXPECT_EQ(in.run(rows_of_table)[0], "5 4 33 well 4 6 done");
    EXPECT_EQ(in.run("return document.querySelector('#table th:nth-child(2)').ariaSort;"), "descending");

    click_on_chart(in, "curves", 0, 1);
    EXPECT_EQ(text(in, "#details-title"), "Point 3: done");
    EXPECT_EQ(text(in, "#command"),
              "vinic run ./t.lua --design myvia --seed 1 --set bus.clock_mhz=33 -- fate=well n=2");
    in.click("#curves .legend button");
    EXPECT_EQ(in.run("return Chart.getChart(document.querySelector('#curves canvas')).isDatasetVisible(0);"),
              false);
    EXPECT_EQ(in.run("return document.querySelector('#curves .legend button').ariaPressed;"), "false");
    EXPECT_EQ(in.console(), json::array());
}

TEST_F(study_page, keyboard_colours_and_paper) {
    browser in(vinic.folder());
    open(in, "workload: ./t.lua\naxes:\n - arguments.n: [1, 2, 4]\n - arguments.fate: [well, error]\n");
    // A point opens from the keyboard, Escape closes it, and the focus is back where it was.
    in.run("document.querySelector('#table tbody tr:nth-child(3) button').focus();");
    in.press("\uE007");  // Enter
    EXPECT_EQ(text(in, "#details-title"), "Point 3: done");
    EXPECT_EQ(in.run("return document.activeElement.id;"), "details");
    in.press("\uE00C");  // Escape
    EXPECT_EQ(
        in.run("return [document.getElementById('details').hidden, document.activeElement.textContent];"),
        json({true, "3"}));
    EXPECT_EQ(
        in.run("return [...document.querySelectorAll('button, input, select')].filter(e => !e.textContent && "
               "!e.ariaLabel && !e.labels?.length).length;"),
        0)
        << "a screen reader has a name for all";
    EXPECT_EQ(in.run("return [...document.querySelectorAll('canvas')].filter(c => !c.closest('[hidden]') && "
                     "!c.ariaLabel).length;"),
              0);

    const char* const back = "return getComputedStyle(document.body).backgroundColor;";
    const char* const axis =
        "return Chart.getChart(document.querySelector('#curves canvas')).options.scales.x.title.color;";
    const json light = in.run(back), light_axis = in.run(axis);
    in.prefer("prefers-color-scheme", "dark");
    EXPECT_NE(in.run(back), light);
    // The browser tells the page of it when it next draws.
    EXPECT_TRUE(soon([&] { return in.run(axis) != light_axis; })) << "charts follow";
    in.click("#theme");  // light
    EXPECT_EQ(in.run(back), light);
    in.click("#theme");
    EXPECT_EQ(text(in, "#theme"), "Theme: dark");
    EXPECT_NE(in.run(back), light);
    in.write_paper(vinic.folder() / "s.pdf");
    EXPECT_TRUE(vinic.read("s.pdf").starts_with("%PDF"));
    EXPECT_EQ(in.console(), json::array());
}

TEST_F(study_page, charts_by_keyboard) {
    browser in(vinic.folder());
    open(in,
         "workload: ./t.lua\naxes:\n - arguments.n: [1, 2, 4]\n - bus.clock_mhz: [33, 66]\n"
         "metrics: [value_us]\n");
    const char* const right = "\uE014";
    const char* const down = "\uE015";
    in.run("document.querySelector('#curves canvas').focus();");
    in.press(right);
    EXPECT_EQ(text(in, "#said"), "arguments.n 1, bus.clock 33 MHz: 1.5");
    in.press(right);
    in.press(right);
    EXPECT_EQ(text(in, "#said"), "arguments.n 4, bus.clock 33 MHz: 6");
    in.press(right);
    EXPECT_EQ(text(in, "#said"), "arguments.n 4, bus.clock 33 MHz: 6") << "there is no other one";
    in.press(down);
    EXPECT_EQ(text(in, "#said"), "arguments.n 4, bus.clock 66 MHz: 6");
    in.press("\uE007");  // Enter
    EXPECT_EQ(text(in, "#details-title"), "Point 6: done");
    in.press("\uE00C");  // Escape
    EXPECT_EQ(in.run("return document.activeElement.closest('section').id;"), "curves");
    EXPECT_EQ(in.run("return [...document.querySelectorAll('main section:not([hidden]) canvas')].filter(c => "
                     "c.tabIndex !== 0).length;"),
              0);
    EXPECT_EQ(in.console(), json::array());
}

TEST_F(study_page, wide_tables_stand_on_paper_in_parts) {
    browser in(vinic.folder());
    open(in,
         "workload: pingpong\narguments: {sizes: 8, count: 3}\naxes: [{bus.clock_mhz: [33, 66]}]\n"
         "metrics: [latency_us, account.*.mean]\n");
    EXPECT_EQ(in.run("dispatchEvent(new Event('beforeprint'));"
                     "const tables = [...document.querySelectorAll('#results .paper table')];"
                     "const heads = t => [...t.rows[0].cells].map(c => c.textContent);"
                     "const all = heads(document.getElementById('table'));"
                     "return [tables.length > 1, tables.every(t => t.getBoundingClientRect().width <= 718),"
                     "  tables.every(t => heads(t)[0] === all[0] && t.rows.length === 3),"
                     "  JSON.stringify([all[0], ...tables.flatMap(t => heads(t).slice(1))]) === "
                     "JSON.stringify(all)];"),
              json({true, true, true, true}))
        << "in parts, each as wide as A4 at most, with all points, and every column once";
    EXPECT_EQ(in.run("dispatchEvent(new Event('afterprint'));"
                     "return document.querySelectorAll('.paper, .in-parts').length;"),
              0);
    in.write_paper(vinic.folder() / "s.pdf");
    EXPECT_TRUE(vinic.read("s.pdf").starts_with("%PDF"));
    EXPECT_EQ(in.console(), json::array());
}

TEST_F(study_page, heat_map_front_and_stages_of_a_real_study) {
    browser in(vinic.folder());
    open(in,
         "workload: pingpong\narguments: {sizes: [8, 64], count: 3}\naxes:\n"
         " - nic.lanai.clock_mhz: [66, 133]\n - bus.clock_mhz: [33, 66]\n"
         "metrics: [latency_us, account.*.mean]\n");
    EXPECT_EQ(parts(in), json({"curves", "heat", "account", "tradeoff", "results"}));
    // The stages of each bar add up to what the account says of the whole.
    const json stages = data_of_chart(in, "account", "d.data[1]");
    double sum = 0;
    for (const json& us : stages) sum += us.get<double>();
    const json whole = in.run(
        "const data = JSON.parse(document.getElementById('data').textContent), value = name => "
        "data.columns.find(c => c.name === name).values; for (let i = 0; i < data.lines.point.length; ++i) "
        "if "
        "(value('nic.lanai.clock_mhz')[i] === '133' && value('bus.clock_mhz')[i] === '33' && "
        "value('size_bytes')[i] === 8) return value('account.latency.mean_ps')[i];");
    EXPECT_NEAR(sum, whole.get<double>() / 1e6, 1e-6);
    choose(in, "account", "Stacked", "by stage");
    const auto stages_shown =
        data_of_chart(in, "account", "d.label + (d.hatch ? ' waits' : '')").get<std::vector<std::string>>();
    for (const char* stage : {"descriptor: wait for host memory waits",
                              "data: core busy with other work waits", "doorbell: data phases"})
        EXPECT_NE(std::ranges::find(stages_shown, std::string(stage)), stages_shown.end()) << stage;
    // A published figure of this very measurement stands beside the curves.
    EXPECT_NE(data_of_chart(in, "curves", "d.label").back().get<std::string>().find("published: "),
              std::string::npos);
    EXPECT_NE(text(in, "#curves .sources").find("8.46 us"), std::string::npos);

    EXPECT_EQ(in.run("return document.querySelectorAll('#heat td button').length;"), 4);
    choose(in, "heat", "Upward", "size (bytes)");
    EXPECT_EQ(in.run("return document.querySelector('#heat tbody th').textContent;"), "64") << "upward";
    in.click("#heat tbody tr:nth-child(2) td:nth-child(2) button");
    EXPECT_EQ(text(in, "#details-title"), "Point 1: done");
    in.click("#close");

    // A faster core is better, and so is a slower one: all points that differ in it are on the front.
    choose(in, "tradeoff", "Upward", "nic.lanai.clock (MHz)");
    EXPECT_EQ(
        in.run(
            "return [...document.querySelectorAll('#tradeoff tbody tr')].map(r => r.cells[1].textContent + "
            "' ' + r.cells[2].textContent);"),
        json({"133 66", "66 66"}))
        << "of each clock the point with the faster bus";
    choose(in, "tradeoff", "Upward", "bus.clock (MHz)");
    EXPECT_EQ(in.run("return document.querySelectorAll('#tradeoff tbody tr').length;"), 2);
    EXPECT_EQ(in.console(), json::array());
}

TEST_F(study_page, tornado_and_goals) {
    browser in(vinic.folder());
    open(in,
         "workload: pingpong\narguments: {sizes: 8, count: 3}\nmetrics: [latency_us]\nsensitivity:\n"
         "  parameters: [nic.lanai.clock_mhz, host.bridge.read_latency_clocks, bus.clock_mhz, "
         "driver.boot_limit_us]\n",
         "sensitivity");
    EXPECT_EQ(parts(in), json({"tornado", "results"}));
    const json bars =
        data_of_chart(in, "tornado", "d.data.map(b => b.effect.parameter + ' ' + b.change.value)");
    EXPECT_EQ(bars, json::parse(R"([["nic.lanai.clock_mhz 120", "host.bridge.read_latency_clocks 68"],
                                    ["nic.lanai.clock_mhz 146", "host.bridge.read_latency_clocks 84"]])"));
    EXPECT_NE(text(in, "#tornado .lists").find("Without effect: 1driver.boot_limit_us"), std::string::npos);
    click_on_chart(in, "tornado", 0, 0);
    EXPECT_NE(text(in, "#command").find("--set nic.lanai.clock_mhz=120 "), std::string::npos);
    choose(in, "tornado", "Changes", "the nearest other values");
    EXPECT_EQ(data_of_chart(in, "tornado", "d.data.length"), json({1}));
    EXPECT_EQ(in.console(), json::array());

    open(in,
         "workload: ./t.lua\naxes: [{arguments.n: {from: 1, to: 90}}]\n"
         "optimise: {minimise: arguments.n, maximise: value_us, budget: 8, population: 4}\n",
         "optimise");
    EXPECT_EQ(parts(in), json({"tradeoff", "curves", "results"}));
    EXPECT_EQ(in.run("return document.querySelectorAll('#tradeoff tbody tr').length;"), 8)
        << "the value rises with n: each point is the best of its n";
    EXPECT_EQ(in.console(), json::array());
}

TEST(study_page_file, needs_nothing_from_elsewhere) {
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml", "workload: ./t.lua\naxes: [{arguments.n: [1]}]\n");
    vinic.run("study run s.yaml");
    ASSERT_EQ(vinic.run("study report s.yaml -o p.html").status, 0);
    const std::string page = vinic.read("p.html");
    for (const char* outside :
         {"src=\"http", "href=\"http", "@import", "url(", "@data@", "@page.css@", "@chart.js@"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    EXPECT_NE(page.find("Chart.js v"), std::string::npos);
    EXPECT_NE(page.find("\"published\":[]"), std::string::npos)
        << "nobody published figures of this workload";
}

}  // namespace
}  // namespace vinic::testbench
