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

/// An fd on a loop: what every handle can do. Movable; closes the fd. A default-made, moved-from,
/// closed or released one is empty: its senders fail with `bad_file_descriptor`.
///
///     io_handle events(loop, unique_fd(fd));
///     co_await events.wait_readable();
///
/// Senders are lazy: what they do begins when they are started, on the loop's thread or from any
/// other (then the loop is told). They do not keep the handle: it may be moved, and closing it ends
/// them with the error `operation_canceled`, while a stop request ends them as stopped. A result
/// that exists is delivered in either case. Errors are std::error_code.
///
/// Thread: the loop's, or any while the loop does not run; senders that wait, read, write, accept
/// or send may be made on any, while the handle stays as it is. Must not outlive the loop.
class io_handle {
public:
    io_handle() noexcept = default;
    /// Adopts an fd. Throws std::system_error as descriptor does.
    io_handle(loop& home, unique_fd fd, descriptor_options options = {})
        : descriptor_(home, std::move(fd), options) {}
    explicit io_handle(descriptor&& attached) noexcept : descriptor_(std::move(attached)) {}

    /// -1 if it is empty.
    int native_handle() const noexcept { return descriptor_.native_handle(); }
    explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
    /// Null if it is empty.
    loop* home() const noexcept { return descriptor_.home(); }
    /// For operations that have no sender here.
    const descriptor& get_descriptor() const noexcept { return descriptor_; }

    /// Ends what is pending and gives the fd back; see descriptor::release().
    std::error_code release(unique_fd& out) noexcept { return descriptor_.release(out); }

    /// Ends what is pending and closes the fd; completes when it is closed. The handle is empty
    /// from now on. A sender that is dropped, or stopped, closes it all the same.
    [[nodiscard]] auto close() noexcept {
        loop* const where = home();
        return detail::steps_sender<detail::closing>(where,
                                                     detail::closing{std::move(descriptor_)});
    }

    /// Value: what it is ready for, as an `interest`, which includes error and hang-up unasked. It
    /// may be wrong when others use the fd meanwhile.
    auto wait(interest wanted) const noexcept {
        return io_sender<detail::as_interest>(home(), eddy::wait(descriptor_, wanted));
    }
    auto wait_readable() const noexcept { return wait(interest::readable); }
    auto wait_writable() const noexcept { return wait(interest::writable); }

protected:
    descriptor descriptor_;
};

/// Adopts an fd without exceptions: on error `fd` keeps it and `out` is unchanged.
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
