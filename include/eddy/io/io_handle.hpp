// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/closing.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/requests.hpp>

#include <system_error>
#include <utility>

namespace eddy {
EDDY_EX_BEGIN

/// The base of all handles: an fd that is attached to a loop. Movable; closes the fd. A handle is
/// empty if it was default-constructed, moved from, closed or released. The senders of an empty
/// handle fail with `bad_file_descriptor`.
///
///     io_handle events(loop, unique_fd(fd));
///     co_await events.wait_readable();
///
/// Senders are lazy: their work begins when they are started, on the loop's thread or on any other
/// (which notifies the loop). The handle may be moved while its senders are pending. Closing it
/// ends them with the error `operation_canceled`; a stop request ends them as stopped. A result
/// that exists by then is delivered in either case. Errors are std::error_code.
///
/// Thread: the loop's, or any while the loop does not run. Any thread may make senders that wait,
/// read, write, accept or send while no thread changes the handle. Must not outlive the loop.
class io_handle {
public:
    io_handle() noexcept = default;
    /// Adopts an fd. Throws std::system_error as the constructor of descriptor does.
    io_handle(loop& home, unique_fd fd, descriptor_options options = {})
        : descriptor_(home, std::move(fd), options) {}
    explicit io_handle(descriptor&& attached) noexcept : descriptor_(std::move(attached)) {}

    /// Returns -1 if the handle is empty.
    int native_handle() const noexcept { return descriptor_.native_handle(); }
    explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
    /// Returns null if the handle is empty.
    loop* home() const noexcept { return descriptor_.home(); }
    /// Gives access to the descriptor, for operations that have no sender here.
    const descriptor& get_descriptor() const noexcept { return descriptor_; }

    /// Ends all pending operations and gives the fd back; see descriptor::release().
    std::error_code release(unique_fd& out) noexcept { return descriptor_.release(out); }

    /// Ends all pending operations and closes the fd. Completes when the fd is closed. The handle
    /// is empty as soon as this returns. The fd is closed even if the sender is dropped or stopped.
    [[nodiscard]] auto close() noexcept {
        loop* const where = home();
        return detail::steps_sender<detail::closing>(where,
                                                     detail::closing{std::move(descriptor_)});
    }

    /// Waits until the fd is ready. Value: an `interest`, which includes error and hang-up even if
    /// they were not wanted. The value may be outdated if others use the fd meanwhile.
    auto wait(interest wanted) const noexcept {
        return io_sender<detail::as_interest>(home(), eddy::wait(descriptor_, wanted));
    }
    auto wait_readable() const noexcept { return wait(interest::readable); }
    auto wait_writable() const noexcept { return wait(interest::writable); }

protected:
    descriptor descriptor_;
};

/// Adopts an fd without exceptions. On error `fd` keeps the fd and `out` is unchanged.
template <class Handle>
std::error_code adopt(loop& home, unique_fd& fd, Handle& out,
                      descriptor_options options = {}) noexcept {
    descriptor attached;
    if (auto error = descriptor::attach(home, fd, attached, options)) {
        return error;
    }
    out = Handle(std::move(attached));
    return {};
}

EDDY_EX_END
}  // namespace eddy
