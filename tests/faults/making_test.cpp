#include "faults/with_every_fault.hpp"

namespace eddy::test::making {

namespace {

/// A loop is made, is woken by a post, and ends.
void lives(eddy::loop& outside, attempt& a) {
    a.guard([&] {
        eddy::loop loop({.engine = outside.engine(), .timer_slack = 1us, .wait_retry = 20ms});
        bool ran = false;
        loop.post([&] { ran = true; });
        loop.run(run_mode::empty);
        a.succeed(ran);
    });
}

constexpr loop_scenario tried{&lives};
EDDY_SCENARIO(Making, tried);

}  // namespace

}  // namespace eddy::test::making
