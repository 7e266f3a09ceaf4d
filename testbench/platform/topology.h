// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/link/topology.h"
#include "testbench/platform/design.h"

namespace vinic::testbench {

/// The network that a design describes, for so many nodes with so many cards each. Throws input_error with
/// file and line.
link::topology build_topology(const topology_description& from, unsigned nodes, unsigned cards);

}  // namespace vinic::testbench
