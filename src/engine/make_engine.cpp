// SPDX-License-Identifier: Apache-2.0

// Makes an engine by its kind, and names engines, descriptor kinds and opcodes.
#include "engine/engine.hpp"

namespace eddy {

namespace {

constexpr unsigned ring_entries = 256;

}  // namespace

call_failure make_engine(engine_kind kind, ready_queue& ready,
                         std::unique_ptr<engine>& out) noexcept {
    switch (kind) {
        case engine_kind::epoll:
        case engine_kind::poll:
            return make_readiness_engine(kind, ready, out);
        case engine_kind::io_uring:
            return make_uring_engine(ready, ring_entries, out);
        case engine_kind::best:
        case engine_kind::automatic:
            break;
    }
    return {std::make_error_code(std::errc::invalid_argument)};
}

const char* to_string(engine_kind kind) noexcept {
    switch (kind) {
        case engine_kind::automatic:
            return "automatic";
        case engine_kind::epoll:
            return "epoll";
        case engine_kind::io_uring:
            return "io_uring";
        case engine_kind::poll:
            return "poll";
        case engine_kind::best:
            return "best";
    }
    return "unknown";
}

const char* to_string(descriptor_kind kind) noexcept {
    switch (kind) {
        case descriptor_kind::unknown:
            return "unknown";
        case descriptor_kind::tcp:
            return "tcp";
        case descriptor_kind::stream:
            return "stream";
        case descriptor_kind::datagram:
            return "datagram";
        case descriptor_kind::pipe:
            return "pipe";
        case descriptor_kind::tty:
            return "tty";
        case descriptor_kind::file:
            return "file";
        case descriptor_kind::other:
            return "other";
    }
    return "unknown";
}

const char* to_string(opcode code) noexcept {
    switch (code) {
        case opcode::none:
            return "none";
        case opcode::read:
            return "read";
        case opcode::write:
            return "write";
        case opcode::readv:
            return "readv";
        case opcode::writev:
            return "writev";
        case opcode::recv:
            return "recv";
        case opcode::send:
            return "send";
        case opcode::recvmsg:
            return "recvmsg";
        case opcode::receive:
            return "receive";
        case opcode::sendmsg:
            return "sendmsg";
        case opcode::send_file:
            return "send_file";
        case opcode::accept:
            return "accept";
        case opcode::connect:
            return "connect";
        case opcode::shutdown:
            return "shutdown";
        case opcode::open:
            return "open";
        case opcode::close:
            return "close";
        case opcode::fsync:
            return "fsync";
        case opcode::wait:
            return "wait";
    }
    return "unknown";
}

}  // namespace eddy
