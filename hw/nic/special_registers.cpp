// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/special_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "firmware/abi/lanai_registers.h"
#include "hw/sim/error.h"

namespace vinic::nic {

namespace {

using place = std::pair<std::uint32_t, chip_register>;
using r = chip_register;

constexpr place lanai9_map[] = {
    {abi::lanai9::ISR, r::isr},     {abi::lanai9::EIMR, r::eimr},       {abi::lanai9::IT0, r::it0},
    {abi::lanai9::RTC, r::rtc},     {abi::lanai9::LAR, r::lar},         {abi::lanai9::CPUC, r::cpuc},
    {abi::lanai9::PULSE, r::pulse}, {abi::lanai9::IT1, r::it1},         {abi::lanai9::IT2, r::it2},
    {abi::lanai9::RMW, r::rmw},     {abi::lanai9::RMC, r::rmc},         {abi::lanai9::RMP, r::rmp},
    {abi::lanai9::RML, r::rml},     {abi::lanai9::SMP, r::smp},         {abi::lanai9::SMH, r::smh},
    {abi::lanai9::SML, r::sml},     {abi::lanai9::SMLT, r::smlt},       {abi::lanai9::SMC, r::smc},
    {abi::lanai9::SA, r::sa},       {abi::lanai9::MYRINET, r::myrinet}, {abi::lanai9::DEBUG, r::debug},
    {abi::lanai9::LED, r::led},     {abi::lanai9::MP, r::mp},           {abi::lanai9::CLOCK, r::clock}};

// On the LANai 7 CTR stands where the 9 has the cycle counter; TIMEOUT is a register of its own (B4).
constexpr std::uint32_t lanai7_timeout = 0x128;

constexpr place lanai4_map[] = {{abi::lanai4::ISR, r::isr},
                                {abi::lanai4::EIMR, r::eimr},
                                {abi::lanai4::IT, r::it0},
                                {abi::lanai4::RTC, r::rtc},
                                {abi::lanai4::CKS, r::cks},
                                {abi::lanai4::EAR, r::ear},
                                {abi::lanai4::LAR, r::lar},
                                {abi::lanai4::DMA_CTR, r::dma_ctr},
                                {abi::lanai4::RMP, r::rmp},
                                {abi::lanai4::RML, r::rml},
                                {abi::lanai4::SMP, r::smp},
                                {abi::lanai4::SML, r::sml},
                                {abi::lanai4::SMLT, r::smlt},
                                {abi::lanai4::SA, r::sa},
                                {abi::lanai4::DMA_DIR, r::dma_dir},
                                {abi::lanai4::DMA_STS, r::dma_sts},
                                {abi::lanai4::TIMEOUT, r::timeout},
                                {abi::lanai4::MYRINET, r::myrinet},
                                {abi::lanai4::LED, r::led},
                                {abi::lanai4::VERSION, r::version},
                                {abi::lanai4::WRITE_ENABLE, r::write_enable}};

using bit = std::pair<isr_event, std::uint32_t>;
using e = isr_event;

constexpr bit lanai9_bits[] = {{e::head, abi::lanai9::ISR_HEAD},
                               {e::recv, abi::lanai9::ISR_RECV},
                               {e::buff, abi::lanai9::ISR_BUFF},
                               {e::send, abi::lanai9::ISR_SEND},
                               {e::wake0, abi::lanai9::ISR_WAKE0},
                               {e::wake1, abi::lanai9::ISR_WAKE1},
                               {e::wake2, abi::lanai9::ISR_WAKE2},
                               {e::time0, abi::lanai9::ISR_TIME0},
                               {e::time1, abi::lanai9::ISR_TIME1},
                               {e::time2, abi::lanai9::ISR_TIME2},
                               {e::orun1, abi::lanai9::ISR_ORUN1},
                               {e::orun2, abi::lanai9::ISR_ORUN2},
                               {e::orun4, abi::lanai9::ISR_ORUN4},
                               {e::nres, abi::lanai9::ISR_NRES},
                               {e::mem, abi::lanai9::ISR_MEM},
                               {e::par, abi::lanai9::ISR_PAR},
                               {e::link_down, abi::lanai9::ISR_LINK_DOWN},
                               {e::lanai_sig, abi::lanai9::ISR_LANAI_SIG},
                               {e::host_sig, abi::lanai9::ISR_HOST_SIG}};

constexpr bit lanai4_bits[] = {{e::recv, abi::lanai4::ISR_RECV},        {e::buff, abi::lanai4::ISR_BUFF},
                               {e::send, abi::lanai4::ISR_SEND},        {e::dma, abi::lanai4::ISR_DMA},
                               {e::time0, abi::lanai4::ISR_TIME},       {e::orun1, abi::lanai4::ISR_ORUN1},
                               {e::orun2, abi::lanai4::ISR_ORUN2},      {e::wake0, abi::lanai4::ISR_WAKE},
                               {e::wake1, abi::lanai4::ISR_WAKE},       {e::wake2, abi::lanai4::ISR_WAKE},
                               {e::nres, abi::lanai4::ISR_NRES},        {e::link_down, abi::lanai4::ISR_LINK},
                               {e::host_sig, abi::lanai4::ISR_HOST_SIG}};

constexpr isr_event timer_events[] = {e::time0, e::time1, e::time2};

bool is_simulator_port(std::uint32_t address) {
    return address == abi::simulator::assert_port || address == abi::simulator::log_port ||
           address == abi::simulator::log_word_port;
}

}  // namespace

special_registers::special_registers(const sc_core::sc_module_name& name, const card_clock& clock,
                                     const chip_traits& traits, sram& memory)
    : module(name),
      tick_ps(*this, {.name = "tick_ps",
                      .unit = "ps",
                      .value = abi::lanai9::tick_ns * std::uint64_t{1000},
                      .min = 1000,
                      .max = 1'000'000'000,
                      .help = "tick of the real-time clock and the interval timers",
                      .source = "facts/lanai_pcix.md B4"}),
      clock_(clock),
      memory_(memory),
      base_(traits.kind == chip::lanai4 ? abi::lanai4::register_base : abi::lanai9::register_base) {
    const bool old = traits.kind == chip::lanai4;
    const auto enter = [this](const place& p) { decode_[p.first] = static_cast<std::uint8_t>(p.second) + 1; };
    for (const place& p : old ? std::span<const place>(lanai4_map) : std::span<const place>(lanai9_map))
        enter(p);
    if (traits.kind == chip::lanai7) enter({lanai7_timeout, r::timeout});
    for (const bit& b : old ? std::span<const bit>(lanai4_bits) : std::span<const bit>(lanai9_bits))
        masks_[static_cast<std::size_t>(b.first)] = b.second;
    // The LANai 7 has one WAKE bit for all channels (B5).
    if (traits.kind == chip::lanai7)
        for (const e event : {e::wake1, e::wake2})
            masks_[static_cast<std::size_t>(event)] = abi::lanai9::ISR_WAKE0;
}

void special_registers::connect(chip_register which, handler by) {
    handlers_[static_cast<std::size_t>(which)] = std::move(by);
}

std::optional<chip_register> special_registers::decode(std::uint32_t address) const {
    if (address < base_ || address - base_ >= decode_.size()) return std::nullopt;
    const std::uint8_t entry = decode_[address - base_];
    if (entry == 0) return std::nullopt;
    return static_cast<chip_register>(entry - 1);
}

bool special_registers::mapped(std::uint32_t address, unsigned bytes) const {
    return bytes == 4 && (decode(address).has_value() || is_simulator_port(address));
}

std::uint32_t special_registers::load(std::uint32_t address, unsigned, cycle at) {
    const auto which = decode(address);
    return which ? read(*which, at) : 0;
}

void special_registers::store(std::uint32_t address, unsigned, std::uint32_t value, cycle at) {
    if (const auto which = decode(address))
        write(*which, value, at, false);
    else
        store_simulator_port(address, value);
}

std::optional<lanai::register_value> special_registers::peek(std::uint32_t address, unsigned,
                                                             cycle at) const {
    const auto which = decode(address);
    return which ? value_of(*which, at) : std::nullopt;
}

std::uint32_t special_registers::load_offset(std::uint32_t offset, cycle at) {
    const auto which = decode(base_ + offset);
    return which ? read(*which, at) : 0;
}

void special_registers::store_offset(std::uint32_t offset, std::uint32_t value, cycle at) {
    if (core_) core_->sync();
    if (const auto which = decode(base_ + offset)) write(*which, value, at, true);
}

/// The registers that are functions of time.
std::optional<lanai::register_value> special_registers::value_of(chip_register which, cycle at) const {
    const auto timer_value = [&](unsigned n) -> lanai::register_value {
        const auto gone = static_cast<std::uint32_t>(ticks(at) - timers_[n].since);
        return {timers_[n].loaded - gone, next_tick(at)};
    };
    switch (which) {
        case r::isr: {
            if (nothing_comes()) return lanai::register_value{isr_, lanai::never};
            const std::uint32_t value = isr_at(at);
            cycle change = lanai::never;
            if (coming_from_ > at && (coming_ & ~value) != 0) change = coming_from_;
            for (std::size_t n = 0; n < timers_.size(); ++n)
                if (timers_[n].seen_from > at && (mask_of(timer_events[n]) & ~value) != 0)
                    change = std::min(change, timers_[n].seen_from);
            return lanai::register_value{value, change};
        }
        case r::rtc:
            return lanai::register_value{static_cast<std::uint32_t>(ticks(at)) + rtc_offset_, next_tick(at)};
        case r::cpuc:
            return lanai::register_value{static_cast<std::uint32_t>(at - cpuc_base_), at + 1};
        case r::it0:
            return timer_value(0);
        case r::it1:
            return timer_value(1);
        case r::it2:
            return timer_value(2);
        default:
            return std::nullopt;
    }
}

std::uint32_t special_registers::read(chip_register which, cycle at) {
    if (const auto value = value_of(which, at)) return value->value;
    const handler& h = handlers_[static_cast<std::size_t>(which)];
    return h.load ? h.load(at) : word(which);
}

void special_registers::write(chip_register which, std::uint32_t value, cycle at, bool by_host) {
    switch (which) {
        case r::isr:
            return store_isr(value, at, by_host);
        case r::eimr:
            word(which) = value;
            return plan_interrupt();
        case r::it0:
            return load_timer(0, value, at);
        case r::it1:
            return load_timer(1, value, at);
        case r::it2:
            return load_timer(2, value, at);
        case r::rtc:
            rtc_offset_ = value - static_cast<std::uint32_t>(ticks(at));
            return;
        case r::cpuc:
            cpuc_base_ = at - value;
            return;
        default:
            break;
    }
    word(which) = value;
    const handler& h = handlers_[static_cast<std::size_t>(which)];
    if (h.store) h.store(value, at);
}

/// Writing 1 clears the event bits. HOST_SIG is set by the LANai and cleared by the host, LANAI_SIG the other
/// way round.
void special_registers::store_isr(std::uint32_t value, cycle at, bool by_host) {
    settle(at);
    const isr_event sets = by_host ? e::lanai_sig : e::host_sig;
    isr_ &= ~(value & ~mask_of(sets));
    if ((value & mask_of(sets)) != 0) raise({sets});
    isr_seen_.set(clock_.time_of(clock_.seen()), isr_ | coming_);
    if (interrupt_driven_) plan_interrupt();
}

void special_registers::load_timer(unsigned number, std::uint32_t value, cycle at) {
    settle(at);
    timer& t = timers_[number];
    t.loaded = value;
    t.since = ticks(at);
    t.seen_from = std::max(clock_.domain().edge_after((t.since + value) * tick_ps), at + 1);
    if ((word(r::eimr) & mask_of(timer_events[number])) != 0) plan_interrupt();
}

std::uint32_t special_registers::isr_at(cycle at) const {
    std::uint32_t value = isr_;
    if (coming_from_ <= at) value |= coming_;
    for (std::size_t n = 0; n < timers_.size(); ++n)
        if (timers_[n].seen_from <= at) value |= mask_of(timer_events[n]);
    return value;
}

bool special_registers::nothing_comes() const {
    return coming_ == 0 && timers_[0].seen_from == lanai::never && timers_[1].seen_from == lanai::never &&
           timers_[2].seen_from == lanai::never;
}

/// What is seen in cycle `at` stands in isr_ from now on.
void special_registers::settle(cycle at) {
    isr_ = isr_at(at);
    if (coming_from_ <= at) coming_ = 0;
    for (timer& t : timers_)
        if (t.seen_from <= at) t.seen_from = lanai::never;
}

void special_registers::raise(std::initializer_list<isr_event> events) {
    std::uint32_t bits = 0;
    for (const isr_event event : events) bits |= mask_of(event);
    if (bits == 0) return;
    if (core_) core_->sync();
    const cycle from = clock_.seen();
    settle(from - 1);
    coming_ |= bits;
    coming_from_ = from;
    isr_seen_.set(clock_.time_of(from), isr_ | coming_);
    if ((bits & word(r::eimr)) != 0) plan_interrupt();
}

void special_registers::enable_interrupt(bool on) {
    interrupt_enabled_ = on;
    plan_interrupt();
}

/// After everything that arrives on the edge.
void special_registers::plan_interrupt() {
    if (interrupt_enabled_ || interrupt_driven_)
        interrupt_timer_.no_later_than(clock_.time_of(clock_.seen(), phase::arbitrate));
}

void special_registers::update_interrupt() {
    const cycle at = clock_.domain().edge_at_or_before(sim::now());
    const bool level = interrupt_enabled_ && (isr_at(at) & word(r::eimr)) != 0;
    if (level != interrupt_driven_) {
        interrupt_driven_ = level;
        if (level) host_interrupts.add();
        interrupt_level.set(level);
        if (interrupt) interrupt(level);
    }
    if (!interrupt_enabled_ || level) return;
    cycle next = lanai::never;
    for (std::size_t n = 0; n < timers_.size(); ++n)
        if ((word(r::eimr) & mask_of(timer_events[n])) != 0) next = std::min(next, timers_[n].seen_from);
    if (next != lanai::never) interrupt_timer_.no_later_than(clock_.time_of(next, phase::arbitrate));
}

void special_registers::store_simulator_port(std::uint32_t address, std::uint32_t value) {
    if (address == abi::simulator::log_word_port) {
        log_word.set(value);
    } else if (address == abi::simulator::log_port) {
        const char c = static_cast<char>(value);
        if (c != '\n' && line_.size() < 4096) {
            line_ += c;
            return;
        }
        log.report(sim::now(), std::span(reinterpret_cast<const std::uint8_t*>(line_.data()), line_.size()),
                   "log");
        line_.clear();
    } else {
        std::string text;
        for (std::uint32_t a = value; memory_.holds(a, 1) && text.size() < 1024; ++a) {
            const std::uint8_t c = memory_.contents()[a];
            if (c == 0) break;
            text += static_cast<char>(c);
        }
        const std::string what = fmt::format("assertion of the firmware: {}", text);
        if (core_) core_->fail(what);
        throw sim::model_error(name(), what);
    }
}

void special_registers::reset() {
    if (core_) core_->sync();
    isr_ = coming_ = 0;
    for (timer& t : timers_) t.seen_from = lanai::never;
    words_.fill(0);
    plan_interrupt();
}

}  // namespace vinic::nic
