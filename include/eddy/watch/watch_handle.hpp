// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/watch/child_watch.hpp>
#include <eddy/watch/children_watch.hpp>
#include <eddy/watch/fd_watch.hpp>
#include <eddy/watch/signal_watch.hpp>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {

/// A watch that deletes itself when it has been removed and its handle is gone, in either order.
template <class Watch>
class handled_watch : public Watch {
public:
    template <class... Arguments>
    explicit handled_watch(const watch_options& options, typename Watch::callback function,
                           Arguments&&... what)
        : Watch(std::forward<Arguments>(what)..., function, &on_removed, options) {}

    void let_go() noexcept {
        // acq_rel: the last party, which deletes the watch, sees all that the other did with it.
        if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

private:
    static void on_removed(Watch& w) noexcept { static_cast<handled_watch&>(w).let_go(); }

    std::atomic<unsigned> parties_{2};  ///< the loop and the handle
};

template <class Watch, class Function>
class function_watch final : public handled_watch<Watch> {
public:
    template <class Given, class... Arguments>
    function_watch(const watch_options& options, Given&& function, Arguments&&... what)
        : handled_watch<Watch>(options, &on_event, std::forward<Arguments>(what)...),
          function_(std::forward<Given>(function)) {}

private:
    /// Runs the callable. `Event` are the arguments that it gets besides the watch.
    template <class... Event>
    static reaction on_event(Watch& w, Event... event) noexcept {
        auto& self = static_cast<function_watch&>(w);
        if constexpr (std::is_void_v<std::invoke_result_t<Function&, Watch&, Event...>>) {
            self.function_(w, event...);
            return reaction::again;
        } else {
            return self.function_(w, event...);
        }
    }

    Function function_;
};

}  // namespace detail

/// Owns a watch that was made from a callable. Destroying the handle removes the watch. The
/// callable is destroyed when nothing can call it any more, never inside its own call: on the
/// loop's thread, or by the handle if the watch was removed before. Thread: any, one at a time.
template <class Watch>
class basic_watch_handle {
public:
    basic_watch_handle() noexcept = default;
    explicit basic_watch_handle(std::unique_ptr<detail::handled_watch<Watch>> made) noexcept
        : watch_(made.release()) {}
    basic_watch_handle(basic_watch_handle&& other) noexcept
        : watch_(std::exchange(other.watch_, nullptr)) {}
    basic_watch_handle& operator=(basic_watch_handle&& other) noexcept {
        if (this != &other) {
            reset();
            watch_ = std::exchange(other.watch_, nullptr);
        }
        return *this;
    }
    ~basic_watch_handle() { reset(); }

    void reset() noexcept {
        if (auto* const old = std::exchange(watch_, nullptr); old != nullptr) {
            old->remove();
            old->let_go();
        }
    }

    explicit operator bool() const noexcept { return watch_ != nullptr; }
    /// The watch. It stays valid as long as the handle, even after the callback has removed it.
    Watch* get() const noexcept { return watch_; }
    Watch* operator->() const noexcept { return watch_; }
    Watch& operator*() const noexcept { return *watch_; }

private:
    detail::handled_watch<Watch>* watch_ = nullptr;
};

using watch_handle = basic_watch_handle<fd_watch>;
using signal_watch_handle = basic_watch_handle<signal_watch>;
using child_watch_handle = basic_watch_handle<child_watch>;
using children_watch_handle = basic_watch_handle<children_watch>;

namespace detail {

template <class Watch, class Function, class... Arguments>
basic_watch_handle<Watch> make_function_watch(const watch_options& options, Function&& function,
                                              Arguments&&... what) {
    return basic_watch_handle<Watch>(
        std::make_unique<function_watch<Watch, std::decay_t<Function>>>(
            options, std::forward<Function>(function), std::forward<Arguments>(what)...));
}

}  // namespace detail

/// Implements loop::on_readable() and loop::on_writable(): calls `function(fd_watch&)` when the fd
/// is ready. `fd` is a unique_fd, which the watch owns from here on, an int, which it borrows, or a
/// descriptor of the loop, which its owner must close. `function` returns a reaction, or nothing,
/// which means reaction::again. Throws what the constructors of fd_watch throw, and std::bad_alloc.
template <class Fd, class Function>
watch_handle watch_fd(loop& home, Fd&& fd, interest wanted, Function&& function,
                      const watch_options& options = {}) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Fd>, descriptor>) {
        return detail::make_function_watch<fd_watch>(options, std::forward<Function>(function), fd,
                                                     wanted);
    } else {
        return detail::make_function_watch<fd_watch>(options, std::forward<Function>(function),
                                                     home, std::forward<Fd>(fd), wanted);
    }
}

/// Implements loop::on_signal(): calls `function(signal_watch&, const signal_info&)` for each of
/// the signals. `function` returns a reaction, or nothing, which means reaction::again. Throws what
/// the constructors of signal_watch throw, and std::bad_alloc.
template <class Function>
signal_watch_handle watch_signals(loop& home, signal_set signals, Function&& function,
                                  const watch_options& options = {}) {
    return detail::make_function_watch<signal_watch>(options, std::forward<Function>(function),
                                                     home, signals);
}
/// Calls `function(signal_watch&, const signal_info&)` for signals of a source that others use too.
/// `function` returns a reaction, or nothing, which means reaction::again. Throws what the
/// constructors of signal_watch throw, and std::bad_alloc.
template <class Function>
signal_watch_handle watch_signals(signal_source& source, signal_set signals, Function&& function,
                                  const watch_options& options = {}) {
    return detail::make_function_watch<signal_watch>(options, std::forward<Function>(function),
                                                     source, signals);
}

/// Implements loop::on_exit(): calls `function(child_watch&, const exit_status&)` when a process
/// has ended. `what` is process_options to spawn, a pid to watch, or a process_handle of this loop.
/// `function` returns a reaction, or nothing, which means reaction::again. Throws what the
/// constructors of child_watch throw, and std::bad_alloc.
template <class What, class Function>
child_watch_handle watch_exit(loop& home, What&& what, Function&& function,
                              const watch_options& options = {}) {
    return detail::make_function_watch<child_watch>(options, std::forward<Function>(function), home,
                                                    std::forward<What>(what));
}

/// Calls `function(children_watch&, const child_event&)` for the end of each child that nobody
/// watches. `function` returns a reaction, or nothing, which means reaction::again.
template <class Function>
children_watch_handle watch_children(child_source& source, Function&& function,
                                     const watch_options& options = {}) {
    return detail::make_function_watch<children_watch>(options, std::forward<Function>(function),
                                                       source);
}
/// Calls `function(children_watch&, const child_event&)` for the stops and continuations of one
/// child, and for its end. `function` returns a reaction, or nothing, which means reaction::again.
template <class Function>
children_watch_handle watch_changes(child_source& source, const process_handle& process,
                                    Function&& function, const watch_options& options = {}) {
    return detail::make_function_watch<children_watch>(options, std::forward<Function>(function),
                                                       source, process);
}

}  // namespace eddy
