// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/base/unique_fd.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::test::standard_fds_faults {

namespace {

/// While it lives, the process has no standard input, and the next fd gets its number.
class no_standard_input {
public:
    no_standard_input() : kept_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
        ::close(STDIN_FILENO);
    }
    no_standard_input(const no_standard_input&) = delete;
    no_standard_input& operator=(const no_standard_input&) = delete;
    ~no_standard_input() {
        EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1) << "something has taken its number";
        if (kept_) {
            ::dup2(kept_.get(), STDIN_FILENO);
        }
    }

private:
    unique_fd kept_;
};

/// A loop is made and runs where the standard input is closed.
void leaves_free(eddy::loop& outside, attempt& a) {
    const no_standard_input closed;
    a.guard([&] {
        eddy::loop loop({.engine = outside.engine(), .wait_retry = 20ms});
        bool ran = false;
        loop.post([&] { ran = true; });
        loop.poll();
        a.succeed(ran);
    });
}

constexpr kernel::call told[] = {kernel::call::dupfd};
constexpr loop_scenario tried{.run = &leaves_free, .tells = told};
EDDY_SCENARIO(StandardFds, tried);

}  // namespace

}  // namespace eddy::test::standard_fds_faults
