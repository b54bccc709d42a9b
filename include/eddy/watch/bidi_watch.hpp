// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/watch/detail/attached_fd.hpp>
#include <eddy/watch/fd_watch.hpp>

namespace eddy {

/// Watches the two directions of one fd, each with a callback, a priority and an armed state of its
/// own. Each half can be removed by itself. The fd is closed, or given back, right before
/// on_removed, which is called once, when both halves are removed.
///
///     bidi_watch w(loop, std::move(socket), &on_readable, &on_writable);
///     w.out().arm();  // the writing half begins disarmed: a socket is nearly always writable
///
/// An error or a hang-up is reported to each half that is armed. Everything that fd_watch says
/// holds for the halves, except that they end with the bidi_watch: destroy that, not them.
class EDDY_API bidi_watch {
public:
    using callback = reaction (*)(bidi_watch& whole, fd_watch& half) noexcept;
    using removed_callback = void (*)(bidi_watch&) noexcept;

    struct options {
        watch_options in;
        watch_options out = {.armed = false};
    };

    /// Owns a unique_fd, or borrows an int. Throws what the constructors of fd_watch throw.
    bidi_watch(loop& home, unique_fd fd, callback on_readable, callback on_writable,
               removed_callback on_removed, const options& how);
    bidi_watch(loop& home, int fd, callback on_readable, callback on_writable,
               removed_callback on_removed, const options& how);
    bidi_watch(loop& home, unique_fd fd, callback on_readable, callback on_writable,
               removed_callback on_removed = nullptr)
        : bidi_watch(home, std::move(fd), on_readable, on_writable, on_removed, options()) {}
    bidi_watch(loop& home, int fd, callback on_readable, callback on_writable,
               removed_callback on_removed = nullptr)
        : bidi_watch(home, fd, on_readable, on_writable, on_removed, options()) {}
    bidi_watch(const bidi_watch&) = delete;
    bidi_watch& operator=(const bidi_watch&) = delete;

    fd_watch& in() noexcept { return in_; }
    fd_watch& out() noexcept { return out_; }
    int native_handle() const noexcept { return own_.get().native_handle(); }
    /// Removes both halves. Thread: any.
    void remove() noexcept;

private:
    struct half : fd_watch {
        half(bidi_watch& whole, interest direction, bidi_watch::callback function,
             const watch_options& how);
        bidi_watch& both;
        bidi_watch::callback function;
    };

    bidi_watch(detail::attached_fd own, callback on_readable, callback on_writable,
               removed_callback on_removed, const options& how);
    void half_removed() noexcept;

    detail::attached_fd own_;
    unsigned halves_ = 2;
    removed_callback on_removed_;
    half in_;
    half out_;
};

}  // namespace eddy
