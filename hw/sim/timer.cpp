// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/timer.h"

#include <algorithm>
#include <utility>

#include "hw/sim/stretch.h"

namespace vinic::sim {

namespace {

/// Of a place in the heap: many, because it is the depth that costs.
constexpr std::size_t children = 4;
constexpr std::size_t parent_of(std::size_t place) { return (place - 1) / children; }

/// Before it the calendar may take the kernel's time further.
picoseconds end_of_stretch = 0;

/// Puts the kernel's time to `at` if it has nothing to do until then, as its own next step would: of the step
/// nothing else can be seen from outside.
bool take_kernel_to(picoseconds at) {
    if (at >= end_of_stretch) return false;
    const sc_core::sc_simcontext& kernel = *sc_core::sc_get_curr_simcontext();
    if (kernel.pending_activity_at_current_time()) return false;
    if (sc_core::sc_time next; kernel.next_time(next) && next.value() <= at) return false;
    const_cast<sc_core::sc_time&>(kernel.time_stamp()) = to_sc_time(at);
    return true;
}

}  // namespace

stretch::stretch(picoseconds goal) { end_of_stretch = goal; }

stretch::~stretch() { end_of_stretch = 0; }

void pause() {
    end_of_stretch = 0;
    sc_core::sc_pause();
}

void stop() {
    end_of_stretch = 0;
    sc_core::sc_stop();
}

timer::timer(std::function<void()> action) : calendar_(calendar::current()), action_(std::move(action)) {}

void timer::set(picoseconds at) {
    if (soon_ ? at <= now() : at == due_) return;
    cancel();
    due_ = at;
    if (at != never) calendar_.insert(*this);
}

void timer::cancel() {
    if (due_ != never) calendar_.remove(*this);
}

calendar::calendar() : due_event_("due"), soon_event_("soon") {
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.dont_initialize();
    method.set_sensitivity(&due_event_);
    method.set_sensitivity(&soon_event_);
    sc_core::sc_spawn([this] { act(); }, "calendar", &method);
}

void calendar::insert(timer& what) {
    if (const picoseconds present = now(); what.due_ <= present) {
        const bool running = sc_core::sc_get_status() == sc_core::SC_RUNNING;
        what.soon_ = true;
        what.due_ = present;
        what.place_ = soon_.size();
        soon_.push_back({running ? sc_core::sc_delta_count() + 1 : 0, &what});
        if (!acting_) soon_event_.notify(sc_core::SC_ZERO_TIME);
        return;
    }
    const entry fresh{what.due_, order_ ? order_->below(~std::uint64_t{0}) : set_++, &what};
    const bool first_place_is_free = !heap_.empty() && !heap_.front().what;  // see act()
    if (first_place_is_free) return sift_down(0, fresh);
    heap_.emplace_back();
    sift_up(heap_.size() - 1, fresh);
    arm();
}

void calendar::remove(timer& what) {
    what.due_ = never;
    if (std::exchange(what.soon_, false)) {
        soon_[what.place_].what = nullptr;
        // A kernel with nothing to do must say so: nothing is left behind of what was cancelled.
        if (!acting_ && std::ranges::all_of(soon_, [](const soon_entry& e) { return !e.what; })) {
            soon_.clear();
            soon_event_.cancel();
        }
        return;
    }
    const std::size_t hole = what.place_;
    const entry last = heap_.back();
    heap_.pop_back();
    if (hole != heap_.size()) {
        if (hole != 0 && last < heap_[parent_of(hole)])
            sift_up(hole, last);
        else
            sift_down(hole, last);
    }
    arm();
}

void calendar::place(std::size_t at, const entry& e) {
    heap_[at] = e;
    e.what->place_ = at;
}

void calendar::sift_up(std::size_t hole, const entry& e) {
    while (hole != 0) {
        const std::size_t parent = parent_of(hole);
        if (!(e < heap_[parent])) break;
        place(hole, heap_[parent]);
        hole = parent;
    }
    place(hole, e);
}

void calendar::sift_down(std::size_t hole, const entry& e) {
    for (std::size_t least; (least = children * hole + 1) < heap_.size(); hole = least) {
        const std::size_t end = std::min(least + children, heap_.size());
        for (std::size_t child = least + 1; child < end; ++child)
            if (heap_[child] < heap_[least]) least = child;
        if (!(heap_[least] < e)) break;
        place(hole, heap_[least]);
    }
    place(hole, e);
}

/// What is set meanwhile lies in the future or in the next delta cycle.
void calendar::act() {
    if (armed_ != never && armed_ > now()) due_event_.cancel();
    armed_ = never;
    acting_ = true;
    do {
        const picoseconds present = now();
        if (!soon_.empty()) act_soon();
        while (!heap_.empty() && heap_.front().at <= present) {
            timer& first = *std::exchange(heap_.front().what, nullptr);
            first.due_ = never;
            first.action_();
            if (heap_.front().what) continue;  // a timer that was set meanwhile has taken the place
            const entry last = heap_.back();
            heap_.pop_back();
            if (!heap_.empty()) sift_down(0, last);
        }
        // When nobody else has anything to do before the next delta cycle, it may as well be now.
        while (!soon_.empty() && !sc_core::sc_pending_activity_at_current_time()) {
            for (soon_entry& e : soon_) e.from = 0;
            act_soon();
        }
    } while (soon_.empty() && !heap_.empty() && take_kernel_to(heap_.front().at));
    acting_ = false;
    if (!soon_.empty()) soon_event_.notify(sc_core::SC_ZERO_TIME);
    arm();
}

/// Those that were set before this delta cycle, so that whatever else happens in the cycle in which a timer
/// is set comes before it.
void calendar::act_soon() {
    std::size_t due = 0;
    while (due < soon_.size() && soon_[due].from <= sc_core::sc_delta_count()) ++due;
    for (std::size_t i = due; order_ && i > 1; --i) {
        std::swap(soon_[i - 1], soon_[order_->below(i)]);
        if (timer* moved = soon_[i - 1].what) moved->place_ = i - 1;
    }
    if (order_ && due > 0 && soon_[0].what) soon_[0].what->place_ = 0;
    for (std::size_t i = 0; i < due; ++i) {
        timer* what = soon_[i].what;
        if (!what) continue;
        remove(*what);
        what->action_();
    }
    soon_.erase(soon_.begin(), soon_.begin() + static_cast<std::ptrdiff_t>(due));
    for (std::size_t i = 0; i < soon_.size(); ++i)
        if (soon_[i].what) soon_[i].what->place_ = i;
}

void calendar::arm() {
    if (acting_) return;
    const picoseconds first = heap_.empty() ? never : heap_.front().at;
    if (first == armed_) return;
    if (armed_ != never) due_event_.cancel();
    armed_ = first;
    if (first != never) due_event_.notify(to_sc_time(first - now()));
}

}  // namespace vinic::sim
