// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/completes_in_one_place.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>
#include <eddy/ex/get_forward_progress_guarantee.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/scheduler.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/schedule_state.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_group.hpp>

#include <concepts>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

template <class Scheduler>
class schedule_sender;
template <class Scheduler>
class schedule_at_sender;
/// Defined in <eddy/io/detail/sender/affine.hpp>. Coroutines of the built-in vocabulary do not need
/// it, so this header includes that one only for other vocabularies.
template <class Sender>
class affine_sender;

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

/// The common part of the schedulers of a loop and of a group. `Derived` has home(), which returns
/// the loop for the next operation.
template <class Derived>
class timed_scheduler {
public:
    using scheduler_concept = ex::scheduler_tag;

    /// Completes with a value, or stopped if a stop was requested or the loop ends; it never fails.
    schedule_sender<Derived> schedule() const noexcept;
    schedule_at_sender<Derived> schedule_at(time_point when) const noexcept;
    /// The delay begins when the operation is started.
    schedule_at_sender<Derived> schedule_after(duration delay) const noexcept;
    static time_point now() noexcept { return clock::now(); }

    static constexpr ex::forward_progress_guarantee query(
        ex::get_forward_progress_guarantee_t) noexcept {
        return ex::forward_progress_guarantee::parallel;
    }
    /// Scheduled operations complete on this scheduler, and never with an error.
    template <class Tag>
        requires(!std::same_as<Tag, ex::set_error_t>)
    Derived query(ex::get_completion_scheduler_t<Tag>) const noexcept {
        return static_cast<const Derived&>(*this);
    }
    bool operator==(const timed_scheduler&) const noexcept = default;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Schedules on the thread of one loop. Cheap to copy; must not outlive the loop. Thread: any.
///
///     co_await loop.get_scheduler().schedule_after(100ms);
class loop_scheduler : public detail::timed_scheduler<loop_scheduler> {
public:
    /// A null `home` stands for no loop. Nothing can be scheduled on such a scheduler.
    explicit loop_scheduler(loop* home) noexcept : home_(home) {}
    loop& home() const noexcept {
        EDDY_ASSERT(home_ != nullptr,
                    "a scheduler was used that has no loop, such as that of a "
                    "task which was started outside any");
        return *home_;
    }
    bool operator==(const loop_scheduler&) const noexcept = default;

private:
    loop* home_;
};

/// Schedules on a loop of a group: the current loop if it is in the group, else each loop in turn.
class group_scheduler : public detail::timed_scheduler<group_scheduler> {
public:
    explicit group_scheduler(loop_group& group) noexcept : group_(&group) {}
    loop& home() const noexcept { return group_->next(); }
    bool operator==(const group_scheduler&) const noexcept = default;

private:
    loop_group* group_;
};

/// Called by loop::get_scheduler() and loop_group::get_scheduler().
inline loop_scheduler scheduler_of(loop& home) noexcept { return loop_scheduler(&home); }
inline group_scheduler scheduler_of(loop_group& group) noexcept { return group_scheduler(group); }

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

/// The attributes of a sender that completes on a loop.
struct completes_on_loop {
    loop_scheduler home;

    template <class Tag>
    loop_scheduler query(ex::get_completion_scheduler_t<Tag>) const noexcept {
        return home;
    }
    static constexpr bool query(completes_in_one_place_t) noexcept { return true; }
};

template <class Scheduler>
class schedule_sender_base {
public:
    using sender_concept = ex::sender_tag;

    explicit schedule_sender_base(Scheduler on) noexcept : on_(on) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>();
    }
    struct attributes {
        Scheduler on;
        template <class Tag>
            requires(!std::same_as<Tag, ex::set_error_t>)
        Scheduler query(ex::get_completion_scheduler_t<Tag>) const noexcept {
            return on;
        }
        static constexpr bool query(completes_in_one_place_t) noexcept { return true; }
    };
    attributes get_env() const noexcept { return {on_}; }

protected:
    Scheduler on_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

template <class Scheduler>
class [[nodiscard]] schedule_sender : public detail::schedule_sender_base<Scheduler> {
public:
    using detail::schedule_sender_base<Scheduler>::schedule_sender_base;

    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return detail::schedule_state<Receiver>(this->on_.home(), std::move(receiver));
    }
    template <class Self = schedule_sender>
    affine_sender<Self> affine() const {
        return affine_sender<Self>(*this);
    }
};

template <class Scheduler>
class [[nodiscard]] schedule_at_sender : public detail::schedule_sender_base<Scheduler> {
public:
    schedule_at_sender(Scheduler on, detail::when when) noexcept
        : detail::schedule_sender_base<Scheduler>(on), when_(when) {}

    /// Throws std::bad_alloc if there is no room for another timer.
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const {
        return detail::schedule_at_state<Receiver>(this->on_.home(), when_, std::move(receiver));
    }
    template <class Self = schedule_at_sender>
    affine_sender<Self> affine() const {
        return affine_sender<Self>(*this);
    }

private:
    detail::when when_;
};

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Derived>
schedule_sender<Derived> timed_scheduler<Derived>::schedule() const noexcept {
    return schedule_sender<Derived>(static_cast<const Derived&>(*this));
}
template <class Derived>
schedule_at_sender<Derived> timed_scheduler<Derived>::schedule_at(time_point at) const noexcept {
    return {static_cast<const Derived&>(*this), when(at)};
}
template <class Derived>
schedule_at_sender<Derived> timed_scheduler<Derived>::schedule_after(
    duration delay) const noexcept {
    return {static_cast<const Derived&>(*this), when(delay)};
}

EDDY_EX_END

}  // namespace eddy::detail

#if !EDDY_EX_BUILTIN
#include <eddy/io/detail/sender/affine.hpp>
#endif
