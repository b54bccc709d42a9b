#pragma once

#include <eddy/async/detail/await_it.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/config.hpp>
#include <eddy/io/detail/sender_argument.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

class background;

/// A task that nobody waits for. It owns itself. Here is what does not depend on its handler.
class EDDY_API spawned_task : private task_observer {
public:
    /// From here on the loop has it. Thread: any.
    void post(loop& home) noexcept;

protected:
    explicit spawned_task(task<>&& run) noexcept : task_(std::move(run)) {}
    ~spawned_task() = default;

    task<> task_;

private:
    virtual void failed(std::exception_ptr error) noexcept = 0;
    /// Deletes this.
    virtual void drop() noexcept = 0;

    static spawned_task& of(entry& start) noexcept;
    static void on_run(entry& start) noexcept;
    static void on_drop(entry& start) noexcept;
    void run() noexcept;
    void task_ended(bool stopped) noexcept override;

    background* in_ = nullptr;
};

template <class OnError>
class spawned final : public spawned_task {
public:
    spawned(task<>&& run, OnError on_error) noexcept(std::is_nothrow_move_constructible_v<OnError>)
        : spawned_task(std::move(run)), on_error_(std::move(on_error)) {}

private:
    void failed(std::exception_ptr error) noexcept override {
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
    void drop() noexcept override { delete_in(task_access::promise(task_).get_allocator(), this); }

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
    detail::new_in<detail::spawned<OnError>>(memory, std::move(run), std::move(on_error))
        ->post(home);
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

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/spawn_body.hpp>
#endif
