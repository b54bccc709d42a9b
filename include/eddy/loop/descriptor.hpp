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
    /// The kind of the fd, if it is known: saves calls that would find out.
    descriptor_kind kind = descriptor_kind::unknown;
    /// Names the descriptor in reports and lists. Lifetime: must live as long as the descriptor.
    const char* name = nullptr;
    /// Sets O_NONBLOCK on io_uring too, for calls that the program makes itself.
    bool nonblocking = false;
};

/// Owns and closes an fd that is attached to a loop, so that operations can be started on it.
///
/// Blocking mode: epoll and poll need O_NONBLOCK. Attaching sets it, and release() clears it if it
/// was not set before. It is never set on a file description that others may share: terminals, and
/// the fds 0, 1 and 2. There a poll() precedes each call, and writes are made in small pieces.
/// io_uring sets it only for send_file() and if `nonblocking` asks for it, by the same rules.
///
/// A descriptor, request or sender that outlives its fd finds the fd gone, even if another file has
/// the number by then: the number's generation, a counter of 32 bits, tells them apart. It repeats
/// after 2^31 attach-and-close cycles of one fd number on one loop, so do not keep a stale object
/// that long.
///
/// Thread: the loop's, or any while the loop does not run. Closing or destroying a descriptor while
/// another thread runs the loop aborts. Lifetime: must not outlive the loop.
class descriptor {
public:
    descriptor() noexcept = default;
    /// Attaches `fd`. Throws std::system_error, and closes the fd then: `bad_file_descriptor`,
    /// `file_exists` if this fd is attached to this loop already, or the kernel's error.
    EDDY_API descriptor(loop& home, unique_fd fd, descriptor_options options = {});
    /// Attaches `fd` without exceptions. On error, `fd` keeps its fd and `out` is unchanged.
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

    /// Ends pending operations with `operation_canceled`, and closes the fd when the kernel has let
    /// go of it: at once on epoll and poll, by the end of the next turn on io_uring. To wait for
    /// the end, start close() from <eddy/loop/requests.hpp>. If others have closed the fd already,
    /// a new file with its number is left alone, and pending operations end with
    /// `bad_file_descriptor`, as far as the kernel tells files apart.
    EDDY_API void close() noexcept;

    /// Ends pending operations with `operation_canceled` and gives the fd back. May block while the
    /// kernel cancels. Fails with `device_or_resource_busy` while another thread makes a blocking
    /// call on it, and with `bad_file_descriptor` if nothing is attached or others have closed it.
    EDDY_API std::error_code release(unique_fd& out) noexcept;

    /// Returns the fd. -1: nothing is attached, or others closed the fd and its number is in use.
    EDDY_API int native_handle() const noexcept;
    /// Returns the kind that the fd had when it was attached; unknown if nothing is attached. Reads
    /// only this object, since senders are made on other threads too.
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
    /// Attaches `fd`. On error it stays the caller's, and `out` is unchanged.
    static std::error_code attach(loop& home, int fd, descriptor& out,
                                  const attach_options& options) noexcept;
    /// Attaches an fd for a watch, which only starts waits on it and does not own it.
    static std::error_code attach_to_watch(loop& home, int fd, descriptor& out,
                                           const char* name) noexcept;
    /// Attaches an fd that a watch has just given back. False: it has changed since, and is not
    /// attached. Precondition: this descriptor is empty.
    [[nodiscard]] EDDY_API bool attach_again(loop& home, int fd, const char* name) noexcept;
    /// Gives the fd back as release() does, but does not report an fd that others have closed.
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
