// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/program_suite.hpp"

namespace bench {

program_suite pollset_suite();

}  // namespace bench
