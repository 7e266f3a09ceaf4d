// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "traces/fst_reader.h"
#include "traces/trace_check.h"

namespace vinic::traces {

namespace {

/// Reads a Value Change Dump (IEEE 1364) word by word.
class vcd_reader {
public:
    explicit vcd_reader(std::string_view file) : rest_(file) { found_.kind = "waveform"; }

    trace_summary operator()() {
        while (!defined_ && next()) definition();
        if (!defined_) found_.fault("no $enddefinitions");
        if (depth_ != 0) found_.fault(fmt::format("{} scopes are not closed", depth_));
        while (next()) change();
        found_.counts.emplace_back("signals", signals_.size());
        found_.counts.emplace_back("changes", changes_);
        return std::move(found_);
    }

private:
    struct signal {
        std::string_view type;
        std::uint64_t width = 1;
        bool known = false;  ///< it had a value
    };

    bool next() {
        constexpr std::string_view white = " \t\r\n";
        const std::size_t from = rest_.find_first_not_of(white);
        if (from == std::string_view::npos) return false;
        const std::size_t end = std::min(rest_.find_first_of(white, from), rest_.size());
        word_ = rest_.substr(from, end - from);
        rest_.remove_prefix(end);
        return true;
    }
    std::string_view take() { return next() ? word_ : std::string_view(); }
    void skip_to_end() {
        while (next() && word_ != "$end") {
        }
    }
    template <typename... Args>
    void fault(fmt::format_string<Args...> format, Args&&... args) {
        found_.fault(fmt::format("at {} ps: {}", now_, fmt::format(format, std::forward<Args>(args)...)));
    }

    void definition() {
        if (word_ == "$enddefinitions") defined_ = true;
        if (word_ == "$scope") ++depth_;
        if (word_ == "$upscope" && depth_-- == 0) fault("$upscope without a scope"), depth_ = 0;
        if (word_ == "$timescale") {
            const std::string number(take());
            if (number != "1ps" && (number != "1" || take() != "ps")) fault("time scale other than 1 ps");
        }
        if (word_ == "$var") {
            signal declared{take()};
            const std::string_view width = take();
            std::from_chars(width.data(), width.data() + width.size(), declared.width);
            const std::string_view id = take();
            if (!signals_.emplace(id, declared).second) fault("identifier {} twice", id);
        }
        if (word_ != "$end") skip_to_end();
    }

    void change() {
        const char first = word_.front();
        if (first == '#') return stamp();
        if (first == '$') return word_ == "$comment" ? skip_to_end() : void();
        std::string_view value = word_.substr(0, 1), id = word_.substr(1);
        const bool is_vector = first == 'b' || first == 'B', is_text = first == 's' || first == 'S';
        if (is_vector || is_text) {
            value = word_.substr(1);
            id = take();
        }
        const auto of = signals_.find(id);
        if (of == signals_.end()) return fault("change of {}, which is not declared", id);
        if (of->second.known || !is_unknown(value)) {
            of->second.known = true;
            ++changes_;
        }
        const bool declared_text = of->second.type == "string";
        if (is_text != declared_text) fault("{} has a value of another type", id);
        if (is_text) return;
        if (value.size() > of->second.width)
            fault("{} bits in {}, which has {}", value.size(), id, of->second.width);
        if (value.find_first_not_of("01xXzZ") != std::string_view::npos) fault("value {} of {}", value, id);
    }

    void stamp() {
        sim::picoseconds at = 0;
        const std::string_view digits = word_.substr(1);
        const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
        if (error != std::errc{} || rest != digits.data() + digits.size()) return fault("stamp {}", word_);
        if (at < now_) fault("stamp {} goes back", at);
        now_ = at;
        found_.see(at);
    }

    std::string_view rest_, word_;
    trace_summary found_;
    std::map<std::string_view, signal> signals_;
    bool defined_ = false;
    std::uint64_t depth_ = 0;
    std::uint64_t changes_ = 0;
    sim::picoseconds now_ = 0;
};

}  // namespace

trace_summary check_vcd(std::string_view file) { return vcd_reader(file)(); }

}  // namespace vinic::traces
