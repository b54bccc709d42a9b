// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/watch/watch.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {

/// Base of the watches for signals and for children, whose sources in the os room keep lists of
/// waits. `Wait` is the list node that the source takes. The source reads an event right before the
/// callback, so a disarmed watch has consumed nothing.
template <class Wait>
class source_watch : public watch {
protected:
    source_watch(loop& home, const watch_options& options) noexcept
        : watch(home, options),
          wait_([](Wait& w) noexcept { owner_of<&source_watch::wait_>(w).on_complete(); }),
          repeat_([](entry& e) noexcept { owner_of<&source_watch::repeat_>(e).dispatch(); }) {
        wait_.set_priority(options.priority);
        repeat_.set_priority(options.priority);
    }
    ~source_watch() override = default;

    /// Hands `w` to the source, which completes it with the next event.
    virtual std::error_code wait_for_next(Wait& w) noexcept = 0;
    const Wait& wait() const noexcept { return wait_; }
    Wait& wait() noexcept { return wait_; }

    void start(arming how) noexcept final {
        if (how == arming::requeue) {
            home().post(repeat_);
        } else if (wait_for_next(wait_)) {
            lapse();  // the source has no more events for it
        }
    }
    void stop() noexcept final {
        wait_.cancel();
        if (repeat_.posted()) {
            home().disarm(repeat_);
        }
    }
    void reprioritise(priority_level priority) noexcept final {
        wait_.set_priority(priority);
        move(repeat_, priority);
    }

private:
    void on_complete() noexcept {
        if (!wait_.error()) {
            dispatch();
            return;
        }
        do_not_count();
        if (wait_.loop_ends() && !loop_ends()) {
            start(arming::look);  // the wait ended because the process has forked
        } else {
            lapse();
        }
    }

    Wait wait_;
    entry repeat_;
};

}  // namespace eddy::detail
