// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/metrics.h"

struct sqlite3;
struct sqlite3_stmt;

namespace vinic::testbench::study {

/// What came of one point.
struct point_record {
    std::string key;       ///< hash of the configuration
    std::string identity;  ///< hash of the configuration and all that it was made from
    json configuration;
    std::uint64_t seed = 0;
    std::string git_revision;
    std::string firmware_sha256;
    std::string host;
    std::string finished;  ///< date
    double wall_s = 0;
    std::uint64_t events = 0;
    std::string status;  ///< "done", or why not
    int exit_status = 0;
    std::string log;  ///< what it said on standard error
    std::vector<metric> metrics;
};

/// The results of a study: a row for each configuration that ran, with its newest outcome, and one for each
/// of its metrics. One process writes; any number read at the same time.
class database {
public:
    enum class mode { read, write };
    /// Throws input_error: no database, not one of a study, or (to write) used by another `study run`.
    database(const std::filesystem::path& file, mode how);
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    /// Puts a point in, whole or not at all, and on the disk. Throws input_error when there is no room.
    void add(const point_record& point);

    struct summary {
        std::string identity;
        std::string status;
        double wall_s;
    };
    /// By key.
    std::map<std::string, summary> summaries() const;
    /// All points with what `add` took, in the order of their keys; logs only on request.
    std::vector<point_record> points(bool logs) const;

private:
    class statement;
    void execute(const char* sql) const;
    [[noreturn]] void fail() const;
    void lock();
    void create();
    void read_metrics(std::map<std::int64_t, point_record*>& to) const;

    /// The file, locked, while it is open. One that is new and stays without a point goes again.
    struct descriptor {
        int number = -1;
        std::string to_remove;
        ~descriptor();
    };

    std::string file_;
    descriptor lock_;  ///< closed last: a file that is closed takes SQLite's own locks of it along
    std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

}  // namespace vinic::testbench::study
