// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

struct iovec;
struct msghdr;
struct sockaddr;

namespace eddy {

struct fd_slot;

enum class opcode : std::uint8_t {
    none,
    read,
    write,
    readv,
    writev,
    recv,
    send,
    recvmsg,
    receive,
    sendmsg,
    send_file,
    accept,
    connect,
    shutdown,
    open,
    close,
    fsync,
    wait,
};

EDDY_API const char* to_string(opcode code) noexcept;

/// The first and the last of an operation's results, by their numbers in a result_pool.
struct record_chain {
    std::uint32_t first;  ///< UINT32_MAX: there are none
    std::uint32_t last;
};

/// A request for an I/O operation, made by the functions in <eddy/loop/requests.hpp>.
/// Lifetime: what it points to (buffers, vectors, addresses, paths) must live until the operation
/// has completed.
struct io_request {
    opcode code = opcode::none;
    bool multishot = false;
    bool all = false;  ///< ends when everything was moved; vectors are consumed in place
    /// wait: completes only for something new. The caller has found, since the last result, that
    /// nothing more can be done. An edge-triggered poller then need not be asked at the start.
    bool edge = false;
    /// recv, send, recvmsg, sendmsg: MSG_*; accept: SOCK_*; shutdown: SHUT_*; open: O_*;
    /// wait: interest; readv, writev: the number of vectors; fsync: 1 for data only;
    /// send_file: the fd of the file.
    int flags = 0;
    fd_slot* slot = nullptr;
    std::uint32_t generation = 0;
    /// open: the mode of a new file; connect: the length of the address; accept: 1 if every error
    /// is a result, even one that an accept survives; wait: 1 if every engine looks at the start,
    /// unless `edge` is set (otherwise io_uring leaves that to the kernel).
    std::uint32_t mode = 0;
    /// Buffer, iovec, msghdr, sockaddr, path; receive: the lent buffer, once there is one.
    void* data = nullptr;
    union {
        std::uint64_t size = 0;  ///< of the buffer, even a future one; open: RESOLVE_*
        unsigned* address_size;  ///< accept: a socklen_t, or null
    };
    union {
        std::int64_t offset = -1;  ///< of the file; -1: its own position; open: the directory's fd
        record_chain records;      ///< io_uring, multishot: results that were not delivered yet
    };

    int directory() const noexcept { return static_cast<int>(offset); }
};

}  // namespace eddy
