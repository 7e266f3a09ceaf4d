// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/myvia_card.h"
#include "host_driver/card_window.h"
#include "host_driver/completion_ring.h"
#include "host_driver/contiguous_memory.h"
#include "host_driver/work_queue.h"
#include "hw/host/memory.h"
#include "hw/host/process.h"

namespace vinic::driver {

/// How a process rings (myvia_card.h).
class myvia_doorbells {
public:
    virtual ~myvia_doorbells() = default;

    /// `data` is read as late as possible, so that the doorbells of two threads never run backwards.
    virtual void ring(host::process& on, abi::myvia::doorbell_op op, std::uint32_t number,
                      const std::uint32_t& data) = 0;
    /// Where the card tells the process something; zero: it does not.
    virtual host::physical_address host_page() const { return 0; }
};

/// With credits: the card writes how many doorbells it has taken.
class myvia_credited_doorbells : public myvia_doorbells {
public:
    /// `poll_clocks`: cost of a look at the credits.
    myvia_credited_doorbells(card_window& card, host::memory& ram, host::clocks poll_clocks)
        : card_(card),
          poll_clocks_(poll_clocks),
          host_page_(ram, host::page_bytes, contiguous_memory::contents::zero) {}

    /// Waits for a credit if need be.
    void ring(host::process& on, abi::myvia::doorbell_op op, std::uint32_t number,
              const std::uint32_t& data) override;
    host::physical_address host_page() const override { return host_page_.begin(); }
    std::uint32_t written() const { return written_; }

protected:
    /// The words of doorbell `place`, free running.
    virtual void store(host::process& on, std::uint32_t place, abi::myvia::doorbell_op op,
                       std::uint32_t number, const std::uint32_t& data) = 0;

    card_window& card_;

private:
    bool has_credit() const { return written_ - host_page_.read_big(0) < abi::myvia::doorbells_per_page; }

    host::clocks poll_clocks_;
    contiguous_memory host_page_;
    std::uint32_t written_ = 0;
};

/// A process's page of doorbells on the card: two word writes, data first.
class myvia_doorbell_page : public myvia_credited_doorbells {
public:
    /// `page`: offset of the page in the card's window.
    myvia_doorbell_page(card_window& card, host::memory& ram, std::uint32_t page, host::clocks poll_clocks)
        : myvia_credited_doorbells(card, ram, poll_clocks), page_(page) {}

protected:
    void store(host::process& on, std::uint32_t place, abi::myvia::doorbell_op op, std::uint32_t number,
               const std::uint32_t& data) override;

private:
    std::uint32_t page_;
};

/// The pages of its VIs and completion queues in the card's doorbell region: one word write.
class myvia_doorbell_region : public myvia_credited_doorbells {
public:
    /// `queues`: number of the page of completion queue 0.
    myvia_doorbell_region(card_window& card, host::memory& ram, std::uint32_t queues,
                          host::clocks poll_clocks)
        : myvia_credited_doorbells(card, ram, poll_clocks), queues_(queues) {}

protected:
    void store(host::process& on, std::uint32_t place, abi::myvia::doorbell_op op, std::uint32_t number,
               const std::uint32_t& data) override;

private:
    std::uint32_t queues_;
};

/// A page of SRAM for each VI and completion queue, whose words say how things stand: one word write.
class myvia_vi_pages : public myvia_doorbells {
public:
    /// `pages`: offset of the first page in the card's window; `queues`: number of that of completion queue
    /// 0.
    myvia_vi_pages(card_window& card, std::uint32_t pages, std::uint32_t queues)
        : card_(card), pages_(pages), queues_(queues) {}

    void ring(host::process& on, abi::myvia::doorbell_op op, std::uint32_t number,
              const std::uint32_t& data) override;

private:
    card_window& card_;
    std::uint32_t pages_;
    std::uint32_t queues_;
    std::uint32_t arms_ = 0;
};

/// A queue's place in the card's SRAM for slots that stand there besides: tokens.
struct myvia_tokens {
    card_window& card;
    std::uint32_t first;   ///< its offset in the card's window
    std::uint32_t places;  ///< how many slots it holds

    void write(host::process& on, std::uint32_t number,
               std::span<const std::byte, descriptor_bytes> slot) const;
};

/// Ring of physical descriptors, 64 bytes each, in the card's byte order. `swap_clocks`: cost of turning a
/// field round.
class myvia_work_queue : public work_queue {
public:
    myvia_work_queue(host::memory& ram, std::shared_ptr<myvia_doorbells> doorbells, std::uint32_t vi,
                     bool receive, std::uint32_t slots, host::clocks swap_clocks,
                     std::optional<myvia_tokens> tokens);

    std::uint32_t capacity() const override { return static_cast<std::uint32_t>(posted_from_.size()); }
    std::uint32_t outstanding() const override { return posted_ - taken_; }
    void post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
              host::virtual_address where, std::uint32_t handle) override;
    host::physical_range tail() const override { return status_of(posted_); }
    host::physical_range head() const override { return status_of(taken_); }
    bool head_done() const override;
    descriptor_completion take() override;
    void arm(host::process& on) override;

    host::physical_address ring() const { return ring_.begin(); }

protected:
    // The steps of `post`: the slot that the descriptor becomes, its place in the ring, the doorbell.
    abi::myvia::slot make_slot(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                               host::virtual_address where, std::uint32_t handle) const;
    void put(host::process& on, const abi::myvia::slot& slot, host::virtual_address from);
    void ring(host::process& on, abi::myvia::doorbell_op op) { doorbells_->ring(on, op, vi_, posted_); }
    /// Place in the ring of the descriptor that was posted last, and of the head.
    std::uint32_t last_place() const { return (posted_ - 1) & (capacity() - 1); }
    std::uint32_t first_place() const { return taken_ & (capacity() - 1); }

private:
    host::physical_range status_of(std::uint32_t number) const;
    std::uint64_t slot_offset(std::uint32_t number) const {
        return std::uint64_t{number & (capacity() - 1)} * abi::myvia::slot_bytes;
    }

    contiguous_memory ring_;
    std::shared_ptr<myvia_doorbells> doorbells_;
    std::uint32_t vi_;
    bool receive_;
    host::clocks swap_clocks_;
    std::optional<myvia_tokens> tokens_;
    std::vector<host::virtual_address> posted_from_;
    std::uint32_t posted_ = 0;  ///< free running, as is the next
    std::uint32_t taken_ = 0;
};

/// Written by the card, armed by a doorbell.
class myvia_completion_queue : public completion_ring {
public:
    myvia_completion_queue(host::memory& ram, std::shared_ptr<myvia_doorbells> doorbells, std::uint32_t queue,
                           std::uint32_t entries)
        : completion_ring(ram, entries, std::endian::big), doorbells_(std::move(doorbells)), queue_(queue) {}

    void arm(host::process& on) override;

private:
    std::shared_ptr<myvia_doorbells> doorbells_;
    std::uint32_t queue_;
};

}  // namespace vinic::driver
