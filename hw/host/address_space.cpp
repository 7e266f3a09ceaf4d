// SPDX-License-Identifier: Apache-2.0
#include "hw/host/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "hw/sim/error.h"

namespace vinic::host {

virtual_address user_memory::canonical(virtual_address address) {
    const std::uint64_t page = address / page_bytes;
    const auto [at, is_new] = canonical_of_page_.try_emplace(page, page_of_canonical_.size() + 1);
    if (is_new) page_of_canonical_.push_back(page);
    return at->second * page_bytes + (address & page_mask);
}

virtual_address user_memory::program_address(virtual_address canonical_address) const {
    const std::uint64_t number = canonical_address / page_bytes;
    if (number == 0 || number > page_of_canonical_.size()) return 0;
    return page_of_canonical_[number - 1] * page_bytes + (canonical_address & page_mask);
}

address_space::address_space(memory& ram, unsigned node, unsigned process)
    : ram_(ram),
      base_(first_base + (std::uint64_t{node} * processes_per_node + process) * arena_bytes),
      top_(base_),
      open_end_(base_) {
    if (process >= processes_per_node)
        throw sim::input_error("node {} has more than {} processes", node, processes_per_node);
    void* const wanted = reinterpret_cast<void*>(base_);
    void* const got = mmap(wanted, arena_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != wanted) {
        const int reason = errno;
        // Kernels before 4.17 take MAP_FIXED_NOREPLACE for a hint.
        if (got != MAP_FAILED) munmap(got, arena_bytes);
        throw sim::input_error(
            "the arena of node {} process {} needs the addresses {:#x} to {:#x}, which this "
            "machine does not give: {}",
            node, process, base_, base_ + arena_bytes, got == MAP_FAILED ? std::strerror(reason) : "in use");
    }
}

address_space::~address_space() {
    for (const auto& [page, frame] : frames_) ram_.forget_frame(frame);
    munmap(reinterpret_cast<void*>(base_), arena_bytes);
}

void* address_space::allocate(std::uint64_t bytes, std::uint64_t alignment) {
    bytes = std::max<std::uint64_t>(bytes, 1);
    if (alignment == 0 || (alignment & (alignment - 1)) || bytes > arena_bytes) return nullptr;
    const auto aligned = [&](virtual_address at) { return (at + alignment - 1) & ~(alignment - 1); };
    virtual_address at = aligned(base_);
    for (const auto& [begin, length] : used_) {
        if (at + bytes <= begin) break;
        at = std::max(at, aligned(begin + length));
    }
    if (at + bytes > base_ + arena_bytes) return nullptr;
    open_up_to(at + bytes);
    used_[at] = bytes;
    top_ = std::max(top_, (at + bytes + page_mask) & ~page_mask);
    return reinterpret_cast<void*>(at);
}

/// Memory counts for the limit of the simulator's process (RLIMIT_DATA) when it can be written.
void address_space::open_up_to(virtual_address end) {
    constexpr std::uint64_t step = std::uint64_t{1} << 20;
    if (end <= open_end_) return;
    const virtual_address to = (end + step - 1) & ~(step - 1);
    if (mprotect(reinterpret_cast<void*>(open_end_), to - open_end_, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
    open_end_ = to;
}

void address_space::free(void* pointer) {
    if (!pointer) return;
    if (used_.erase(reinterpret_cast<virtual_address>(pointer)) == 0)
        throw sim::model_error(ram_.name(), "free() of an address of the arena that was not allocated");
}

std::uint64_t address_space::allocation_bytes(const void* pointer) const {
    const auto found = used_.find(reinterpret_cast<virtual_address>(pointer));
    return found == used_.end() ? 0 : found->second;
}

bool address_space::valid(virtual_address address, std::uint64_t bytes) const {
    return address >= base_ && address <= top_ && bytes <= top_ - address;
}

void address_space::read(virtual_address address, std::span<std::byte> into) const {
    ram_.commit();
    std::memcpy(into.data(), reinterpret_cast<const void*>(address), into.size());
}

void address_space::write(virtual_address address, std::span<const std::byte> from) {
    for (std::uint64_t done = 0; done < from.size();) {
        const virtual_address at = address + done;
        const std::uint64_t bytes = std::min(from.size() - done, page_bytes - (at & page_mask));
        ram_.write(translate(at), from.subspan(done, bytes));
        done += bytes;
    }
}

physical_address address_space::translate(virtual_address address) {
    if (address < base_ || address >= base_ + arena_bytes)
        throw sim::model_error(ram_.name(), fmt::format("no frame behind virtual address {:#x}", address));
    const std::uint64_t page = address / page_bytes;
    auto at = frames_.find(page);
    if (at == frames_.end()) {
        const physical_address frame = ram_.allocate_frame(reinterpret_cast<std::byte*>(page * page_bytes),
                                                           static_cast<const user_memory*>(this));
        at = frames_.emplace(page, frame).first;
    }
    return at->second + (address & page_mask);
}

}  // namespace vinic::host
