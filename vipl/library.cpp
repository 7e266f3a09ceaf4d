// SPDX-License-Identifier: Apache-2.0
#include "vipl/library.h"

#include <utility>

namespace vinic::vipl {

namespace {

sim::parameter_spec<std::uint64_t> cost(const char* name, std::uint64_t clocks, std::uint64_t least,
                                        const char* help) {
    return {.name = name, .unit = "clocks", .value = clocks, .min = least, .max = 1'000'000, .help = help};
}

}  // namespace

library::library(const sc_core::sc_module_name& name, host::cpu& cpu,
                 std::vector<driver::kernel_agent*> cards)
    : sim::module(name),
      call_clocks(*this, cost("call_clocks", 30, 0, "argument checks and handle lookup of a call")),
      post_clocks(*this, cost("post_clocks", 120, 0,
                              "posting a descriptor, without copying it and without the doorbell")),
      poll_clocks(*this, cost("poll_clocks", 20, 1, "one look at a completion, beyond call_clocks")),
      done_clocks(*this, cost("done_clocks", 80, 0, "taking a completed descriptor off its queue")),
      queue_done_clocks(*this, cost("queue_done_clocks", 60, 0, "taking an entry off a completion queue")),
      name_clocks(*this, cost("name_clocks", 2'000, 0, "a look-up in the name service")),
      callback_clocks(*this, cost("callback_clocks", 200, 0, "calling a handler of the program")),
      wait_poll_us(*this, {.name = "wait_poll_us",
                           .unit = "us",
                           .value = 50,
                           .min = 0,
                           .max = 1'000'000,
                           .help = "how long VipXxxWait polls before it blocks in the kernel"}),
      choices(*this),
      posts(*this, "posts", "descriptors posted"),
      messages(*this, "messages", "descriptors posted for sending"),
      completions(*this, "completions", "completed descriptors taken off their queues"),
      blocking_waits(*this, "blocking_waits", "waits that went to the kernel"),
      call_probe(*this, "call", "descriptors as they are posted and taken back"),
      error_probe(*this, "asynchronous_error", "asynchronous errors, as programs are told"),
      cpu_(cpu),
      cards_(std::move(cards)) {}

}  // namespace vinic::vipl
