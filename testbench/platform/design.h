// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/sim/configuration.h"

namespace vinic::testbench {

/// A text of a design file and where it stands: "file.yaml:12".
struct located {
    std::string text;
    std::string origin;
};

/// How the nodes are wired, as a design says it: a named shape, or switches and cables one by one.
struct topology_description {
    struct switch_entry {
        std::string name;
        std::uint64_t ports = 8;
        std::string origin;
    };
    /// Ends are "node3" and "switch0:5" (port 5).
    struct cable_entry {
        std::string from;
        std::string to;
        std::string origin;
    };

    located shape{"back_to_back", "default"};  ///< back_to_back, switch, clos or list
    std::uint64_t switch_ports = 0;            ///< of switch and clos; 0: the shape's own
    std::vector<switch_entry> switches;        ///< of list
    std::vector<cable_entry> cables;           ///< of list
};

/// A design as its file, the files that it builds on and the command line state it.
struct design {
    std::string name;
    std::string description;
    located card{"lanai", "default"};  ///< the kind of card: see make_card
    std::optional<located>
        firmware;  ///< a name, image or source folder; paths are relative to the design's file
    located transport{"vi", "default"};  ///< what shipped workloads use: vi, udp or tcp
    located nodes{"2", "default"};
    located cards{"1", "default"};  ///< of each node
    topology_description topology;
    /// Parameters by name, as the design's files have them.
    std::map<std::string, sim::setting> settings;
    /// Those of the command line.
    std::map<std::string, sim::setting> overrides;
    /// Every file that was read, the design's own last.
    std::vector<std::filesystem::path> files;

    std::uint64_t node_count() const;
    /// Cards of each node.
    std::uint64_t card_count() const;
    /// All settings for the modules, those of the command line over those of the files.
    sim::configuration configuration() const;
};

/// Reads a design by name or path. Throws input_error: file, line, what was expected.
design load_design(const std::string& name_or_file);

/// Applies "--set name=value": a key of designs (nodes, cards, topology, firmware) or a parameter.
void apply_setting(design& to, const std::string& name, const std::string& value);

/// The keys of a design file beside parameters, for "did you mean".
const std::vector<std::string>& design_keys();

}  // namespace vinic::testbench
