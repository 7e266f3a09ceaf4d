// SPDX-License-Identifier: Apache-2.0
// Little programs for the tests of the card, encoded by hw/nic/lanai/isa.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hw/nic/bytes.h"
#include "hw/nic/lanai/isa.h"

namespace vinic::nic::test {

class assembler {
public:
    using form = lanai::form;
    using op = lanai::operation;
    using condition = lanai::condition;

    assembler& label(const std::string& name) {
        labels_[name] = here();
        return *this;
    }
    std::uint32_t here() const { return static_cast<std::uint32_t>(words_.size() * 4); }

    /// rd = value: two instructions.
    assembler& li(unsigned rd, std::uint32_t value) {
        ri(op::or_, rd, 0, value & 0xFFFF0000u, true);
        return ri(op::or_, rd, rd, value & 0xFFFF, false);
    }
    assembler& addi(unsigned rd, unsigned rs, std::uint32_t value) {
        return ri(op::add, rd, rs, value, false);
    }
    assembler& subi(unsigned rd, unsigned rs, std::uint32_t value) {
        return ri(op::sub, rd, rs, value, false);
    }
    assembler& and_(unsigned rd, unsigned a, unsigned b) { return rr(op::and_, rd, a, b, false); }
    assembler& add(unsigned rd, unsigned a, unsigned b) { return rr(op::add, rd, a, b, false); }
    /// Sets the flags by a & b, or a - b.
    assembler& test(unsigned a, unsigned b) { return rr(op::and_, 0, a, b, true); }
    assembler& compare(unsigned a, unsigned b) { return rr(op::sub, 0, a, b, true); }
    assembler& ld(unsigned rd, unsigned base, std::int32_t offset) { return rm(rd, base, offset, false); }
    assembler& st(unsigned rd, unsigned base, std::int32_t offset) { return rm(rd, base, offset, true); }
    assembler& store_byte(unsigned rd, unsigned base, std::int32_t offset) {
        return put({.format = form::spls,
                    .rd = static_cast<std::uint8_t>(rd),
                    .rs1 = static_cast<std::uint8_t>(base),
                    .store = true,
                    .pre = offset != 0,
                    .bytes = 1,
                    .immediate = offset});
    }
    /// With a nop in the delay slot.
    assembler& branch(condition when, const std::string& to) {
        branches_.emplace_back(words_.size(), when, to);
        words_.push_back(0);
        return nop();
    }
    assembler& jump(const std::string& to) { return branch(condition::t, to); }
    assembler& nop() {
        words_.push_back(1);
        return *this;
    }
    assembler& word(std::uint32_t w) {
        words_.push_back(w);
        return *this;
    }

    std::vector<std::uint8_t> bytes() const {
        std::vector<std::uint32_t> words = words_;
        for (const auto& [at, when, to] : branches_)
            words[at] = lanai::encode(
                {.format = form::br, .cond = when, .immediate = static_cast<std::int32_t>(labels_.at(to))});
        std::vector<std::uint8_t> result(words.size() * 4);
        for (std::size_t i = 0; i < words.size(); ++i) store_big(result.data() + 4 * i, words[i]);
        return result;
    }

private:
    assembler& put(const lanai::instruction& i) {
        words_.push_back(lanai::encode(i));
        return *this;
    }
    assembler& ri(op o, unsigned rd, unsigned rs, std::uint32_t value, bool high) {
        return put({.format = form::ri,
                    .op = o,
                    .rd = static_cast<std::uint8_t>(rd),
                    .rs1 = static_cast<std::uint8_t>(rs),
                    .high = high,
                    .immediate = static_cast<std::int32_t>(value)});
    }
    assembler& rr(op o, unsigned rd, unsigned a, unsigned b, bool flags) {
        return put({.format = form::rr,
                    .op = o,
                    .cond = condition::t,
                    .rd = static_cast<std::uint8_t>(rd),
                    .rs1 = static_cast<std::uint8_t>(a),
                    .rs2 = static_cast<std::uint8_t>(b),
                    .sets_flags = flags});
    }
    assembler& rm(unsigned rd, unsigned base, std::int32_t offset, bool store) {
        return put({.format = form::rm,
                    .rd = static_cast<std::uint8_t>(rd),
                    .rs1 = static_cast<std::uint8_t>(base),
                    .store = store,
                    .pre = offset != 0,
                    .bytes = 4,
                    .immediate = offset});
    }

    struct branch_site {
        std::size_t at;
        condition when;
        std::string to;
    };
    std::vector<std::uint32_t> words_;
    std::vector<branch_site> branches_;
    std::map<std::string, std::uint32_t> labels_;
};

}  // namespace vinic::nic::test
