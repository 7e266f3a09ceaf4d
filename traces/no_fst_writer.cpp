// SPDX-License-Identifier: Apache-2.0
// In the place of fst_writer.cpp where Verilator was not found.
#include "hw/sim/error.h"
#include "traces/fst_writer.h"

namespace vinic::traces {

bool fst_is_available() { return false; }

std::unique_ptr<wave_writer> make_fst_writer(const std::string& path, const wave_view&) {
    throw sim::input_error("{}: FST is not available: built without Verilator; .vcd works", path);
}

}  // namespace vinic::traces
