/* SPDX-License-Identifier: Apache-2.0 */
#include "fst_io.h"

int vinic_fst_error = 0;
