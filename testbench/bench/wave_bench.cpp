// SPDX-License-Identifier: Apache-2.0
// What GTKWave's writer alone costs: writes the changes of an FST again and prints how many there are and the
// nanoseconds of processor time of each.
#include <fmt/format.h>
#include <fstapi.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

namespace {

struct change {
    std::uint64_t at;
    fstHandle handle;
    std::uint32_t text;  // offset of its value
    std::uint32_t length;
};
struct wave {
    std::vector<change> changes;
    std::string values;
};
using file = std::unique_ptr<void, void (*)(void*)>;

void keep(void* to, std::uint64_t at, fstHandle handle, const unsigned char* value, std::uint32_t length) {
    wave& w = *static_cast<wave*>(to);
    w.changes.push_back({at, handle, static_cast<std::uint32_t>(w.values.size()), length});
    w.values.append(reinterpret_cast<const char*>(value), length).append(1, '\0');
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const file in(fstReaderOpen(argv[1]), &fstReaderClose);
    if (!in) return 1;
    wave w;
    std::vector<bool> is_text(1);
    std::vector<std::uint32_t> widths(1);
    while (const fstHier* h = fstReaderIterateHier(in.get())) {
        if (h->htyp != FST_HT_VAR) continue;
        is_text.push_back(h->u.var.typ == FST_VT_GEN_STRING);
        widths.push_back(h->u.var.length);
    }
    fstReaderSetFacProcessMaskAll(in.get());
    fstReaderIterBlocks2(
        in.get(),
        [](void* to, std::uint64_t at, fstHandle handle, const unsigned char* value) {
            keep(to, at, handle, value,
                 static_cast<std::uint32_t>(
                     std::char_traits<char>::length(reinterpret_cast<const char*>(value))));
        },
        keep, &w, nullptr);

    const double before = cpu_seconds();
    {
        const file out(fstWriterCreate(argv[2], 1), &fstWriterClose);
        if (!out) return 1;
        fstWriterSetPackType(out.get(), FST_WR_PT_LZ4);
        for (fstHandle handle = 1; handle < is_text.size(); ++handle)
            fstWriterCreateVar(out.get(), is_text[handle] ? FST_VT_GEN_STRING : FST_VT_VCD_WIRE,
                               FST_VD_IMPLICIT, is_text[handle] ? 0 : widths[handle],
                               fmt::format("signal{}", handle).c_str(), 0);
        std::uint64_t time = ~std::uint64_t{0};
        for (const change& c : w.changes) {
            if (c.at != time) fstWriterEmitTimeChange(out.get(), time = c.at);
            const char* const value = w.values.data() + c.text;
            if (is_text[c.handle])
                fstWriterEmitVariableLengthValueChange(out.get(), c.handle, value, c.length);
            else
                fstWriterEmitValueChange(out.get(), c.handle, value);
        }
    }
    const auto changes = static_cast<double>(w.changes.size());
    fmt::print("{} {:.1f}\n", w.changes.size(), (cpu_seconds() - before) / changes * 1e9);
}
