// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/compose/party_count.hpp>
#include <eddy/async/detail/nursery/nursery_waits.hpp>
#include <eddy/async/detail/task/await_it.hpp>
#include <eddy/async/detail/task/made_task.hpp>
#include <eddy/async/event.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/stop_token.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

/// The child tasks of a block of code, none of which outlives the block: see with_nursery().
///
/// Thread: that of the block's loop, on which the children run too. stop(): any.
class nursery {
public:
    /// Called by with_nursery(). Precondition: `home` is the current loop.
    EDDY_API nursery(loop& home, detail::frame_allocator memory);
    /// Destroys the children that remain if the task that contains the nursery is destroyed.
    EDDY_API ~nursery();
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;

    /// Starts a child at once. The child runs until it ends or the nursery is stopped. An exception
    /// of the child stops the nursery, and with_nursery() rethrows it. Throws std::bad_alloc.
    EDDY_API void start(task<>&& child);
    /// Starts a child whose exceptions go to `on_error` and do not stop the nursery. An exception
    /// of `on_error` itself does.
    ///
    ///     children.start(serve(std::move(peer)), eddy::report_exception());
    template <class OnError>
    void start(task<>&& child, OnError on_error) {
        const auto memory = detail::task_access::promise(child).get_allocator();
        start(detail::shielded(std::allocator_arg, memory, std::move(child), std::move(on_error)));
    }
    /// Starts any sender, or the task or sender that a callable returns, as a child. Its values are
    /// dropped. The callable is kept until the child has ended, so that the captures of a lambda
    /// live as long as its coroutine. Memory comes from the allocator in the sender's attributes,
    /// or else from the nursery's.
    template <class Sender, class... OnError>
        requires(sizeof...(OnError) <= 1)
    void start(Sender&& sender, OnError... on_error) {
        if constexpr (ex::sender<Sender>) {
            const auto memory = detail::allocator_of(ex::get_env(sender), memory_);
            start(detail::await_it<std::decay_t<Sender>>(std::allocator_arg, memory,
                                                         static_cast<Sender&&>(sender)),
                  std::move(on_error)...);
        } else if constexpr (detail::sender_callable<Sender>) {
            start(detail::call_it<std::decay_t<Sender>>(std::allocator_arg, memory_,
                                                        static_cast<Sender&&>(sender)),
                  std::move(on_error)...);
        } else {
            detail::explain_argument<Sender>();
        }
    }

    /// A sender that completes when the nursery has no children.
    auto join() noexcept { return idle_.wait(); }
    /// Asks the block and all children to stop. The nursery outlives this call, even if the call
    /// ends its last child. Thread: any.
    EDDY_API void stop() noexcept;
    /// Disables stop(), and returns a sender that completes when no thread is inside stop() any
    /// more: the last step before the nursery is destroyed.
    auto leave() noexcept {
        leave_requests();
        return quiet_.wait();
    }
    ex::inplace_stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    std::size_t size() const noexcept { return children_; }

    /// Stops the nursery, and keeps `error` for rethrow() unless it has one already.
    EDDY_API void fail(std::exception_ptr error) noexcept;
    EDDY_API void rethrow();

private:
    class nursed;

    EDDY_API void leave_requests() noexcept;

    loop& home_;
    detail::frame_allocator memory_;
    ex::inplace_stop_source stop_;
    detail::party_count requests_{1};  ///< the calls of stop(), and the nursery itself
    event quiet_;
    event idle_;
    nursed* first_ = nullptr;
    std::size_t children_ = 0;
    std::exception_ptr error_;
};

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Block>
concept nursery_block = requires(Block& block, nursery& children) {
    typename task_values_t<decltype(block(children))>;
};

/// The stop callback of a nursery. It is not a lambda, so that one type serves all blocks.
struct stop_children {
    nursery* children;
    void operator()() const noexcept { children->stop(); }
};

template <class Block>
auto run_nursery(std::allocator_arg_t, frame_allocator memory, Block block)
    -> decltype(block(std::declval<nursery&>())) {
    EDDY_ASSERT(loop::current() != nullptr, "with_nursery() was used outside a loop");
    nursery children(*loop::current(), memory);
    const ex::inplace_stop_token outer = co_await own_stop_token();
    const ex::stop_callback_for_t<ex::inplace_stop_token, stop_children> link(
        outer, stop_children{&children});

    using result = std::optional<task_values_t<decltype(block(children))>>;
    result kept;
    try {
        if (auto ended = co_await with_token(block(children), children.get_stop_token())) {
            kept.emplace(std::move(*ended));
        }
    } catch (...) {
        children.fail(std::current_exception());
    }
    children.stop();
    co_await unstoppable(children.join());
    co_await unstoppable(children.leave());
    children.rethrow();
    if (!kept) {
        co_await end_stopped_here();
    }
    if constexpr (std::tuple_size_v<typename result::value_type> != 0) {
        co_return std::get<0>(std::move(*kept));
    }
}

template <class Block>
struct make_nursery {
    Block block;
    auto operator()(frame_allocator memory) && {
        return run_nursery<Block>(std::allocator_arg, memory, std::move(block));
    }
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Runs `block(nursery&)`, which returns a task, and completes when the block and all its children
/// have ended. Leaving the block, in whatever way, stops the children that still run; to wait for
/// them instead, end the block with `co_await children.join()`. If a child fails, the block and the
/// other children are stopped, and the exception is thrown here.
///
///     co_await eddy::with_nursery([&](eddy::nursery& children) -> eddy::task<> {
///         for (const std::string& name : names) {
///             children.start(fetch(name));
///         }
///         co_await children.join();
///     });
///
/// Lifetime: `block` is kept until the end, so it may be a lambda that is a coroutine. Its local
/// variables are gone while children may still be ending: children should refer to variables
/// outside the block. The frames of the nursery, and of children that are senders, come from the
/// allocator of the task or receiver that awaits the nursery.
template <class Block>
auto with_nursery(Block block) {
    if constexpr (detail::nursery_block<Block>) {
        using make = detail::make_nursery<Block>;
        return detail::made_task<make>(make{std::move(block)});
    } else {
        static_assert(ex::detail::never<Block>,
                      "with_nursery: the argument must be a function that takes an "
                      "eddy::nursery& and returns an eddy::task");
    }
}

EDDY_EX_END

}  // namespace eddy

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/nursery/nursery_body.hpp>
#endif
