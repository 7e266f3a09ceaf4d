// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "traces/wave_writer.h"

namespace vinic::traces {

/// Was vinic built with Verilator, whose include folder has GTKWave's writer of FST files?
bool fst_is_available();

/// A waveform in GTKWave's Fast Signal Trace format; strings for states and spans. What was written is pushed
/// out every half second of wall time, so that a file whose writer was killed opens up to then, as long as
/// the FILE.fst.hier beside it is there. Throws sim::input_error when the file cannot be written, or when
/// vinic was built without Verilator.
std::unique_ptr<wave_writer> make_fst_writer(const std::string& path, const wave_view& what);

}  // namespace vinic::traces
