#include "base/report.hpp"
#include "engine/engine.hpp"
#include "loop/blocking_call.hpp"
#include "loop/patience.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <string>
#include <thread>

/// A wait that the kernel refuses.
namespace eddy {

/// The kernel may be short of something for a while: this turn then goes on as if nothing had come.
/// Every turn looks at the kernel until that works again, so that failures of neighbouring turns
/// are one trouble; waits that work need not be counted for that.
void loop::wait_failed(io_result found) {
    if (counters_.turns > failed_turn_ + 1) {
        wait_retry_.worked();
    }
    failed_turn_ = counters_.turns;
    looked_at_ = time_point();  // see next_look()
    const std::error_code error = found.error();
    // The end of a loop gives up before it takes its operations to be stuck.
    const duration limit =
        destroying_ ? std::min(options_.wait_retry, patience / 2) : options_.wait_retry;
    switch (wait_retry_.failed(error, clock::now(), limit)) {
        case wait_retry::verdict::give_up:
            cannot_wait(error);
        case wait_retry::verdict::first:
            reportf("the loop '%s' cannot wait: %s: %s; it tries again for %.3g s", options_.name,
                    engine_->wait_call(), words_of(error),
                    std::chrono::duration<double>(limit).count());
            break;
        case wait_retry::verdict::again:
            break;
    }
    take_pause(wait_retry_.pause());
}

/// Nobody can wake a thread that sleeps here, so that it looks whether it should be awake.
void loop::take_pause(duration pause) noexcept {
    constexpr duration slice = std::chrono::milliseconds(10);
    time_point now = clock::now();
    const time_point end = std::min({saturating_add(now, pause), run_until_, next_in_heap()});
    while (nothing_to_run() && now < end) {
        std::this_thread::sleep_for(std::min(slice, end - now));
        now = clock::now();
    }
}

/// Nothing stays pending, so that whatever the caller destroys next was ended.
void loop::cannot_wait(std::error_code error) {
    end_without_kernel(error);
    throw std::system_error(error, std::string("the loop '") + options_.name +
                                       "' cannot wait: " + engine_->wait_call());
}

/// Ends everything that is pending, as the end of the loop does. Calls that an executor makes take
/// their time.
void loop::end_without_kernel(std::error_code error) noexcept {
    constexpr duration slice = std::chrono::milliseconds(1);
    engine_->give_up_kernel(error);
    completion_limit_ = UINT64_MAX;
    set_ends(true, destroying_);
    const time_point give_up = saturating_add(clock::now(), patience);
    do {
        take_inbox();
        take_after_poll();
        cancel_entries();
        cancel_operations(true);
        cancel_timers();
        if (nothing_to_run() && !idle()) {
            std::this_thread::sleep_for(slice);
        }
        run_ready(options_.batch_max);
    } while (!idle() && clock::now() < give_up);
}

}  // namespace eddy
