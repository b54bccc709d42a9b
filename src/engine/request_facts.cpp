// SPDX-License-Identifier: Apache-2.0

// Computes the sizes, vectors and bites of requests, and classifies the errors of accept().
#include "engine/request_facts.hpp"

#include "kernel/io.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <numeric>
#include <span>

#include <sys/socket.h>

namespace eddy {

namespace {

std::uint64_t size_of(std::span<const iovec> vectors) noexcept {
    return std::accumulate(vectors.begin(), vectors.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const iovec& v) { return sum + v.iov_len; });
}

}  // namespace

std::uint64_t size_of_vectors(const io_request& request) noexcept {
    switch (request.code) {
        case opcode::readv:
        case opcode::writev:
            return size_of(std::span(static_cast<const iovec*>(request.data),
                                     static_cast<std::size_t>(request.flags)));
        case opcode::recvmsg:
        case opcode::sendmsg: {
            const auto& message = *static_cast<const msghdr*>(request.data);
            return size_of({message.msg_iov, message.msg_iovlen});
        }
        default:
            return 0;
    }
}

bool is_bitten(const fd_slot& slot) noexcept {
    return slot.shared && slot.kind != descriptor_kind::file;
}

std::size_t bite(const fd_slot& slot, std::size_t size) noexcept {
    if (!is_bitten(slot)) {
        return std::min(size, kernel::transfer_max);
    }
    constexpr std::size_t pipe_buf = 4096;
    constexpr std::size_t little = 256;
    const bool roomy = slot.kind == descriptor_kind::pipe || is_socket(slot.kind);
    return std::min(size, roomy ? pipe_buf : little);
}

std::span<const iovec> vectors_of(const io_request& request) noexcept {
    constexpr std::size_t most = IOV_MAX;
    std::span vectors(static_cast<const iovec*>(request.data),
                      static_cast<std::size_t>(request.flags));
    if (vectors.size() <= most || request.slot->kind == descriptor_kind::datagram) {
        return vectors;
    }
    while (vectors.size() > most && vectors.front().iov_len == 0) {  // a result of 0 is the end
        vectors = vectors.subspan(1);
    }
    return vectors.first(most);
}

std::uint64_t offered(const io_request& request) noexcept {
    const bool vectors = request.code == opcode::readv || request.code == opcode::writev;
    const std::uint64_t size = vectors ? size_of(vectors_of(request)) : size_of(request);
    return std::min<std::uint64_t>(size, kernel::transfer_max);
}

io_request first_vector(const io_request& request) noexcept {
    const auto* const vectors = static_cast<const iovec*>(request.data);
    const iovec* const first = std::find_if(vectors, vectors + request.flags,
                                            [](const iovec& v) { return v.iov_len != 0; });
    io_request part = request;
    part.code = opcode::write;
    part.data = first->iov_base;
    part.size = first->iov_len;
    return part;
}

accept_failure classify_accept(io_result result) noexcept {
    switch (result.system_error()) {
        case 0:
            return result ? accept_failure::none : accept_failure::lasting;
        case ECONNABORTED:
        case ECONNRESET:
        case ETIMEDOUT:
        case EPROTO:
        case ENOPROTOOPT:
        case ENETDOWN:
        case ENETUNREACH:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
            return accept_failure::transient;
        case EPERM:
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
        case ENOSR:
            return accept_failure::exhausted;
        default:
            return accept_failure::lasting;
    }
}

}  // namespace eddy
