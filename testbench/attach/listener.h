// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "vipl/attach/channel.h"

namespace vinic::testbench {

/// A socket at which programs say that they are there.
class listener {
public:
    /// Throws input_error: another simulator listens there, or it cannot be made. A socket that nobody
    /// listens at any more is replaced.
    explicit listener(std::string path);
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    const std::string& path() const { return path_; }

    /// A program that waits for an answer.
    struct caller {
        int socket = -1;
        pid_t process = 0;
        vipl::attach::hello said{};
    };
    /// Whether somebody is there, who must then be answered. One that does not speak as we do is refused
    /// here.
    bool accept(caller& who);
    static void refuse(const caller& who, const std::string& why);
    static void welcome(const caller& who, int region, int doorbell, int window);

private:
    std::string path_;
    int socket_ = -1;
};

}  // namespace vinic::testbench
