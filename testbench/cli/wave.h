// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "testbench/cli/options.h"
#include "testbench/platform/platform.h"
#include "traces/wave_writer.h"

namespace vinic::testbench {

/// The signals and the window that --wave, --wave-scope, --wave-from and --wave-to ask for. Throws
/// input_error.
traces::wave_view wave_view_of(const trace_options& options, const platform& of);

/// The writer of the form that the name's suffix says. Throws input_error when that is not there.
std::unique_ptr<traces::wave_writer> make_wave(const std::string& file, const traces::wave_view& view);

}  // namespace vinic::testbench
