// SPDX-License-Identifier: Apache-2.0
#include "traces/signals.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "hw/sim/error.h"

namespace vinic::traces {

namespace {

constexpr std::array<const char*, 3> each_cycle{".lanai.instruction", ".lanai.pc", ".lanai.stall"};

bool matches(const std::string& glob, const std::string& name) {
    return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

bool is_clock(const std::string& name) { return name.ends_with(".clock"); }

bool changes_each_cycle(const std::string& name) {
    return is_clock(name) ||
           std::ranges::any_of(each_cycle, [&](const char* leaf) { return name.ends_with(leaf); });
}

/// Does the glob, which matches the name, mean just this signal or its block?
bool means(const std::string& glob, const std::string& name) {
    if (glob == "*") return false;
    if (!glob.ends_with(".*")) return true;
    return matches(glob.substr(0, glob.size() - 2), name.substr(0, name.rfind('.')));
}

/// What a glob that matches nothing may have meant: a block or signal with as many parts.
std::string nearest(const std::string& glob, const std::vector<std::string>& names) {
    const auto dots = std::ranges::count(glob, '.');
    std::vector<std::string> candidates;
    for (const std::string& name : names) {
        std::size_t end = 0;
        for (auto n = dots; end != std::string::npos && n >= 0; --n) end = name.find('.', end + (end != 0));
        std::string part = name.substr(0, end);
        if (glob.ends_with(".*") && part.rfind('.') != std::string::npos)
            part.replace(part.rfind('.'), std::string::npos, ".*");
        if (candidates.empty() || candidates.back() != part) candidates.push_back(part);
    }
    return sim::nearest_name(glob, candidates);
}

}  // namespace

std::vector<std::string> choose_signals(const std::vector<std::string>& names,
                                        const std::vector<std::string>& globs, bool windowed) {
    for (const std::string& glob : globs) {
        if (std::ranges::any_of(names, [&](const std::string& name) { return matches(glob, name); }))
            continue;
        const std::string near = nearest(glob, names);
        throw sim::input_error("no signal matches '{}'{}", glob,
                               near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
    }
    std::vector<std::string> chosen;
    for (const std::string& name : names) {
        const bool always = !changes_each_cycle(name) || (windowed && is_clock(name));
        const bool wanted = globs.empty() ? always : std::ranges::any_of(globs, [&](const std::string& glob) {
            return matches(glob, name) && (always || means(glob, name));
        });
        if (wanted) chosen.push_back(name);
    }
    return chosen;
}

}  // namespace vinic::traces
