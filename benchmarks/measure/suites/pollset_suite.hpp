// SPDX-License-Identifier: Apache-2.0

// The questions of the suite `pollset`.
#pragma once

#include "measure/suites/program_suite.hpp"

namespace bench {

program_suite pollset_suite();

}  // namespace bench
