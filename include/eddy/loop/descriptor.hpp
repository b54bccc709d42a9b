// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/engine/descriptor_kind.hpp>

#include <cstdint>
#include <system_error>
#include <utility>

namespace eddy {

class loop;
enum class direction : std::uint8_t;
struct attach_options;
struct fd_slot;
struct io_request;
namespace detail {
class attached_fd;
}

struct descriptor_options {
    /// What the fd is, where it is known: saves the calls that find out.
    descriptor_kind kind = descriptor_kind::unknown;
    /// For lists of what is going on. Must live as long as the descriptor.
    const char* name = nullptr;
    /// Set O_NONBLOCK with io_uring too, for calls that are made beside the loop's.
    bool nonblocking = false;
};

/// An fd that is attached to a loop, so that operations can be started on it. Closes it.
///
/// Blocking mode: epoll and poll need O_NONBLOCK. attach sets it, and release() takes it away again
/// if it was not set before. It is never set on a description that others are likely to share:
/// terminals, and the fds 0, 1 and 2; there each call is preceded by a poll(), and writes are made
/// in small pieces. io_uring touches it only for send_file() and where
/// `nonblocking` asks for it, in the same way.
///
/// A descriptor, request or sender that is still around after its fd was closed finds the fd gone,
/// also when another file has got the number. The number's generation, a counter of 32 bits, tells
/// them apart. It repeats after 2^31 attach-and-close cycles of one fd number on one loop: do not
/// keep a stale one for that long.
///
/// Thread: the loop's, or any while the loop does not run: closing or destroying it while another
/// thread runs the loop aborts. Must not outlive the loop.
class descriptor {
public:
    descriptor() noexcept = default;
    /// Throws std::system_error: `bad_file_descriptor`, `file_exists` if this fd is attached to
    /// this loop already, what the kernel says.
    EDDY_API descriptor(loop& home, unique_fd fd, descriptor_options options = {});
    /// The same without exceptions: on error `fd` keeps its fd and `out` is unchanged.
    EDDY_API static std::error_code attach(loop& home, unique_fd& fd, descriptor& out,
                                           descriptor_options options = {}) noexcept;

    descriptor(descriptor&& other) noexcept
        : home_(std::exchange(other.home_, nullptr)),
          slot_(std::exchange(other.slot_, nullptr)),
          generation_(other.generation_),
          kind_(other.kind_) {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            clear();
            home_ = std::exchange(other.home_, nullptr);
            slot_ = std::exchange(other.slot_, nullptr);
            generation_ = other.generation_;
            kind_ = other.kind_;
        }
        return *this;
    }
    ~descriptor() { clear(); }

    /// Ends what is pending on it with `operation_canceled`, and closes the fd as soon as the
    /// kernel has let go of it: at once on epoll and poll, in the next turn at the latest on
    /// io_uring. To wait for the end, start close() from <eddy/loop/requests.hpp>. If others have
    /// closed the fd already, what is at its number now is left alone, and what is pending ends
    /// with `bad_file_descriptor` (as far as the kernel tells files apart, and if the kind was not
    /// given).
    EDDY_API void close() noexcept;

    /// Ends what is pending on it with `operation_canceled` and gives the fd back. May block for as
    /// long as the kernel takes to cancel. Fails with `device_or_resource_busy` while a blocking
    /// call on it is with another thread, and with `bad_file_descriptor` if it is not attached or
    /// others have closed it.
    EDDY_API std::error_code release(unique_fd& out) noexcept;

    /// -1: nothing is attached, or the fd was closed by others and its number used again.
    EDDY_API int native_handle() const noexcept;
    /// What it was when it was attached; unknown if nothing is. Asks nobody: senders are made with
    /// it on threads that are not the loop's.
    descriptor_kind kind() const noexcept {
        return slot_ != nullptr ? kind_ : descriptor_kind::unknown;
    }
    explicit operator bool() const noexcept { return native_handle() >= 0; }
    loop* home() const noexcept { return home_; }

private:
    bool attached() const noexcept;
    void take(loop& home, fd_slot& slot) noexcept;
    void clear() noexcept {
        if (slot_ != nullptr) {
            close();
        }
    }
    /// On error `out` is unchanged.
    static std::error_code attach(loop& home, int fd, descriptor& out,
                                  const attach_options& options) noexcept;
    /// For a watch, which starts nothing but waits on it and leaves the fd to another.
    static std::error_code attach_to_watch(loop& home, int fd, descriptor& out,
                                           const char* name) noexcept;
    /// The same for one that a watch has just let go. False: it is not as it was then, and not
    /// attached. Precondition: this is empty.
    [[nodiscard]] EDDY_API bool attach_again(loop& home, int fd, const char* name) noexcept;
    /// As release(), but says nothing of an fd that others have closed.
    void give_back() noexcept;
    EDDY_COLD void closed_elsewhere() const noexcept;

    loop* home_ = nullptr;
    fd_slot* slot_ = nullptr;
    std::uint32_t generation_ = 0;
    descriptor_kind kind_ = descriptor_kind::unknown;

    friend class receive_request;
    template <direction, bool>
    friend class stream_request;
    friend struct request_builder;
    friend class detail::attached_fd;
};

}  // namespace eddy
