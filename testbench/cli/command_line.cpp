// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>

#include "hw/sim/error.h"
#include "testbench/cli/exec.h"
#include "testbench/cli/interrupt.h"
#include "testbench/cli/output.h"
#include "testbench/cli/parameter_hint.h"
#include "testbench/cli/study_verbs.h"
#include "testbench/cli/verbs.h"
#include "testbench/cli/version.h"

namespace vinic::testbench {

namespace {

/// CLI11's own check of a sign names the largest double.
CLI::Validator percentage() {
    return {[](std::string& text) {
                double value = 0;
                const bool good = CLI::detail::lexical_cast(text, value) && value >= 0;
                return good ? std::string() : "'" + text + "' is not a number of percent, 0 or more";
            },
            "0 or more"};
}

/// CLI11's own check names the largest double, and its conversion takes what is too large for the largest.
CLI::Validator number_from_1() {
    return {[](std::string& text) {
                std::uint64_t value = 0;
                const char* const end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, value);
                const bool good = error == std::errc{} && rest == end && value > 0;
                return good ? std::string() : "'" + text + "' is no number from 1 on";
            },
            "from 1 on"};
}

/// One grammar for all verbs: the options by group, bound to the struct of the verb that takes them.
void add_result_options(CLI::App& verb, result_options& to) {
    verb.add_option("--json", to.json, "JSON instead of a table: to FILE.json, or to standard output")
        ->type_name("[FILE.json]");
    verb.add_flag("--reproducible", to.reproducible,
                  "Leave out what may differ between two runs of the same simulation")
        ->disable_flag_override();
}

void add_platform_options(CLI::App& verb, platform_options& to) {
    verb.add_option("--design", to.design, "Name of a design (vinic designs) or a design file")
        ->type_name("NAME|FILE.yaml")
        ->capture_default_str();
    verb.add_option(
            "--set", to.settings,
            "Set a parameter (vinic params), or a key of design files (cards=2: two cards in each node); "
            "may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    verb.add_option_function<std::vector<std::string>>(
            "--free",
            [&to](const std::vector<std::string>& parts) {
                for (const auto& part : parts) to.settings.push_back(part + ".free=true");
            },
            "What if this took no time: bus, host, link, nic.lanai or nic.translation; short for --set "
            "bus.free=true; may be repeated")
        ->type_name("PART")
        ->allow_extra_args(false);
    verb.add_option("--nodes", to.nodes, "Number of nodes, instead of the design's")->type_name("N");
    verb.add_option("--shuffle", to.shuffle)->group("");
}

/// --wave-from and --wave-to of --wave, and so on.
void add_window_options(CLI::App& verb, CLI::Option* trace, window_text& to) {
    const std::string option = trace->get_name();
    verb.add_option(option + "-from", to.from,
                    "Start at a time (10us), a cycle (node0.bus.clock@1200), doorbell:N, message:N, "
                    "function:NAME or address:0x1234 of the firmware")
        ->type_name("WHEN")
        ->needs(trace);
    verb.add_option(option + "-to", to.to, "Stop there; message:N: when it has been received")
        ->type_name("WHEN")
        ->needs(trace);
}

void add_wave_options(CLI::App& verb, trace_options& to) {
    CLI::Option* const wave =
        verb.add_option(
                "--wave", to.wave,
                "Waveforms of bus, card, core and links; program counter, instruction and stall of each "
                "cycle only where a scope names them, clocks only there and in a window")
            ->type_name("FILE.fst|.vcd");
    verb.add_option("--wave-scope", to.wave_scopes,
                    "Only these signals, as in 'node0.*' or '*.lanai.pc'; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->needs(wave);
    add_window_options(verb, wave, to.wave_window);
    verb.add_option("--gtkw", to.gtkw,
                    "Save file of GTKWave: groups, colours, assembly; opens on the window or a message")
        ->type_name("FILE.gtkw")
        ->needs(wave);
}

void add_itrace_options(CLI::App& verb, trace_options& to) {
    CLI::Option* const itrace =
        verb.add_option("--itrace", to.itrace, "Every instruction of the firmware, a line each")
            ->type_name("FILE");
    const auto add_filter = [&](const char* name, std::vector<std::string>& what, const char* help,
                                const char* type) {
        verb.add_option(name, what, help)->type_name(type)->allow_extra_args(false)->needs(itrace);
    };
    add_filter("--itrace-node", to.itrace_filter.cores,
               "Only of these nodes or cores, as in node0 or '*.lanai'; may be repeated", "GLOB");
    add_filter("--itrace-function", to.itrace_filter.functions,
               "Only in these functions, as in '*poll*'; may be repeated", "GLOB");
    add_filter("--itrace-address", to.itrace_filter.addresses,
               "Only at this address or in this range of them, as in 0x1234-0x1300; may be repeated",
               "FIRST[-LAST]");
    add_window_options(verb, itrace, to.itrace_window);
}

void add_trace_options(CLI::App& verb, trace_options& to) {
    CLI::Option* stats = verb.add_option("--stats", to.statistics,
                                         "Statistics of every module, of what is measured and of the whole "
                                         "run: printed, or to FILE")
                             ->type_name("[FILE.csv|.json|.txt]");
    verb.add_option_function<std::string>(
            "--stats-every",
            [&to](const std::string& text) { to.statistics_every = parse_time(text, "--stats-every"); },
            "What changed in each interval of that length, as in 10us")
        ->type_name("TIME")
        ->needs(stats);
    verb.add_flag("--account", to.account, "Where the time of the messages went, stage by stage")
        ->disable_flag_override();
    verb.add_option("--account-message", to.account_message,
                    "The path of one message with its clock stamps: the Nth that arrived, from 1")
        ->type_name("N")
        ->check(number_from_1());
    verb.add_option("--svg", to.svg, "Space-time diagram of that message (without one: of the last)")
        ->type_name("FILE.svg");
    verb.add_flag("--fingerprint", to.fingerprint, "Hash of everything that could be seen of the run")
        ->disable_flag_override();
    add_wave_options(verb, to);
    add_window_options(
        verb,
        verb.add_option("--pcap", to.pcap, "Packets of every cable, for Wireshark")->type_name("FILE.pcapng"),
        to.pcap_window);
    CLI::Option* timeline = verb.add_option("--timeline", to.timeline,
                                            "Slices, arrows and counters, for Perfetto or chrome://tracing")
                                ->type_name("FILE.json");
    add_window_options(verb, timeline, to.timeline_window);
    verb.add_option("--timeline-limit", to.timeline_mbytes, "Largest timeline")
        ->needs(timeline)
        ->type_name("MBYTES")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    CLI::Option* log =
        verb.add_option("--log", to.log, "One line per event: time, module, what")->type_name("FILE");
    verb.add_option("--log-scope", to.log_scopes,
                    "Log only probes of this name (* and ? allowed), as in 'node0.*'; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->needs(log);
    add_window_options(verb, log, to.log_window);
    verb.add_option("--profile", to.profile,
                    "Firmware's cycles per function and source line, of what is measured: to FILE and, as "
                    "stacks for flame graphs, to FILE.folded; or printed")
        ->type_name("[FILE.txt]");
    add_itrace_options(verb, to);
}

void add_simulation_options(CLI::App& verb, simulation_options& to) {
    add_platform_options(verb, to);
    verb.add_option_function<std::string>(
            "--seed", [&to](const std::string& text) { to.seed = parse_seed(text); },
            "Seed of every random stream")
        ->type_name("N")
        ->default_str(std::to_string(to.seed));
    verb.add_option_function<std::string>(
            "--until", [&to](const std::string& text) { to.until = parse_time(text, "--until"); },
            "Stop at this simulated time, as in 10us")
        ->type_name("TIME");
    verb.add_flag("--lockstep", to.lockstep, "Execute firmware one instruction at a time (same results)")
        ->disable_flag_override();
    verb.add_flag("--unsafe", to.unsafe, "Let the script use io, os, package and debug")
        ->disable_flag_override();
    add_trace_options(verb, to);
    add_result_options(verb, to);
}

/// What the user asked for: the options of each verb and the verb that was chosen.
struct request {
    run_options run;
    exec_options exec;
    serve_options serve;
    designs_options designs;
    params_options params;
    stats_options stats;
    firmware_options firmware;
    compare_options compare;
    trace_check_options trace;
    study_options study;
    validate_options validate;
    vibe_options vibe;
};

CLI::App& add_run(CLI::App& program, request& to) {
    CLI::App& verb = *program.add_subcommand("run", "Run a workload on a design");
    verb.add_option("workload", to.run.workload,
                    "Name of a workload, a script, or calls that vinic exec has recorded")
        ->type_name("NAME|FILE.lua|FILE.trace")
        ->required();
    verb.add_flag("--help-workload", to.run.help_workload, "List the arguments of the workload")
        ->disable_flag_override();
    add_simulation_options(verb, to.run);
    verb.footer(
        "Arguments of the workload follow --, as name=value; `-- help` lists them.\n\nExamples:\n"
        "  vinic run pingpong\n"
        "  vinic run pingpong --set nic.lanai.clock_mhz=66 --account\n"
        "  vinic run stream --json stream.json --wave stream.fst -- sizes=4096 count=100\n"
        "  vinic run pingpong --wave p.fst --wave-scope 'node0.*' --wave-from message:9 --wave-to "
        "message:10\n"
        "  vinic run all_to_all --nodes 8 --design my_design.yaml\n"
        "  vinic run ./my_workload.lua --until 5ms --log run.log");
    return verb;
}

/// What exec and serve have in common.
void add_program_options(CLI::App& verb, exec_options& to) {
    verb.add_option("-n", to.processes, "Processes (default: one on each node)")
        ->type_name("PROCESSES")
        ->check(CLI::Range(1, 10'000));
    verb.add_option("--map", to.map, "Node of each process, as in 0,1,1 (default: one after the other)")
        ->type_name("NODE,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_option("--grace", to.grace_ms,
                    "Milliseconds of processor time for which a thread may run without a call, and without "
                    "proof that it spins, until "
                    "time goes on and the run is not reproducible")
        ->type_name("MS")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    verb.add_option(
            "--cpu-scale", to.cpu_scale,
            "Charge what programs do between calls: so many times the processor time that it was measured "
            "to take here (not reproducible; default: it takes no time)")
        ->type_name("FACTOR")
        ->check(CLI::Range(1e-6, 1e6));
    verb.add_option("--record", to.record, "The programs' calls, to be made again by `vinic run FILE.trace`")
        ->type_name("FILE.trace");
    add_simulation_options(verb, to);
}

void add_exec(CLI::App& program, request& to) {
    CLI::App& verb = *program.add_subcommand("exec", "Run programs that use VIPL on the nodes of a design");
    verb.add_flag("--launcher", to.exec.launcher,
                  "The program starts the processes itself, as mpirun does, and tells them their numbers")
        ->disable_flag_override();
    verb.add_option(
            "--env", to.exec.environment,
            "A variable of the programs' environment (PATH, HOME and LD_LIBRARY_PATH they have); may be "
            "repeated")
        ->type_name("NAME[=VALUE]")
        ->allow_extra_args(false);
    verb.add_flag(
            "--real-time", to.exec.real_time,
            "Clocks and sleeps of the programs are the machine's, not the simulation's (not reproducible)")
        ->disable_flag_override();
    add_program_options(verb, to.exec);
    verb.footer(
        "The programs' output is theirs; the report goes to standard error. The exit status is that of the "
        "first program that did not end with 0.\n\nExamples:\n"
        "  vinic exec -- ./pingpong 1000\n"
        "  vinic exec --design myvia --json run.json -- ./server 7 : ./client node0 7\n"
        "  vinic exec -n 4 --map 0,0,1,1 --pcap run.pcapng -- ./ring\n"
        "  vinic exec --launcher -n 2 -- mpirun -np 2 ./pingpong");
}

void add_serve(CLI::App& program, request& to) {
    CLI::App& verb = *program.add_subcommand("serve", "Wait for programs that something else starts");
    verb.add_option("--socket", to.serve.socket, "Where programs find the simulator (VINIC_SOCKET)")
        ->type_name("PATH")
        ->required();
    add_program_options(verb, to.serve);
    verb.footer(
        "Simulated time begins when all processes have come, and the run ends with the last of them. "
        "Programs "
        "are linked with libvipl or started with LD_PRELOAD=libvipl.so, and find their place by their "
        "environment:\n"
        "  VINIC_SOCKET   the path of --socket\n"
        "  VINIC_PROCESS  which process it is, from 0; where it is not set, OMPI_COMM_WORLD_RANK, PMIX_RANK, "
        "PMI_RANK or SLURM_PROCID\n"
        "  VINIC_NODE     without a number: the next process of this node; without either: the next at "
        "all\n\nExamples:\n"
        "  vinic serve --socket /tmp/v -n 2 &\n"
        "  VINIC_SOCKET=/tmp/v VINIC_PROCESS=0 ./server & VINIC_SOCKET=/tmp/v VINIC_PROCESS=1 gdb ./client");
}

void add_reference_verbs(CLI::App& program, request& to) {
    CLI::App& designs = *program.add_subcommand("designs", "List the designs that ship");
    add_result_options(designs, to.designs);
    designs.footer("Examples:\n  vinic designs\n  vinic designs --json");

    CLI::App& params =
        *program.add_subcommand("params", "Every parameter: value, unit, range, help and source");
    params.add_option("pattern", to.params.pattern, "Only names that contain it (* and ? allowed)")
        ->type_name("PATTERN");
    add_platform_options(params, to.params);
    add_result_options(params, to.params);
    params.footer(
        "A name without its node means every node, and nic, driver and agent without a node every card: \n"
        "nic.x every card, nic1.x the second one of every node, node0.nic.x the first one of node0.\n\n"
        "Examples:\n  vinic params\n  vinic params bus.\n  vinic params 'node0.nic.*clock*' --design myvia "
        "--json");

    CLI::App& stats = *program.add_subcommand("stats", "Every statistic that a design's modules keep");
    stats.add_option("pattern", to.stats.pattern, "Only names that contain it (* and ? allowed)")
        ->type_name("PATTERN");
    add_platform_options(stats, to.stats);
    add_result_options(stats, to.stats);
    stats.footer(
        "The values of a run: vinic run WORKLOAD --stats.\n\nExamples:\n  vinic stats\n  vinic stats "
        "nic.lanai");
}

void add_firmware(CLI::App& program, request& to) {
    CLI::App& verb =
        *program.add_subcommand("firmware", "Size, sections and disassembly of a design's firmware");
    verb.add_option("design", to.firmware.design, "Design, image or name of a firmware")
        ->type_name("DESIGN|FILE.elf")
        ->capture_default_str();
    verb.add_option("--function", to.firmware.function,
                    "Disassemble only functions of this name (* and ? allowed)")
        ->type_name("GLOB");
    add_result_options(verb, to.firmware);
    verb.footer(
        "Examples:\n  vinic firmware\n  vinic firmware myvia --function 'send*'\n"
        "  vinic firmware build my_firmware -o my_firmware.elf");
    CLI::App& build = *verb.add_subcommand("build", "Compile and link a firmware of your own");
    build.add_option("folder", to.firmware.source, "Folder with its sources")->type_name("DIR")->required();
    build.add_option("-o,--output", to.firmware.image, "The linked image")->type_name("FILE.elf")->required();
    build
        .add_flag("--allow-other-clang", to.firmware.allow_other_clang,
                  "Accept a clang other than 14, which gives other cycles")
        ->disable_flag_override();
    build.footer("Examples:\n  vinic firmware build my_firmware -o my_firmware.elf");
}

void add_compare(CLI::App& program, request& to) {
    CLI::App& verb =
        *program.add_subcommand("compare", "Two results side by side, or where two traces first differ");
    verb.add_option("before", to.compare.before, "Result of `vinic run --json`, or a trace")
        ->type_name("A")
        ->required();
    verb.add_option("after", to.compare.after, "Another one of its kind")->type_name("B")->required();
    verb.add_option("--tolerance", to.compare.tolerance_percent,
                    "Exit with status 1 when a number differs by more than that many percent")
        ->type_name("%")
        ->check(percentage());
    add_result_options(verb, to.compare);
    verb.footer(
        "Examples:\n  vinic compare before.json after.json\n"
        "  vinic compare before.json after.json --tolerance 0\n"
        "  vinic compare before.log after.log");
}

void add_trace(CLI::App& program, request& to) {
    CLI::App& verb =
        *program.add_subcommand("trace", "What written traces hold, and whether they are well formed");
    verb.add_option("files", to.trace.files, "Waveforms, packets, timelines or logs of `vinic run`")
        ->type_name("FILE...")
        ->required();
    add_result_options(verb, to.trace);
    verb.footer(
        "Exits with status 1 when one is not well formed.\n\nExamples:\n  vinic trace run.pcapng run.json\n"
        "  vinic trace run.vcd --json");
}

void add_validate(CLI::App& program, request& to) {
    CLI::App& verb =
        *program.add_subcommand("validate", "Published figures of the designs beside what vinic measures");
    verb.add_option("--design", to.validate.designs, "Only figures of these designs; all: of every system")
        ->type_name("NAME,...|all")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    verb.add_option("--tolerance", to.validate.tolerance_percent,
                    "How far ours may be from a published figure, instead of what the file says")
        ->type_name("%")
        ->check(percentage());
    verb.add_option("--figures", to.validate.figures,
                    "Another file of figures than the one that ships (testbench/validation/figures.yaml)")
        ->type_name("FILE.yaml");
    verb.add_option("--jobs", to.validate.jobs, "Simulations at a time, instead of one on each processor")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    add_result_options(verb, to.validate);
    verb.footer(
        "Evidence: S published and seen, D arithmetic on such figures, B unverified, P no figure but the "
        "sanity "
        "band of a prediction.\nOnly S and D count, and a figure that parameters were fitted to is no "
        "validation. Exits with status 1 when an S or D figure is missed or could not be measured. The JSON "
        "has "
        "the source of each figure and the command that measures it.\n\nExamples:\n  vinic validate\n"
        "  vinic validate --design myvia,gm_pci64b\n  vinic validate --tolerance 5 --json figures.json");
}

void add_vibe(CLI::App& program, request& to) {
    CLI::App& verb = *program.add_subcommand("vibe", "VIBe's micro-benchmarks of VIPL, as one table");
    verb.add_option("--design", to.vibe.designs, "Designs, a column each; all: those that ship and speak VI")
        ->type_name("NAME|FILE.yaml,...|all")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    verb.add_option("--set", to.vibe.settings,
                    "Set a parameter (vinic params) in all designs; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--test", to.vibe.tests, "Only these tests, as the table names them")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_option_function<std::string>(
            "--seed", [&to](const std::string& text) { to.vibe.seed = parse_seed(text); },
            "Seed of every random stream")
        ->type_name("N")
        ->default_str(std::to_string(to.vibe.seed));
    verb.add_option("--jobs", to.vibe.jobs, "Simulations at a time, instead of one on each processor")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
    add_result_options(verb, to.vibe);
    verb.footer(
        "Each test is a program in C (testbench/vibe) that `vinic exec` takes too. Exits with status 1 when "
        "one did not end well.\n\nExamples:\n  vinic vibe\n  vinic vibe --design all --json vibe.json\n"
        "  vinic vibe --design myvia,my.yaml --test 'active VIs,buffer reuse'");
}

CLI::App& add_study_verb(CLI::App& study, const char* name, const char* help, study_options& to) {
    CLI::App& verb = *study.add_subcommand(name, help);
    verb.add_option("study", to.file, "A study file, or the name of one that ships")
        ->type_name("NAME|FILE.yaml")
        ->required();
    verb.add_option("--db", to.database, "The database, instead of the one beside the study file")
        ->type_name("FILE.sqlite");
    return verb;
}

void add_slurm_options(CLI::App& verb, study_options& to) {
    CLI::Option& engine =
        *verb.add_option("--engine", to.engine,
                         "Where points run: as processes of this machine, or as an array job of a cluster")
             ->type_name("local|slurm")
             ->check(CLI::IsMember({"local", "slurm"}));
    const std::vector<CLI::Option*> of_slurm{
        verb.add_option("--partition", to.partition, "Of the cluster, instead of the default one")
            ->type_name("NAME"),
        verb.add_option("--account", to.account, "Who is charged for it")->type_name("NAME"),
        verb.add_option("--points-per-task", to.points_per_task,
                        "Points that a task runs one after the other: more than 1 when they are short")
            ->type_name("N")
            ->check(CLI::Range(1, 100'000)),
        verb.add_option("--sbatch", to.sbatch,
                        "An argument more for sbatch, as in --sbatch=--qos=low (repeatable)")
            ->type_name("ARGUMENT")
            ->allow_extra_args(false),
        verb.add_option(
                "--work-dir", to.work_folder,
                "Folder that all nodes see, for what tasks read and write, instead of FILE.slurm beside "
                "the database")
            ->type_name("FOLDER")};
    for (CLI::Option* option : of_slurm) option->needs(&engine)->group("With --engine slurm");
}

/// Of the verbs that run points.
void add_engine_options(CLI::App& verb, study_options& to) {
    verb.add_option(
            "--jobs", to.jobs,
            "Points at a time, instead of one on each processor; with Slurm: tasks, instead of any number")
        ->type_name("N")
        ->check(CLI::Range(1, 100'000));
    verb.add_flag("--retry", to.again_failed, "Run points again that did not end well")
        ->disable_flag_override();
    add_slurm_options(verb, to);
}

CLI::App& add_study_run(CLI::App& study, study_options& to) {
    CLI::App& run = add_study_verb(study, "run", "Run the points that have no result yet", to);
    add_engine_options(run, to);
    run.footer(
        "Exits with status 1 when a point did not end well. It may be stopped at any moment and goes on when "
        "it is called again. With Slurm, Ctrl-C cancels the job; when the terminal goes, or after SIGTERM, "
        "the job stays, and the next `run` waits for it.\n\nExamples:\n  vinic study run core_clock\n"
        "  vinic study run my.yaml --jobs 1\n"
        "  vinic study run my.yaml --engine slurm --partition short --jobs 50 --sbatch=--nice=100");
    return run;
}

void add_study_searches(CLI::App& study, study_options& to) {
    CLI::App& effects = add_study_verb(
        study, "sensitivity", "How much each parameter of a design counts: change one at a time", to);
    add_engine_options(effects, to);
    effects.footer(
        "The study has the key `sensitivity`. Numbers go down and up by the share that it states; small "
        "whole "
        "numbers, lists, flags and texts go to the nearest other values and stand in a table of their "
        "own.\n\nExamples:\n  vinic study sensitivity my.yaml\n  vinic study sensitivity my.yaml --json "
        "s.json");
    CLI::App& optimise =
        add_study_verb(study, "optimise", "Search the axes for the best points, with a budget", to);
    add_engine_options(optimise, to);
    optimise.footer(
        "The study has the key `optimise`: what to minimise and maximise. Prints the points that no other "
        "one "
        "beats in all goals. It may be stopped at any moment and goes on when it is called "
        "again.\n\nExamples:\n  vinic study optimise my.yaml\n  vinic study optimise my.yaml --json "
        "front.json");
    CLI::App& ask = add_study_verb(study, "ask", "The axes, and which points the search would run next", to);
    ask.add_option("number", to.point, "At most so many points, of one generation; 0: only the axes")
        ->type_name("N")
        ->required()
        ->check(CLI::Range(0, 1'000'000));
    ask.footer("Examples:\n  vinic study ask my.yaml 8\n  vinic study ask my.yaml 0 --json");
    CLI::App& tell =
        add_study_verb(study, "tell", "Run points that somebody else chose, and answer with their goals", to);
    tell.add_option("points", to.other, "A list of points, {NAME: VALUE of each axis}; -: standard input")
        ->type_name("FILE.json|-")
        ->required();
    add_engine_options(tell, to);
    tell.footer(
        "What has a result already is not run again. Exits with status 1 when a point did not end "
        "well.\n\nExamples:\n  vinic study tell my.yaml points.json --json\n"
        "  echo '[{\"bus.clock_mhz\": 66}]' | vinic study tell my.yaml -\n"
        "  vinic study ask my.yaml 8 --json | vinic study tell my.yaml -");
    for (CLI::App* verb : {&effects, &optimise, &ask, &tell}) add_result_options(*verb, to);
}

void add_study(CLI::App& program, request& to) {
    CLI::App& study = *program.add_subcommand("study", "Many points of a design space, in one database");
    study.require_subcommand(1);
    study.footer(
        "Examples:\n  vinic study check my.yaml\n  vinic study run my.yaml\n  vinic study show my.yaml\n"
        "  vinic study report my.yaml\n  vinic study sensitivity counts.yaml\n  vinic study optimise "
        "best.yaml");
    CLI::App& check = add_study_verb(study, "check", "What a study would run, and whether it can", to.study);
    check.footer("Examples:\n  vinic study check my.yaml");
    add_study_run(study, to.study);
    add_study_searches(study, to.study);
    CLI::App& state =
        add_study_verb(study, "status", "What has run, what is left, what failed and why", to.study);
    state.footer("Examples:\n  vinic study status my.yaml");
    CLI::App& show = add_study_verb(study, "show", "Results as a table and a plot", to.study);
    show.add_option("--x", to.study.x, "Axis to the right")->type_name("NAME");
    show.add_option("--y", to.study.y, "Metric upward")->type_name("NAME");
    show.footer("Examples:\n  vinic study show my.yaml --x bus.clock_mhz --y latency_us");
    CLI::App& report =
        add_study_verb(study, "report", "Results as a page for a browser: curves, table, points", to.study);
    report.add_option("-o,--output", to.study.html, "The page, instead of one beside the study file")
        ->type_name("FILE.html");
    report.footer("Examples:\n  vinic study report my.yaml\n  vinic study report core_clock -o clock.html");
    CLI::App& write = add_study_verb(study, "export", "Results for programs", to.study);
    write.add_option("--csv", to.study.csv, "To FILE.csv, or to standard output")->type_name("[FILE.csv]");
    write.footer(
        "Examples:\n  vinic study export my.yaml --csv\n  vinic study export my.yaml --json my.json");
    CLI::App& task = *study.add_subcommand("task", "What sbatch is told to run")->group("");
    task.add_option("folder", to.study.file, "Of the submission")->required();
    task.add_option("number", to.study.task, "Of the task")->required();
    CLI::App& point = add_study_verb(study, "point", "Run one point again, watched", to.study);
    point.add_option("number", to.study.point, "Of the point, as the tables have it")
        ->type_name("N")
        ->required()
        ->check(number_from_1());
    add_trace_options(point, to.study);
    point.footer(
        "Its result is printed and not put into the database.\n\nExamples:\n"
        "  vinic study point my.yaml 7 --account\n  vinic study point my.yaml 7 --wave 7.fst");
    CLI::App& diff = *study.add_subcommand("diff", "Where the results of two studies differ");
    diff.add_option("before", to.study.file, "Study or database")->type_name("A.yaml|.sqlite")->required();
    diff.add_option("after", to.study.other, "Another one")->type_name("B.yaml|.sqlite")->required();
    diff.add_option("--tolerance", to.study.tolerance_percent,
                    "Exit with status 1 when a number differs by more than that many percent")
        ->type_name("%")
        ->check(percentage());
    diff.footer(
        "Examples:\n  vinic study diff before.sqlite my.yaml\n  vinic study diff a.yaml b.yaml --tolerance "
        "1");
    for (CLI::App* verb : {&check, &state, &show, &write, &point, &diff}) add_result_options(*verb, to.study);
}

/// Options that may stand alone, and the place_suffixes of what they write.
const std::map<std::string, std::vector<std::string>> place_suffixes{{"--csv", {".csv"}},
                                                                     {"--json", {".json"}},
                                                                     {"--profile", {".txt"}},
                                                                     {"--stats", {".csv", ".json", ".txt"}}};

/// They take the next word only when it can be a place for what they write: "-", or a name with a suffix of
/// theirs.
void give_places(std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
        const auto option = place_suffixes.find(arguments[i]);
        if (option == place_suffixes.end()) continue;
        const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
        const bool place = next == "-" || std::ranges::any_of(option->second, [&](const std::string& suffix) {
                               return next.ends_with(suffix);
                           });
        if (!place) arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, "-");
    }
}

/// Takes away what follows "--".
std::vector<std::string> split_workload_arguments(std::vector<std::string>& arguments) {
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (dashes == arguments.end()) return {};
    std::vector<std::string> rest(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
    return rest;
}

std::string joined(const std::vector<std::string>& arguments) {
    std::string text = "vinic";
    for (const auto& argument : arguments) text += ' ' + argument;
    return text;
}

void check_verb(const CLI::App& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> verbs;
    for (const CLI::App* verb : program.get_subcommands(nullptr)) verbs.push_back(verb->get_name());
    if (arguments.empty())
        throw sim::input_error("expected a verb: {}; `vinic --help` shows more", fmt::join(verbs, ", "));
    const std::string& verb = arguments.front();
    const bool about_vinic = verb == "-h" || verb == "--help" || verb == "--version";
    if (verb.starts_with('-') && !about_vinic)
        throw sim::input_error("vinic itself has no option {}; a verb comes first: {}", verb,
                               fmt::join(verbs, ", "));
    if (about_vinic || std::find(verbs.begin(), verbs.end(), verb) != verbs.end()) return;
    const std::string near = sim::nearest_name(verb, verbs);
    throw sim::input_error("no verb is named '{}'; {}", verb,
                           near.empty() ? fmt::format("there are {}", fmt::join(verbs, ", "))
                                        : fmt::format("did you mean '{}'?", near));
}

/// The deepest verb that was named, whose options the user meant.
const CLI::App* chosen(const CLI::App& program) {
    const CLI::App* verb = &program;
    while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
    return verb;
}

[[noreturn]] void unknown_argument(const CLI::App& program, const std::vector<std::string>& arguments) {
    const CLI::App* verb = chosen(program);
    std::vector<std::string> names;
    for (const CLI::Option* option : verb->get_options())
        if (!option->get_lnames().empty() && !option->get_group().empty())
            names.push_back("--" + option->get_lnames().front());
    for (const auto& argument : arguments) {
        const std::string name = argument.substr(0, argument.find('='));
        if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) continue;
        if (name == "--shuffle") continue;
        const std::string near = sim::nearest_name(name, names);
        throw sim::input_error("{} has no option {}{}", verb->get_name(), name,
                               near.empty() ? std::string() : fmt::format("; did you mean {}?", near));
    }
    const std::vector<std::string> unexpected = verb->remaining();
    for (std::size_t i = 0; i + 2 < arguments.size(); ++i)
        if (const auto option = place_suffixes.find(arguments[i]); option != place_suffixes.end() &&
                                                                   arguments[i + 1] == "-" &&
                                                                   arguments[i + 2] == unexpected.front())
            throw sim::input_error("{} {}: expected a name that ends in {}", option->first,
                                   unexpected.front(), fmt::join(option->second, " or "));
    throw sim::input_error("{}: did not expect {}", verb->get_name(), fmt::join(unexpected, " "));
}

/// A place or a name that is empty is a variable of a shell that was not set, and no wish for nothing.
void check_not_empty(const CLI::App& verb) {
    for (const CLI::Option* option : verb.get_options())
        if (std::ranges::find(option->results(), "") != option->results().end())
            throw sim::input_error("{}: expected {}, not nothing", option->get_name(),
                                   option->get_type_name());
}

status perform_study(const CLI::App& study, const study_options& options) {
    const auto is = [&](const char* name) { return study.got_subcommand(name); };
    if (is("check")) return check_study(options);
    if (is("run")) return run_study(options);
    if (is("status")) return show_study_status(options);
    if (is("show")) return show_study(options);
    if (is("report")) return report_study(options);
    if (is("export")) return export_study(options);
    if (is("point")) return run_study_point(options);
    if (is("task")) return run_study_task(options);
    if (is("sensitivity")) return study_sensitivity(options);
    if (is("optimise")) return study_optimise(options);
    if (is("ask")) return ask_study(options);
    if (is("tell")) return tell_study(options);
    return compare_studies(options);
}

status perform(const CLI::App& program, request& wanted) {
    const auto is = [&](const char* name) { return program.got_subcommand(name); };
    if (is("run")) return run(wanted.run);
    if (is("exec")) return static_cast<status>(exec(wanted.exec));
    if (is("serve")) return static_cast<status>(serve(wanted.serve));
    if (is("designs")) return list_designs(wanted.designs);
    if (is("params")) return list_parameters(wanted.params);
    if (is("stats")) return list_statistics(wanted.stats);
    if (is("compare")) return compare(wanted.compare);
    if (is("trace")) return check_traces(wanted.trace);
    if (is("disassemble")) return disassemble();
    if (is("validate")) return validate(wanted.validate);
    if (is("vibe")) return vibe_suite(wanted.vibe);
    if (is("study")) return perform_study(*program.get_subcommand("study"), wanted.study);
    const bool build = program.get_subcommand("firmware")->got_subcommand("build");
    return build ? build_firmware(wanted.firmware) : show_firmware(wanted.firmware);
}

status parse_and_perform(std::vector<std::string> arguments) {
    request wanted;
    CLI::App program("vinic: a cycle-approximate simulator of Virtual Interface NICs", "vinic");
    program.set_version_flag(
        "--version", fmt::format("vinic {} ({}, {}, {})", version, git_revision, compiler, build_type));
    program.require_subcommand(1);
    program.get_formatter()->column_width(34);
    program.footer("Examples:\n  vinic run pingpong\n  vinic run --help\n  vinic params nic.lanai");
    add_run(program, wanted);
    add_exec(program, wanted);
    add_serve(program, wanted);
    add_reference_verbs(program, wanted);
    add_firmware(program, wanted);
    add_compare(program, wanted);
    add_trace(program, wanted);
    add_study(program, wanted);
    add_validate(program, wanted);
    add_vibe(program, wanted);
    program
        .add_subcommand("disassemble",
                        "LANai instruction words on standard input, in hexadecimal, as assembly")
        ->footer(
            "A translate filter process of GTKWave (--gtkw uses it).\n\nExamples:\n"
            "  echo 0000a000 | vinic disassemble");

    wanted.run.command = wanted.exec.command = wanted.serve.command = joined(arguments);
    wanted.run.arguments = wanted.exec.programs = split_workload_arguments(arguments);
    check_verb(program, arguments);
    give_places(arguments);
    try {
        program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& help) {
        program.exit(help);
        return status::done;
    } catch (const CLI::ExtrasError&) {
        unknown_argument(program, arguments);
    } catch (const CLI::ParseError& error) {
        throw sim::input_error("{}", error.what());
    }
    check_not_empty(*chosen(program));
    return perform(program, wanted);
}

}  // namespace

status run_command_line(std::vector<std::string> arguments) {
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // writes say so themselves
    const auto say = [](const char* what) { std::fprintf(stderr, "vinic: %s\n", what); };
    try {
        return parse_and_perform(std::move(arguments));
    } catch (const sim::unknown_parameter& error) {
        say(message_of(error).c_str());
        return status::bad_input;
    } catch (const sim::input_error& error) {
        say(error.what());
        return status::bad_input;
    } catch (const interrupted& stop) {
        say(stop.what());
        return status::interrupted;
    } catch (const std::exception& error) {
        say(error.what());
        return status::model_error;
    }
}

}  // namespace vinic::testbench
