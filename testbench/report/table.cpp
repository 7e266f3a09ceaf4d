// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace vinic::testbench {

namespace {

/// Endings of keys and how people write those units; longer ones first where one ends in another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> unit_endings{{
    {"_mbytes_per_s", "MB/s"},
    {"_messages_per_s", "messages/s"},
    {"_per_s", "1/s"},
    {"_percent", "%"},
    {"_bytes", "bytes"},
    {"_mhz", "MHz"},
    {"_clocks", "clocks"},
    {"_ppm", "ppm"},
    {"_ps", "ps"},
    {"_ns", "ns"},
    {"_us", "us"},
    {"_ms", "ms"},
    {"_s", "s"},
    {"_messages", "messages"},
}};

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.+-e%x") == std::string::npos;
}

}  // namespace

std::string heading(const std::string& key) {
    std::string name = key;
    std::string_view unit;
    for (const auto& [ending, shown] : unit_endings) {
        if (!key.ends_with(ending) || key.size() == ending.size()) continue;
        name = key.substr(0, key.size() - ending.size());
        unit = shown;
        break;
    }
    std::replace(name.begin(), name.end(), '_', ' ');
    return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

std::string cell(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.3f}", value.get<double>());
    if (value.is_null()) return "";
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                  bool colours) {
    std::vector<std::size_t> width(head.size());
    std::vector<bool> right(head.size(), true);
    for (std::size_t c = 0; c < head.size(); ++c) {
        width[c] = head[c].size();
        for (const auto& row : rows) {
            width[c] = std::max(width[c], row[c].size());
            right[c] = right[c] && (row[c].empty() || is_number(row[c]));
        }
    }
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (c) text += "  ";
            text += right[c] ? fmt::format("{:>{}}", cells[c], width[c])
                             : fmt::format("{:<{}}", cells[c], width[c]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text + "\n";
    };
    std::string text = colours ? "\x1b[1m" + line(head) + "\x1b[0m" : line(head);
    for (const auto& row : rows) text += line(row);
    return text;
}

std::string table_of_rows(const json& rows, bool colours) {
    std::vector<std::string> keys;
    for (const auto& row : rows)
        for (const auto& [key, value] : row.items())
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    std::vector<std::string> head;
    for (const auto& key : keys) head.push_back(heading(key));
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : rows) {
        auto& line = cells.emplace_back();
        for (const auto& key : keys) line.push_back(row.contains(key) ? cell(row[key]) : "");
    }
    return table(head, cells, colours);
}

}  // namespace vinic::testbench
