#pragma once

#include <eddy/async/detail/await_it.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/member.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/io/detail/sender_argument.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_notice.hpp>

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
        : home_(home), end_(&on_end), task_(std::move(run)), on_error_(std::move(on_error)) {
        task_access::promise(task_).adopt(&home, stop_.get_token(), *this);
        home.post<spawned, &spawned::start_, &spawned::run, &spawned::drop>(*this);
    }

private:
    void run() noexcept {
        home_.tell_of_end(end_);
        task_access::start(task_);
    }
    static void on_end(loop_notice& notice) noexcept { owner_of<&spawned::end_>(notice).stop(); }
    /// The task may end inside the request, below which the source must not be destroyed.
    void stop() noexcept {
        stopping_ = true;
        stop_.request_stop();
        stopping_ = false;
        if (ended_) {
            drop();
        }
    }
    void drop() noexcept { task_access::promise(task_).get_allocator().delete_object(this); }
    void task_ended(bool) noexcept override {
        if (auto error = task_access::promise(task_).result().error()) {
            tell(std::move(error));
        }
        if (stopping_) {
            ended_ = true;
        } else {
            drop();
        }
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

    loop& home_;
    entry start_;
    loop_notice end_;
    ex::inplace_stop_source stop_;
    bool stopping_ = false;
    bool ended_ = false;
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
/// Besides the frame, it allocates one small object, from the same resource. Throws
/// std::bad_alloc.
template <class OnError = report_exception>
void spawn(loop& home, task<>&& run, OnError on_error = {}) {
    auto allocator = detail::task_access::promise(run).get_allocator();
    static_cast<void>(
        allocator.new_object<detail::spawned<OnError>>(home, std::move(run), std::move(on_error)));
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
