// SPDX-License-Identifier: Apache-2.0
// A card of nothing but SRAM, core and the simulator's ports, to run an image in a test.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firmware/abi/lanai_registers.h"
#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"

namespace vinic::lanai::testing {

class card final : public device_port {
public:
    using maker = std::function<std::unique_ptr<processor>(const core_config&, std::span<std::uint8_t> sram,
                                                           device_port&)>;

    explicit card(const std::filesystem::path& path, core_config config = {},
                  std::size_t bytes_of_sram = 1u << 20, const maker& make = make_model)
        : image_(path), sram_(bytes_of_sram) {
        config.entry_pc = image_.entry();
        config.stack_limit = image_.address_of("__stack_limit").value_or(0);
        for (const linker::image_segment& s : image_.segments())
            std::copy(s.bytes.begin(), s.bytes.end(), sram_.begin() + s.address);
        core_ = make(config, sram_, *this);
    }

    // Until the core stands in an idle loop, traps, fails an assertion, or `limit` cycles are over.
    void run(cycle limit) {
        cycle now = 0;
        constexpr cycle slice = 100'000;
        while (now < limit && assertion_.empty()) {
            const run_result r =
                core_->run_ahead(core_->config().lockstep ? now + 1 : std::min(limit, now + slice));
            if (r.reason == stop_reason::idle) return;
            const bool halted = core_->config().lockstep && r.at % 64 == 0 && in_halt();
            if (halted) return;
            now = std::min(r.at, limit);
            core_->sync(now);
            if (r.reason == stop_reason::trap) return;
            if (r.reason == stop_reason::device_access && r.at < limit) core_->execute_device_access(now);
        }
    }

    processor& core() { return *core_; }
    const linker::image& image() const { return image_; }
    std::vector<std::uint8_t>& sram() { return sram_; }
    const std::vector<std::uint32_t>& logged() const { return logged_; }
    const std::vector<cycle>& log_cycles() const { return log_cycles_; }  // of each logged word
    const std::string& text() const { return text_; }
    const std::string& assertion() const { return assertion_; }
    std::string describe_trap() const {
        const auto t = core_->pending_trap();
        return t ? fmt::format("{} at cycle {}: {}", to_string(t->kind), t->at, image_.describe(t->pc))
                 : "no trap";
    }

private:
    static std::unique_ptr<processor> make_model(const core_config& config, std::span<std::uint8_t> sram,
                                                 device_port& devices) {
        return std::make_unique<lanai::core>(config, sram, devices);
    }
    // crt0 ends in a branch to itself: lock-step skips no idle loop, so it is recognised by its place.
    bool in_halt() const {
        const linker::image_symbol* f = image_.function_at(core_->state().pc);
        return f != nullptr && f->name == "_start" && core_->state().pc >= f->address + f->size - 8;
    }
    bool mapped(std::uint32_t address, unsigned bytes) const override {
        using namespace abi::simulator;
        return bytes == 4 && (address == assert_port || address == log_port || address == log_word_port);
    }
    std::uint32_t load(std::uint32_t, unsigned, cycle) override { return 0; }
    void store(std::uint32_t address, unsigned, std::uint32_t value, cycle at) override {
        if (address == abi::simulator::log_word_port) {
            logged_.push_back(value);
            log_cycles_.push_back(at);
        } else if (address == abi::simulator::log_port)
            text_ += static_cast<char>(value);
        else
            assertion_ = value < sram_.size() ? reinterpret_cast<const char*>(sram_.data() + value) : "?";
    }
    std::optional<register_value> peek(std::uint32_t, unsigned, cycle) const override { return std::nullopt; }

    linker::image image_;
    std::vector<std::uint8_t> sram_;
    std::unique_ptr<processor> core_;
    std::vector<std::uint32_t> logged_;
    std::vector<cycle> log_cycles_;
    std::string text_, assertion_;
};

}  // namespace vinic::lanai::testing
