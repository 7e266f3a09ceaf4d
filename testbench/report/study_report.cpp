// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/study_report.h"

#include <map>
#include <set>
#include <utility>

#include "testbench/cli/study_paths.h"
#include "testbench/report/sha256.h"
#include "testbench/report/table.h"
#include "testbench/study/effects.h"
#include "testbench/study/perturbation.h"
#include "testbench/study/search.h"
#include "testbench/study/study_table.h"
#include "traces/stage.h"

namespace vinic::testbench {

namespace {

/// Stages in which the message waits, by name.
std::set<std::string> waiting_stages() {
    std::set<std::string> all;
    for (std::size_t part = 0; part < traces::journey_names.size(); ++part)
        for (std::size_t what = 0; what < traces::activities; ++what) {
            const traces::stage one{static_cast<traces::journey>(part), static_cast<traces::activity>(what)};
            if (traces::is_wait(one)) all.insert(traces::name_of(one));
        }
    return all;
}

json columns_of(const study::study_table& table) {
    json columns = json::array();
    const auto add = [&](const std::string& name, const char* kind, auto value) {
        json column{{"name", name}, {"heading", heading(name)}, {"kind", kind}, {"values", json::array()}};
        for (const auto& line : table.lines) column["values"].push_back(value(line));
        columns.push_back(std::move(column));
    };
    for (std::size_t i = 0; i < table.axes.size(); ++i)
        add(table.axes[i], "axis", [i](const auto& line) { return json(line.axes[i]); });
    for (std::size_t i = 0; i < table.keys.size(); ++i)
        add(table.keys[i], "key", [i](const auto& line) { return line.keys[i]; });
    for (std::size_t i = 0; i < table.metrics.size(); ++i)
        add(table.metrics[i], "metric", [i](const auto& line) { return line.metrics[i]; });
    const auto waiting = waiting_stages();
    for (json& column : columns)
        if (const auto stage = study::stage_of(column["name"])) column["waits"] = waiting.contains(*stage);
    return columns;
}

json points_of(const study::plan& of, const std::vector<study::point_record>& records) {
    const auto by_key = study::by_key(records);
    json points = json::array();
    for (std::size_t i = 0; i < of.points().points.size(); ++i) {
        const study::planned_point p = of.at(i);
        json one{{"configuration", p.configuration}, {"command", "vinic " + study::shell_text(p.command())}};
        if (const auto found = by_key.find(p.key); found != by_key.end()) {
            const study::point_record& r = *found->second;
            one.update({{"status", r.status},
                        {"git_revision", r.git_revision},
                        {"firmware_sha256", r.firmware_sha256},
                        {"host", r.host},
                        {"finished", r.finished},
                        {"wall_s", r.wall_s},
                        {"events", r.events}});
            if (r.status != "done") one["log"] = r.log;
        }
        points.push_back(std::move(one));
    }
    return points;
}

std::string summary_of(const study::plan& of, const json& points) {
    std::map<std::string, std::size_t> by_status;
    for (const json& point : points) ++by_status[point.value("status", "to do")];
    std::string text = fmt::format("{}: {} points of {}", of.study().path.filename().string(), points.size(),
                                   of.study().workload.text);
    for (const auto& [status, count] : by_status) text += fmt::format(", {} {}", count, status);
    return text + ".";
}

json goals_of(const study::study_file& of) {
    json goals = json::array();
    if (!of.optimise) return goals;
    const study::space in(of);
    for (const auto& text : of.optimise->goals) {
        const study::goal goal(text, in);
        json row = json::object();
        for (const auto& [name, value] : goal.row()) row[name] = value;
        goals.push_back({{"column", goal.metric()}, {"row", row}, {"maximise", goal.maximise()}});
    }
    return goals;
}

/// What the tornado shows; null where the study is none of sensitivity.
json sensitivity_of(const study::study_file& of, const study::study_table& table) {
    if (!of.sensitivity) return nullptr;
    const auto changes = study::perturb(of);
    json found{{"change_percent", of.sensitivity->change_percent}, {"effects", json::array()}};
    for (const auto& one : study::effects_of(table, changes)) {
        found["effects"].push_back(study::to_json(one));
        found["effects"].back()["heading"] = heading(one.metric);
    }
    found.update(study::apart(changes, table));
    return found;
}

/// In a page, where "</script>" would end it.
std::string embedded(const json& data) {
    std::string text;
    for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace))
        text += c == '<' ? "\\u003c" : std::string(1, c);
    return text;
}

std::string escaped(const std::string& text) {
    std::string html;
    for (const char c : text) html += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return html;
}

/// The page with each @name@ replaced: by the text of that name, or the file of that name beside the page.
std::string filled(const std::string& page, const std::map<std::string, std::string>& texts) {
    std::string all;
    for (std::size_t at = 0;;) {
        const std::size_t mark = page.find('@', at);
        if (mark == std::string::npos) return all + page.substr(at);
        const std::size_t end = page.find('@', mark + 1);
        const std::string name = page.substr(mark + 1, end - mark - 1);
        const auto text = texts.find(name);
        all += page.substr(at, mark - at) +
               (text != texts.end() ? text->second : read_file(page_folder() / name));
        at = end + 1;
    }
}

}  // namespace

std::string study_report(const study::plan& of, const std::vector<study::point_record>& records,
                         const json& published) {
    const study::study_table table = study::tabulate(of, records);
    const json points = points_of(of, records);
    json data{{"summary", summary_of(of, points)},
              {"columns", columns_of(table)},
              {"points", points},
              {"goals", goals_of(of.study())},
              {"sensitivity", sensitivity_of(of.study(), table)},
              {"published", published}};
    for (const auto& line : table.lines) {
        data["lines"]["point"].push_back(line.point);
        data["lines"]["status"].push_back(line.status.empty() ? "to do" : line.status);
    }
    const std::string& question = of.study().question;
    return filled(read_file(page_folder() / "page.html"),
                  {{"title", escaped(question.empty() ? of.study().path.stem().string() : question)},
                   {"data", embedded(data)},
                   {"chart.min.js", read_file(chart_file())}});
}

}  // namespace vinic::testbench
