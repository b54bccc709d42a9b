#pragma once

#include <eddy/async/detail/await_it.hpp>
#include <eddy/async/detail/background.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/detail/sender_argument.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A task that nobody waits for. It owns itself.
template <class OnError>
class spawned final : private task_observer {
public:
    spawned(loop& home, task<> run,
            OnError on_error) noexcept(std::is_nothrow_move_constructible_v<OnError>)
        : task_(std::move(run)), on_error_(std::move(on_error)) {
        task_promise_base& promise = task_access::promise(task_);
        promise.adopt(&home, {}, *this);
        promise.post_start(&on_run, &on_drop);
    }

private:
    static spawned& of(entry& start) noexcept {
        return static_cast<spawned&>(task_promise_base::observer_of(start));
    }
    static void on_run(entry& start) noexcept { of(start).run(); }
    static void on_drop(entry& start) noexcept { of(start).drop(); }

    void run() noexcept {
        task_promise<void>& promise = task_access::promise(task_);
        try {
            in_ = &background::of(*promise.home());
        } catch (...) {
            tell(std::current_exception());
            drop();
            return;
        }
        in_->enter();
        promise.adopt(promise.home(), in_->get_stop_token(), *this);
        promise.stop_with_home();
        task_access::start(task_);
    }
    void drop() noexcept { delete_in(task_access::promise(task_).get_allocator(), this); }
    void task_ended(bool) noexcept override {
        if (auto error = task_access::promise(task_).result().error()) {
            tell(std::move(error));
        }
        background& in = *in_;
        drop();
        in.leave();
    }

    void tell(std::exception_ptr error) noexcept {
        if constexpr (std::is_nothrow_invocable_v<OnError&, std::exception_ptr>) {
            on_error_(std::move(error));
        } else {
            try {
                on_error_(std::move(error));
            } catch (...) {
                report_exception()(std::current_exception());
            }
        }
    }

    background* in_ = nullptr;
    task<> task_;
    [[no_unique_address]] OnError on_error_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Starts a task in the background of a loop. Thread: any. What it throws goes to `on_error`, on
/// the loop's thread: by default a line on standard error. What `on_error` throws itself is such a
/// line too. It ends with the loop: what it waits for then is stopped. For tasks that somebody
/// waits for, see nursery.
///
///     eddy::spawn(loop, serve(acceptor));
///
/// Besides the frame, it allocates one small object, from the same resource; the first of a loop
/// one more, there, whose std::bad_alloc goes to `on_error`. Throws std::bad_alloc.
template <class OnError = report_exception>
void spawn(loop& home, task<>&& run, OnError on_error = {}) {
    const auto memory = detail::task_access::promise(run).get_allocator();
    static_cast<void>(detail::new_in<detail::spawned<OnError>>(memory, home, std::move(run),
                                                               std::move(on_error)));
}

/// The same for any sender; its values are dropped. The memory is that of the allocator that its
/// attributes tell of, else that of operator new.
template <class Sender, class OnError = report_exception>
void spawn(loop& home, Sender&& sender, OnError on_error = {}) {
    if constexpr (ex::sender<Sender>) {
        const detail::frame_allocator from = detail::allocator_of(ex::get_env(sender));
        spawn(home,
              detail::await_it<std::decay_t<Sender>>(std::allocator_arg, from,
                                                     static_cast<Sender&&>(sender)),
              std::move(on_error));
    } else {
        detail::explain_argument<Sender>();
    }
}

EDDY_EX_END

}  // namespace eddy
