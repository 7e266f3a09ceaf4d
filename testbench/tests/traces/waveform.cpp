// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/traces/waveform.h"

#include <fstapi.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace vinic::traces {

namespace {

std::string full_name(const std::vector<std::string>& scopes, std::string leaf) {
    leaf = leaf.substr(0, leaf.find_first_of(" ["));
    std::string name;
    for (const auto& scope : scopes) name += scope + ".";
    return name + leaf;
}

/// VCD leaves leading digits out when they repeat the first, which is 0 for 1.
std::string extended(std::string value, std::size_t width) {
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
    if (path.ends_with(".fst"))
        read_fst(path);
    else
        read_vcd(path);
}

void waveform::add(std::vector<change>& to, std::uint64_t at, std::string_view value) {
    if (at < end_) throw std::runtime_error("time goes back");
    end_ = at;
    const std::string text = without_spaces(value);
    const bool unknown = text == "?" || text.find_first_not_of('x') == std::string::npos;
    if (to.empty() && unknown) return;
    if (!to.empty() && to.back().at == at) to.pop_back();
    if (to.empty() || to.back().value != text) to.push_back({at, text});
}

void waveform::read_vcd(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + " cannot be read");
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
    const std::unique_ptr<void, void (*)(void*)> file(fstReaderOpen(path.c_str()), &fstReaderClose);
    if (!file) throw std::runtime_error(path + " cannot be read");
    std::vector<std::string> scopes;
    std::map<fstHandle, std::string> names;
    while (const fstHier* h = fstReaderIterateHier(file.get())) {
        if (h->htyp == FST_HT_SCOPE) scopes.emplace_back(h->u.scope.name);
        if (h->htyp == FST_HT_UPSCOPE) scopes.pop_back();
        if (h->htyp == FST_HT_VAR) {
            names[h->u.var.handle] = full_name(scopes, h->u.var.name);
            signals_[names[h->u.var.handle]];
        }
    }
    fstReaderSetFacProcessMaskAll(file.get());
    const std::function<void(std::uint64_t, fstHandle, std::string_view)> each =
        [&](std::uint64_t at, fstHandle handle, std::string_view value) {
            add(signals_[names.at(handle)], at, value);
        };
    fstReaderIterBlocks2(
        file.get(),
        [](void* to, std::uint64_t at, fstHandle handle, const unsigned char* value) {
            (*static_cast<decltype(&each)>(to))(at, handle, reinterpret_cast<const char*>(value));
        },
        [](void* to, std::uint64_t at, fstHandle handle, const unsigned char* value, std::uint32_t length) {
            (*static_cast<decltype(&each)>(to))(at, handle, {reinterpret_cast<const char*>(value), length});
        },
        const_cast<void*>(static_cast<const void*>(&each)), nullptr);
}

std::string waveform::at(const std::string& signal, std::uint64_t instant) const {
    const auto& changes = signals_.at(signal);
    const auto after = std::ranges::upper_bound(changes, instant, {}, &change::at);
    return after == changes.begin() ? "" : std::prev(after)->value;
}

}  // namespace vinic::traces
