// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/submission.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/report/json.h"
#include "testbench/report/sha256.h"
#include "testbench/study/local_engine.h"

namespace vinic::testbench::study {

namespace fs = std::filesystem;

namespace {

/// Changes when the program is built anew. (Its hash would be read from the shared file system by every
/// task.)
std::string program_stamp() {
    struct stat of {};
    if (::stat("/proc/self/exe", &of) != 0) return "";
    return fmt::format("{} {}.{:09}", of.st_size, of.st_mtim.tv_sec, of.st_mtim.tv_nsec);
}

/// A line of JSON; names of files in it may be any bytes.
std::string line_of(const json& of) { return of.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace

submission submission::make(const fs::path& parent, const std::string& name, const limits& each,
                            std::size_t points_per_task, const std::vector<queued_point>& points) {
    std::string pattern = (parent / (name + ".XXXXXX")).string();
    std::error_code failed;
    fs::create_directories(parent, failed);
    if (failed || !::mkdtemp(pattern.data()))
        throw sim::input_error("cannot make a folder in {}: {}", parent.string(),
                               failed ? failed.message() : std::strerror(errno));
    fs::create_directory(pattern + "/ended");
    fs::create_directory(pattern + "/log");
    std::string text = line_of({{"seconds", each.seconds},
                                {"memory_bytes", each.memory_bytes},
                                {"points_per_task", points_per_task},
                                {"program", program_stamp()}});
    for (const auto& p : points) text += line_of({{"identity", p.identity}, {"arguments", p.arguments}});
    output(pattern + "/points.jsonl").commit(text);
    return submission(pattern);
}

submission::submission(fs::path folder) : folder_(std::move(folder)) {
    std::istringstream lines(read_file(folder_ / "points.jsonl"));
    try {
        std::string line;
        std::getline(lines, line);
        const json head = json::parse(line);
        limits_ = {head.at("seconds"), head.at("memory_bytes")};
        points_per_task_ = head.at("points_per_task");
        program_ = head.at("program");
        while (std::getline(lines, line)) {
            const json point = json::parse(line);
            points_.push_back({point.at("identity"), point.at("arguments")});
        }
    } catch (const json::exception& error) {
        throw sim::input_error("{}: {}", (folder_ / "points.jsonl").string(), error.what());
    }
}

std::string submission::log_pattern() const {
    std::string escaped;
    for (const char c : (folder_ / "log").string()) escaped += c == '%' ? "%%" : std::string(1, c);
    return escaped + "/%a.txt";
}

fs::path submission::file_of(std::size_t index) const {
    return folder_ / "ended" / (std::to_string(index) + ".json");
}

bool submission::has(std::size_t index) const { return fs::exists(file_of(index)); }

std::optional<ended_point> submission::read(std::size_t index) const {
    const json all = json::parse(read_file(file_of(index)), nullptr, false);
    if (!all.is_object()) return std::nullopt;
    return ended_point{.index = index,
                       .status = all.at("status"),
                       .exit_status = all.at("exit_status"),
                       .output = all.at("output"),
                       .log = all.at("log"),
                       .host = all.at("host"),
                       .wall_s = all.at("wall_s")};
}

std::vector<std::size_t> submission::ended() const {
    std::vector<std::size_t> all;
    for (const auto& entry : fs::directory_iterator(folder_ / "ended")) {
        const std::string name = entry.path().filename().string();
        std::size_t point = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), point);
        // Others are being written.
        if (error == std::errc{} && std::strcmp(end, ".json") == 0) all.push_back(point);
    }
    return all;
}

std::string submission::log_of(std::size_t task) const {
    const fs::path file = folder_ / "log" / (std::to_string(task) + ".txt");
    return fs::exists(file) ? read_file(file) : "";
}

void submission::forget(std::size_t index) const { fs::remove(file_of(index)); }

void submission::remove() const {
    std::error_code leave_it;
    fs::remove_all(folder_, leave_it);
}

void submission::run(std::size_t task) const {
    if (program_ != program_stamp())
        throw sim::input_error("vinic was built anew after this job was submitted: run the study again");
    local_engine engine(1, limits_);
    for (std::size_t i = task * points_per_task_; i < points_.size() && task_of(i) == task; ++i) {
        if (has(i)) continue;  // the task runs again, after a node failed
        engine.start(i, points_[i].arguments);
        while (engine.under_way() != 0)
            for (const ended_point& p : engine.wait(std::chrono::seconds(1)))
                output(file_of(i).string())
                    .commit(json_text({{"status", p.status},
                                       {"exit_status", p.exit_status},
                                       {"wall_s", p.wall_s},
                                       {"host", p.host},
                                       {"log", p.log},
                                       {"output", p.output}}));
    }
}

}  // namespace vinic::testbench::study
