// SPDX-License-Identifier: Apache-2.0
// The fast path: runs pre-decoded blocks. Whatever is rare (register accesses, traps, writes to text, odd
// encodings) is left to step(), before it had any effect.
#include <algorithm>
#include <limits>

#include "hw/nic/lanai/implementation.h"

namespace vinic::lanai {
namespace {

enum class mode { plain, post, pre, indexed };

struct context {
    std::uint32_t* const r;
    std::uint8_t* const sram;
    const std::uint32_t size;
    const std::uint16_t* const code_words;
    undo_entry* log;
    const std::uint64_t* const unread;
    std::uint32_t dirty = 0;
    line_set loads;

    template <typename T>
    bool in_sram(std::uint32_t address) const {
        return address < size && address % sizeof(T) == 0;  // the size is a multiple of each width
    }
};

template <typename T>
std::uint32_t read(const std::uint8_t* p) {
    if constexpr (sizeof(T) == 4)
        return load_be32(p);
    else if constexpr (sizeof(T) == 2)
        return static_cast<std::uint32_t>(static_cast<T>(load_be16(p)));
    else
        return static_cast<std::uint32_t>(static_cast<T>(*p));
}

template <mode m>
inline std::uint32_t address_of(const context& c, const micro_op& o) {
    if constexpr (m == mode::post)
        return c.r[o.a];
    else if constexpr (m == mode::indexed)
        return c.r[o.a] + c.r[o.b];
    else
        return c.r[o.a] + o.k;
}

template <typename T, mode m = mode::plain>
inline bool load(context& c, const micro_op& o) {
    const std::uint32_t address = address_of<m>(c, o);
    if (!c.in_sram<T>(address) || unread_words::holds(c.unread, address)) [[unlikely]]
        return false;
    c.loads.add(address);
    const std::uint32_t value = read<T>(c.sram + address);
    if constexpr (m == mode::post || m == mode::pre) c.r[o.a] += o.k;
    c.r[o.d] = value;
    return true;
}

template <typename T, mode m = mode::plain>
inline bool store(context& c, const micro_op& o) {
    const std::uint32_t address = address_of<m>(c, o), word = address & ~3u;
    if (!c.in_sram<T>(address) || (c.code_words[address >> 6] >> (address >> 2 & 15) & 1) != 0) [[unlikely]]
        return false;
    const std::uint32_t old = load_be32(c.sram + word), value = c.r[o.d];
    if constexpr (sizeof(T) == 4)
        store_be32(c.sram + address, value);
    else if constexpr (sizeof(T) == 2)
        store_be16(c.sram + address, static_cast<std::uint16_t>(value));
    else
        c.sram[address] = static_cast<std::uint8_t>(value);
    if constexpr (sizeof(T) == 4)
        c.dirty |= old ^ value;
    else
        c.dirty |= old ^ load_be32(c.sram + word);
    *c.log++ = {word, old};
    if constexpr (m == mode::post || m == mode::pre) c.r[o.a] += o.k;
    return true;
}

inline std::uint32_t shift_logical(std::uint32_t a, std::uint32_t amount) {
    return static_cast<std::int32_t>(amount) < 0 ? a >> ((0u - amount) & 31) : a << (amount & 31);
}
inline std::uint32_t shift_arithmetic(std::uint32_t a, std::uint32_t amount) {
    return static_cast<std::int32_t>(amount) < 0
               ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> ((0u - amount) & 31))
               : a << (amount & 31);
}

struct flagged {
    std::uint32_t value;
    unsigned nzvc;
};
inline flagged add_flags(std::uint32_t a, std::uint32_t b) {
    std::uint32_t value;
    std::int32_t ignored;
    const bool c = __builtin_add_overflow(a, b, &value);
    const bool v =
        __builtin_add_overflow(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), &ignored);
    return {value, flags::nz(value) | (v ? flags::v : 0) | (c ? flags::c : 0)};
}
inline flagged sub_flags(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t value = a - b;
    std::int32_t ignored;
    const bool v =
        __builtin_sub_overflow(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), &ignored);
    return {value, flags::nz(value) | (v ? flags::v : 0) | (a >= b ? flags::c : 0)};
}

constexpr unsigned sets_flags = 0x80;

}  // namespace

// One stretch over pre-decoded blocks. contended: other ports have slots, so each instruction works out its
// own; else a block's cost is known beforehand.
template <bool contended>
class block_run {
public:
    block_run(core::implementation& core, cycle enough, cycle limit, cycle quiet_until)
        : core_(core),
          m_(core.live),
          enough_(enough),
          limit_(std::min(limit, quiet_until)),
          quiet_until_(quiet_until) {}
    block_exit operator()();

private:
    void begin(block* first);
    bool enter(const undo_entry* log);
    const micro_op* end_of_ops() const { return std::to_address(b_->ops.end()); }
    const micro_op* stop_from(const micro_op* op, cycle base) const;
    cycle issue_of(const micro_op& o) const;
    void take_slots(const micro_op& o, unsigned not_taken);
    enum class register_access : std::uint8_t { none, done, in_kernel_time };
    register_access access_register(const micro_op& o, std::uint32_t* r);
    void load_register(const micro_op& o, std::uint32_t* r, cycle at, std::uint32_t value);
    bool follow(block_link& link, std::uint32_t pc);
    void complete_block();
    void enter_region() {
        if (b_->region != m_.region) [[unlikely]]
            core_.enter_region(b_->region, first_issue_);
    }
    block_exit save(block_exit why, const context& c, unsigned nzvc, cycle next, cycle last);
    block_exit leave_between(block_exit why, const context& c, unsigned nzvc);
    block_exit leave_before(const micro_op& o, block_exit why, const context& c, unsigned nzvc,
                            std::uint32_t target, bool taken);
    void save_pipeline(const micro_op& o, std::uint32_t target, bool taken);

    core::implementation& core_;
    machine& m_;
    const cycle enough_;       // no block begins there or later
    const cycle limit_;        // a block that began before may end as late as this
    const cycle quiet_until_;  // all slots before it are the core's
    block* b_ = nullptr;
    const block* came_from_ = nullptr;  // what its last instruction left behind holds at the entry of b_
    std::uint32_t to_pc_ = 0;           // of b_, or where no block starts
    block_exit why_ = block_exit::step;
    const micro_op* stop_ = nullptr;  // of b_: up to here it may run
    const undo_entry* const log_end_ = core_.undo.data() + core_.undo.size();

    cycle start_ = 0, next_ = 0, last_issue_ = 0;
    cycle first_issue_ = 0;  // of b_'s first instruction
    cycle base_ = 0;         // the same, had its word to be fetched
    unsigned interlock_ = 0;
    bool fetched_ = false;
    std::uint64_t retired_before_ = 0, load_use_before_ = 0, register_wait_before_ = 0;
    // Not contended: the last register load in b_ and its issue cycle, which base_ no longer tells.
    std::uint32_t register_index_ = 0;
    cycle register_issue_ = 0;
    std::uint64_t edges_ = 0;
    std::uint32_t probe_pc_ = 0;
};

template <bool contended>
void block_run<contended>::begin(block* first) {
    b_ = first;
    to_pc_ = m_.pc;
    start_ = next_ = m_.next_issue;
    last_issue_ = m_.last_issue;
    retired_before_ = m_.retired;
    load_use_before_ = m_.load_use;
    register_wait_before_ = m_.register_wait;
    interlock_ =
        m_.loading != 0 && (b_->first_reads >> m_.loading & 1) != 0 ? core_.config.load_use_cycles : 0;
    fetched_ = m_.fetched == (b_->pc & ~(core_.config.slot_bytes - 1));
    edges_ = core_.probe.edges_to_arm;
    probe_pc_ = core_.probe.armed ? core_.probe.pc : core_.probe.head;
}

// May b_ run, up to stop_?
template <bool contended>
inline bool block_run<contended>::enter(const undo_entry* log) {
    const cycle first_issue = next_ + interlock_;
    const cycle base = first_issue - (fetched_ ? b_->saved_by_fetch : 0);
    const bool whole = base + b_->cost <= limit_;
    const micro_op* stop = end_of_ops();
    if (log + b_->stores > log_end_) [[unlikely]] {
        why_ = block_exit::log_full;
        return false;
    }
    if constexpr (contended) {
        // Back to the cheaper way when nobody wants the SRAM for a while.
        constexpr cycle worth_it = 64;
        if (whole && (m_.cursor.next_due >> core_.slot_shift) >= next_ + worth_it) {
            why_ = block_exit::quiet;
            return false;
        }
    } else {
        if (!whole) stop = stop_from(b_->ops.data(), base);
        if (next_ >= enough_ || stop == b_->ops.data()) {
            why_ = block_exit::limit;
            return false;
        }
    }
    first_issue_ = first_issue;
    base_ = base;
    stop_ = stop;
    register_index_ = core_state::never32;
    return true;
}

// Not contended, and b_ as a whole comes too late: its first op from here on whose instruction issues where
// it is enough, or takes a slot that may not be the core's.
template <bool contended>
const micro_op* block_run<contended>::stop_from(const micro_op* op, cycle base) const {
    const micro_op* const end = end_of_ops();
    for (const micro_op* next = op; op != end; op = next) {
        while (next != end && (next == op || (next->slots & no_instruction) != 0)) ++next;
        if ((op->slots & no_instruction) != 0) continue;
        const cycle over = base + (next != end ? next->issue - next->interlock : b_->cost);
        const cycle issue = op->index == 0 ? next_ + interlock_ : base + op->issue;
        if (issue >= enough_ || over > quiet_until_) return op;
    }
    return end;
}

// The cycle in which the instruction issues; contended: when it is the next one.
template <bool contended>
inline cycle block_run<contended>::issue_of(const micro_op& o) const {
    if (o.index == 0) return first_issue_;
    return contended ? next_ + o.interlock : base_ + o.issue;
}

// Contended: the instruction has happened; it gets its slots.
template <bool contended>
inline void block_run<contended>::take_slots(const micro_op& o, unsigned not_taken) {
    const cycle at = issue_of(o);
    last_issue_ = at;
    next_ = at + 1;
    const unsigned slots = o.slots - (o.index == 0 && fetched_ ? 1u : 0u) - not_taken;
    if (slots == 0) return;
    const slot from = at << core_.slot_shift;
    slot last = from + slots - 1;
    if (m_.cursor.next_due <= last) {
        last = core_.schedule.take(m_.cursor, from);
        for (unsigned n = 1; n < slots; ++n) last = core_.schedule.take(m_.cursor, last + 1);
    }
    next_ = std::max(next_, (last >> core_.slot_shift) + 1);
}

// An access to a register: done when it is a load whose value is known ahead.
template <bool contended>
block_run<contended>::register_access block_run<contended>::access_register(const micro_op& o,
                                                                            std::uint32_t* r) {
    static constexpr std::array<std::uint8_t, 5> load_widths{4, 2, 2, 1, 1};
    static constexpr std::array<std::uint8_t, 3> store_widths{4, 2, 1};
    const unsigned load = static_cast<unsigned>(o.code) - static_cast<unsigned>(micro::load_w);
    const unsigned store = static_cast<unsigned>(o.code) - static_cast<unsigned>(micro::store_w);
    const bool loads = load < load_widths.size();
    if (!loads && store >= store_widths.size()) return register_access::none;
    const unsigned bytes = loads ? load_widths[load] : store_widths[store];
    const std::uint32_t address = r[o.a] + o.k;
    if (address % bytes != 0 || address <= core_.sram.size() - bytes || !core_.devices.mapped(address, bytes))
        return register_access::none;
    const cycle at = issue_of(o);
    const auto known = loads ? core_.devices.peek(address, bytes, at) : std::nullopt;
    if (!known) return register_access::in_kernel_time;
    core_.probe.next_change = std::min(core_.probe.next_change, known->next_change);
    core_.note_exchange(exchange_record::kind::register_load, at, b_->pc + 4u * o.index, address,
                        known->value);
    load_register(o, r, at, known->value);
    return register_access::done;
}

// It takes no data slot, so what comes after it in the block comes earlier than worked out, or later by the
// cost of the register access.
template <bool contended>
void block_run<contended>::load_register(const micro_op& o, std::uint32_t* r, cycle at, std::uint32_t value) {
    switch (o.code) {
        case micro::load_h:
            r[o.d] = static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
            break;
        case micro::load_b:
            r[o.d] = static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
            break;
        default:
            r[o.d] = value;
    }
    const core_config& config = core_.config;
    m_.register_wait += config.register_load_cycles;
    if constexpr (contended) {
        take_slots(o, config.load_slots);
        next_ += config.register_load_cycles;
    } else {
        const auto cycles = [&](unsigned slots) {
            return std::max<cycle>(1, (slots + config.slots_per_cycle - 1) >> core_.slot_shift);
        };
        const unsigned slots = o.slots - (o.index == 0 && fetched_ ? 1u : 0u);
        base_ += config.register_load_cycles - (cycles(slots) - cycles(slots - config.load_slots));
        register_index_ = o.index;
        register_issue_ = at;
        stop_ = base_ + b_->cost <= limit_ ? end_of_ops() : stop_from(&o + 1, base_);
    }
}

template <bool contended>
inline void block_run<contended>::complete_block() {
    enter_region();
    core_.history.add(b_->pc, b_->instructions);
    m_.retired += b_->instructions;
    m_.load_use += b_->load_use + interlock_;
    if constexpr (!contended) {
        last_issue_ = b_->instructions == 1                     ? first_issue_
                      : register_index_ == b_->instructions - 1 ? register_issue_
                                                                : base_ + b_->last_issue;
        next_ = base_ + b_->cost;
    }
}

// Goes on at pc; false when run() has to stop there, for the reason in why_.
template <bool contended>
inline bool block_run<contended>::follow(block_link& link, std::uint32_t pc) {
    to_pc_ = pc;
    const bool backward = pc <= b_->pc;
    came_from_ = b_;
    if (link.to == nullptr) [[unlikely]] {
        link = core_.cache.link(*b_, pc);
        why_ = block_exit::step;
        if (link.to == nullptr) return false;
    }
    interlock_ = link.interlock;
    fetched_ = link.fetched;
    b_ = link.to;
    if (!backward) return true;
    why_ = block_exit::edge;
    return --edges_ != 0 && pc != probe_pc_;
}

template <bool contended>
block_exit block_run<contended>::save(block_exit why, const context& c, unsigned nzvc, cycle next,
                                      cycle last) {
    m_.nzvc = nzvc;
    m_.next_issue = next;
    m_.last_issue = last;
    // Every cycle is an issue or a wait.
    m_.slot_wait += (next - start_) - (m_.retired - retired_before_) - (m_.load_use - load_use_before_) -
                    (m_.register_wait - register_wait_before_);
    core_.undo_count = static_cast<std::size_t>(c.log - core_.undo.data());
    core_.loads.add(c.loads);
    core_.probe.dirty |= c.dirty;
    core_.probe.edges_to_arm = std::max<std::uint64_t>(edges_, 1);
    return why;
}

template <bool contended>
block_exit block_run<contended>::leave_between(block_exit why, const context& c, unsigned nzvc) {
    m_.pc = to_pc_;
    m_.next_pc = to_pc_ + 4;
    m_.second_next_pc = to_pc_ + 8;
    if (came_from_ != nullptr) {
        m_.loading = came_from_->loading;
        m_.fetched = came_from_->fetched;
    }
    return save(why, c, nzvc, next_, last_issue_);
}

template <bool contended>
void block_run<contended>::save_pipeline(const micro_op& o, std::uint32_t target, bool taken) {
    m_.pc = b_->pc + 4u * o.index;
    m_.next_pc = m_.pc + 4;
    m_.second_next_pc = m_.pc + 8;
    if (o.index + b_->slots_at_end < b_->instructions) return;
    const std::uint32_t goes_to = b_->end == block_end::jump_register ? target
                                  : taken                             ? b_->target
                                                                      : b_->pc + 4 * b_->instructions;
    m_.delay_slots = b_->instructions - o.index;
    if (m_.delay_slots == 2) {
        m_.second_next_pc = goes_to;
    } else if (m_.delay_slots == 1) {
        m_.next_pc = goes_to;
        m_.second_next_pc = goes_to + 4;
    }
}

template <bool contended>
block_exit block_run<contended>::leave_before(const micro_op& o, block_exit why, const context& c,
                                              unsigned nzvc, std::uint32_t target, bool taken) {
    if (o.index == 0) return leave_between(why, c, nzvc);

    unsigned waits = interlock_;
    const micro_op* previous = nullptr;
    for (const micro_op& p : b_->ops) {
        if (p.index >= o.index) break;
        if ((p.slots & no_instruction) != 0) continue;
        waits += p.interlock;
        previous = &p;
    }
    save_pipeline(o, target, taken);
    const bool late = (previous->op & late_result) != 0 && previous->d > reg_pc && previous->d != sink;
    m_.loading = late ? previous->d : 0;
    m_.fetched = (m_.pc - 4) & ~(core_.config.slot_bytes - 1);
    m_.retired += o.index;
    m_.load_use += waits;
    core_.history.add(b_->pc, o.index);
    enter_region();
    if (contended) return save(why, c, nzvc, next_, last_issue_);
    const cycle last = previous->index == 0                 ? first_issue_
                       : previous->index == register_index_ ? register_issue_
                                                            : base_ + previous->issue;
    return save(why, c, nzvc, base_ + o.issue - o.interlock, last);
}

template <bool contended>
block_exit block_run<contended>::operator()() {
    block* const first = core_.cache.find(m_.pc);
    if (first == nullptr) return block_exit::step;
    begin(first);
    context c{m_.r.data(),
              core_.sram.data(),
              static_cast<std::uint32_t>(core_.sram.size()),
              core_.cache.words(),
              core_.undo.data() + core_.undo_count,
              core_.unread.bits()};
    std::uint32_t* const r = c.r;
    unsigned nzvc = m_.nzvc;
    std::uint32_t target = 0;
    bool taken = false;
    const auto holds = [&](const micro_op& o) { return (o.mask >> nzvc & 1) != 0; };

    for (;;) {
        if (!enter(c.log)) return leave_between(why_, c, nzvc);
        taken = b_->end == block_end::jump;
        for (const micro_op* op = b_->ops.data(); op != stop_; ++op) {
            const micro_op& o = *op;
            const bool timed = contended && (o.slots & no_instruction) == 0;
            if (timed && issue_of(o) >= limit_) [[unlikely]]
                return leave_before(o, block_exit::limit, c, nzvc, target, taken);
            bool fits = true;
            switch (o.code) {
                case micro::nop:
                    break;
                case micro::constant:
                    r[o.d] = o.k;
                    break;
                case micro::read_pc:
                    r[reg_pc] = o.k;
                    break;
                case micro::add_k:
                    r[o.d] = r[o.a] + o.k;
                    break;
                case micro::and_k:
                    r[o.d] = r[o.a] & o.k;
                    break;
                case micro::or_k:
                    r[o.d] = r[o.a] | o.k;
                    break;
                case micro::xor_k:
                    r[o.d] = r[o.a] ^ o.k;
                    break;
                case micro::shl_k:
                    r[o.d] = r[o.a] << o.k;
                    break;
                case micro::shr_k:
                    r[o.d] = r[o.a] >> o.k;
                    break;
                case micro::sar_k:
                    r[o.d] = static_cast<std::uint32_t>(static_cast<std::int32_t>(r[o.a]) >> o.k);
                    break;
                case micro::add_sp: {
                    const std::uint32_t sp = r[o.a] + o.k;
                    fits = sp >= core_.config.stack_limit;
                    if (fits) r[reg_sp] = sp;
                    break;
                }
                case micro::sub_k_f: {
                    const flagged f = sub_flags(r[o.a], o.k);
                    r[o.d] = f.value;
                    nzvc = f.nzvc;
                    break;
                }
                case micro::add_k_f: {
                    const flagged f = add_flags(r[o.a], o.k);
                    r[o.d] = f.value;
                    nzvc = f.nzvc;
                    break;
                }
                case micro::and_k_f:
                    nzvc = flags::nz(r[o.d] = r[o.a] & o.k);
                    break;
                case micro::add:
                    r[o.d] = r[o.a] + r[o.b];
                    break;
                case micro::sub:
                    r[o.d] = r[o.a] - r[o.b];
                    break;
                case micro::and_:
                    r[o.d] = r[o.a] & r[o.b];
                    break;
                case micro::or_:
                    r[o.d] = r[o.a] | r[o.b];
                    break;
                case micro::xor_:
                    r[o.d] = r[o.a] ^ r[o.b];
                    break;
                case micro::shift:
                    r[o.d] = shift_logical(r[o.a], r[o.b]);
                    break;
                case micro::shift_arithmetic:
                    r[o.d] = shift_arithmetic(r[o.a], r[o.b]);
                    break;
                case micro::sub_f: {
                    const flagged f = sub_flags(r[o.a], r[o.b]);
                    r[o.d] = f.value;
                    nzvc = f.nzvc;
                    break;
                }
                case micro::add_f: {
                    const flagged f = add_flags(r[o.a], r[o.b]);
                    r[o.d] = f.value;
                    nzvc = f.nzvc;
                    break;
                }
                case micro::and_f:
                    nzvc = flags::nz(r[o.d] = r[o.a] & r[o.b]);
                    break;
                case micro::or_f:
                    nzvc = flags::nz(r[o.d] = r[o.a] | r[o.b]);
                    break;
                case micro::select:
                    r[o.d] = holds(o) ? r[o.a] : r[o.b];
                    break;
                case micro::set_condition:
                    r[o.d] = holds(o) ? 1 : 0;
                    break;
                case micro::popc:
                    r[o.d] = static_cast<std::uint32_t>(std::popcount(r[o.a]));
                    break;
                case micro::leadz:
                    r[o.d] = static_cast<std::uint32_t>(std::countl_zero(r[o.a]));
                    break;
                case micro::trailz:
                    r[o.d] = static_cast<std::uint32_t>(std::countr_zero(r[o.a]));
                    break;
                case micro::alu_if:
                    if (!holds(o)) break;
                    [[fallthrough]];
                case micro::alu:
                case micro::alu_k: {
                    const std::uint32_t b = o.code == micro::alu_k ? o.k : r[o.b];
                    const alu_result a = alu(static_cast<operation>(o.op & ~sets_flags), r[o.a], b, nzvc);
                    r[o.d] = a.value;
                    if ((o.op & sets_flags) != 0) nzvc = a.f;
                    break;
                }
                case micro::load_w:
                    fits = load<std::uint32_t>(c, o);
                    break;
                case micro::load_h:
                    fits = load<std::int16_t>(c, o);
                    break;
                case micro::load_uh:
                    fits = load<std::uint16_t>(c, o);
                    break;
                case micro::load_b:
                    fits = load<std::int8_t>(c, o);
                    break;
                case micro::load_ub:
                    fits = load<std::uint8_t>(c, o);
                    break;
                case micro::load_w_post:
                    fits = load<std::uint32_t, mode::post>(c, o);
                    break;
                case micro::load_h_post:
                    fits = load<std::int16_t, mode::post>(c, o);
                    break;
                case micro::load_uh_post:
                    fits = load<std::uint16_t, mode::post>(c, o);
                    break;
                case micro::load_b_post:
                    fits = load<std::int8_t, mode::post>(c, o);
                    break;
                case micro::load_ub_post:
                    fits = load<std::uint8_t, mode::post>(c, o);
                    break;
                case micro::load_w_pre:
                    fits = load<std::uint32_t, mode::pre>(c, o);
                    break;
                case micro::load_h_pre:
                    fits = load<std::int16_t, mode::pre>(c, o);
                    break;
                case micro::load_uh_pre:
                    fits = load<std::uint16_t, mode::pre>(c, o);
                    break;
                case micro::load_b_pre:
                    fits = load<std::int8_t, mode::pre>(c, o);
                    break;
                case micro::load_ub_pre:
                    fits = load<std::uint8_t, mode::pre>(c, o);
                    break;
                case micro::load_w_rr:
                    fits = load<std::uint32_t, mode::indexed>(c, o);
                    break;
                case micro::load_h_rr:
                    fits = load<std::int16_t, mode::indexed>(c, o);
                    break;
                case micro::load_uh_rr:
                    fits = load<std::uint16_t, mode::indexed>(c, o);
                    break;
                case micro::load_b_rr:
                    fits = load<std::int8_t, mode::indexed>(c, o);
                    break;
                case micro::load_ub_rr:
                    fits = load<std::uint8_t, mode::indexed>(c, o);
                    break;
                case micro::store_w:
                    fits = store<std::uint32_t>(c, o);
                    break;
                case micro::store_h:
                    fits = store<std::uint16_t>(c, o);
                    break;
                case micro::store_b:
                    fits = store<std::uint8_t>(c, o);
                    break;
                case micro::store_w_post:
                    fits = store<std::uint32_t, mode::post>(c, o);
                    break;
                case micro::store_h_post:
                    fits = store<std::uint16_t, mode::post>(c, o);
                    break;
                case micro::store_b_post:
                    fits = store<std::uint8_t, mode::post>(c, o);
                    break;
                case micro::push:
                    fits = r[o.a] + o.k >= core_.config.stack_limit && store<std::uint32_t, mode::pre>(c, o);
                    break;
                case micro::store_w_pre:
                    fits = store<std::uint32_t, mode::pre>(c, o);
                    break;
                case micro::store_h_pre:
                    fits = store<std::uint16_t, mode::pre>(c, o);
                    break;
                case micro::store_b_pre:
                    fits = store<std::uint8_t, mode::pre>(c, o);
                    break;
                case micro::store_w_rr:
                    fits = store<std::uint32_t, mode::indexed>(c, o);
                    break;
                case micro::store_h_rr:
                    fits = store<std::uint16_t, mode::indexed>(c, o);
                    break;
                case micro::store_b_rr:
                    fits = store<std::uint8_t, mode::indexed>(c, o);
                    break;
                case micro::branch_if:
                    taken = holds(o);
                    break;
                case micro::jump_register:
                    target = r[o.a];
                    break;
                case micro::load_pc: {
                    const std::uint32_t address = r[o.a] + o.k;
                    fits = c.in_sram<std::uint32_t>(address);
                    if (!fits) break;
                    c.loads.add(address);
                    target = load_be32(c.sram + address);
                    break;
                }
                default:
                    __builtin_unreachable();  // spares the dispatch a check
            }
            if (!fits) [[unlikely]] {
                const register_access what = access_register(o, r);
                if (what != register_access::done)
                    return leave_before(o,
                                        what == register_access::none ? block_exit::step : block_exit::device,
                                        c, nzvc, target, taken);
            } else if (timed) {
                take_slots(o, 0);
            }
        }
        if (!contended && stop_ != end_of_ops()) [[unlikely]]
            return leave_before(*stop_, block_exit::limit, c, nzvc, target, taken);
        complete_block();
        block_link looked_up;
        const bool register_jump = b_->end == block_end::jump_register;
        block_link& link = register_jump ? looked_up : b_->links[taken ? 1 : 0];
        const std::uint32_t pc = register_jump ? target : taken ? b_->target : b_->pc + 4 * b_->instructions;
        if (!follow(link, pc)) return leave_between(why_, c, nzvc);
    }
}

block_exit core::implementation::run_fast(cycle enough, cycle limit) {
    // Slots before the next one that another port is due at are all the core's.
    const cycle quiet_until = live.cursor.next_due == never ? never : live.cursor.next_due >> slot_shift;
    constexpr cycle worth_it = 8;  // less would have to go over to the other way at once
    if (quiet_until > live.next_issue + worth_it) {
        const block_exit why = block_run<false>(*this, enough, limit, quiet_until)();
        if (why != block_exit::limit || live.next_issue >= enough) return why;
        if (!live.ready_for_block()) return block_exit::step;
    }
    return block_run<true>(*this, enough, enough, never)();
}

}  // namespace vinic::lanai
