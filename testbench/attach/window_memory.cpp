// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/window_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "hw/sim/error.h"
#include "vipl/attach/channel.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

window_memory::window_memory(host::memory& ram, int file) : ram_(ram), file_(file) {
    void* const at =
        mmap(nullptr, attach::window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    view_ = static_cast<std::byte*>(at);
}

window_memory::~window_memory() {
    for (const host::physical_address frame : frames_) ram_.forget_frame(frame);
    munmap(view_, attach::window_bytes);
    close(file_);
}

void window_memory::share(host::virtual_address begin, std::uint64_t bytes, std::uint64_t offset) {
    const bool aligned = ((begin | bytes | offset) & host::page_mask) == 0;
    if (!aligned || bytes > attach::window_bytes || offset > attach::window_bytes - bytes) return;
    for (std::uint64_t done = 0; done < bytes; done += host::page_bytes) {
        const auto [at, is_new] =
            pages_.try_emplace((begin + done) / host::page_bytes, shared_page{.offset = offset + done});
        if (!is_new && at->second.offset != offset + done) at->second = {.offset = offset + done};
    }
}

bool window_memory::changed_since(sim::picoseconds at) const {
    return std::ranges::any_of(frames_, [&](const host::physical_address frame) {
        return ram_.changed_since(at, {frame, host::page_bytes});
    });
}

host::virtual_address window_memory::address_of(host::physical_address at) const {
    for (const auto& [number, page] : pages_)
        if (page.has_frame && page.frame == (at & ~host::page_mask))
            return number * host::page_bytes + (at & host::page_mask);
    return 0;
}

bool window_memory::valid(host::virtual_address address, std::uint64_t bytes) const {
    if (bytes > attach::window_bytes || address + bytes < address) return false;
    const std::uint64_t last = (address + std::max<std::uint64_t>(bytes, 1) - 1) / host::page_bytes;
    for (std::uint64_t page = address / host::page_bytes; page <= last; ++page)
        if (!pages_.contains(page)) return false;
    return true;
}

void window_memory::read(host::virtual_address address, std::span<std::byte> into) const {
    ram_.commit();
    for (std::uint64_t done = 0; done < into.size();) {
        const host::virtual_address at = address + done;
        const std::uint64_t bytes = std::min(into.size() - done, host::page_bytes - (at & host::page_mask));
        const std::uint64_t offset = pages_.at(at / host::page_bytes).offset;
        std::memcpy(into.data() + done, view_ + offset + (at & host::page_mask), bytes);
        done += bytes;
    }
}

void window_memory::write(host::virtual_address address, std::span<const std::byte> from) {
    for (std::uint64_t done = 0; done < from.size();) {
        const host::virtual_address at = address + done;
        const std::uint64_t bytes = std::min(from.size() - done, host::page_bytes - (at & host::page_mask));
        ram_.write(translate(at), from.subspan(done, bytes));
        done += bytes;
    }
}

host::physical_address window_memory::translate(host::virtual_address address) {
    const auto found = pages_.find(address / host::page_bytes);
    if (found == pages_.end())
        throw sim::model_error(ram_.name(), fmt::format("no frame behind virtual address {:#x}", address));
    shared_page& page = found->second;
    if (!page.has_frame) {
        page.frame = ram_.allocate_frame(view_ + page.offset, static_cast<const host::user_memory*>(this));
        page.has_frame = true;
        frames_.push_back(page.frame);
    }
    return page.frame + (address & host::page_mask);
}

}  // namespace vinic::testbench
