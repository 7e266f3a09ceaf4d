// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::sim::unit {

/// Units are types: a statistic of bytes cannot be added to one of clocks, and its printed name cannot lie.
struct bytes {
    static constexpr const char* name = "bytes";
};
struct clocks {
    static constexpr const char* name = "clocks";
};
struct ps {
    static constexpr const char* name = "ps";
};
struct packets {
    static constexpr const char* name = "packets";
};
struct transactions {
    static constexpr const char* name = "transactions";
};
struct instructions {
    static constexpr const char* name = "instructions";
};
struct messages {
    static constexpr const char* name = "messages";
};
/// Occurrences of whatever the statistic's name says.
struct events {
    static constexpr const char* name = "events";
};

}  // namespace vinic::sim::unit
