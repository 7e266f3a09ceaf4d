// SPDX-License-Identifier: Apache-2.0
// vinic as it is where Verilator was not found: linked with what then takes the place of the FST files.
#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "traces/fst_reader.h"
#include "traces/fst_writer.h"
#include "traces/trace_check.h"

namespace vinic::traces {
namespace {

template <typename Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const sim::input_error& error) {
        return error.what();
    }
    return "none";
}

TEST(no_fst, is_said_and_vcd_recommended) {
    EXPECT_FALSE(fst_is_available());
    EXPECT_EQ(error_of([] { make_fst_writer("w.fst", {}); }),
              "w.fst: FST is not available: built without Verilator; .vcd works");
    EXPECT_EQ(error_of([] { check_trace(fst_magic, "w.fst"); }),
              "w.fst: FST is not available: built without Verilator");
}

}  // namespace
}  // namespace vinic::traces
