// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "traces/fst_reader.h"
#include "traces/trace_check.h"

namespace vinic::traces {

trace_summary check_fst(const std::string& path) {
    trace_summary found;
    found.kind = "waveform";
    std::vector<bool> known;  // by signal: it had a value
    std::uint64_t changes = 0;
    sim::picoseconds now = 0;
    read_fst(
        path, [&](const std::string&) { known.push_back(false); },
        [&](std::uint64_t at, std::size_t signal, std::string_view value) {
            if (at < now) found.fault(fmt::format("at {} ps: stamp {} goes back", now, at));
            now = at;
            if (!known[signal] && is_unknown(value)) return;
            known[signal] = true;
            found.see(at);
            ++changes;
        });
    found.counts.emplace_back("signals", known.size());
    found.counts.emplace_back("changes", changes);
    return found;
}

}  // namespace vinic::traces
