// SPDX-License-Identifier: Apache-2.0
#include "hw/host/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "hw/sim/error.h"

namespace vinic::host {

namespace {

/// Stores in ascending order, the last word as a whole and after all others: a program outside of the
/// simulator may look at it meanwhile, as programs look at the last word of what DMA writes.
void store_ascending(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    constexpr std::uint64_t line = 64;
    using word = std::uint32_t;
    const bool has_last =
        bytes >= sizeof(word) && reinterpret_cast<std::uintptr_t>(to + bytes) % sizeof(word) == 0;
    const std::uint64_t before = has_last ? bytes - sizeof(word) : bytes;
    for (std::uint64_t done = 0; done < before; done += line)
        std::memcpy(to + done, from + done, std::min(line, before - done));
    if (!has_last) return;
    word last;
    std::memcpy(&last, from + before, sizeof last);
    std::atomic_ref<word>(*reinterpret_cast<word*>(to + before)).store(last, std::memory_order_release);
}

std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + page_mask) / page_bytes; }

}  // namespace

memory::memory(const sc_core::sc_module_name& name)
    : sim::module(name),
      size_mbytes(*this, {.name = "size_mbytes",
                          .unit = "MiB",
                          .value = 256,
                          .min = 1,
                          .max = 65536,
                          .help = "RAM of the node; takes real memory only where it is touched"}),
      bytes_read(*this, "bytes_read", "read by DMA"),
      bytes_written(*this, "bytes_written", "written by DMA") {}

memory::~memory() = default;

// --- Frames

memory::frame& memory::frame_at(std::uint64_t index) {
    for (std::uint64_t i = frames_.size(); i <= index; ++i) {
        frames_.emplace_back();
        free_.insert(i);
    }
    return frames_[index];
}

memory::frame& memory::used_frame(physical_address at, const char* doing) {
    frame& f = frame_at(at / page_bytes);
    if (!f.used) throw sim::model_error(this->name(), fmt::format("{} a free frame at {:#x}", doing, at));
    return f;
}

std::uint64_t memory::take(std::uint64_t index) {
    frame& f = frame_at(index);
    free_.erase(index);
    f = {.used = true};
    ++in_use_;
    return index;
}

void memory::release(std::uint64_t index) {
    frames_[index] = {};
    free_.insert(index);
    --in_use_;
}

std::uint64_t memory::lowest_run(std::uint64_t count) const {
    const std::uint64_t last = size_bytes() / page_bytes;
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < frames_.size(); ++i) {
        if (frames_[i].used) begin = i + 1;
        if (i + 1 - begin == count) return begin;
    }
    if (begin + count > last) throw sim::model_error(this->name(), "RAM is full (parameter size_mbytes)");
    return begin;
}

memory::block memory::allocate_pages(std::uint64_t count) {
    const std::uint64_t bytes = count * page_bytes;
    block pages(static_cast<std::byte*>(std::aligned_alloc(page_bytes, bytes)));
    if (!pages) throw std::bad_alloc();
    // Given back to the kernel, a run of pages is zeros that take no memory until they are touched; calloc
    // would clear them all.
    if (count == 1 || ::madvise(pages.get(), bytes, MADV_DONTNEED) != 0) std::memset(pages.get(), 0, bytes);
    return pages;
}

physical_address memory::allocate_frame() { return allocate_contiguous(page_bytes); }

physical_address memory::allocate_frame(std::byte* page, const void* owner) {
    const std::uint64_t index = free_.empty() ? lowest_run(1) : *free_.begin();
    blocks_.erase(index);
    take(index);
    frames_[index].page = page;
    frames_[index].owner = owner;
    return index * page_bytes;
}

physical_address memory::allocate_contiguous(std::uint64_t bytes) {
    const std::uint64_t count = std::max<std::uint64_t>(pages_of(bytes), 1);
    const std::uint64_t first = count == 1 && !free_.empty() ? *free_.begin() : lowest_run(count);
    for (std::uint64_t i = first; i < first + count; ++i) {
        blocks_.erase(i);
        take(i);
    }
    const block& run = blocks_[first] = allocate_pages(count);
    for (std::uint64_t i = 0; i < count; ++i) frames_[first + i].page = run.get() + i * page_bytes;
    return first * page_bytes;
}

void memory::free_frame(physical_address at) { free_contiguous(at, page_bytes); }

void memory::free_contiguous(physical_address begin, std::uint64_t bytes) {
    const std::uint64_t first = begin / page_bytes;
    const std::uint64_t count = std::max<std::uint64_t>(pages_of(bytes), 1);
    for (std::uint64_t i = first; i < first + count; ++i)
        if (used_frame(i * page_bytes, "freeing").pin_count)
            throw sim::model_error(this->name(),
                                   fmt::format("freeing a pinned frame at {:#x}", i * page_bytes));
    for (std::uint64_t i = first; i < first + count; ++i) release(i);
    blocks_.erase(first);
}

void memory::forget_frame(physical_address at) {
    used_frame(at, "forgetting");
    release(at / page_bytes);
}

void memory::pin(physical_address at) { ++used_frame(at, "pinning").pin_count; }

void memory::unpin(physical_address at) {
    frame& f = used_frame(at, "unpinning");
    if (f.pin_count == 0)
        throw sim::model_error(this->name(),
                               fmt::format("unpinning a frame that is not pinned, at {:#x}", at));
    --f.pin_count;
}

unsigned memory::pins(physical_address at) const {
    const std::uint64_t index = at / page_bytes;
    return index < frames_.size() ? frames_[index].pin_count : 0;
}

// --- Contents

void memory::check(const physical_range& range) const {
    if (!contains(range))
        throw sim::model_error(this->name(),
                               fmt::format("{} bytes at {:#x} lie outside RAM", range.bytes, range.begin));
}

std::byte* memory::pointer(physical_address at) {
    check({at, 1});
    const std::uint64_t index = at / page_bytes;
    frame& f = frame_at(index);
    if (!f.page) {
        // RAM that nobody allocated is RAM all the same: hardware may be told to write there.
        const block& page = blocks_[index] = allocate_pages(1);
        f.page = page.get();
    }
    return f.page + (at & page_mask);
}

template <typename Use>
void memory::for_each_page(const physical_range& range, Use use) {
    check(range);
    for (std::uint64_t done = 0; done < range.bytes;) {
        const physical_address at = range.begin + done;
        const std::uint64_t piece = std::min(range.bytes - done, page_bytes - (at & page_mask));
        use(pointer(at), done, piece);
        done += piece;
    }
}

void memory::read(physical_address at, std::span<std::byte> into) {
    commit();
    for_each_page({at, into.size()}, [&](const std::byte* page, std::uint64_t done, std::uint64_t bytes) {
        std::memcpy(into.data() + done, page, bytes);
    });
}

void memory::write(physical_address at, std::span<const std::byte> from) {
    commit();
    for_each_page({at, from.size()}, [&](std::byte* page, std::uint64_t done, std::uint64_t bytes) {
        std::memcpy(page, from.data() + done, bytes);
    });
    mark_changed({at, from.size()}, sim::now());
    for (const watched& w : watched_)
        if (touches({at, from.size()}, w)) w.who->changes_at(sim::now(), {at, from.size()});
}

void memory::dma_read(physical_address at, std::span<std::byte> into) {
    bytes_read.add(into.size());
    read(at, into);
    const physical_range wanted{at, into.size()};
    for (const pending_write& p : pending_) {
        const physical_range written{p.where.begin, p.data.size()};
        if (!written.overlaps(wanted)) continue;
        const physical_address begin = std::max(at, written.begin);
        const physical_address end = std::min(at + into.size(), written.begin + written.bytes);
        std::memcpy(into.data() + (begin - at), p.data.data() + (begin - written.begin), end - begin);
    }
}

void memory::write_at(physical_address at, std::span<const std::byte> from, sim::picoseconds visible_at) {
    check({at, from.size()});
    bytes_written.add(from.size());
    enqueue({visible_at, {at, from.size()}, {from.begin(), from.end()}, nullptr});
}

void memory::change_at(std::function<void()> change, const physical_range& touched,
                       sim::picoseconds visible_at) {
    enqueue({visible_at, touched, {}, std::move(change)});
}

void memory::enqueue(pending_write what) {
    if (what.at <= sim::now())
        throw sim::model_error(this->name(), "a write must become visible in the future");
    for (const watched& w : watched_)
        if (touches(what.where, w)) w.who->changes_at(what.at, what.where);
    const auto later =
        std::upper_bound(pending_.begin(), pending_.end(), what.at,
                         [](sim::picoseconds at, const pending_write& p) { return at < p.at; });
    pending_.insert(later, std::move(what));
}

void memory::commit_pending() {
    while (!pending_.empty() && pending_.front().at <= sim::now()) {
        const pending_write due = std::move(pending_.front());
        pending_.pop_front();
        if (due.change) due.change();
        mark_changed(due.where, due.at);
        for_each_page({due.where.begin, due.data.size()},
                      [&](std::byte* page, std::uint64_t done, std::uint64_t bytes) {
                          store_ascending(page, due.data.data() + done, bytes);
                      });
    }
}

// --- Watching

void memory::mark_changed(const physical_range& range, sim::picoseconds at) {
    if (range.bytes == 0) changed_elsewhere_at_ = at;
    const std::uint64_t last = (range.begin + range.bytes + page_mask) / page_bytes;
    for (std::uint64_t i = range.begin / page_bytes; i < last && i < frames_.size(); ++i)
        frames_[i].changed_at = at;
}

bool memory::changed_since(sim::picoseconds at, const physical_range& range) const {
    if (range.bytes == 0) return changed_elsewhere_at_ > at;
    const std::uint64_t last = (range.begin + range.bytes + page_mask) / page_bytes;
    for (std::uint64_t i = range.begin / page_bytes; i < last && i < frames_.size(); ++i)
        if (frames_[i].changed_at > at) return true;
    return false;
}

bool memory::touches(const physical_range& range, const watched& w) const {
    if (!w.owner) return range.overlaps(w.range);
    const std::uint64_t last =
        std::min<std::uint64_t>((range.begin + range.bytes + page_mask) / page_bytes, frames_.size());
    for (std::uint64_t i = range.begin / page_bytes; i < last; ++i)
        if (frames_[i].owner == w.owner) return true;
    return false;
}

void memory::watch(const physical_range& range, memory_watcher& who) {
    watched_.push_back({range, nullptr, &who});
    for (const pending_write& p : pending_)
        if (touches(p.where, watched_.back())) who.changes_at(p.at, p.where);
}

void memory::watch_pages_of(const void* owner, memory_watcher& who) {
    watched_.push_back({{}, owner, &who});
    for (const pending_write& p : pending_)
        if (touches(p.where, watched_.back())) who.changes_at(p.at, p.where);
}

void memory::unwatch(memory_watcher& who) {
    std::erase_if(watched_, [&](const watched& w) { return w.who == &who; });
}

}  // namespace vinic::host
