// SPDX-License-Identifier: Apache-2.0

// Builds the requests that are not built inline.
#include <eddy/loop/requests.hpp>

#include "kernel/io.hpp"

#include <sys/socket.h>

namespace eddy {

static_assert(request_builder::size_max == kernel::transfer_max &&
              request_builder::wait_for_all == MSG_WAITALL);

namespace {

io_request transfer(const descriptor& d, opcode code, const void* data, std::size_t size,
                    std::int64_t offset, int flags) noexcept {
    return request_builder::transfer(d, code, data, size, offset, flags);
}

io_request all_of(io_request request) noexcept {
    request.all = true;
    return request;
}

io_request vectored(const descriptor& d, opcode code, std::span<const iovec> vectors,
                    std::int64_t offset) noexcept {
    return transfer(d, code, vectors.data(), 0, offset, static_cast<int>(vectors.size()));
}

}  // namespace

io_request read(const descriptor& d, std::span<std::byte> buffer, std::int64_t offset) noexcept {
    return transfer(d, opcode::read, buffer.data(), buffer.size(), offset, 0);
}

io_request write(const descriptor& d, std::span<const std::byte> buffer,
                 std::int64_t offset) noexcept {
    return transfer(d, opcode::write, buffer.data(), buffer.size(), offset, 0);
}

io_request readv(const descriptor& d, std::span<const iovec> vectors,
                 std::int64_t offset) noexcept {
    return vectored(d, opcode::readv, vectors, offset);
}

io_request writev(const descriptor& d, std::span<const iovec> vectors,
                  std::int64_t offset) noexcept {
    return vectored(d, opcode::writev, vectors, offset);
}

io_request read_all(const descriptor& d, std::span<std::byte> buffer,
                    std::int64_t offset) noexcept {
    return all_of(read(d, buffer, offset));
}

io_request write_all(const descriptor& d, std::span<const std::byte> buffer,
                     std::int64_t offset) noexcept {
    return all_of(write(d, buffer, offset));
}

io_request readv_all(const descriptor& d, std::span<iovec> vectors, std::int64_t offset) noexcept {
    return all_of(readv(d, vectors, offset));
}

io_request writev_all(const descriptor& d, std::span<iovec> vectors, std::int64_t offset) noexcept {
    return all_of(writev(d, vectors, offset));
}

io_request recvmsg(const descriptor& d, msghdr& message, int flags) noexcept {
    return transfer(d, opcode::recvmsg, &message, 0, at_position, flags);
}

io_request sendmsg(const descriptor& d, const msghdr& message, int flags) noexcept {
    return transfer(d, opcode::sendmsg, &message, 0, at_position, flags);
}

io_request send_file(const descriptor& socket, int file, std::int64_t offset,
                     std::size_t count) noexcept {
    return all_of(transfer(socket, opcode::send_file, nullptr, count, offset, file));
}

io_request accept(const descriptor& d, int flags, accept_errors errors) noexcept {
    return accept(d, nullptr, nullptr, flags, errors);
}

io_request accept(const descriptor& d, sockaddr* peer, unsigned* peer_size, int flags,
                  accept_errors errors) noexcept {
    io_request request = transfer(d, opcode::accept, peer, 0, at_position, flags);
    request.address_size = peer_size;
    request.mode = errors == accept_errors::every ? 1 : 0;
    return request;
}

io_request accept_multishot(const descriptor& d, int flags, accept_errors errors) noexcept {
    io_request request = accept(d, flags, errors);
    request.multishot = true;
    return request;
}

io_request connect(const descriptor& d, const sockaddr* address, unsigned size) noexcept {
    io_request request = transfer(d, opcode::connect, address, 0, at_position, 0);
    request.mode = size;
    return request;
}

io_request shutdown(const descriptor& d, int how) noexcept {
    return transfer(d, opcode::shutdown, nullptr, 0, at_position, how);
}

io_request open(const char* path, int flags, unsigned mode, int directory,
                std::uint64_t resolve) noexcept {
    io_request request;
    request.code = opcode::open;
    request.data = const_cast<char*>(path);
    request.flags = flags;
    request.mode = mode;
    request.offset = directory;
    request.size = resolve;
    return request;
}

io_request close(descriptor& d) noexcept {
    const io_request request = request_builder::on(d, opcode::close);
    request_builder::forget(d);
    return request;
}

io_request fsync(const descriptor& d, bool data_only) noexcept {
    return transfer(d, opcode::fsync, nullptr, 0, at_position, data_only ? 1 : 0);
}

io_request wait(const descriptor& d, interest wanted) noexcept {
    return transfer(d, opcode::wait, nullptr, 0, at_position, static_cast<int>(wanted));
}

io_request wait_multishot(const descriptor& d, interest wanted) noexcept {
    io_request request = wait(d, wanted);
    request.multishot = true;
    return request;
}

}  // namespace eddy
