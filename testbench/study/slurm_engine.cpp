// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/slurm_engine.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hw/sim/error.h"
#include "testbench/study/plan.h"

namespace vinic::testbench::study {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds most_between_questions{30};
constexpr std::size_t log_bytes_kept = 64 << 10;

/// The names that the same end has on the machine of the study.
std::string status_name(const slurm::task* of) {
    static constexpr std::array<std::array<const char*, 2>, 9> names{{{"COMPLETED", "no result"},
                                                                      {"FAILED", "failed"},
                                                                      {"CANCELLED", "cancelled"},
                                                                      {"TIMEOUT", "timed out"},
                                                                      {"DEADLINE", "timed out"},
                                                                      {"NODE_FAIL", "node failed"},
                                                                      {"BOOT_FAIL", "node failed"},
                                                                      {"PREEMPTED", "preempted"},
                                                                      {"OUT_OF_MEMORY", "out of memory"}}};
    if (of)
        for (const auto& [state, name] : names)
            if (of->state == state) return name;
    return "lost";
}

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

/// `log`: what the task said, which is why it failed when it did so itself.
ended_point without_result(std::size_t index, const std::string& log, const std::string& id,
                           const slurm::task* of) {
    ended_point p{.index = index, .status = status_name(of), .exit_status = -1};
    p.log = log.size() > log_bytes_kept ? log.substr(log.size() - log_bytes_kept) : log;
    std::string how = fmt::format("vinic: Slurm no longer knows job {}", id);
    if (of) {
        p.host = of->nodes;
        how = fmt::format("vinic: Slurm job {} ended as {}", id, of->state);
        if (!of->nodes.empty()) how += " on " + of->nodes;
        if (of->reason != "None") how += " (" + of->reason + ")";
    }
    if (!p.log.empty()) how += ": " + last_line(p.log);
    if (!p.log.empty() && !p.log.ends_with('\n')) p.log += '\n';
    p.log += how + "\n";
    return p;
}

/// What stays of a name in which no shell, pattern or list sees anything.
std::string plain(std::string name) {
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_' && c != '.'; }, '_');
    return name;
}

std::string count_by_state(const std::vector<slurm::task>& tasks) {
    std::size_t running = 0, queued = 0;
    std::string why;
    for (const auto& t : tasks) {
        running += t.state == "RUNNING";
        queued += t.state == "PENDING";
        if (t.state == "PENDING" && t.reason != "None") why = t.reason;
    }
    return fmt::format("{} running, {} queued{}", running, queued, why.empty() ? "" : " (" + why + ")");
}

}  // namespace

slurm_engine::slurm_engine(const options& how, identity_of_point identity_of)
    : options_(how), identity_of_(std::move(identity_of)) {
    options_.name = plain(options_.name);
    options_.folder = fs::absolute(options_.folder);
    find_earlier();
}

slurm_engine::~slurm_engine() {
    std::error_code not_empty;
    fs::remove(options_.folder, not_empty);
}

void slurm_engine::find_earlier() {
    if (!fs::exists(options_.folder)) return;
    for (const auto& entry : fs::directory_iterator(options_.folder)) {
        try {
            jobs_.push_back({.folder = submission(entry.path())});
        } catch (const sim::input_error&) {
            fs::remove_all(entry.path());  // not whole: its making was ended by force
        }
    }
    if (jobs_.empty()) return;
    std::vector<std::string> names;
    for (const auto& of : jobs_) names.push_back(of.folder.name());
    const slurm::answer said = slurm::tasks(names);
    if (!said.known) throw sim::input_error("Slurm does not answer: {}", said.error);
    for (auto& of : jobs_) {
        for (const auto& t : said.tasks) {
            if (t.name != of.folder.name()) continue;
            of.number = t.job;
            if (!t.is_over()) of.alive.insert(t.number);
        }
        find_earlier(of);
    }
}

void slurm_engine::find_earlier(job& of) {
    std::set<std::size_t> ended;
    for (const std::size_t point : of.folder.ended()) {
        const auto result = of.folder.read(point);
        if (!result || (options_.again_failed && result->status != "done"))
            of.folder.forget(point);
        else
            ended.insert(point);
    }
    const auto& points = of.folder.points();
    for (std::size_t point = 0; point < points.size(); ++point)
        if (ended.contains(point) || of.alive.contains(of.folder.task_of(point)))
            earlier_[points[point].identity] = {&of, point};
}

std::size_t slurm_engine::under_way() const {
    std::size_t count = batch_.size();
    for (const auto& of : jobs_) count += of.open.size();
    return count;
}

void slurm_engine::start(std::size_t index, const std::vector<std::string>& arguments) {
    const std::string identity = identity_of_(index);
    if (const auto known = earlier_.find(identity); known != earlier_.end()) {
        known->second.in->open[known->second.point] = index;
        return;
    }
    batch_.push_back(index);
    batch_points_.push_back({identity, arguments});
}

void slurm_engine::drop_needless() {
    std::vector<std::string> needless;
    for (auto at = jobs_.begin(); at != jobs_.end();) {
        std::set<std::size_t> idle = at->alive;
        for (const auto& [point, index] : at->open) idle.erase(at->folder.task_of(point));
        for (const std::size_t task : idle) needless.push_back(at->number + "_" + std::to_string(task));
        if (at->is_needless()) {
            at->folder.remove();
            at = jobs_.erase(at);
        } else {
            ++at;
        }
    }
    earlier_.clear();
    slurm::cancel(needless);
}

std::vector<std::string> slurm_engine::sbatch_options(const submission& of) const {
    std::string array = fmt::format("0-{}", of.tasks() - 1);
    if (options_.tasks_at_a_time != 0) array += fmt::format("%{}", options_.tasks_at_a_time);
    // Each point has its limit in the task; Slurm's is for a task that hangs itself.
    const double minutes =
        std::ceil(options_.limits.seconds * static_cast<double>(of.points_per_task()) / 60) + 1;
    std::vector<std::string> all{"--job-name=" + of.name(),
                                 "--array=" + array,
                                 "--output=" + of.log_pattern(),
                                 "--open-mode=append",
                                 fmt::format("--time={:.0f}", minutes),
                                 fmt::format("--mem={}M", (options_.limits.memory_bytes + 0xfffff) >> 20),
                                 "--ntasks=1",
                                 "--cpus-per-task=1"};
    std::vector<std::string> still_there;
    for (const auto& earlier : jobs_)
        if (!earlier.alive.empty()) still_there.push_back(earlier.number);
    // A limit holds for all tasks of the study.
    if (options_.tasks_at_a_time != 0 && !still_there.empty())
        all.push_back(fmt::format("--dependency=afterany:{}", fmt::join(still_there, ":")));
    all.insert(all.end(), options_.sbatch.begin(), options_.sbatch.end());
    return all;
}

void slurm_engine::submit() {
    submitted_ = true;
    drop_needless();
    if (batch_.empty()) return;
    const std::size_t most = slurm::most_tasks();
    const std::size_t each = std::max(options_.points_per_task, (batch_.size() + most - 1) / most);
    job made{.folder =
                 submission::make(options_.folder, options_.name, options_.limits, each, batch_points_)};
    const std::string task = shell_text(
        {fs::read_symlink("/proc/self/exe").string(), "study", "task", made.folder.folder().string()});
    try {
        made.number =
            slurm::submit(sbatch_options(made.folder), "exec " + task + " \"$SLURM_ARRAY_TASK_ID\"");
    } catch (const sim::input_error&) {
        made.folder.remove();
        throw;
    }
    state_ = "Slurm job " + made.number;
    for (std::size_t point = 0; point < batch_.size(); ++point) made.open[point] = batch_[point];
    jobs_.push_back(std::move(made));
    batch_.clear();
    batch_points_.clear();
}

std::vector<ended_point> slurm_engine::collect() {
    std::vector<ended_point> all;
    for (auto& of : jobs_) {
        if (of.open.empty()) continue;
        for (const std::size_t point : of.folder.ended()) {
            const auto waited = of.open.find(point);
            if (waited == of.open.end()) continue;
            auto result = of.folder.read(point);
            if (!result) {  // the file system lost it
                of.folder.forget(point);
                continue;
            }
            result->index = waited->second;
            all.push_back(std::move(*result));
            of.to_keep[waited->second] = point;
            of.open.erase(waited);
        }
    }
    return all;
}

std::vector<ended_point> slurm_engine::lost() {
    next_question_ = std::chrono::steady_clock::now() + between_questions_;
    between_questions_ = std::min(between_questions_ * 2, most_between_questions);
    std::vector<std::string> names;
    for (const auto& of : jobs_)
        if (!of.open.empty()) names.push_back(of.folder.name());
    const slurm::answer said = slurm::tasks(names);
    state_ = said.known ? count_by_state(said.tasks) : "Slurm does not answer: " + said.error;
    if (!said.known) return {};
    std::map<std::pair<std::string, std::size_t>, const slurm::task*> known;
    for (const auto& t : said.tasks) known[{t.name, t.number}] = &t;
    std::vector<ended_point> all;
    for (auto& of : jobs_) {
        std::erase_if(of.open, [&](const auto& waited) {
            const auto [point, index] = waited;
            const std::size_t number = of.folder.task_of(point);
            const auto found = known.find({of.folder.name(), number});
            const slurm::task* const t = found == known.end() ? nullptr : found->second;
            // It was looked for after Slurm had answered, so a task that is over has left it.
            if ((t && !t->is_over()) || of.folder.has(point)) return false;
            all.push_back(
                without_result(index, of.folder.log_of(number), of.number + "_" + std::to_string(number), t));
            of.to_keep[index] = point;
            return true;
        });
    }
    return all;
}

std::vector<ended_point> slurm_engine::wait(std::chrono::milliseconds longest) {
    if (!submitted_) {
        submit();
        between_questions_ = std::chrono::seconds(1);
        next_question_ = std::chrono::steady_clock::now() + between_questions_;
    }
    auto ended = collect();
    if (ended.empty()) {
        // Nothing announces a file on a file system of the network; a signal ends the pause.
        ::poll(nullptr, 0, static_cast<int>(longest.count()));
        ended = collect();
    }
    if (under_way() != 0 && std::chrono::steady_clock::now() >= next_question_)
        std::ranges::move(lost(), std::back_inserter(ended));
    submitted_ = under_way() != 0;
    return ended;
}

void slurm_engine::recorded(std::size_t index) {
    for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
        const auto kept = at->to_keep.find(index);
        if (kept == at->to_keep.end()) continue;
        at->folder.forget(kept->second);
        at->to_keep.erase(kept);
        if (at->is_needless()) {
            at->folder.remove();
            jobs_.erase(at);
        }
        return;
    }
}

std::string slurm_engine::stop(bool for_good) {
    std::vector<std::string> numbers;
    for (const auto& of : jobs_)
        if (!of.open.empty()) numbers.push_back(of.number);
    if (numbers.empty()) return "";
    if (for_good) slurm::cancel(numbers);
    return fmt::format("job {} {}", fmt::join(numbers, ", "), for_good ? "is cancelled" : "stays in Slurm");
}

}  // namespace vinic::testbench::study
