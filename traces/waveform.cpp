// SPDX-License-Identifier: Apache-2.0
#include "traces/waveform.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "hw/sim/error.h"
#include "traces/fst_reader.h"

namespace vinic::traces {

namespace {

/// Without the range of bits.
std::string without_range(const std::string& name) { return name.substr(0, name.find_first_of(" [")); }

std::string full_name(const std::vector<std::string>& scopes, const std::string& leaf) {
    std::string name;
    for (const auto& scope : scopes) name += scope + ".";
    return name + without_range(leaf);
}

/// VCD leaves leading digits out when they repeat the first, which is 0 for 1.
std::string extended(std::string value, std::size_t width) {
    if (value.empty()) throw std::runtime_error("a change without a value");
    if (value.size() < width) value.insert(0, width - value.size(), value[0] == '1' ? '0' : value[0]);
    return value;
}

/// A VCD cannot hold spaces: vinic writes _ for them, GTKWave's tools an escape.
std::string without_spaces(std::string_view value) {
    constexpr std::string_view escape = "\\040";
    std::string text;
    while (!value.empty()) {
        const bool escaped = value.starts_with(escape);
        text += escaped || value.front() == ' ' ? '_' : value.front();
        value.remove_prefix(escaped ? escape.size() : 1);
    }
    return text;
}

}  // namespace

waveform::waveform(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string begin(fst_magic.size(), '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    try {
        begin == fst_magic ? read_fst(path) : read_vcd(path);
    } catch (const sim::input_error&) {
        throw;
    } catch (const std::exception&) {
        throw sim::input_error("{}: no well-formed waveform: `vinic trace` says where", path);
    }
}

void waveform::add(std::vector<change>& to, std::uint64_t at, std::string_view value) {
    if (at < end_) throw std::runtime_error("time goes back");
    end_ = at;
    const std::string text = without_spaces(value);
    if (to.empty() && is_unknown(text)) return;
    if (!to.empty() && to.back().at == at) to.pop_back();
    if (to.empty() || to.back().value != text) to.push_back({at, text});
}

void waveform::read_vcd(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw sim::input_error("{}: cannot be read", path);
    struct variable {
        std::string name;
        std::size_t width;
    };
    std::map<std::string, variable> variables;
    std::vector<std::string> scopes;
    std::uint64_t now = 0;
    for (std::string word; file >> word;) {
        if (word == "$scope") {
            std::string kind, name;
            file >> kind >> name;
            scopes.push_back(name);
        } else if (word == "$upscope") {
            if (scopes.empty()) throw std::runtime_error("$upscope without a scope");
            scopes.pop_back();
        } else if (word == "$var") {
            std::string type, width, id, leaf;
            file >> type >> width >> id >> leaf;
            variables[id] = {full_name(scopes, leaf), std::stoul(width)};
            signals_[variables[id].name];
        } else if (word[0] == '#') {
            now = std::stoull(word.substr(1));
        } else if (word[0] == 'b' || word[0] == 's') {
            std::string id;
            file >> id;
            const variable& v = variables.at(id);
            add(signals_[v.name], now, word[0] == 'b' ? extended(word.substr(1), v.width) : word.substr(1));
        } else if (word[0] == '0' || word[0] == '1' || word[0] == 'x' || word[0] == 'z') {
            const auto v = variables.find(word.substr(1));
            if (v != variables.end()) add(signals_[v->second.name], now, word.substr(0, 1));
        }
    }
}

void waveform::read_fst(const std::string& path) {
    std::vector<std::vector<change>*> of;
    traces::read_fst(
        path, [&](const std::string& name) { of.push_back(&signals_[without_range(name)]); },
        [&](std::uint64_t at, std::size_t signal, std::string_view value) { add(*of[signal], at, value); });
}

std::string waveform::at(const std::string& signal, std::uint64_t instant) const {
    const auto& changes = signals_.at(signal);
    const auto after = std::ranges::upper_bound(changes, instant, {}, &change::at);
    return after == changes.begin() ? "" : std::prev(after)->value;
}

}  // namespace vinic::traces
