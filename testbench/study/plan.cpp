// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/plan.h"

#include <algorithm>
#include <cctype>

#include "hw/sim/error.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/setting.h"
#include "testbench/platform/setup.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench::study {

namespace {

const std::string argument_prefix = "arguments.";

bool is_parameter(const std::string& name) {
    return name != "design" && name != "nodes" && name != "seed" && name != changed_parameter &&
           name != changed_value && !name.starts_with(argument_prefix);
}

/// Of vinic itself.
const std::string& program_sha256() {
    static const std::string hash = sha256(read_file("/proc/self/exe"));
    return hash;
}

}  // namespace

plan::plan(study_file of) : study_(std::move(of)), grid_(expand(study_)) {}

std::string plan::beside(const std::string& name, const char* suffix) const {
    const bool is_trace = name.ends_with(".trace");  // of calls, in the place of a workload
    const bool is_file = name.find('/') != std::string::npos || name.ends_with(suffix) || is_trace;
    if (!is_file || std::filesystem::path(name).is_absolute()) return name;
    const std::string file = (study_.path.parent_path() / name).lexically_normal().string();
    return file.find('/') == std::string::npos ? "./" + file : file;
}

const located* plan::value(std::size_t index, const std::string& name) const {
    if (const std::size_t at = grid_.column(name); at != grid_.names.size()) return &grid_.points[index][at];
    if (name == "nodes") return study_.nodes ? &*study_.nodes : nullptr;
    if (name == "design") return study_.designs.empty() ? nullptr : &study_.designs.front();
    return nullptr;
}

std::map<std::string, located> plan::parameters_at(std::size_t index) const {
    std::map<std::string, located> all(study_.parameters.begin(), study_.parameters.end());
    for (std::size_t i = 0; i < grid_.names.size(); ++i)
        if (is_parameter(grid_.names[i])) all[grid_.names[i]] = grid_.points[index][i];
    if (const located* const changed = value(index, changed_parameter); changed && !changed->text.empty())
        all[changed->text] = *value(index, changed_value);
    if (const auto firmware = all.find("firmware"); firmware != all.end())
        firmware->second.text = beside(firmware->second.text, ".elf");
    return all;
}

std::map<std::string, located> plan::arguments_by_name(std::size_t index) const {
    std::map<std::string, located> all(study_.arguments.begin(), study_.arguments.end());
    for (std::size_t i = 0; i < grid_.names.size(); ++i)
        if (grid_.names[i].starts_with(argument_prefix))
            all[grid_.names[i].substr(argument_prefix.size())] = grid_.points[index][i];
    return all;
}

std::vector<std::string> plan::arguments_at(std::size_t index) const {
    std::vector<std::string> all;
    for (const auto& [name, value] : arguments_by_name(index)) all.push_back(name + "=" + value.text);
    return all;
}

design plan::design_at(std::size_t index) const {
    const located* const name = value(index, "design");
    design d;
    try {
        d = load_design(name ? beside(name->text, ".yaml") : "myvia");
    } catch (const sim::input_error& error) {
        if (!name) throw;
        throw sim::input_error("{}: design: {}", name->origin, error.what());
    }
    for (const auto& [parameter, given] : parameters_at(index)) apply_setting(d, parameter, given);
    if (const located* const nodes = value(index, "nodes")) d.nodes = *nodes;
    d.node_count();
    d.card_count();
    return d;
}

planned_point plan::at(std::size_t index) const {
    const located* const design = value(index, "design");
    const located* const nodes = value(index, "nodes");
    const located* const seed = value(index, "seed");
    const std::string design_name = design ? design->text : "myvia";
    planned_point p{.configuration = {{"workload", study_.workload.text}, {"design", design_name}},
                    .workload = workload(),
                    .design = beside(design_name, ".yaml"),
                    .arguments = arguments_at(index)};
    if (nodes) p.configuration["nodes"] = *(p.nodes = nodes->text);
    if (seed) p.seed = parse_seed(seed->text);
    p.configuration["seed"] = p.seed;
    for (const auto& [name, given] : parameters_at(index)) {
        p.configuration["parameters"][name] = given.text;
        p.settings.push_back(name + "=" + given.text);
    }
    for (const auto& [name, given] : arguments_by_name(index))
        p.configuration["arguments"][name] = given.text;
    p.key = sha256(p.configuration.dump());
    return p;
}

std::vector<std::string> planned_point::command(const std::vector<std::string>& options) const {
    std::vector<std::string> words{"run", workload, "--design", design, "--seed", std::to_string(seed)};
    if (nodes) words.insert(words.end(), {"--nodes", *nodes});
    for (const auto& setting : settings) words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), options.begin(), options.end());
    if (!arguments.empty()) words.emplace_back("--");
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

std::vector<std::string> plan::result_options() const {
    std::vector<std::string> options{"--json", "-"};
    if (wants("account.")) options.emplace_back("--account");
    if (wants("statistics.")) options.insert(options.end(), {"--stats", "-"});
    return options;
}

bool plan::wants(const char* prefix) const {
    return std::ranges::any_of(study_.metrics, [&](const located& m) { return m.text.starts_with(prefix); });
}

identities::contents& identities::contents_of(std::size_t index, const json& configuration) {
    const auto parameters = configuration.find("parameters");
    std::string key = configuration["design"].get<std::string>() + '\n';
    if (parameters != configuration.end())
        key += parameters->value("firmware", "") + '\n' + parameters->value("card", "");
    contents& known = contents_[key];
    if (known.design.empty()) {
        const design d = plan_.design_at(index);
        const auto firmware = firmware_of(d);
        known = {hash_of(d), firmware ? firmware->sha256 : std::string()};
    }
    return known;
}

std::string identities::firmware_sha256(std::size_t index) {
    return contents_of(index, plan_.at(index).configuration).firmware;
}

bool identities::made(std::size_t index, const json& provenance) {
    const contents& from = contents_of(index, plan_.at(index).configuration);
    const std::map<std::string, std::string> expected{
        {"design_sha256", from.design}, {"workload_sha256", workload_}, {"firmware_sha256", from.firmware}};
    return std::ranges::all_of(expected, [&](const auto& hash) {
        const auto found = provenance.find(hash.first);
        return found == provenance.end() || found->is_null() || *found == hash.second;
    });
}

std::string identities::of(std::size_t index, const planned_point& p) {
    if (workload_.empty())
        workload_ =
            load_workload(plan_.workload(), plan_.arguments_at(index), plan_.design_at(index), p.seed, false)
                ->sha256();
    const contents& made_from = contents_of(index, p.configuration);
    json all{{"configuration", p.configuration},
             {"program", program_sha256()},
             {"workload", workload_},
             {"design", made_from.design},
             {"firmware", made_from.firmware}};
    for (const located& metric : plan_.study().metrics)
        if (metric.text.find('.') != std::string::npos) all["metrics"].push_back(metric.text);
    return sha256(all.dump());
}

std::string shell_text(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) {
        const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
            return std::isalnum(c) ||
                   std::string_view("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
        });
        std::string quoted = word;
        if (!plain) {
            quoted.clear();
            for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
            quoted = "'" + quoted + "'";
        }
        text += (text.empty() ? "" : " ") + quoted;
    }
    return text;
}

}  // namespace vinic::testbench::study
