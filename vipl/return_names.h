// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace vinic::vipl {

/// Of the values of VIP_RETURN, in their order (vipl.h).
inline constexpr std::array<const char*, 17> return_names{"VIP_SUCCESS",
                                                          "VIP_NOT_DONE",
                                                          "VIP_INVALID_PARAMETER",
                                                          "VIP_ERROR_RESOURCE",
                                                          "VIP_TIMEOUT",
                                                          "VIP_REJECT",
                                                          "VIP_INVALID_RELIABILITY_LEVEL",
                                                          "VIP_INVALID_MTU",
                                                          "VIP_INVALID_QOS",
                                                          "VIP_INVALID_PTAG",
                                                          "VIP_INVALID_RDMAREAD",
                                                          "VIP_DESCRIPTOR_ERROR",
                                                          "VIP_INVALID_STATE",
                                                          "VIP_ERROR_NAMESERVICE",
                                                          "VIP_NO_MATCH",
                                                          "VIP_NOT_REACHABLE",
                                                          "VIP_ERROR_NOT_SUPPORTED"};

}  // namespace vinic::vipl
