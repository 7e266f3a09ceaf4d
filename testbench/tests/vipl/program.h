// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testbench/tests/host_driver/cluster.h"
#include "testbench/tests/vipl/consumer.h"
#include "vipl/library.h"
#include "vipl/program.h"

namespace vinic::vipl::test {

using driver::test::settings;

/// Machines with the library installed; programs run on them.
struct world : driver::test::cluster {
    explicit world(unsigned count = 2, const settings& values = {}) : cluster(count, values) {
        for (const auto& m : machines)
            libraries.push_back(std::make_unique<library>(
                (std::string("vipl") + std::to_string(m->number)).c_str(), m->cpu, std::vector{&m->agent}));
    }

    std::vector<std::unique_ptr<library>> libraries;

    /// A program: VIPL may be called in `what`; it closes what that leaves open.
    void program(unsigned on, const std::function<void(host::process&, host::address_space&)>& what) {
        spawn(on, [this, on, what](host::process& self, host::address_space& space) {
            run_program(*libraries[on], self, space, [&] { what(self, space); });
        });
    }
};

}  // namespace vinic::vipl::test
