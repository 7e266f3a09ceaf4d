// SPDX-License-Identifier: Apache-2.0
// What the compiler calls for integer arithmetic that LANai has no instructions for (facts/lanai_pcix.md
// A11).
#include <stdint.h>

namespace {

struct division {
    uint32_t quotient, remainder;
};

// Shift and subtract, only over the bits that the quotient can have.
inline division divide(uint32_t n, uint32_t d) {
    uint32_t quotient = 0;
    if (d == 0) return {0xFFFFFFFFu, n};
    if (n < d) return {0, n};
    int steps = __builtin_clz(d) - __builtin_clz(n);
    d <<= steps;
    for (;; --steps) {
        quotient <<= 1;
        if (n >= d) {
            n -= d;
            quotient |= 1;
        }
        d >>= 1;
        if (steps == 0) return {quotient, n};
    }
}

struct division64 {
    uint64_t quotient, remainder;
};

inline int leading_zeros(uint64_t v) {
    const uint32_t high = static_cast<uint32_t>(v >> 32);
    return high != 0 ? __builtin_clz(high) : 32 + __builtin_clz(static_cast<uint32_t>(v));
}

__attribute__((noinline)) division64 divide64(uint64_t n, uint64_t d) {
    if (static_cast<uint32_t>(n >> 32) == 0 && static_cast<uint32_t>(d >> 32) == 0) {
        const division small = divide(static_cast<uint32_t>(n), static_cast<uint32_t>(d));
        return {small.quotient, small.remainder};
    }
    if (d == 0) return {~uint64_t{0}, n};
    if (n < d) return {0, n};
    int steps = leading_zeros(d) - leading_zeros(n);
    uint64_t quotient = 0;
    d <<= steps;
    for (;; --steps) {
        quotient <<= 1;
        if (n >= d) {
            n -= d;
            quotient |= 1;
        }
        d >>= 1;
        if (steps == 0) return {quotient, n};
    }
}

inline uint32_t magnitude(int32_t v) {
    return v < 0 ? 0u - static_cast<uint32_t>(v) : static_cast<uint32_t>(v);
}
inline uint64_t magnitude(int64_t v) {
    return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// One addition per bit of the factor that has fewer.
inline uint32_t multiply(uint32_t a, uint32_t b) {
    if (__builtin_popcount(a) < __builtin_popcount(b)) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    uint32_t product = 0;
    for (; b != 0; b &= b - 1) product += a << __builtin_ctz(b);
    return product;
}

inline uint64_t multiply_wide(uint32_t a, uint32_t b) {
    if (__builtin_popcount(a) < __builtin_popcount(b)) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    uint32_t low = 0, high = 0;
    for (; b != 0; b &= b - 1) {
        const int shift = __builtin_ctz(b);
        const uint32_t part = a << shift;
        low += part;
        high += (low < part ? 1u : 0u) + (shift == 0 ? 0u : a >> (32 - shift));
    }
    return static_cast<uint64_t>(high) << 32 | low;
}

}  // namespace

extern "C" {

uint32_t __mulsi3(uint32_t a, uint32_t b) { return multiply(a, b); }
uint32_t __udivsi3(uint32_t n, uint32_t d) { return divide(n, d).quotient; }
uint32_t __umodsi3(uint32_t n, uint32_t d) { return divide(n, d).remainder; }

int32_t __divsi3(int32_t n, int32_t d) {
    const uint32_t q = divide(magnitude(n), magnitude(d)).quotient;
    return static_cast<int32_t>((n ^ d) < 0 ? 0u - q : q);
}

int32_t __modsi3(int32_t n, int32_t d) {
    const uint32_t r = divide(magnitude(n), magnitude(d)).remainder;
    return static_cast<int32_t>(n < 0 ? 0u - r : r);
}

uint64_t __muldi3(uint64_t a, uint64_t b) {
    const uint32_t a_low = static_cast<uint32_t>(a), a_high = static_cast<uint32_t>(a >> 32);
    const uint32_t b_low = static_cast<uint32_t>(b), b_high = static_cast<uint32_t>(b >> 32);
    const uint32_t cross = multiply(a_high, b_low) + multiply(a_low, b_high);
    return multiply_wide(a_low, b_low) + (static_cast<uint64_t>(cross) << 32);
}

uint64_t __udivdi3(uint64_t n, uint64_t d) { return divide64(n, d).quotient; }
uint64_t __umoddi3(uint64_t n, uint64_t d) { return divide64(n, d).remainder; }

int64_t __divdi3(int64_t n, int64_t d) {
    const uint64_t q = divide64(magnitude(n), magnitude(d)).quotient;
    return static_cast<int64_t>((n ^ d) < 0 ? uint64_t{0} - q : q);
}

int64_t __moddi3(int64_t n, int64_t d) {
    const uint64_t r = divide64(magnitude(n), magnitude(d)).remainder;
    return static_cast<int64_t>(n < 0 ? uint64_t{0} - r : r);
}

// Halves as words: a 64-bit shift in here would call this function again.
int64_t __ashrdi3(int64_t value, int amount) {
    const int32_t high = static_cast<int32_t>(value >> 32);
    const uint32_t low = static_cast<uint32_t>(value);
    uint32_t new_low = low;
    int32_t new_high = high;
    if (amount >= 32) {
        new_low = static_cast<uint32_t>(high >> (amount - 32));
        new_high = high >> 31;
    } else if (amount > 0) {
        new_low = low >> amount | static_cast<uint32_t>(high) << (32 - amount);
        new_high = high >> amount;
    }
    return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(new_high)) << 32 | new_low);
}

}  // extern "C"
