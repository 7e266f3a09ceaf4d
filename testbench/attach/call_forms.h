// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "vipl/attach/functions.h"
#include "vipl/vipl.h"

namespace vinic::testbench {

/// What programs open and make. In a trace of calls each has a number among its kind, in its process, in the
/// order in which they were made.
enum class object { nic, tag, vi, queue, connection, region };
inline constexpr std::size_t object_kinds = 6;

/// What a parameter of a VIPL function is to a trace of calls (README.md, `--record`).
enum class role {
    handle,             ///< of an object
    made,               ///< where the handle of a new object goes
    number,             ///< a count, a time-out, a flag
    text,               ///< a name
    net_address,        ///< node and discriminator
    memory_attributes,  ///< protection tag and permissions
    vi_attributes,      ///< the same, reliability and transfer size
    memory,             ///< the beginning of what is registered or has been
    descriptor,         ///< of a post
    address_result,     ///< written by the call; in a trace only when the program passes null
    attributes_result,  ///< likewise
    result,             ///< likewise
    context,            ///< of a handler
    handler,
};

struct parameter {
    const char* key;
    role is;
    object of = object::nic;
};

struct call_form {
    const char* name;
    std::vector<parameter> parameters;
};

/// The functions of VIPL by their numbers (vipl/attach/functions.h).
const std::vector<call_form>& call_forms();
/// The number of a function; nothing for a name that is none.
std::optional<std::uint32_t> call_number(const std::string& name);

/// Functions that look once, and are called again until they find something.
bool polls(std::uint32_t function);

/// The handle that a call that succeeded has written for this parameter, if it makes an object; takes what it
/// wrote from the payload, whose pieces stand in the order of the parameters.
std::optional<std::uint64_t> made_handle(const parameter& what, vipl::attach::payload_reader& from);
/// Room for an address as large as any.
union net_address_room {
    VIP_NET_ADDRESS address;
    std::array<std::uint8_t, 160> bytes{};
};
/// One from a payload.
net_address_room take_net_address(vipl::attach::payload_reader& from);

/// "VIP_SUCCESS" and so on.
std::string return_name(VIP_RETURN code);
/// The code of a name; nothing for a name that is none.
std::optional<VIP_RETURN> return_code(const std::string& name);

/// Host and discriminator of a VIP_NET_ADDRESS, as a trace has them.
json to_json(const VIP_NET_ADDRESS& address);

/// Throws json exceptions, or input_error.
net_address_room net_address_from(const json& text);

/// The handles of the objects that a process has made, by kind and number.
class object_numbers {
public:
    unsigned add(object of, std::uint64_t handle) {
        const auto kind = static_cast<std::size_t>(of);
        const auto number = static_cast<unsigned>(handles_[kind].size());
        handles_[kind].push_back(handle);
        numbers_[kind][handle] = number;
        return number;
    }
    /// Of the latest object of that handle.
    std::optional<unsigned> number_of(object of, std::uint64_t handle) const {
        const auto& all = numbers_[static_cast<std::size_t>(of)];
        const auto found = all.find(handle);
        return found == all.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<std::uint64_t> handle_of(object of, std::uint64_t number) const {
        const auto& all = handles_[static_cast<std::size_t>(of)];
        return number < all.size() ? std::optional(all[number]) : std::nullopt;
    }

private:
    std::array<std::vector<std::uint64_t>, object_kinds> handles_;
    std::array<std::map<std::uint64_t, unsigned>, object_kinds> numbers_;
};

}  // namespace vinic::testbench
