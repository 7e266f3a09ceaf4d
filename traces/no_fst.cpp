// SPDX-License-Identifier: Apache-2.0
// In the place of fst_writer.cpp and fst_reader.cpp where Verilator was not found.
#include "hw/sim/error.h"
#include "traces/fst_reader.h"
#include "traces/fst_writer.h"

namespace vinic::traces {

bool fst_is_available() { return false; }

std::unique_ptr<wave_writer> make_fst_writer(const std::string& path, const wave_view&) {
    throw sim::input_error("{}: FST is not available: built without Verilator; .vcd works", path);
}

void read_fst(const std::string& path, const std::function<void(const std::string&)>&,
              const std::function<void(std::uint64_t, std::size_t, std::string_view)>&) {
    throw sim::input_error("{}: FST is not available: built without Verilator", path);
}

}  // namespace vinic::traces
