// SPDX-License-Identifier: Apache-2.0
// The page of a study in a real browser: a script that is put behind the page uses it as a reader would, and
// says what it saw.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "testbench/report/json.h"
#include "testbench/report/sha256.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

/// Opens the page of s.yaml with `script` behind it, whose `said` object comes back; null when it fell.
json seen_in_browser(const program& in, const std::string& script) {
    std::string page = in.read("s.html");
    page.insert(page.find("<script>"),
                "<script>const errors = [];\n"
                "addEventListener('error', e => errors.push(e.message));</script>\n");
    page += "<script>const said = {};\n" + script +
            "\nsaid.errors = errors;\n"
            "document.body.replaceChildren(Object.assign(document.createElement('pre'), "
            "{textContent: '@@@' + JSON.stringify(said) + '@@@'}));</script>";
    in.write("page.html", page);
    const std::string run = "cd '" + in.folder().string() +
                            "' && HOME=. timeout 120 chromium --headless=new --no-sandbox --disable-gpu "
                            "--user-data-dir=profile --virtual-time-budget=2000 --dump-dom "
                            "\"file://$PWD/page.html\" > dom.txt 2> browser.txt";
    EXPECT_EQ(std::system(run.c_str()), 0) << in.read("browser.txt");
    const std::string dom = in.read("dom.txt");
    const std::size_t from = dom.find("@@@") + 3, to = dom.find("@@@", from);
    if (to == std::string::npos) return nullptr;
    std::string text = dom.substr(from, to - from);
    for (const auto& [entity, character] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
        for (std::size_t at; (at = text.find(entity)) != std::string::npos;)
            text.replace(at, std::string_view(entity).size(), character);
    return json::parse(text);
}

bool no_browser() { return std::system("command -v chromium > /dev/null") != 0; }

TEST(study_page, reader_finds_curves_table_and_points) {
    if (no_browser()) GTEST_SKIP() << "chromium is not installed (Debian: chromium)";
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml",
                "question: Which <n> & how?\nworkload: ./t.lua\nmetrics: [value_us]\naxes:\n"
                " - arguments.n: [1, 2, 4]\n - bus.clock_mhz: [33, 66]\n - arguments.fate: [well, error]\n"
                "only: arguments.fate == 'well' or arguments.n == 4\n");
    vinic.run("study run s.yaml");
    ASSERT_EQ(vinic.run("study report s.yaml").status, 0);
    const json said = seen_in_browser(vinic, R"(
const $ = id => document.getElementById(id);
const chart = () => Chart.getChart('chart');
const rows = () => [...$('table').tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent).join(' '));
const click = thing => thing.dispatchEvent(new MouseEvent('click', {bubbles: true}));
const type = text => { $('filter').value = text; $('filter').dispatchEvent(new Event('input')); };
const choose = (label, text) => {
    const select = [...$('controls').querySelectorAll('label')].find(l => l.firstChild.textContent === label).querySelector('select');
    select.value = [...select.options].find(o => o.textContent === text).value;
    select.dispatchEvent(new Event('change'));
};
said.title = $('table') && document.querySelector('h1').textContent;
said.summary = $('summary').textContent;
said.curves = chart().data.datasets.map(d => [d.label, d.data.map(p => [p.x, p.y])]);
choose('bus.clock (MHz)', 'their mean');
said.means = chart().data.datasets.map(d => d.label);
choose('bus.clock (MHz)', 'only 66');
said.only = chart().data.datasets[0].data.length;
choose('bus.clock (MHz)', 'a curve for each');
said.rows = rows();
type('n>1 33');
said.filtered = rows();
type('status=done bus.clock_mhz=66');
said.filtered_again = rows().length;
type('');
click($('table').tHead.rows[0].cells[1].firstChild);
click($('table').tHead.rows[0].cells[1].firstChild);
said.sorted = [rows()[0], $('table').tHead.rows[0].cells[1].getAttribute('aria-sort')];
click($('table').tBodies[0].rows[2]);
said.point = [$('details').hidden, $('details-title').textContent, $('command').textContent, document.activeElement.id];
chart().options.onClick(null, [{datasetIndex: 0, index: 1}]);
said.clicked = $('details-title').textContent;
click($('legend').children[0]);
said.toggled = [chart().isDatasetVisible(0), $('legend').children[0].getAttribute('aria-pressed')];
const back = () => getComputedStyle(document.body).backgroundColor;
const light = back();
click($('theme')); click($('theme'));
said.dark = [light !== back(), $('theme').textContent];
said.label = $('chart').getAttribute('aria-label').slice(0, 36);
said.unnamed = [...document.querySelectorAll('button, input, select')].filter(e => !e.textContent && !e.ariaLabel && !e.labels?.length).length;
)");
    ASSERT_FALSE(said.is_null()) << vinic.read("browser.txt");
    EXPECT_EQ(said["errors"], json::array());
    EXPECT_EQ(said["title"], "Which <n> & how?");
    EXPECT_EQ(said["summary"], "s.yaml: 8 points of ./t.lua, 2 bad input, 6 done.");
    EXPECT_EQ(said["curves"],
              json::parse(R"([["bus.clock 33 MHz, arguments.fate well", [[1, 1.5], [2, 3], [4, 6]]],
                                              ["bus.clock 66 MHz, arguments.fate well", [[1, 1.5], [2, 3], [4, 6]]]])"))
        << said["curves"];
    EXPECT_EQ(said["means"].size(), 1u);
    EXPECT_EQ(said["only"], 3);
    EXPECT_EQ(said["rows"].size(), 8u);
    EXPECT_EQ(said["filtered"],
              json({"3 2 33 well 2 3 done", "5 4 33 well 4 6 done", "6 4 33 error   bad input"}));
    EXPECT_EQ(said["filtered_again"], 3);
    EXPECT_EQ(said["sorted"], json({"5 4 33 well 4 6 done", "descending"}));
    EXPECT_EQ(said["point"],
              json({false, "Point 7: done",
                    "vinic run ./t.lua --design myvia --seed 1 --set bus.clock_mhz=66 -- fate=well n=4",
                    "details"}));
    EXPECT_EQ(said["clicked"], "Point 3: done");
    EXPECT_EQ(said["toggled"], json({false, "false"}));
    EXPECT_EQ(said["dark"], json({true, "Theme: dark"}));
    EXPECT_EQ(said["label"], "value (us) against arguments.n: 2 cu");
    EXPECT_EQ(said["unnamed"], 0);
}

TEST(study_page, needs_nothing_from_elsewhere) {
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml", "workload: ./t.lua\naxes: [{arguments.n: [1]}]\n");
    vinic.run("study run s.yaml");
    ASSERT_EQ(vinic.run("study report s.yaml -o p.html").status, 0);
    const std::string page = vinic.read("p.html");
    for (const char* outside :
         {"src=\"http", "href=", "@import", "url(", "@data@", "@chart@", "@script@", "@style@"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    EXPECT_NE(page.find("Chart.js v"), std::string::npos);
}

}  // namespace
}  // namespace vinic::testbench
