// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "firmware/linker/image.h"
#include "hw/nic/lanai_core.h"

namespace vinic::testbench {

/// Where the firmware's code comes from, for reports of the core.
class firmware_symbols : public nic::symbol_source {
public:
    explicit firmware_symbols(const linker::image& image);

    std::optional<nic::code_location> locate(std::uint32_t pc) const override;
    /// The innermost function of the source, inlined or not; inlined ones of a few instructions count as the
    /// function that they are part of.
    const nic::code_regions& regions() const override { return regions_; }

private:
    void mark(std::uint32_t begin, std::uint32_t end, const std::string& function);

    linker::image image_;
    nic::code_regions regions_;
    std::deque<std::string> names_;
    std::map<std::string, std::uint16_t> numbers_;
};

}  // namespace vinic::testbench
