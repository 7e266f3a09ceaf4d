// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/study_report.h"

#include <map>

#include "testbench/cli/study_paths.h"
#include "testbench/report/sha256.h"
#include "testbench/report/table.h"
#include "testbench/study/study_table.h"

namespace vinic::testbench {

namespace {

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
    return columns;
}

json points_of(const study::plan& of, const std::vector<study::point_record>& records) {
    std::map<std::string, const study::point_record*> by_key;
    for (const auto& r : records) by_key[r.key] = &r;
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

std::string summary_of(const study::plan& of, const std::vector<study::point_record>& records) {
    std::map<std::string, std::size_t> by_status;
    std::map<std::string, const study::point_record*> by_key;
    for (const auto& r : records) by_key[r.key] = &r;
    for (std::size_t i = 0; i < of.points().points.size(); ++i) {
        const auto found = by_key.find(of.at(i).key);
        ++by_status[found == by_key.end() ? "to do" : found->second->status];
    }
    std::string text = fmt::format("{}: {} points of {}", of.study().path.filename().string(),
                                   of.points().points.size(), of.study().workload.text);
    for (const auto& [status, count] : by_status) text += fmt::format(", {} {}", count, status);
    return text + ".";
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

/// Puts a text in each place of that name.
void fill(std::string& page, const std::string& name, const std::string& text) {
    const std::string mark = "@" + name + "@";
    for (std::size_t at = 0; (at = page.find(mark, at)) != std::string::npos; at += text.size())
        page.replace(at, mark.size(), text);
}

}  // namespace

std::string study_report(const study::plan& of, const std::vector<study::point_record>& records) {
    const study::study_table table = study::tabulate(of, records);
    json data{{"summary", summary_of(of, records)},
              {"columns", columns_of(table)},
              {"points", points_of(of, records)}};
    for (const auto& line : table.lines) {
        data["lines"]["point"].push_back(line.point);
        data["lines"]["status"].push_back(line.status.empty() ? "to do" : line.status);
    }
    const auto part = [](const char* name) { return read_file(page_folder() / name); };
    std::string page = part("study.html");
    const std::string& question = of.study().question;
    fill(page, "title", escaped(question.empty() ? of.study().path.stem().string() : question));
    fill(page, "style", part("study.css"));
    fill(page, "script", part("study.js"));
    fill(page, "data", embedded(data));
    fill(page, "chart", read_file(chart_file()));
    return page;
}

}  // namespace vinic::testbench
