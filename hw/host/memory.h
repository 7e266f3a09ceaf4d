// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"
#include "hw/sim/unit.h"

namespace vinic::host {

inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr std::uint64_t page_mask = page_bytes - 1;

/// Where the host bridge puts RAM on the bus: an address from 0.
using physical_address = std::uint64_t;

struct physical_range {
    physical_address begin = 0;
    std::uint64_t bytes = 0;

    bool overlaps(const physical_range& other) const {
        return begin < other.begin + other.bytes && other.begin < begin + bytes;
    }
    bool operator==(const physical_range&) const = default;
};

/// Whoever must know that memory will change, before it does: a process that sleeps between polls.
class memory_watcher {
public:
    virtual ~memory_watcher() = default;
    /// A processor that looks at `at` or later sees the new contents of `where`; `at` lies in the future, or
    /// is now.
    virtual void changes_at(sim::picoseconds at, const physical_range& where) = 0;
};

/// The RAM of one node: page frames of 4 KiB at simulated physical addresses from 0, each backed by real
/// memory of the simulator: a page allocated here when it is first needed, or a page of a process's arena.
///
/// What hardware or another processor writes becomes visible at a time that is known beforehand (`write_at`);
/// a processor first calls `commit`, so that it sees what is visible at its instant whatever the order in
/// which the kernel wakes processes, and each write as a whole (so its last word is never early).
class memory : public sim::module {
public:
    sim::parameter<std::uint64_t> size_mbytes;

    sim::counter<sim::unit::bytes> bytes_read;     ///< by DMA
    sim::counter<sim::unit::bytes> bytes_written;  ///< by DMA

    explicit memory(const sc_core::sc_module_name& name);
    ~memory() override;

    std::uint64_t size_bytes() const { return size_mbytes.get() << 20; }
    bool contains(const physical_range& range) const {
        return range.bytes <= size_bytes() && range.begin <= size_bytes() - range.bytes;
    }

    // --- Frames. The lowest free one is taken; throws model_error when RAM is full.
    physical_address allocate_frame();
    /// A frame backed by a page of `owner`'s that lives elsewhere and outlives the frame.
    physical_address allocate_frame(std::byte* page, const void* owner);
    /// The lowest run of free frames that holds `bytes`; contiguous in `pointer` too.
    physical_address allocate_contiguous(std::uint64_t bytes);
    void free_frame(physical_address frame);
    void free_contiguous(physical_address begin, std::uint64_t bytes);
    /// The owner of a foreign page goes: frees the frame, pinned or not.
    void forget_frame(physical_address frame);
    std::uint64_t frames_in_use() const { return in_use_; }

    void pin(physical_address frame);
    void unpin(physical_address frame);
    unsigned pins(physical_address frame) const;

    // --- Contents.
    /// Real memory behind `at`; valid to the end of its page, or of its contiguous run.
    std::byte* pointer(physical_address at);

    /// What a processor of this node sees or stores now. Whether another process that looks at the very
    /// instant of a store sees it is a race; what crosses from one to another belongs in `write_at` or
    /// `change_at`.
    void read(physical_address at, std::span<std::byte> into);
    void write(physical_address at, std::span<const std::byte> from);

    /// What DMA sees: everything written so far, visible to processors or not.
    void dma_read(physical_address at, std::span<std::byte> into);
    /// Becomes visible, as a whole, at `visible_at`, which must lie in the future; at one instant, in the
    /// order of the calls.
    void write_at(physical_address at, std::span<const std::byte> from, sim::picoseconds visible_at);
    /// Any other change that polls can observe (a state kept by the kernel agent): runs when it is due, on
    /// whoever commits first. Watchers of `touched` are told.
    void change_at(std::function<void()> change, const physical_range& touched, sim::picoseconds visible_at);

    /// Applies what is visible now. Every processor calls it before code of a process goes on.
    void commit() {
        if (!pending_.empty() && pending_.front().at <= sim::now()) [[unlikely]]
            commit_pending();
    }
    /// Whether everything written is visible by now.
    bool settled() {
        commit();
        return pending_.empty();
    }

    // --- Watching.
    void watch(const physical_range& range, memory_watcher& who);
    /// All pages of `owner`.
    void watch_pages_of(const void* owner, memory_watcher& who);
    void unwatch(memory_watcher& who);
    /// Whether `range` may have changed for processors after `at` (by the page); an empty range stands for
    /// what `change_at` touches outside memory.
    bool changed_since(sim::picoseconds at, const physical_range& range) const;

private:
    struct frame {
        std::byte* page = nullptr;
        std::uint32_t pin_count = 0;
        bool used = false;
        const void* owner = nullptr;  ///< of a page that lives elsewhere
        sim::picoseconds changed_at = 0;
    };
    /// Zeros, which take real memory only where they are touched (rings of descriptors mostly are not).
    struct releaser {
        void operator()(std::byte* pages) const { std::free(pages); }
    };
    using block = std::unique_ptr<std::byte[], releaser>;
    struct pending_write {
        sim::picoseconds at;
        physical_range where;
        std::vector<std::byte> data;
        std::function<void()> change;
    };
    struct watched {
        physical_range range;
        const void* owner;  ///< all its pages, if not null
        memory_watcher* who;
    };

    void commit_pending();
    void enqueue(pending_write what);
    void mark_changed(const physical_range& range, sim::picoseconds at);
    bool touches(const physical_range& range, const watched& w) const;
    frame& frame_at(std::uint64_t index);
    frame& used_frame(physical_address at, const char* doing);
    std::uint64_t take(std::uint64_t index);
    void release(std::uint64_t index);
    static block allocate_pages(std::uint64_t count);
    std::uint64_t lowest_run(std::uint64_t count) const;
    void check(const physical_range& range) const;
    /// Calls `use(pointer, offset, bytes)` for each piece of the range that lies in one page.
    template <typename Use>
    void for_each_page(const physical_range& range, Use use);

    std::vector<frame> frames_;     ///< up to the highest one ever needed
    std::set<std::uint64_t> free_;  ///< below frames_.size()
    std::uint64_t in_use_ = 0;
    sim::picoseconds changed_elsewhere_at_ = 0;
    std::map<std::uint64_t, block> blocks_;  ///< own pages and runs, by first frame
    std::deque<pending_write> pending_;      ///< by time
    std::vector<watched> watched_;
};

}  // namespace vinic::host
