// SPDX-License-Identifier: Apache-2.0

// Makes the system call for a request.
#include "engine/engine.hpp"
#include "kernel/io.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include <sys/socket.h>

namespace eddy {

namespace {

constexpr io_result would_block = io_result::system_error(EAGAIN);

/// True if the call would block: O_NONBLOCK must not be set on a shared description, so poll() is
/// asked first. Sockets have a flag per call instead, except for accept and sendfile.
bool would_wait(const io_request& request, interest wanted) noexcept {
    const fd_slot& slot = *request.slot;
    if (!slot.shared || slot.kind == descriptor_kind::file) {
        return false;
    }
    const bool has_flag = request.code != opcode::accept && request.code != opcode::send_file;
    if (is_socket(slot.kind) && has_flag) {
        return false;
    }
    const io_result ready = kernel::ready_now(slot.fd, wanted);
    return ready && ready.raw() == 0;
}

/// Sends a piece of a file, so that one connection does not keep others waiting.
io_result send_file_some(const io_request& request) noexcept {
    constexpr std::size_t at_once = 1 << 20;
    return kernel::send_file(request.slot->fd, request.flags, request.offset,
                             bite(*request.slot, std::min<std::size_t>(request.size, at_once)));
}

io_result read_some(const io_request& request) noexcept {
    const int fd = request.slot->fd;
    if (is_socket(request.slot->kind)) {
        return kernel::recv(fd, request.data, request.size, 0);
    }
    return kernel::read(fd, request.data, request.size, request.offset);
}

io_result write_some(const io_request& request) noexcept {
    const int fd = request.slot->fd;
    if (is_socket(request.slot->kind)) {
        return kernel::send(fd, request.data, request.size, 0);
    }
    if (request.slot->kind == descriptor_kind::pipe) {
        const iovec one{request.data, bite(*request.slot, request.size)};
        return kernel::writev_pipe(fd, {&one, 1});
    }
    return kernel::write(fd, request.data, bite(*request.slot, request.size), request.offset);
}

msghdr message_of(std::span<const iovec> vectors) noexcept {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(vectors.data());
    message.msg_iovlen = vectors.size();
    return message;
}

io_result read_vectors(const io_request& request) noexcept {
    const int fd = request.slot->fd;
    const auto vectors = vectors_of(request);
    if (is_socket(request.slot->kind)) {
        msghdr message = message_of(vectors);
        return kernel::recvmsg(fd, &message, 0);
    }
    return kernel::readv(fd, vectors, request.offset);
}

io_result write_vectors(const io_request& request) noexcept {
    const int fd = request.slot->fd;
    const auto vectors = vectors_of(request);
    if (is_socket(request.slot->kind)) {
        const msghdr message = message_of(vectors);
        return kernel::sendmsg(fd, &message, 0);
    }
    if (is_bitten(*request.slot)) {
        return write_some(first_vector(request));
    }
    if (request.slot->kind == descriptor_kind::pipe) {
        return kernel::writev_pipe(fd, vectors);
    }
    return kernel::writev(fd, vectors, request.offset);
}

io_result accept_one(const io_request& request) noexcept {
    const unsigned tries = tells_every_error(request) ? 1 : accept_tries;
    io_result result;
    for (unsigned i = 0; i != tries; ++i) {
        result = kernel::accept(request.slot->fd, static_cast<sockaddr*>(request.data),
                                request.address_size, request.flags);
        if (classify_accept(result) != accept_failure::transient) {
            return result;
        }
    }
    return result;
}

}  // namespace

io_result engine::perform(const io_request& request) noexcept {
    switch (request.code) {
        case opcode::read:
            return would_wait(request, interest::readable) ? would_block : read_some(request);
        case opcode::write:
            return would_wait(request, interest::writable) ? would_block : write_some(request);
        case opcode::readv:
            return would_wait(request, interest::readable) ? would_block : read_vectors(request);
        case opcode::writev:
            return would_wait(request, interest::writable) ? would_block : write_vectors(request);
        case opcode::recv:
            return kernel::recv(request.slot->fd, request.data, request.size, request.flags);
        case opcode::send:
            return kernel::send(request.slot->fd, request.data, request.size, request.flags);
        case opcode::recvmsg:
            return kernel::recvmsg(request.slot->fd, static_cast<msghdr*>(request.data),
                                   request.flags);
        case opcode::sendmsg:
            return kernel::sendmsg(request.slot->fd, static_cast<const msghdr*>(request.data),
                                   request.flags);
        case opcode::send_file:
            return would_wait(request, interest::writable) ? would_block : send_file_some(request);
        case opcode::accept:
            return would_wait(request, interest::readable) ? would_block : accept_one(request);
        case opcode::connect:
            return kernel::connect(request.slot->fd, static_cast<const sockaddr*>(request.data),
                                   request.mode);
        case opcode::shutdown:
            return kernel::shutdown(request.slot->fd, request.flags);
        case opcode::open:
            return kernel::open(request.directory(), static_cast<const char*>(request.data),
                                request.flags, request.mode, request.size);
        case opcode::fsync:
            return kernel::fsync(request.slot->fd, request.flags != 0);
        case opcode::wait:
            return kernel::ready_now(request.slot->fd, static_cast<interest>(request.flags));
        case opcode::none:
        case opcode::close:
        case opcode::receive:  // see engine::receive()
            break;
    }
    return io_result::system_error(EINVAL);
}

}  // namespace eddy
