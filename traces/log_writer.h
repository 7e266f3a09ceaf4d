// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/output_file.h"
#include "traces/recorder.h"

namespace vinic::traces {

/// One greppable line for each event, in order of time: picoseconds, probe, what.
///
///     12345000 node0.bus.transaction memory_read address=0x1000 bytes=0x40 for 150000 ps
///     12360000 node0.nic.doorbells.depth 3
class log_writer : public recorder {
public:
    explicit log_writer(const std::string& path, const std::vector<std::string>& scopes = {"*"},
                        window when = {})
        : recorder(probes_matching(scopes), std::move(when)), file_(path) {}

protected:
    void emit(const record&) override;
    void flushed() override { file_.flush(); }

private:
    output_file file_;
};

}  // namespace vinic::traces
