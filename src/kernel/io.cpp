#include "kernel/io.hpp"

#include "kernel/call.hpp"
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

}  // namespace

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
        char byte = 0;
        const iovec one{&byte, 1};
        known = ::pwritev2(writer.get(), &one, 1, -1, no_sigpipe) == 1 ? support::yes : support::no;
        nosignal_support.store(known, std::memory_order_relaxed);
    }
    return known == support::yes;
}

io_result read(int fd, void* data, std::size_t size, std::int64_t offset) noexcept {
    return retried(call::read, [&] {
        return offset < 0 ? ::read(fd, data, cut(size)) : ::pread(fd, data, cut(size), offset);
    });
}

io_result write(int fd, const void* data, std::size_t size, std::int64_t offset) noexcept {
    return retried(call::write, [&] {
        return offset < 0 ? ::write(fd, data, cut(size)) : ::pwrite(fd, data, cut(size), offset);
    });
}

io_result readv(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept {
    return retried(call::read, [&] {
        return offset < 0 ? ::readv(fd, vectors.data(), count_of(vectors))
                          : ::preadv(fd, vectors.data(), count_of(vectors), offset);
    });
}

io_result writev(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept {
    return retried(call::write, [&] {
        return offset < 0 ? ::writev(fd, vectors.data(), count_of(vectors))
                          : ::pwritev(fd, vectors.data(), count_of(vectors), offset);
    });
}

io_result writev_pipe(int fd, std::span<const iovec> vectors) noexcept {
    if (!has_rwf_nosignal()) {
        const sigpipe_guard guard;
        return writev(fd, vectors, -1);
    }
    return retried(call::write, [&] {
        return ::pwritev2(fd, vectors.data(), count_of(vectors), -1, no_sigpipe);
    });
}

io_result recv(int fd, void* data, std::size_t size, int flags) noexcept {
    return retried([&] { return recv_once(fd, data, cut(size), flags); });
}

io_result send(int fd, const void* data, std::size_t size, int flags) noexcept {
    return retried([&] { return send_once(fd, data, cut(size), flags); });
}

io_result recvmsg(int fd, msghdr* message, int flags) noexcept {
    return retried(call::recv,
                   [&] { return ::recvmsg(fd, message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
}

io_result sendmsg(int fd, const msghdr* message, int flags) noexcept {
    return retried(call::send,
                   [&] { return ::sendmsg(fd, message, flags | MSG_DONTWAIT | MSG_NOSIGNAL); });
}

io_result send_file(int socket, int file, std::int64_t offset, std::size_t size) noexcept {
    // There is no flag against the signal here.
    const sigpipe_guard guard;
    return retried(call::send, [&] {
        off_t at = offset;
        return ::sendfile(socket, file, offset < 0 ? nullptr : &at, cut(size));
    });
}

io_result accept(int fd, sockaddr* address, socklen_t* size, int flags) noexcept {
    // Where a low number may come, a higher one is taken first: without one, a connection that was
    // accepted would have to be closed instead of waiting in the backlog.
    unique_fd reserved;
    if (has_met_standard_fds()) {
        if (const auto error = reserve_number(fd, reserved)) {
            return io_result::system_error(error.value());
        }
    }
    const io_result made =
        retried(call::accept, [&] { return ::accept4(fd, address, size, flags | SOCK_CLOEXEC); });
    return reserved ? move_to_reserved(made, std::move(reserved)) : keep_off_standard(made);
}

io_result connect(int fd, const sockaddr* address, socklen_t size) noexcept {
    count_call();
    if (const int error = injected(call::connect); error != 0) {
        return io_result::system_error(error);
    }
    if (::connect(fd, address, size) == 0) {
        return io_result::value(0);
    }
    // An interrupted connect goes on in the background, like one that never blocked.
    return io_result::system_error(errno == EINTR ? EINPROGRESS : errno);
}

io_result connect_result(int fd) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    count_call();
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        return io_result::system_error(errno);
    }
    return error == 0 ? io_result::value(0) : io_result::system_error(error);
}

io_result shutdown(int fd, int how) noexcept {
    count_call();
    return ::shutdown(fd, how) == 0 ? io_result::value(0) : io_result::system_error(errno);
}

open_how how_to_open(int flags, std::uint32_t mode, std::uint64_t resolve) noexcept {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
    // openat() overlooks a mode that has no use; openat2() refuses it.
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
    // The number is free afterwards whatever close() says: EINTR must not be retried.
    count_call();
    const int injected_error = injected(call::close);
    const int result = ::close(fd);
    if (injected_error != 0) {
        return io_result::system_error(injected_error);
    }
    return result == 0 || errno == EINTR ? io_result::value(0) : io_result::system_error(errno);
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
