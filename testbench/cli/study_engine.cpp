// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/study_engine.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/study_files.h"
#include "testbench/report/sha256.h"
#include "testbench/study/local_engine.h"
#include "testbench/study/slurm_engine.h"

namespace vinic::testbench {

namespace {

namespace fs = std::filesystem;

bool on_cluster(const study_options& options) { return options.engine == "slurm"; }

/// The folder by which a study speaks with its tasks: as its database, no other study uses it. It stands
/// beside the database, or there is a link there to where it stands, so that whoever goes on finds it.
class slurm_folder {
public:
    slurm_folder(const study_options& options, const fs::path& database)
        : beside_(fs::path(database).replace_extension(".slurm")) {
        forget_if_gone();
        if (options.work_folder.empty()) return;
        const std::string of_database = sha256(fs::weakly_canonical(database).string());
        const fs::path wanted =
            fs::absolute(options.work_folder) /
            fmt::format("{}-{}.slurm", database.stem().string(), of_database.substr(0, 8));
        if (!fs::exists(beside_)) fs::create_symlink(wanted, beside_);
        if (const fs::path there = place(); there != fs::weakly_canonical(wanted))
            throw sim::input_error(
                "--work-dir {}: jobs of an earlier run of this study are in {}: go on without --work-dir",
                options.work_folder, there.string());
    }
    ~slurm_folder() { forget_if_gone(); }
    slurm_folder(const slurm_folder&) = delete;
    slurm_folder& operator=(const slurm_folder&) = delete;

    fs::path place() const {
        return fs::weakly_canonical(fs::is_symlink(beside_) ? fs::read_symlink(beside_) : beside_);
    }

private:
    /// No job is left that the link leads to.
    void forget_if_gone() const {
        std::error_code ignored;
        if (fs::is_symlink(beside_, ignored) && !fs::exists(beside_, ignored)) fs::remove(beside_, ignored);
    }

    fs::path beside_;
};

std::unique_ptr<study::engine> slurm_engine_of(const study_options& options, const study::plan& plan,
                                               study::identities& identities, const fs::path& folder) {
    const fs::path database = database_of(options.file, options.database);
    std::vector<std::string> sbatch;
    if (!options.partition.empty()) sbatch.push_back("--partition=" + options.partition);
    if (!options.account.empty()) sbatch.push_back("--account=" + options.account);
    sbatch.insert(sbatch.end(), options.sbatch.begin(), options.sbatch.end());
    return std::make_unique<study::slurm_engine>(
        study::slurm_engine::options{.folder = folder,
                                     .name = database.stem().string(),
                                     .limits = plan.study().limits,
                                     .tasks_at_a_time = options.jobs,
                                     .points_per_task = options.points_per_task,
                                     .sbatch = sbatch,
                                     .again_failed = options.again_failed},
        [&](std::size_t index) { return identities.of(index, plan.at(index)); });
}

}  // namespace

void check_engine(const study_options& options) {
    if (on_cluster(options)) study::slurm::check_available();
}

std::size_t jobs_of(const study_options& options) {
    return on_cluster(options) || options.jobs != 0 ? options.jobs : study::processors();
}

study::study_runner::outcome run_points(const study::plan& plan, study::database& results,
                                        const study_options& options, const std::string& verb) {
    study::identities identities(plan);
    std::optional<slurm_folder> folder;
    std::unique_ptr<study::engine> engine;
    if (on_cluster(options))
        engine =
            slurm_engine_of(options, plan, identities,
                            folder.emplace(options, database_of(options.file, options.database)).place());
    else
        engine = std::make_unique<study::local_engine>(jobs_of(options), plan.study().limits);
    study::study_runner runner(
        plan, results, *engine,
        {.again_failed = options.again_failed, .progress = is_terminal(STDERR_FILENO), .verb = verb});
    return runner.run();
}

}  // namespace vinic::testbench
