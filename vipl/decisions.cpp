// SPDX-License-Identifier: Apache-2.0
#include "vipl/decisions.h"

namespace vinic::vipl {

namespace {

sim::parameter_spec<std::string> choice(const char* name, std::vector<std::string> choices,
                                        const char* help) {
    std::string first = choices.front();
    return {.name = name,
            .value = std::move(first),
            .choices = std::move(choices),
            .help = help,
            .source = "facts vipl.md 13"};
}

}  // namespace

decisions::decisions(const sim::module& owner)
    : send_unconnected(owner, choice("send_unconnected", {"flush", "invalid_state"},
                                     "VipPostSend on a VI that is not connected: a flushed completion, or "
                                     "VIP_INVALID_STATE")),
      destroy_busy(owner, choice("destroy_busy", {"refuse", "force"},
                                 "VipDestroyVi of a VI that is not idle or has descriptors: an error, or it "
                                 "is disconnected and destroyed")),
      wait_timeout_zero(owner, choice("wait_timeout_zero", {"timeout", "invalid_parameter"},
                                      "VipConnectWait with time-out 0")),
      empty_discriminator(owner, choice("empty_discriminator", {"any", "exact"},
                                        "VipConnectWait with an empty discriminator: takes any request, or "
                                        "those with an empty one")),
      wait_with_queue(owner, choice("wait_with_queue", {"invalid_parameter", "error_resource", "allow"},
                                    "VipSendWait or VipRecvWait on a queue that has a completion queue")),
      name_service(owner, choice("name_service", {"lenient", "strict"},
                                 "name service calls before VipNSInit: answered, or "
                                 "VIP_ERROR_NAMESERVICE")),
      unknown_host(owner, choice("unknown_host", {"not_reachable", "timeout"},
                                 "a connection request to a host that does not exist: "
                                 "VIP_NOT_REACHABLE at once, or VIP_TIMEOUT when it has passed")),
      null_tag(owner, choice("null_tag", {"clan", "always", "never"},
                             "a null protection tag stands for the default tag: on device names "
                             "/dev/clanvi*, on all, on none")) {}

}  // namespace vinic::vipl
