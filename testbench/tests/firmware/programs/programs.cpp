// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <array>
#include <bit>
#include <span>
#include <type_traits>

extern "C" {
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
int memcmp(const void*, const void*, size_t);
}

namespace {

void report64(uint64_t v) {
    report(static_cast<uint32_t>(v >> 32));
    report(static_cast<uint32_t>(v));
}

__attribute__((noinline)) uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) uint32_t ackermann(uint32_t m, uint32_t n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

uint32_t crc32(const uint8_t* p, size_t n) {
    uint32_t c = 0xFFFFFFFFu;
    for (; n > 0; --n) {
        c ^= *p++;
        for (int k = 0; k < 8; ++k) c = c >> 1 ^ (0xEDB88320u & (0u - (c & 1)));
    }
    return ~c;
}

uint8_t crc8(const uint8_t* p, size_t n) {
    uint8_t c = 0;
    for (; n > 0; --n) {
        c = static_cast<uint8_t>(c ^ *p++);
        for (int k = 0; k < 8; ++k) c = static_cast<uint8_t>(c & 0x80 ? c << 1 ^ 0x07 : c << 1);
    }
    return c;
}

const uint32_t edge[] = {0,      1,       2,          3,          7,          10,         0x7FFF, 0x8000,
                         0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 1000,   123456789};

// A dense switch of more than 100 cases, for which the compiler makes a jump table (facts A11).
__attribute__((noinline)) uint32_t big_switch(uint32_t v) {
    switch (v) {
#define C(n)  \
    case (n): \
        return ((n)*2654435761u) ^ ((n) << 7);
#define C10(n) C(n) C(n + 1) C(n + 2) C(n + 3) C(n + 4) C(n + 5) C(n + 6) C(n + 7) C(n + 8) C(n + 9)
        C10(0)
        C10(10)
        C10(20)
        C10(30)
            C10(40) C10(50) C10(60) C10(70) C10(80) C10(90) C10(100) C10(110)
#undef C10
#undef C
                default : return v +
                          1;
    }
}

__attribute__((noinline)) uint32_t action_switch(uint32_t v, uint32_t& state) {
    switch (v & 15) {
        case 0:
            state += 3;
            break;
        case 1:
            state ^= v;
            break;
        case 2:
            state = std::rotl(state, 5);
            [[fallthrough]];
        case 3:
            state -= 7;
            break;
        case 5:
            return state;
        case 8:
            state <<= 1;
            break;
        case 13:
            state = ~state;
            break;
        default:
            state += v & 15;
    }
    return v;
}

struct shape {
    virtual ~shape() = default;
    virtual uint32_t area() const = 0;
    virtual uint32_t corners() const { return 0; }
};
struct square : shape {
    explicit square(uint32_t s) : side(s) {}
    uint32_t area() const override { return side * side; }
    uint32_t corners() const override { return 4; }
    uint32_t side;
};
struct rectangle final : square {
    rectangle(uint32_t a, uint32_t b) : square(a), other(b) {}
    uint32_t area() const override { return side * other; }
    uint32_t other;
};
struct circle : shape {
    explicit circle(uint32_t r) : radius(r) {}
    uint32_t area() const override { return radius * radius * 355 / 113; }
    uint32_t radius;
};

struct counted {
    explicit counted(uint32_t v) : value(v * 3 + order++) {}
    uint32_t value;
    static uint32_t order;
};
uint32_t counted::order = 100;
counted first_static(1), second_static(2);
std::array<counted, 3> static_array{counted(7), counted(8), counted(9)};
__attribute__((noinline)) uint32_t local_static(uint32_t v) {
    static counted c(v);
    return c.value++;
}

struct packet {
    uint8_t kind;
    int8_t delta;
    uint16_t length;
    int16_t offset;
    uint32_t sequence;
    uint64_t address;
    uint32_t low : 5, middle : 11, high : 16;
};
struct pair {
    uint32_t a, b;
};
struct triple {
    uint32_t a, b, c;
};
__attribute__((noinline)) pair swapped(pair p) { return {p.b, p.a}; }
__attribute__((noinline)) uint32_t many(uint32_t a, uint32_t b, uint64_t c, uint32_t d, triple t, int8_t e,
                                        uint16_t f) {
    return a + 2 * b + 3 * static_cast<uint32_t>(c >> 32) + 5 * static_cast<uint32_t>(c) + 7 * d + 11 * t.a +
           13 * t.b + 17 * t.c + static_cast<uint32_t>(e) * 19 + f * 23u;
}
__attribute__((noinline)) packet make_packet(generator& g) {
    packet p;
    p.kind = static_cast<uint8_t>(g.next());
    p.delta = static_cast<int8_t>(g.next());
    p.length = static_cast<uint16_t>(g.next());
    p.offset = static_cast<int16_t>(g.next());
    p.sequence = g.next();
    p.address = static_cast<uint64_t>(g.next()) << 32 | g.next();
    p.low = g.next() & 31;
    p.middle = g.next() & 2047;
    p.high = g.next() & 65535;
    return p;
}

template <typename T>
__attribute__((noinline)) void sort(std::span<T> v) {
    for (size_t gap = v.size() / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < v.size(); ++i) {
            const T x = v[i];
            size_t j = i;
            for (; j >= gap && x < v[j - gap]; j -= gap) v[j] = v[j - gap];
            v[j] = x;
        }
}

template <typename T>
void report_sorted() {
    generator g;
    std::array<T, 97> values;
    for (T& v : values) v = static_cast<T>(g.next());
    sort(std::span<T>(values));
    for (const T v : values) report(static_cast<uint32_t>(v));
}

alignas(8) uint8_t buffer[512], other[512];

void fill() {
    generator g;
    for (uint8_t& b : buffer) b = static_cast<uint8_t>(g.next());
    for (uint8_t& b : other) b = static_cast<uint8_t>(g.next());
}

}  // namespace

extern "C" {

void run_recursion() {
    report(fib(16));
    report(ackermann(2, 5));
}

void run_crc() {
    const uint8_t check[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    report(crc32(check, 9));
    report(crc8(check, 9));
    fill();
    for (size_t n = 0; n < 64; n += 7) report(crc32(buffer + n, n) ^ crc8(buffer, n));
}

void run_arithmetic32() {
    for (const uint32_t a : edge)
        for (const uint32_t b : edge) {
            report(a * b);
            report(a + b);
            report(a - b);
            if (b != 0) {
                report(a / b);
                report(a % b);
            }
            const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
            if (y != 0 && !(a == 0x80000000u && y == -1)) {
                report(static_cast<uint32_t>(x / y));
                report(static_cast<uint32_t>(x % y));
            }
            report(static_cast<uint32_t>(x >> (b & 31)));
            report(a >> (b & 31));
            report(a << (b & 31));
            report((x < y ? 1u : 0u) | (x <= y ? 2u : 0u) | (a < b ? 4u : 0u) | (a <= b ? 8u : 0u) |
                   (a == b ? 16u : 0u));
        }
}

void run_arithmetic64() {
    generator g;
    uint64_t values[14];
    for (unsigned n = 0; n < 14; ++n) {
        const uint64_t high = n < 10 ? edge[(n * 5) & 15] : g.next(),
                       low = n < 10 ? edge[(n * 7) & 15] : g.next();
        values[n] = n % 5 == 4 ? low : high << 32 | low;
    }
    for (const uint64_t a : values)
        for (const uint64_t b : values) {
            report64(a * b);
            report64(a + b);
            report64(a - b);
            if (b != 0) {
                report64(a / b);
                report64(a % b);
            }
            const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
            if (y != 0 && !(a == 0x8000000000000000u && y == -1)) {
                report64(static_cast<uint64_t>(x / y));
                report64(static_cast<uint64_t>(x % y));
            }
            report64(static_cast<uint64_t>(x >> (b & 63)));
            report64(a >> (b & 63));
            report64(a << (b & 63));
            report((x < y ? 1u : 0u) | (x <= y ? 2u : 0u) | (a < b ? 4u : 0u) | (a <= b ? 8u : 0u) |
                   (a == b ? 16u : 0u));
        }
}

void run_switches() {
    for (uint32_t v = 0; v < 140; ++v) report(big_switch(v));
    generator g;
    uint32_t state = 1;
    for (int n = 0; n < 300; ++n) {
        report(action_switch(g.next(), state));
        report(state);
    }
}

void run_virtual_calls() {
    square s(7);
    rectangle r(5, 9);
    circle c(11);
    shape* shapes[] = {&s, &r, &c, &r, &s};
    for (const shape* p : shapes) {
        report(p->area());
        report(p->corners());
    }
}

void run_static_constructors() {
    report(first_static.value);
    report(second_static.value);
    for (const counted& c : static_array) report(c.value);
    report(local_static(4));
    report(local_static(5));
    report(counted::order);
}

void run_memory() {
    for (size_t size = 0; size < 80; size = size < 20 ? size + 1 : size + 13)
        for (size_t to = 0; to < 5; ++to)
            for (size_t from = 0; from < 5; ++from) {
                fill();
                memcpy(buffer + 100 + to, other + from, size);
                report(crc32(buffer, 256));
                memmove(buffer + to, buffer + 10 + from, size);
                memmove(buffer + 60 + to, buffer + 50 + from, size);
                memset(buffer + 200 + from, static_cast<int>(size * 3), size);
                report(crc32(buffer, 300));
                const int order = memcmp(buffer + to, other + from, size);
                report(order < 0 ? 1 : order > 0 ? 2 : 3);
                memcpy(buffer + to, other + from, size);
                report(memcmp(buffer + to, other + from, size) == 0 ? 1 : 0);
            }
}

void run_structures() {
    generator g;
    for (int n = 0; n < 20; ++n) {
        const packet p = make_packet(g);
        packet q = p;
        q.sequence += n;
        report(q.kind + static_cast<uint32_t>(q.delta) + q.length + static_cast<uint32_t>(q.offset));
        report(q.sequence);
        report64(q.address);
        report(q.low ^ q.middle << 5 ^ q.high << 16);
        const pair s = swapped({p.sequence, g.next()});
        report(s.a);
        report(s.b);
        const uint32_t a = g.next(), b = g.next(), d = g.next(), e = g.next() & 7;
        report(many(a, b, p.address, d, {e, 3, 4}, p.delta, p.length));
    }
}

void run_sorting() {
    report_sorted<uint32_t>();
    report_sorted<int32_t>();
    report_sorted<uint16_t>();
    report_sorted<int16_t>();
    report_sorted<uint8_t>();
    report_sorted<int8_t>();
}

void run_library() {
    generator g;
    for (int n = 0; n < 200; ++n) {
        const uint32_t v = n < 33 ? (n == 0 ? 0u : 1u << (n - 1)) : g.next() >> (n & 15);
        report(static_cast<uint32_t>(std::popcount(v)));
        report(static_cast<uint32_t>(std::countl_zero(v)));
        report(static_cast<uint32_t>(std::countr_zero(v)));
        report(std::rotr(v, n & 31));
        report(__builtin_bswap32(v));
        int32_t sum = 0;
        const bool overflow =
            __builtin_sadd_overflow(static_cast<int32_t>(v), static_cast<int32_t>(g.state), &sum);
        report(static_cast<uint32_t>(sum) + (overflow ? 1u : 0u));
    }
    static_assert(std::is_trivially_copyable_v<pair>);
}

}  // extern "C"
