// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/os/process_handle.hpp>

#include <system_error>

namespace eddy::test::spawn_of_nothing {

namespace {

/// A child cannot become its program: it is reaped at once, and the error is the result.
void is_refused(eddy::loop& loop, attempt& a) {
    process_handle child;
    const auto error = process_handle::spawn(loop, {.program = "/there/is/no/such"}, child);
    EXPECT_FALSE(child);
    if (error == std::errc::no_such_file_or_directory) {
        a.succeed();
    } else {
        a.told(error);
    }
}

constexpr loop_scenario tried{.run = &is_refused, .tcp = false};
EDDY_SCENARIO(SpawnOfNothing, tried);

}  // namespace

}  // namespace eddy::test::spawn_of_nothing
