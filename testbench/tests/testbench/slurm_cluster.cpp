// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/testbench/slurm_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <random>
#include <stdexcept>

#include "testbench/report/sha256.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

/// So many different ports of the loopback address that nobody listens on.
template <std::size_t Count>
std::array<unsigned, Count> free_ports() {
    std::array<unsigned, Count> ports{};
    std::array<int, Count> sockets{};
    for (std::size_t i = 0; i < Count; ++i) {
        sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        auto* const address = reinterpret_cast<sockaddr*>(&at);
        if (::bind(sockets[i], address, size) != 0 || ::getsockname(sockets[i], address, &size) != 0)
            throw std::runtime_error("no free port");
        ports[i] = ::ntohs(at.sin_port);
    }
    for (const int socket : sockets) ::close(socket);
    return ports;
}

std::string short_host_name() {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return std::string(name).substr(0, std::string(name).find('.'));
}

void write_key(const fs::path& to) {
    std::ofstream key(to, std::ios::binary);
    std::random_device random;
    for (int i = 0; i < 128; ++i) key.put(static_cast<char>(random()));
    key.close();
    fs::permissions(to, fs::perms::owner_read);
}

}  // namespace

bool slurm_cluster::is_installed() {
    return std::system("PATH=$PATH:/usr/sbin; command -v munged slurmctld slurmd sbatch >/dev/null") == 0;
}

slurm_cluster::slurm_cluster() : node_(short_host_name()) {
    std::string pattern = (fs::temp_directory_path() / "vinic_slurm.XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    configure();
    ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
    ::setenv("PATH", (std::string(::getenv("PATH")) + ":/usr/sbin").c_str(), 1);
    const auto in = [&](const char* name) { return (folder_ / name).string(); };
    start({"munged", "--foreground", "--force", "--socket=" + in("munge.socket"), "--key-file=" + in("key"),
           "--pid-file=" + in("munge.pid"), "--log-file=" + in("munge.log"), "--seed-file=" + in("seed")});
    if (!soon([&] { return fs::exists(folder_ / "munge.socket"); }))
        throw std::runtime_error("munged does not start: " + read_file(folder_ / "daemons.log"));
    start({"slurmctld", "-D", "-i"});
    start({"slurmd", "-D", "-N", node_});
    wait_until_idle();
}

slurm_cluster::~slurm_cluster() {
    ask("scancel --quiet --user=$(id -u)");
    soon([&] { return ask("squeue --noheader").empty(); });
    for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
        ::kill(*daemon, SIGTERM);
        ::waitpid(*daemon, nullptr, 0);
    }
    fs::remove_all(folder_);
}

void slurm_cluster::configure() const {
    fs::create_directories(folder_ / "state");
    fs::create_directories(folder_ / "spool");
    write_key(folder_ / "key");
    const auto [controller, node] = free_ports<2>();
    // A task that runs again waits until its credential has expired.
    // The node has more processors than the machine, so that tasks need not wait for the scheduler's next
    // round.
    std::ofstream(folder_ / "slurm.conf") << fmt::format(
        R"(ClusterName=vinic
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
KillWait=1
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=65536
PartitionName=all Nodes=ALL Default=YES MaxTime=120
)",
        fmt::arg("host", node_), fmt::arg("controller", controller), fmt::arg("node", node),
        fmt::arg("user", ::getuid()), fmt::arg("folder", folder_.string()));
}

void slurm_cluster::start(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string log = (folder_ / "daemons.log").string();
    const pid_t process = ::fork();
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever becomes of the test
        const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(to, STDOUT_FILENO);
        ::dup2(to, STDERR_FILENO);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    daemons_.push_back(process);
}

void slurm_cluster::wait_until_idle() const {
    if (!soon([&] { return ask("sinfo --noheader --format=%T 2>/dev/null") == "idle\n"; }))
        throw std::runtime_error("Slurm does not start: " + read_file(folder_ / "daemons.log"));
}

std::string slurm_cluster::ask(const std::string& command) const {
    std::string text;
    FILE* const pipe = ::popen(command.c_str(), "r");
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
}

}  // namespace vinic::testbench
