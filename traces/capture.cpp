// SPDX-License-Identifier: Apache-2.0
#include "traces/capture.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/pcapng.h"

namespace vinic::traces {

namespace {

/// Little-endian numbers one behind the other; zeros behind the end.
class cursor {
public:
    explicit cursor(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t integer(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::string_view part = take(bytes);
        for (std::size_t i = part.size(); i > 0; --i)
            value = value << 8 | static_cast<std::uint8_t>(part[i - 1]);
        return value;
    }
    std::uint32_t word() { return static_cast<std::uint32_t>(integer(4)); }
    std::uint16_t half() { return static_cast<std::uint16_t>(integer(2)); }
    /// These bytes; what pads them to whole words is passed over.
    std::string_view padded(std::size_t bytes) {
        const std::string_view part = take(bytes);
        take((4 - bytes % 4) % 4);
        return part;
    }
    bool at_end() const { return bytes_.empty(); }

private:
    std::string_view take(std::size_t bytes) {
        const std::string_view part = bytes_.substr(0, bytes);
        bytes_.remove_prefix(part.size());
        return part;
    }
    std::string_view bytes_;
};

class reader {
public:
    explicit reader(std::string_view file) : file_(file) {}

    capture operator()() {
        if (file_.empty()) fault("empty");
        while (at_ < file_.size() && block()) {
        }
        return std::move(read_);
    }

private:
    template <typename... Args>
    void fault(fmt::format_string<Args...> format, Args&&... args) {
        read_.faults.push_back(
            fmt::format("byte {}: {}", at_, fmt::format(format, std::forward<Args>(args)...)));
    }

    bool block() {
        constexpr std::uint32_t least = 12;
        cursor head(file_.substr(at_, 8));
        const std::uint32_t type = head.word(), length = head.word();
        if (at_ == 0 && type != pcapng::section_header) return fault("no section header"), false;
        if (length < least || length % 4 != 0) return fault("block of {} bytes", length), false;
        if (length > file_.size() - at_)
            return fault("block of {} bytes, the file ends after {}", length, file_.size() - at_), false;
        if (const auto again = cursor(file_.substr(at_ + length - 4, 4)).word(); again != length)
            fault("block of {} bytes that says {} at its end", length, again);
        const std::string_view body = file_.substr(at_ + 8, length - least);
        if (type == pcapng::section_header) section(body);
        if (type == pcapng::interface_description) interface(body);
        if (type == pcapng::enhanced_packet) packet(body);
        at_ += length;
        return true;
    }

    template <typename F>
    void options(cursor from, F&& each) {
        while (!from.at_end()) {
            const std::uint16_t code = from.half(), length = from.half();
            if (code == pcapng::end_of_options) return;
            const std::string_view value = from.padded(length);
            if (value.size() < length) return fault("option {} ends behind its block", code);
            each(code, value);
        }
    }

    void section(std::string_view body) {
        if (cursor(body).word() != pcapng::byte_order_magic) fault("section of another byte order");
    }

    void interface(std::string_view body) {
        cursor from(body);
        if (const auto type = from.half();
            type != pcapng::link_type_user0 && type != pcapng::link_type_ethernet)
            fault("interface of link type {}, expected {} or {}", type, pcapng::link_type_user0,
                  pcapng::link_type_ethernet);
        from.half();
        from.word();
        capture::interface found;
        std::uint64_t resolution = 6;  // the format's default
        options(from, [&](std::uint16_t code, std::string_view value) {
            if (code == pcapng::interface_name) found.name = value;
            if (code == pcapng::interface_text) found.text = value;
            if (code == pcapng::interface_resolution) resolution = cursor(value).integer(1);
        });
        if (resolution != pcapng::picoseconds) fault("interface whose stamps are no picoseconds");
        read_.interfaces.push_back(found);
    }

    void packet(std::string_view body) {
        cursor from(body);
        capture::packet found{};
        found.interface = from.word();
        found.at = std::uint64_t{from.word()} << 32;
        found.at |= from.word();
        const std::uint32_t captured = from.word(), length = from.word();
        const std::string_view bytes = from.padded(captured);
        if (bytes.size() < captured) return fault("packet of {} bytes ends behind its block", captured);
        if (captured != length) fault("packet of {} bytes, only {} of them", length, captured);
        found.bytes = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
        options(from, [&](std::uint16_t code, std::string_view value) {
            if (code == pcapng::comment) found.comment = value;
            if (code == pcapng::packet_flags) found.flags = cursor(value).word();
        });
        if (found.interface >= read_.interfaces.size())
            return fault("packet of interface {}, there are {}", found.interface, read_.interfaces.size());
        if ((found.flags & pcapng::flag_direction_mask) == 0) fault("packet without a direction");
        if (!read_.packets.empty() && found.at < read_.packets.back().at)
            fault("{} ps after {} ps", found.at, read_.packets.back().at);
        read_.packets.push_back(found);
    }

    std::string_view file_;
    std::size_t at_ = 0;
    capture read_;
};

}  // namespace

capture read_capture(std::string_view file) { return reader(file)(); }

}  // namespace vinic::traces
