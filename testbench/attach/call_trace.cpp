// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/call_trace.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "hw/sim/error.h"
#include "testbench/attach/call_forms.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench {

namespace {

/// Checks lines as they come: what they name must have been made before.
class reader {
public:
    explicit reader(call_trace& to) : to_(to) {}

    void head(const json& text) {
        const std::string format = text.is_object() ? text.value("format", "") : "";
        if (format != call_trace_format)
            throw sim::input_error("its format is '{}', this vinic reads '{}'", format, call_trace_format);
        to_.design = text.at("design").get<std::string>();
        for (const json& one : text.at("processes"))
            to_.processes.push_back({.node = one.at("node").get<unsigned>(),
                                     .program = one.at("program").get<std::string>(),
                                     .ended = one.at("ended_ps").get<sim::picoseconds>(),
                                     .threads = std::vector<std::vector<call_trace::line>>(1)});
        if (to_.processes.empty()) throw sim::input_error("it has no processes");
        made_.resize(to_.processes.size());
    }

    void line(std::uint64_t number, json text) {
        const auto process = text.at("process").get<std::size_t>();
        const auto thread = text.at("thread").get<std::size_t>();
        if (process >= to_.processes.size()) throw sim::input_error("there is no process {}", process);
        auto& threads = to_.processes[process].threads;
        if (thread > threads.size())
            throw sim::input_error("thread {} comes before thread {}", thread, threads.size());
        if (thread == threads.size()) threads.emplace_back();
        text.at("at_ps").get<sim::picoseconds>();
        const auto n = text.at("n").get<std::size_t>();
        if (n != threads[thread].size())
            throw sim::input_error("n is {}, but {} is the next of the thread: lines are missing", n,
                                   threads[thread].size());
        check(text, process);
        threads[thread].push_back({number, std::move(text)});
    }

    /// When all have been read.
    void end() const {
        for (std::size_t p = 0; p < to_.processes.size(); ++p) {
            const auto& own = to_.processes[p].threads.front();
            if (own.empty() || own.back().call() != "exit")
                throw sim::input_error("process {} does not end with `exit`: the file is cut off", p);
            for (const auto& thread : to_.processes[p].threads)
                for (const call_trace::line& one : thread) check_dependency(one);
        }
    }

private:
    using counts = std::array<std::uint64_t, object_kinds>;

    void check_dependency(const call_trace::line& one) const {
        if (!one.text.contains("after")) return;
        const auto [process, thread, n] = one.text["after"].get<std::array<std::size_t, 3>>();
        if (process >= to_.processes.size() || thread >= to_.processes[process].threads.size() ||
            n >= to_.processes[process].threads[thread].size())
            throw sim::input_error("line {}: after {} names no line", one.number, one.text["after"].dump());
    }

    void check(const json& text, std::size_t process) {
        const auto call = text.at("call").get<std::string>();
        if (text.contains("result") && !return_code(text["result"].get<std::string>()))
            throw sim::input_error("there is no result {}", text["result"].dump());
        if (call == "clock" || call == "trap" || call == "counter" || call == "exit" || call == "handler")
            return;
        if (call == "sleep") return static_cast<void>(text.at("for_ps").get<std::uint64_t>());
        if (call == "spin") return check_place(text.at("written"), process);
        const auto number = call_number(call);
        if (!number) throw sim::input_error("there is no call '{}'", call);
        for (const parameter& one : call_forms()[*number].parameters) check(text, one, process);
    }

    void check(const json& text, const parameter& one, std::size_t process) {
        const bool success = !text.contains("result");
        switch (one.is) {
            case role::handle:
                return check_object(text.at(one.key), one, process);
            case role::made:
                if (!success) return;
                if (text.at(one.key).get<std::uint64_t>() != count(one.of, process)++)
                    throw sim::input_error("'{}' is {}, but those before it are {}", one.key,
                                           text[one.key].dump(), count(one.of, process) - 1);
                if (one.of == object::region)
                    for (const json& run : text.at("pages")) run.get<std::array<std::uint64_t, 2>>();
                return;
            case role::number:
                return static_cast<void>(text.at(one.key).get<std::uint64_t>());
            case role::text:
                if (!text.at(one.key).is_null()) text[one.key].get<std::string>();
                return;
            case role::net_address:
                if (!text.at(one.key).is_null()) net_address_from(text[one.key]);
                return;
            case role::memory_attributes:
            case role::vi_attributes:
                if (text.at(one.key).is_null()) return;
                check_object(text[one.key].at("tag"), {"tag", role::handle, object::tag}, process);
                return;
            case role::descriptor:
                return check_descriptor(text.at(one.key), process);
            default:
                return;
        }
    }

    void check_object(const json& value, const parameter& one, std::size_t process) {
        if (value.is_null() || value.get<std::uint64_t>() < count(one.of, process)) return;
        throw sim::input_error("'{}' is {}, which has not been made before", one.key, value.dump());
    }

    /// "region, offset", and perhaps more.
    void check_place(const json& place, std::size_t process) {
        if (place.is_null()) return;
        if (place.size() < 2)
            throw sim::input_error("expected a place [region, offset], not {}", place.dump());
        check_object(place[0], {"region", role::handle, object::region}, process);
        for (const json& number : place) number.get<std::uint64_t>();
    }

    void check_descriptor(const json& of, std::size_t process) {
        check_place(of.at("at"), process);
        for (const json& segment : of.value("segments", json::array())) check_place(segment, process);
        if (of.contains("remote") && !of["remote"].is_null() &&
            of["remote"].get<std::array<std::size_t, 3>>()[0] >= to_.processes.size())
            throw sim::input_error("there is no process of {}", of["remote"].dump());
    }

    std::uint64_t& count(object of, std::size_t process) {
        return made_[process][static_cast<std::size_t>(of)];
    }

    call_trace& to_;
    std::vector<counts> made_;
};

}  // namespace

unsigned call_trace::nodes() const { return std::ranges::max(processes, {}, &process::node).node + 1; }

call_trace load_call_trace(const std::filesystem::path& file) {
    const std::string all = read_file(file);
    call_trace trace{.file = file.string(), .sha256 = sha256(all), .design = {}, .processes = {}};
    reader lines(trace);
    std::istringstream from(all);
    std::uint64_t number = 0;
    try {
        for (std::string text; std::getline(from, text);) {
            if (++number == 1)
                lines.head(json::parse(text));
            else
                lines.line(number, json::parse(text));
        }
        if (number == 0) throw sim::input_error("it is empty");
    } catch (const json::parse_error&) {
        throw sim::input_error("{}: line {} is no JSON: the file is damaged", trace.file, number);
    } catch (const json::exception& error) {
        const std::string what = error.what();
        throw sim::input_error("{}: line {}: {}", trace.file, number, what.substr(what.find("] ") + 2));
    } catch (const sim::input_error& error) {
        throw sim::input_error("{}: line {}: {}", trace.file, number, error.what());
    }
    try {
        lines.end();
    } catch (const sim::input_error& error) {
        throw sim::input_error("{}: {}", trace.file, error.what());
    }
    return trace;
}

}  // namespace vinic::testbench
