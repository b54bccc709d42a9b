// SPDX-License-Identifier: Apache-2.0

// Ends the run of a loop when the operation that it was run for has ended.
#include "kernel/pause.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/io/detail/sender/run_end.hpp>

#include <chrono>

namespace eddy::detail {

/// Another thread posts instead of stopping the loop. A stop that the loop takes before it checks
/// `reached_` would be lost, and one that it takes later would end the next run.
void run_end::reach() noexcept {
    if (loop::current() == &home_) {
        end_run();
        return;
    }
    home_.hand_over(entry_);
}

void run_end::run(std::exception_ptr& failure) noexcept try { home_.run(); } catch (...) {
    if (failure == nullptr) {
        failure = std::current_exception();
    }
    kernel::pause_for(std::chrono::milliseconds(1));
}

void run_end::on_entry(entry& e) noexcept { owner_of<&run_end::entry_>(e).end_run(); }

}  // namespace eddy::detail
