// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/allocator_resource.hpp>
#include <eddy/async/detail/task/frame_allocator.hpp>
#include <eddy/async/task.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_allocator.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>

#include <memory_resource>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Env>
concept tells_allocator = requires(const Env& env) { ex::get_allocator(env); };
template <tells_allocator Env>
using told_allocator_t = std::decay_t<decltype(ex::get_allocator(std::declval<const Env&>()))>;

/// An environment whose allocator must first be adapted to a memory resource.
template <class Env>
concept needs_resource = tells_allocator<Env> && !gives_frames<told_allocator_t<Env>>;

/// Returns the allocator that `env` has for frames, or `otherwise` if it has none.
template <class Env>
frame_allocator allocator_of(const Env& env, frame_allocator otherwise) noexcept {
    if constexpr (needs_resource<Env>) {
        static_assert(!needs_resource<Env>,
                      "this sender tells of an allocator that is no memory resource: await it in a "
                      "task, whose frame may come from an eddy::allocator_resource");
        return otherwise;
    } else if constexpr (tells_allocator<Env>) {
        return to_frame_allocator(ex::get_allocator(env));
    } else {
        return otherwise;
    }
}
template <class Env>
frame_allocator allocator_of(const Env& env) noexcept {
    return allocator_of(env, std::pmr::new_delete_resource());
}

/// The operation state of a made_task, with the memory resource of the frame.
template <class Make, class Receiver>
class made_state {
    using env = ex::env_of_t<Receiver>;
    using made = std::invoke_result_t<Make, frame_allocator>;

public:
    using operation_state_concept = ex::operation_state_tag;

    made_state(Make make, Receiver receiver)
        : memory_(ex::get_allocator(ex::get_env(receiver))),
          made_(std::move(make)(&memory_).connect(std::move(receiver))) {}

    void start() & noexcept { made_.start(); }

private:
    allocator_resource<told_allocator_t<env>> memory_;
    decltype(std::declval<made>().connect(std::declval<Receiver>())) made_;
};

/// A task that `Make(frame_allocator)` makes when it is connected or awaited, because only then the
/// allocator of its frame is known.
template <class Make>
class [[nodiscard]] made_task {
    using made = std::invoke_result_t<Make, frame_allocator>;

public:
    using sender_concept = ex::sender_tag;

    explicit made_task(Make make) noexcept(std::is_nothrow_move_constructible_v<Make>)
        : make_(std::move(make)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return made::template get_completion_signatures<made, Env...>();
    }
    /// Throws the exceptions of the allocator.
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        if constexpr (needs_resource<ex::env_of_t<Receiver>>) {
            return made_state<Make, Receiver>(std::move(make_), std::move(receiver));
        } else {
            const frame_allocator from = allocator_of(ex::get_env(receiver));
            return std::move(*this).make(from).connect(std::move(receiver));
        }
    }
    /// Returns this sender: a task continues on the loop that it was started on.
    made_task affine() && { return std::move(*this); }

    made make(frame_allocator from) && { return std::move(make_)(from); }

private:
    Make make_;
};

EDDY_EX_END

}  // namespace eddy::detail
