// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/block_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vinic::lanai {

namespace {

// Of this process, which simulates in one thread.
std::vector<std::weak_ptr<shared_text>>& all_texts() {
    static std::vector<std::weak_ptr<shared_text>> texts;
    return texts;
}

}  // namespace

// --- The blocks of one text

shared_text::shared_text(std::size_t sram_bytes)
    : words_((sram_bytes + 63) / 64), pages_((sram_bytes + 4095) / 4096) {}

std::shared_ptr<shared_text> shared_text::join(block_cache& user) {
    auto& texts = all_texts();
    std::erase_if(texts, [](const auto& text) { return text.expired(); });
    std::shared_ptr<shared_text> joined;
    for (auto text = texts.begin(); text != texts.end() && !joined; ++text)
        if (auto one = text->lock(); one->agrees(user)) joined = std::move(one);
    if (!joined) {
        joined = std::make_shared<shared_text>(user.sram_.size());
        texts.push_back(joined);
    }
    joined->users_.push_back(&user);
    return joined;
}

void shared_text::leave(const block_cache& user) { std::erase(users_, &user); }

bool shared_text::agrees(const block_cache& with) const {
    const block_cache& known = *users_.front();
    return known.translates_as(with) && std::ranges::all_of(covered_, [&](const range& r) {
               return std::memcmp(&known.sram_[r.begin], &with.sram_[r.begin], r.bytes) == 0;
           });
}

// Translates what starts there.
block* shared_text::enter(std::uint32_t pc, const block_cache& user) {
    auto& p = pages_[pc >> 12];
    if (!p) p = std::make_unique<page>();
    auto fresh = std::make_unique<block>();
    const bool whole = translate(*fresh, user.config_, user.sram_, pc, user.end_of_region(pc));
    if (whole && !user.regions_.empty()) fresh->region = user.regions_[pc / 4];
    // Where no block can start, the word still decides that: writing it must be noticed.
    cover({pc, 4 * (whole ? fresh->instructions : 1)}, user);
    p->starts[pc >> 2 & 1023] = whole ? fresh.get() : &none_;
    if (!whole) return nullptr;
    blocks_.push_back(std::move(fresh));
    return blocks_.back().get();
}

// A user in whose SRAM something else stands leaves.
void shared_text::cover(const range& code, const block_cache& of) {
    for (std::uint32_t word = code.begin >> 2; word < (code.begin + code.bytes) >> 2; ++word)
        words_[word >> 4] = static_cast<std::uint16_t>(words_[word >> 4] | 1u << (word & 15));
    covered_.push_back(code);
    const std::vector<block_cache*> users = users_;
    for (block_cache* user : users)
        if (std::memcmp(&of.sram_[code.begin], &user->sram_[code.begin], code.bytes) != 0) user->clear();
}

bool shared_text::holds_code(std::uint32_t address, std::size_t bytes) const {
    const std::uint64_t end = std::uint64_t{address} + bytes;
    for (std::uint64_t a = address & ~3u; a < end; a += (a & 63) == 0 && words_[a >> 6] == 0 ? 64 : 4)
        if (holds_code(static_cast<std::uint32_t>(a))) return true;
    return false;
}

// --- The text of one core

block_link block_cache::link(const block& from, std::uint32_t pc) {
    block* to = find(pc);
    if (to == nullptr) return {};
    const bool waits = from.loading != 0 && (to->first_reads >> from.loading & 1) != 0;
    return {to, static_cast<std::uint8_t>(waits ? config_.load_use_cycles : 0),
            from.fetched == (pc & ~(config_.slot_bytes - 1))};
}

void block_cache::clear() {
    if (!text_) return;
    text_->leave(*this);
    text_.reset();
    forgot_ = true;
}

bool block_cache::translates_as(const block_cache& other) const {
    const auto timing = [](const core_config& c) {
        return std::array{c.slots_per_cycle,  c.slot_bytes,         c.load_slots,
                          c.word_store_slots, c.narrow_store_slots, c.load_use_cycles};
    };
    return config_.shares_text && other.config_.shares_text && sram_.size() == other.sram_.size() &&
           timing(config_) == timing(other.config_) && regions_ == other.regions_;
}

// Where the region of that word ends, or somewhere in it that no block reaches.
std::uint32_t block_cache::end_of_region(std::uint32_t pc) const {
    const std::uint32_t far = pc + 4 * longest_block;
    if (regions_.empty()) return far;
    std::uint32_t end = pc + 4;
    while (end < far && end / 4 < regions_.size() && regions_[end / 4] == regions_[pc / 4]) end += 4;
    return end;
}

}  // namespace vinic::lanai
