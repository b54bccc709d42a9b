#pragma once

#include <eddy/watch/fd_watch.hpp>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {

/// An fd_watch that lives until it was removed and its handle is gone, whichever comes last.
class EDDY_API handled_watch : public fd_watch {
public:
    template <class Fd>
    handled_watch(loop& home, Fd&& fd, interest wanted, callback on_ready,
                  const watch_options& options)
        : fd_watch(home, std::forward<Fd>(fd), wanted, on_ready, &on_removed, options) {}
    handled_watch(loop&, const descriptor& watched, interest wanted, callback on_ready,
                  const watch_options& options)
        : fd_watch(watched, wanted, on_ready, &on_removed, options) {}

    void let_go() noexcept {
        // acq_rel: whoever comes last sees all that the other did with it.
        if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

private:
    static void on_removed(fd_watch& w) noexcept { static_cast<handled_watch&>(w).let_go(); }

    std::atomic<unsigned> parties_{2};  ///< the loop and the handle
};

template <class Function>
class function_watch final : public handled_watch {
public:
    template <class Fd, class Given>
    function_watch(loop& home, Fd&& fd, interest wanted, Given&& function,
                   const watch_options& options)
        : handled_watch(home, std::forward<Fd>(fd), wanted, &on_ready, options),
          function_(std::forward<Given>(function)) {}

private:
    static reaction on_ready(fd_watch& w) noexcept {
        auto& self = static_cast<function_watch&>(w);
        if constexpr (std::is_void_v<std::invoke_result_t<Function&, fd_watch&>>) {
            self.function_(w);
            return reaction::again;
        } else {
            return self.function_(w);
        }
    }

    Function function_;
};

}  // namespace detail

/// Owns a watch that was made from a callable. Destroying it removes the watch; the callable is
/// destroyed on the loop's thread, when nothing can call it any more, and not inside itself.
/// Thread: any, one at a time.
class watch_handle {
public:
    watch_handle() noexcept = default;
    explicit watch_handle(std::unique_ptr<detail::handled_watch> made) noexcept
        : watch_(made.release()) {}
    watch_handle(watch_handle&& other) noexcept : watch_(std::exchange(other.watch_, nullptr)) {}
    watch_handle& operator=(watch_handle&& other) noexcept {
        if (this != &other) {
            reset();
            watch_ = std::exchange(other.watch_, nullptr);
        }
        return *this;
    }
    ~watch_handle() { reset(); }

    void reset() noexcept {
        if (detail::handled_watch* const old = std::exchange(watch_, nullptr); old != nullptr) {
            old->remove();
            old->let_go();
        }
    }

    explicit operator bool() const noexcept { return watch_ != nullptr; }
    /// Stays valid as long as the handle, also when its callback has removed the watch.
    fd_watch* get() const noexcept { return watch_; }
    fd_watch* operator->() const noexcept { return watch_; }
    fd_watch& operator*() const noexcept { return *watch_; }

private:
    detail::handled_watch* watch_ = nullptr;
};

/// What loop::on_readable() and loop::on_writable() do. `fd`: a unique_fd, which the watch owns
/// from here on, an int, which it borrows, or a descriptor of the loop, which must be closed by its
/// owner. `function(fd_watch&)` returns a reaction; one that returns nothing means reaction::again.
/// Throws what the constructors of fd_watch throw, and std::bad_alloc.
template <class Fd, class Function>
watch_handle watch_fd(loop& home, Fd&& fd, interest wanted, Function&& function,
                      const watch_options& options = {}) {
    using made = detail::function_watch<std::decay_t<Function>>;
    return watch_handle(std::make_unique<made>(home, std::forward<Fd>(fd), wanted,
                                               std::forward<Function>(function), options));
}

}  // namespace eddy
