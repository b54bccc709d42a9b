// SPDX-License-Identifier: Apache-2.0

// Implements the calls that move data or make descriptors.
#include "kernel/io.hpp"

#include "kernel/own_fd.hpp"
#include "kernel/retried.hpp"
#include "kernel/sigpipe_guard.hpp"
#include "kernel/socket.hpp"

#include <eddy/base/unique_fd.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

std::size_t cut(std::size_t size) noexcept { return std::min(size, transfer_max); }

int count_of(std::span<const iovec> vectors) noexcept { return static_cast<int>(vectors.size()); }

bool makes_file(int flags) noexcept {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

enum class support : std::uint8_t { unknown, yes, no };
std::atomic<support> nosignal_support{support::unknown};

io_result write_byte_without_signal(int pipe) noexcept {
    char byte = 0;
    const iovec one{&byte, 1};
    return retried(call::write, [&] { return ::pwritev2(pipe, &one, 1, -1, no_sigpipe); });
}

}  // namespace

std::span<const iovec> shortened(call which, std::span<const iovec> vectors, iovec& part) noexcept {
    std::size_t all = 0;
    for (const iovec& one : vectors) {
        all += one.iov_len;
    }
    const std::size_t some = kernel::shortened(which, all);
    if (some == all) {
        return vectors;
    }
    const auto first = std::ranges::find_if(vectors, [](const iovec& v) { return v.iov_len != 0; });
    part = {first->iov_base, std::min(first->iov_len, some)};
    return {&part, 1};
}

bool shorten_message(call which, const msghdr& all, msghdr& less, iovec& part) noexcept {
    const auto vectors = shortened(which, {all.msg_iov, all.msg_iovlen}, part);
    if (vectors.data() == all.msg_iov) {
        return false;
    }
    less = all;
    less.msg_iov = &part;
    less.msg_iovlen = 1;
    return true;
}

bool has_rwf_nosignal() noexcept {
    if (injected(call::rwf_nosignal) != 0) {
        return false;
    }
    support known = nosignal_support.load(std::memory_order_relaxed);
    if (known == support::unknown) {
        unique_fd reader;
        unique_fd writer;
        if (make_pipe(reader, writer)) {
            return false;
        }
        const io_result tried = write_byte_without_signal(writer.get());
        if (!tried && tried.system_error() != EOPNOTSUPP) {
            return false;  // proves nothing about the kernel
        }
        known = tried ? support::yes : support::no;
        nosignal_support.store(known, std::memory_order_relaxed);
    }
    return known == support::yes;
}

io_result read(int fd, void* data, std::size_t size, std::int64_t offset) noexcept {
    return retried(call::read, [&] {
        const std::size_t most = shortened(call::read, cut(size));
        return offset < 0 ? ::read(fd, data, most) : ::pread(fd, data, most, offset);
    });
}

io_result write(int fd, const void* data, std::size_t size, std::int64_t offset) noexcept {
    return retried(call::write, [&] {
        const std::size_t most = shortened(call::write, cut(size));
        return offset < 0 ? ::write(fd, data, most) : ::pwrite(fd, data, most, offset);
    });
}

io_result readv(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept {
    return retried(call::read, [&] {
        iovec storage;
        const auto some = shortened(call::read, vectors, storage);
        return offset < 0 ? ::readv(fd, some.data(), count_of(some))
                          : ::preadv(fd, some.data(), count_of(some), offset);
    });
}

io_result writev(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept {
    return retried(call::write, [&] {
        iovec storage;
        const auto some = shortened(call::write, vectors, storage);
        return offset < 0 ? ::writev(fd, some.data(), count_of(some))
                          : ::pwritev(fd, some.data(), count_of(some), offset);
    });
}

io_result writev_pipe(int fd, std::span<const iovec> vectors) noexcept {
    if (!has_rwf_nosignal()) {
        const sigpipe_guard guard;
        return writev(fd, vectors, -1);
    }
    return retried(call::write, [&] {
        iovec storage;
        const auto some = shortened(call::write, vectors, storage);
        return ::pwritev2(fd, some.data(), count_of(some), -1, no_sigpipe);
    });
}

io_result recv(int fd, void* data, std::size_t size, int flags) noexcept {
    return retried([&] { return recv_once(fd, data, cut(size), flags); });
}

io_result send(int fd, const void* data, std::size_t size, int flags) noexcept {
    return retried([&] { return send_once(fd, data, cut(size), flags); });
}

io_result recvmsg(int fd, msghdr* message, int flags) noexcept {
    return retried([&] {
        msghdr less;
        iovec storage;
        const bool shorter = shorten_message(call::recv, *message, less, storage);
        const io_result result = once(call::recv, [&] {
            return ::recvmsg(fd, shorter ? &less : message,
                             flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        });
        if (shorter) {
            less.msg_iov = message->msg_iov;
            less.msg_iovlen = message->msg_iovlen;
            *message = less;
        }
        return result;
    });
}

io_result sendmsg(int fd, const msghdr* message, int flags) noexcept {
    return retried([&] {
        msghdr less;
        iovec storage;
        const bool shorter = shorten_message(call::send, *message, less, storage);
        return once(call::send, [&] {
            return ::sendmsg(fd, shorter ? &less : message, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
        });
    });
}

io_result send_file(int socket, int file, std::int64_t offset, std::size_t size) noexcept {
    // sendfile() has no flag against SIGPIPE.
    const sigpipe_guard guard;
    return retried(call::send, [&] {
        off_t at = offset;
        const std::size_t most = shortened(call::send, cut(size));
        return ::sendfile(socket, file, offset < 0 ? nullptr : &at, most);
    });
}

io_result accept(int fd, sockaddr* address, socklen_t* size, int flags) noexcept {
    // If fds 0 to 2 may come, a higher number is reserved first. Otherwise an accepted connection
    // might have to be closed for lack of a number, instead of waiting in the backlog.
    unique_fd reserved;
    if (has_met_standard_fds()) {
        if (const auto error = reserve_number(fd, reserved)) {
            return io_result::system_error(error.value());
        }
    }
    const io_result made =
        retried(call::accept, [&] { return ::accept4(fd, address, size, flags | SOCK_CLOEXEC); });
    if (!reserved) {
        return keep_off_standard(made);
    }
    forget_standard_fds(made);
    return move_to_reserved(made, std::move(reserved));
}

io_result connect(int fd, const sockaddr* address, socklen_t size) noexcept {
    const io_result result = once(call::connect, [&] { return ::connect(fd, address, size); });
    // An interrupted connect goes on in the background, like a non-blocking one.
    return result.system_error() == EINTR ? io_result::system_error(EINPROGRESS) : result;
}

io_result connect_result(int fd) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    const io_result asked = once(
        call::getsockopt, [&] { return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size); });
    return asked ? result_of_error(error) : asked;
}

io_result shutdown(int fd, int how) noexcept {
    return once(call::shutdown, [&] { return ::shutdown(fd, how); });
}

open_how how_to_open(int flags, std::uint32_t mode, std::uint64_t resolve) noexcept {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
    // openat() ignores a mode that has no use; openat2() refuses it.
    how.mode = makes_file(flags) ? mode & 07777U : 0U;
    how.resolve = resolve;
    return how;
}

io_result open(int directory, const char* path, int flags, std::uint32_t mode,
               std::uint64_t resolve) noexcept {
    if (resolve == 0) {
        return keep_off_standard(retried(
            call::open, [&] { return ::openat(directory, path, flags | O_CLOEXEC, mode); }));
    }
    open_how how = how_to_open(flags, mode, resolve);
    return keep_off_standard(retried(
        call::open, [&] { return ::syscall(SYS_openat2, directory, path, &how, sizeof how); }));
}

io_result close(int fd) noexcept {
    // close() frees the number even if it fails, so EINTR must not be retried.
    const io_result result = surely(call::close, [&] { return ::close(fd); });
    return result.system_error() == EINTR ? io_result::value(0) : result;
}

io_result fsync(int fd, bool data_only) noexcept {
    return retried(call::fsync, [&] { return data_only ? ::fdatasync(fd) : ::fsync(fd); });
}

io_result ready_now(int fd, interest wanted) noexcept {
    pollfd question{fd, static_cast<short>(wanted), 0};
    const io_result result = retried(call::poll, [&] { return ::poll(&question, 1, 0); });
    return result ? io_result::value(static_cast<unsigned short>(question.revents)) : result;
}

}  // namespace eddy::kernel

void eddy::detail::close_fd(int fd) noexcept { kernel::close(fd); }
