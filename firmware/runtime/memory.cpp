// SPDX-License-Identifier: Apache-2.0
// Memory routines, word by word wherever a word fits: a byte store costs SRAM two slots (facts/lanai_pcix.md
// A7).
#include <stddef.h>
#include <stdint.h>

namespace {

using byte = unsigned char;

inline uintptr_t misalignment(const void* p) { return reinterpret_cast<uintptr_t>(p) & 3; }

inline const uint32_t* words(const void* p) { return static_cast<const uint32_t*>(p); }
inline uint32_t* words(void* p) { return static_cast<uint32_t*>(p); }

// Both aligned. Loads before stores, so that no store waits for its load.
inline void copy_words(uint32_t*& to, const uint32_t*& from, size_t count) {
    for (; count >= 8; count -= 8) {
        const uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
        const uint32_t e = from[4], f = from[5], g = from[6], h = from[7];
        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
        to[4] = e, to[5] = f, to[6] = g, to[7] = h;
        to += 8;
        from += 8;
    }
    for (; count > 0; --count) *to++ = *from++;
}

// The target aligned, the source `shift` bits behind a word: two words of the source make one of the target.
inline void copy_shifted(uint32_t*& to, const byte*& from, size_t count) {
    const int shift = static_cast<int>(misalignment(from) * 8);
    const uint32_t* source = words(from - misalignment(from));
    uint32_t left = *source++;
    for (size_t n = 0; n < count; ++n) {
        const uint32_t right = *source++;
        *to++ = left << shift | right >> (32 - shift);
        left = right;
    }
    from += 4 * count;
}

void copy_forward(byte* to, const byte* from, size_t size) {
    if (size >= 8) {
        for (; misalignment(to) != 0; --size) *to++ = *from++;
        uint32_t* t = words(to);
        const size_t count = size / 4;
        if (misalignment(from) == 0) {
            const uint32_t* f = words(from);
            copy_words(t, f, count);
            from = reinterpret_cast<const byte*>(f);
        } else {
            copy_shifted(t, from, count);
        }
        to = reinterpret_cast<byte*>(t);
        size &= 3;
    }
    for (; size > 0; --size) *to++ = *from++;
}

void copy_backward(byte* to, const byte* from, size_t size) {
    to += size;
    from += size;
    if (misalignment(to) == misalignment(from)) {
        for (; size > 0 && misalignment(to) != 0; --size) *--to = *--from;
        uint32_t* t = words(to);
        const uint32_t* f = words(from);
        for (; size >= 4; size -= 4) *--t = *--f;
        to = reinterpret_cast<byte*>(t);
        from = reinterpret_cast<const byte*>(f);
    }
    for (; size > 0; --size) *--to = *--from;
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, size_t size) {
    copy_forward(static_cast<byte*>(to), static_cast<const byte*>(from), size);
    return to;
}

void* memmove(void* to, const void* from, size_t size) {
    auto* t = static_cast<byte*>(to);
    const auto* f = static_cast<const byte*>(from);
    // Unsigned: also true when the source is behind the target's end.
    if (static_cast<size_t>(t - f) >= size)
        copy_forward(t, f, size);
    else
        copy_backward(t, f, size);
    return to;
}

void* memset(void* to, int value, size_t size) {
    auto* t = static_cast<byte*>(to);
    const auto b = static_cast<byte>(value);
    if (size >= 8) {
        for (; misalignment(t) != 0; --size) *t++ = b;
        const uint32_t half = b | static_cast<uint32_t>(b) << 8, word = half | half << 16;
        uint32_t* w = words(t);
        for (; size >= 32; size -= 32) {
            w[0] = word, w[1] = word, w[2] = word, w[3] = word;
            w[4] = word, w[5] = word, w[6] = word, w[7] = word;
            w += 8;
        }
        for (; size >= 4; size -= 4) *w++ = word;
        t = reinterpret_cast<byte*>(w);
    }
    for (; size > 0; --size) *t++ = b;
    return to;
}

int memcmp(const void* a, const void* b, size_t size) {
    const auto *x = static_cast<const byte*>(a), *y = static_cast<const byte*>(b);
    if (misalignment(x) == 0 && misalignment(y) == 0) {
        // Equal words are passed over; the loop below finds the byte that differs.
        for (; size >= 4 && *words(x) == *words(y); size -= 4) {
            x += 4;
            y += 4;
        }
    }
    for (; size > 0; --size, ++x, ++y)
        if (*x != *y) return *x < *y ? -1 : 1;
    return 0;
}

}  // extern "C"
