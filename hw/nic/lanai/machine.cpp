// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/machine.h"

namespace vinic::lanai {
namespace {

alu_result sum(std::uint32_t a, std::uint32_t b, unsigned carry_in) {
    const std::uint64_t wide = std::uint64_t{a} + b + carry_in;
    const auto value = static_cast<std::uint32_t>(wide);
    return {value, flags::of_sum(a, b, value, wide)};
}

// Amounts beyond -31..31 are undefined; like the silicon's comment in LLVM they wrap (facts A13 item 7).
alu_result shift(std::uint32_t a, std::uint32_t amount, bool arithmetic) {
    if (static_cast<std::int32_t>(amount) < 0) {
        const unsigned n = (0u - amount) & 31;
        const std::uint32_t value =
            arithmetic ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> n) : a >> n;
        return {value, flags::nz(value)};
    }
    const unsigned n = amount & 31;
    const std::uint32_t value = a << n;
    const bool out = n != 0 && (a >> (32 - n) & 1) != 0;
    return {value, flags::nz(value) | (out ? flags::c : 0)};
}

}  // namespace

alu_result alu(operation op, std::uint32_t a, std::uint32_t b, unsigned flags_before) {
    const unsigned carry = flags_before & flags::c;
    const auto logic = [](std::uint32_t value) { return alu_result{value, flags::nz(value)}; };
    switch (op) {
        case operation::add:
            return sum(a, b, 0);
        case operation::addc:
            return sum(a, b, carry);
        case operation::sub:
            return sum(a, ~b, 1);
        case operation::subb:
            return sum(a, ~b, carry);
        case operation::and_:
            return logic(a & b);
        case operation::or_:
            return logic(a | b);
        case operation::xor_:
            return logic(a ^ b);
        case operation::shift_logical:
            return shift(a, b, false);
        case operation::shift_arithmetic:
            return shift(a, b, true);
        case operation::popc:
            return logic(static_cast<std::uint32_t>(std::popcount(a)));
        case operation::leadz:
            return logic(static_cast<std::uint32_t>(std::countl_zero(a)));
        case operation::trailz:
            return logic(static_cast<std::uint32_t>(std::countr_zero(a)));
        case operation::select:
        case operation::none:
            break;
    }
    return {};
}

}  // namespace vinic::lanai
