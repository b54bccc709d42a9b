// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/loop_of.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/schedule_state.hpp>

#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

class [[nodiscard]] sleep_sender {
public:
    using sender_concept = ex::sender_tag;

    explicit sleep_sender(when end) noexcept : end_(end) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const {
        loop& home = need_loop(find_loop(ex::get_env(receiver)));
        return schedule_at_state<Receiver>(home, end_, std::move(receiver));
    }
    /// Returns this sender: a sleep completes on the loop that it was started on.
    sleep_sender affine() const noexcept { return *this; }

private:
    when end_;
};

EDDY_EX_END
}  // namespace eddy::detail

namespace eddy {
EDDY_EX_BEGIN

/// A sender that completes after `delay`, counted from its start, and never earlier. It completes
/// on the loop of the task that awaits it: that of the environment's scheduler, or else the loop
/// that the calling thread is running. It completes stopped if a stop was requested, or if the loop
/// ends; it never fails.
///
///     co_await eddy::sleep_for(100ms);
///
/// Connecting it throws std::bad_alloc if there is no room for another timer. To sleep on another
/// loop, use `loop.get_scheduler().schedule_after(delay)`.
inline auto sleep_for(duration delay) noexcept { return detail::sleep_sender(detail::when(delay)); }

/// A sender that completes at `end`, and never earlier. In all other respects like sleep_for().
///
///     co_await eddy::sleep_until(eddy::clock::now() + 5s);
inline auto sleep_until(time_point end) noexcept { return detail::sleep_sender(detail::when(end)); }

EDDY_EX_END
}  // namespace eddy
