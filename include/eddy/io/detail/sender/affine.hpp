// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/continues_on.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>
#include <eddy/ex/get_forward_progress_guarantee.hpp>
#include <eddy/ex/get_scheduler.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/ex/unstoppable.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The scheduler of the hop back, which no stop request ends: the sender's result would be lost.
template <class Scheduler>
struct way_back {
    using scheduler_concept = ex::scheduler_tag;
    Scheduler to;
    auto schedule() const noexcept { return ex::unstoppable(ex::schedule(to)); }
    ex::forward_progress_guarantee query(ex::get_forward_progress_guarantee_t) const noexcept {
        return ex::get_forward_progress_guarantee(to);
    }
    bool operator==(const way_back&) const noexcept = default;
    // stdexec requires this comparison.
    bool operator==(const Scheduler& there) const noexcept { return to == there; }
};

/// Runs the sender alone, or the sender followed by a hop back.
template <class Sender, class Receiver>
class affine_state {
    using scheduler = std::remove_cvref_t<decltype(ex::get_start_scheduler(
        ex::get_env(std::declval<Receiver&>())))>;
    using direct = ex::connect_result_t<Sender, Receiver>;
    using and_back =
        decltype(ex::continues_on(std::declval<Sender>(), std::declval<way_back<scheduler>>()));
    using hopping = ex::connect_result_t<and_back, Receiver>;

public:
    using operation_state_concept = ex::operation_state_tag;

    affine_state(Sender&& sender, Receiver&& receiver) {
        const scheduler start = ex::get_start_scheduler(ex::get_env(receiver));
        if (completes_on(sender, start)) {
            either_.template emplace_from<direct>(
                [&] { return ex::connect(std::move(sender), std::move(receiver)); });
        } else {
            either_.template emplace_from<hopping>([&] {
                return ex::connect(ex::continues_on(std::move(sender), way_back<scheduler>{start}),
                                   std::move(receiver));
            });
        }
    }
    affine_state(const affine_state&) = delete;
    affine_state& operator=(const affine_state&) = delete;

    void start() & noexcept {
        either_.visit([](auto& operation) noexcept { ex::start(operation); });
    }

private:
    static bool completes_on(const Sender& sender, const scheduler& start) noexcept {
        const auto there = ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender));
        if constexpr (std::same_as<scheduler, loop_scheduler> &&
                      std::same_as<decltype(there), const loop_scheduler>) {
            return there == start;
        } else {
            return false;
        }
    }

    ex::detail::choice<direct, hopping> either_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// The result of affine() of a sender that completes on one loop. It completes where the awaiting
/// coroutine was started, without a hop if that is the sender's loop.
template <class Sender>
class [[nodiscard]] affine_sender {
public:
    using sender_concept = ex::sender_tag;

    explicit affine_sender(Sender sender) noexcept(std::is_nothrow_move_constructible_v<Sender>)
        : sender_(std::move(sender)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return Sender::template get_completion_signatures<Sender, Env...>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return detail::affine_state<Sender, Receiver>(std::move(sender_), std::move(receiver));
    }

private:
    Sender sender_;
};

EDDY_EX_END

}  // namespace eddy
