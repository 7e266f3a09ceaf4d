// SPDX-License-Identifier: Apache-2.0
// What a NIC's firmware does all day, over and over: take a doorbell from a queue, read the descriptor, look
// the pages up, build a header, start the engines, write a completion. No register is touched: this is the
// core's own work.
#include <array>

#include "firmware/runtime/firmware.h"

namespace {

struct descriptor {
    uint32_t control, length, address_high, address_low, handle, immediate;
    uint16_t segments, status;
    uint32_t next;
};
struct doorbell {
    uint32_t vi, descriptor;
};
struct header {
    uint32_t route, type_vi, sequence, length_flags, address_high, address_low;
};
struct vi_state {
    uint32_t sequence, window, credits, completions;
    uint8_t kind, reliable;
    uint16_t peer;
};

constexpr uint32_t queue_entries = 64, vis = 16, pages = 256;
std::array<doorbell, queue_entries> queue;
std::array<descriptor, queue_entries> ring;
std::array<vi_state, vis> states;
std::array<uint32_t, pages> translation;
std::array<header, 8> headers;
std::array<uint32_t, 1024> completions;
uint32_t consumer, producer, header_slot;

uint32_t translate(uint32_t handle, uint32_t offset) {
    const uint32_t page = (handle + (offset >> 12)) % pages;
    return translation[page] << 12 | (offset & 0xFFF);
}

uint16_t checksum(const uint32_t* words, uint32_t count) {
    uint32_t sum = 0;
    for (; count > 0; --count, ++words) {
        sum += *words & 0xFFFF;
        sum += *words >> 16;
    }
    while ((sum >> 16) != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

void send(const doorbell& bell) {
    vi_state& vi = states[bell.vi % vis];
    descriptor& d = ring[bell.descriptor % queue_entries];
    if (d.length > 4096 || vi.credits == 0) {
        d.status = 0x100;
        return;
    }
    header& h = headers[header_slot++ % headers.size()];
    h.route = 0x80818200u | vi.peer;
    h.type_vi = static_cast<uint32_t>(vi.kind) << 24 | bell.vi;
    h.sequence = vi.sequence++;
    h.length_flags = d.length << 8 | d.segments | (vi.reliable != 0 ? 0x80u : 0u);
    const uint32_t left = 4096 - (d.address_low & 0xFFF);
    h.address_low = translate(d.handle, d.address_low);
    h.address_high = d.length > left ? translate(d.handle, d.address_low + left) : 0;
    h.route ^= checksum(&h.type_vi, 5);
    d.status = static_cast<uint16_t>(1 + (d.control & 3));
    completions[vi.completions++ % completions.size()] = bell.vi << 16 | (h.sequence & 0xFFFF);
    --vi.credits;
}

void receive_acknowledgement(uint32_t vi) {
    vi_state& s = states[vi % vis];
    s.credits = s.credits + 4 > s.window ? s.window : s.credits + 4;
}

}  // namespace

extern "C" int main() {
    for (uint32_t n = 0; n < queue_entries; ++n) {
        queue[n] = {n * 7 & 15, n * 5 & 63};
        ring[n] = {n, 64 + n * 60, 0, n * 1000, n * 3, n, 2, 0, n + 1};
    }
    for (uint32_t n = 0; n < vis; ++n)
        states[n] = {
            0, 32, 32, 0, static_cast<uint8_t>(n), static_cast<uint8_t>(n & 1), static_cast<uint16_t>(n)};
    for (uint32_t n = 0; n < pages; ++n) translation[n] = n * 2654435761u >> 12;
    for (;;) {
        producer = consumer + 8;
        while (consumer != producer) {
            const doorbell& bell = queue[consumer++ % queue_entries];
            send(bell);
            if ((consumer & 3) == 0) receive_acknowledgement(bell.vi);
        }
    }
}
