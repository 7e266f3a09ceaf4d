// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hw/sim/error.h"

namespace vinic::testbench::study {

namespace {

constexpr int application_id = 0x76696e69;  // "vini"
constexpr int format_version = 1;
constexpr int wait_ms = 10'000;  // for a reader that looks at the same moment

constexpr const char* schema = R"(
    CREATE TABLE points (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        identity TEXT NOT NULL,
        configuration TEXT NOT NULL,
        seed TEXT NOT NULL,
        git_revision TEXT NOT NULL,
        firmware_sha256 TEXT NOT NULL,
        host TEXT NOT NULL,
        finished TEXT NOT NULL,
        wall_s REAL NOT NULL,
        events INTEGER NOT NULL,
        status TEXT NOT NULL,
        exit_status INTEGER NOT NULL,
        log TEXT NOT NULL);
    CREATE TABLE metrics (
        point INTEGER NOT NULL REFERENCES points(id),
        ordinal INTEGER NOT NULL,
        row INTEGER NOT NULL,
        row_key TEXT NOT NULL,
        name TEXT NOT NULL,
        value REAL NOT NULL,
        PRIMARY KEY (point, ordinal)) WITHOUT ROWID;
)";

}  // namespace

class database::statement {
public:
    statement(const database& of, const char* sql) : of_(of) {
        if (sqlite3_prepare_v2(of.handle_.get(), sql, -1, &handle_, nullptr) != SQLITE_OK) of.fail();
    }
    ~statement() { sqlite3_finalize(handle_); }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    void bind(int at, const std::string& text) {
        sqlite3_bind_text64(handle_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    void bind(int at, double value) { sqlite3_bind_double(handle_, at, value); }
    void bind(int at, std::int64_t value) { sqlite3_bind_int64(handle_, at, value); }
    template <typename... Values>
    void bind_all(const Values&... values) {
        int at = 0;
        (bind(++at, values), ...);
    }
    /// Whether there is a row.
    bool step() {
        const int result = sqlite3_step(handle_);
        if (result != SQLITE_ROW && result != SQLITE_DONE) of_.fail();
        return result == SQLITE_ROW;
    }
    void reset() { sqlite3_reset(handle_); }
    std::string text(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
        return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
                     : "";
    }
    double real(int column) const { return sqlite3_column_double(handle_, column); }
    std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }

private:
    const database& of_;
    sqlite3_stmt* handle_ = nullptr;
};

database::database(const std::filesystem::path& file, mode how)
    : file_(file.string()), handle_(nullptr, sqlite3_close) {
    if (how == mode::write) lock();
    sqlite3* opened = nullptr;
    // Who reads may write too, if only to clear up behind a `run` that was killed; SQLite does without.
    const int flags = SQLITE_OPEN_READWRITE | (how == mode::write ? SQLITE_OPEN_CREATE : 0);
    const int result = sqlite3_open_v2(file_.c_str(), &opened, flags, nullptr);
    handle_.reset(opened);
    if (result != SQLITE_OK) fail();
    sqlite3_busy_timeout(opened, wait_ms);
    // FULL: a point that was said to be done is on the disk.
    if (how == mode::write) execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    create();
}

database::descriptor::~descriptor() {
    if (!to_remove.empty()) ::unlink(to_remove.c_str());
    if (number >= 0) ::close(number);
}

void database::lock() {
    lock_.number = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_.number < 0) throw sim::input_error("cannot write {}: {}", file_, std::strerror(errno));
    struct stat now {};
    // No link: the other one has just removed it.
    if (::flock(lock_.number, LOCK_EX | LOCK_NB) != 0 || ::fstat(lock_.number, &now) != 0 ||
        now.st_nlink == 0)
        throw sim::input_error("{}: another `vinic study` is writing it", file_);
    if (now.st_size == 0) lock_.to_remove = file_;
}

void database::create() {
    const auto number = [&](const char* pragma) {
        statement ask(*this, pragma);
        return ask.step() ? ask.integer(0) : 0;
    };
    const std::int64_t application = number("PRAGMA application_id");
    if (application == 0 && number("SELECT count(*) FROM sqlite_master") == 0 && lock_.number >= 0) {
        execute(fmt::format("BEGIN; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", schema,
                            application_id, format_version)
                    .c_str());
        return;
    }
    if (application != application_id) throw sim::input_error("{}: no database of a study", file_);
    if (number("PRAGMA user_version") != format_version)
        throw sim::input_error("{}: written by another version of vinic; `study export` of that one reads it",
                               file_);
}

void database::fail() const {
    throw sim::input_error("{}: {}", file_, handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory");
}

void database::execute(const char* sql) const {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void database::add(const point_record& p) {
    execute("BEGIN IMMEDIATE");
    try {
        statement old(*this, "DELETE FROM metrics WHERE point IN (SELECT id FROM points WHERE key = ?)");
        old.bind(1, p.key);
        old.step();
        statement put(*this,
                      "INSERT OR REPLACE INTO points VALUES "
                      "(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        put.bind_all(p.key, p.identity, p.configuration.dump(), std::to_string(p.seed), p.git_revision,
                     p.firmware_sha256, p.host, p.finished, p.wall_s, static_cast<std::int64_t>(p.events),
                     p.status, std::int64_t{p.exit_status}, p.log);
        put.step();
        const std::int64_t id = sqlite3_last_insert_rowid(handle_.get());
        statement number(*this, "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)");
        std::int64_t ordinal = 0;
        for (const auto& m : p.metrics) {
            number.bind_all(id, ordinal++, static_cast<std::int64_t>(m.row), m.key.dump(), m.name, m.value);
            number.step();
            number.reset();
        }
        execute("COMMIT");
        lock_.to_remove.clear();
    } catch (...) {
        sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

std::map<std::string, database::summary> database::summaries() const {
    std::map<std::string, summary> all;
    statement ask(*this, "SELECT key, identity, status, wall_s FROM points");
    while (ask.step()) all[ask.text(0)] = {ask.text(1), ask.text(2), ask.real(3)};
    return all;
}

std::vector<point_record> database::points(bool logs) const {
    execute("BEGIN");  // one state of both tables
    std::vector<point_record> all;
    std::vector<std::int64_t> ids;
    statement ask(*this,
                  "SELECT id, key, identity, configuration, seed, git_revision, firmware_sha256, host, "
                  "finished, wall_s, events, status, exit_status, iif(?, log, '') FROM points ORDER BY key");
    ask.bind(1, std::int64_t{logs});
    while (ask.step()) {
        point_record& p = all.emplace_back();
        ids.push_back(ask.integer(0));
        p.key = ask.text(1);
        p.identity = ask.text(2);
        p.configuration = json::parse(ask.text(3));
        p.seed = std::stoull(ask.text(4));
        p.git_revision = ask.text(5);
        p.firmware_sha256 = ask.text(6);
        p.host = ask.text(7);
        p.finished = ask.text(8);
        p.wall_s = ask.real(9);
        p.events = static_cast<std::uint64_t>(ask.integer(10));
        p.status = ask.text(11);
        p.exit_status = static_cast<int>(ask.integer(12));
        p.log = ask.text(13);
    }
    std::map<std::int64_t, point_record*> by_id;
    for (std::size_t i = 0; i < all.size(); ++i) by_id[ids[i]] = &all[i];
    read_metrics(by_id);
    execute("COMMIT");
    return all;
}

void database::read_metrics(std::map<std::int64_t, point_record*>& to) const {
    statement ask(*this, "SELECT point, row, row_key, name, value FROM metrics ORDER BY point, ordinal");
    std::string key_text;
    json key;
    while (ask.step()) {
        if (std::string text = ask.text(2); text != key_text) {
            key = json::parse(text);
            key_text = std::move(text);
        }
        to.at(ask.integer(0))
            ->metrics.push_back({static_cast<std::size_t>(ask.integer(1)), key, ask.text(3), ask.real(4)});
    }
}

}  // namespace vinic::testbench::study
