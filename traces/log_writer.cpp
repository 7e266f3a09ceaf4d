// SPDX-License-Identifier: Apache-2.0
#include "traces/log_writer.h"

#include "hw/sim/probe.h"

namespace vinic::traces {

namespace {

std::string value_text(const sim::value_probe& p, std::uint64_t bits, std::uint64_t floating) {
    if (floating) return "z";
    if (bits < p.states().size()) return p.states()[bits];
    return fmt::format("{:#x}", bits);
}

}  // namespace

void log_writer::emit(const record& r) {
    const sim::probe& p = *probes()[r.probe];
    switch (r.what) {
        case record::kind::value:
            file_.print("{} {} {}\n", r.at, p.name(),
                        value_text(static_cast<const sim::value_probe&>(p), r.bits, r.floating));
            break;
        case record::kind::span_begin:
            if (r.end > r.at)
                file_.print("{} {} {} for {} ps\n", r.at, p.name(), r.text_with_fields(), r.end - r.at);
            else
                file_.print("{} {} {}\n", r.at, p.name(), r.text_with_fields());
            break;
        case record::kind::span_end:
            break;
        case record::kind::packet:
            file_.print("{} {} packet {} bytes {}\n", r.at, p.name(), r.bytes.size(), r.text_with_fields());
            break;
    }
}

}  // namespace vinic::traces
