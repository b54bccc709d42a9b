#pragma once

#include <eddy/async/task.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_allocator.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>

#include <concepts>
#include <cstddef>
#include <memory_resource>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

using frame_allocator = std::pmr::polymorphic_allocator<std::byte>;

template <class Env>
concept tells_frame_allocator = requires(const Env& env) {
    { ex::get_allocator(env) } -> std::convertible_to<frame_allocator>;
};

/// Where frames come from by the word of `env`; from `otherwise` if it has none, or an allocator of
/// another kind.
template <class Env>
frame_allocator allocator_of(const Env& env, frame_allocator otherwise) noexcept {
    if constexpr (tells_frame_allocator<Env>) {
        return ex::get_allocator(env);
    } else {
        return otherwise;
    }
}
template <class Env>
frame_allocator allocator_of(const Env& env) noexcept {
    return allocator_of(env, std::pmr::new_delete_resource());
}

/// A task that is made when it is connected or awaited, by `Make(frame_allocator)`: only then it is
/// known where its frame is to come from.
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
    /// Throws what the allocator throws.
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        const frame_allocator from = allocator_of(ex::get_env(receiver));
        return std::move(*this).make(from).connect(std::move(receiver));
    }
    /// It goes on where it was started anyway.
    made_task affine() && { return std::move(*this); }

    made make(frame_allocator from) && { return std::move(make_)(from); }

private:
    Make make_;
};

EDDY_EX_END

}  // namespace eddy::detail
