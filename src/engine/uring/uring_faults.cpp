// SPDX-License-Identifier: Apache-2.0

// Injects faults into entries of the submission queue, for tests.
#if EDDY_HAS_IO_URING && defined(EDDY_FAULTS)

#include "engine/uring/uring_faults.hpp"

#include "engine/engine.hpp"
#include "engine/request_facts.hpp"
#include "kernel/io.hpp"
#include "kernel/once.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace eddy::uring_faults {

namespace {

using kernel::call;

/// IORING_NOP_INJECT_RESULT, which is newer than the headers that we build with.
constexpr unsigned inject_result = 1U << 0;

void replace(io_uring_sqe& sqe, int result) noexcept {
    const auto token = sqe.user_data;
    sqe = {};
    sqe.opcode = IORING_OP_NOP;
    sqe.rw_flags = inject_result;
    sqe.len = static_cast<unsigned>(result);
    sqe.user_data = token;
}

/// Returns the result of an entry that asks for `wanted`. An older kernel says 0 or an error.
int injected_result(io_uring& ring, int wanted) noexcept {
    io_uring_sqe* const sqe = io_uring_get_sqe(&ring);
    if (sqe == nullptr) {
        return 0;
    }
    replace(*sqe, wanted);
    const auto submitted = kernel::once(call::uring_enter, [&] {
        return io_result::from_kernel(io_uring_submit_and_wait(&ring, 1));
    });
    io_uring_cqe* cqe = nullptr;
    return submitted && io_uring_peek_cqe(&ring, &cqe) == 0 ? cqe->res : 0;
}

bool probe() noexcept {
    constexpr int wanted = -EXDEV;
    io_uring ring{};
    const auto made = kernel::once(call::uring_setup, [&] {
        return io_result::from_kernel(io_uring_queue_init(1, &ring, 0));
    });
    if (!made) {
        return false;
    }
    const bool does = injected_result(ring, wanted) == wanted;
    kernel::surely(call::uring_exit, [&] {
        io_uring_queue_exit(&ring);
        return io_result();
    });
    return does;
}

std::optional<call> call_of(const io_operation& op) noexcept {
    const io_request& request = op.request();
    const bool socket = request.slot != nullptr && is_socket(request.slot->kind);
    switch (request.code) {
        case opcode::read:
        case opcode::readv:
        case opcode::receive:
            return socket ? call::recv : call::read;
        case opcode::write:
        case opcode::writev:
            return socket ? call::send : call::write;
        case opcode::recv:
        case opcode::recvmsg:
            return call::recv;
        case opcode::send:
        case opcode::sendmsg:
            return call::send;
        case opcode::accept:
            return call::accept;
        case opcode::connect:
            return call::connect;
        case opcode::shutdown:
            return call::shutdown;
        case opcode::open:
            return call::open;
        case opcode::fsync:
            return call::fsync;
        case opcode::wait:
        case opcode::none:
        case opcode::close:
        case opcode::send_file:
            break;
    }
    return std::nullopt;
}

/// Returns the call that an entry stands for. A poll in front of a call counts as a poll.
std::optional<call> call_of(const io_uring_sqe& sqe, const io_operation& op) noexcept {
    return sqe.opcode == IORING_OP_POLL_ADD ? call::poll : call_of(op);
}

void move_one(io_uring_sqe& sqe, std::uint8_t opcode, const iovec& vector) noexcept {
    sqe.opcode = opcode;
    sqe.addr = reinterpret_cast<std::uintptr_t>(vector.iov_base);
    sqe.len = static_cast<unsigned>(vector.iov_len);
}

void shorten_vectors(io_uring_sqe& sqe, call which, std::uint8_t opcode_of_one) noexcept {
    const auto* const vectors = reinterpret_cast<const iovec*>(sqe.addr);
    iovec part{};
    if (kernel::shortened(which, {vectors, sqe.len}, part).data() == &part) {
        move_one(sqe, opcode_of_one, part);
    }
}

/// A shortened message, which the kernel copies at the submission. No test has as many unsubmitted.
struct message_to_send {
    msghdr header;
    iovec part;
};
thread_local std::array<message_to_send, 64> messages;
thread_local std::size_t next_message = 0;

void shorten_sent_message(io_uring_sqe& sqe, call which) noexcept {
    message_to_send& less = messages[next_message];
    if (kernel::shorten_message(which, *reinterpret_cast<const msghdr*>(sqe.addr), less.header,
                                less.part)) {
        sqe.addr = reinterpret_cast<std::uintptr_t>(&less.header);
        next_message = (next_message + 1) % messages.size();
    }
}

/// Shortens a message that is nothing but bytes. Anything else that comes with the bytes is written
/// into the caller's message, so that must stay.
void shorten_received_message(io_uring_sqe& sqe, call which) noexcept {
    auto& message = *reinterpret_cast<msghdr*>(sqe.addr);
    if (message.msg_name != nullptr || message.msg_controllen != 0) {
        return;
    }
    msghdr less{};
    iovec part{};
    if (kernel::shorten_message(which, message, less, part)) {
        move_one(sqe, IORING_OP_RECV, part);
        message.msg_flags = 0;
    }
}

void shorten(io_uring_sqe& sqe, call which) noexcept {
    switch (sqe.opcode) {
        case IORING_OP_READ:
        case IORING_OP_WRITE:
        case IORING_OP_SEND:
        case IORING_OP_RECV:
            sqe.len = static_cast<unsigned>(kernel::shortened(which, sqe.len));
            break;
        case IORING_OP_READV:
            shorten_vectors(sqe, which, IORING_OP_READ);
            break;
        case IORING_OP_WRITEV:
            shorten_vectors(sqe, which, IORING_OP_WRITE);
            break;
        case IORING_OP_SENDMSG:
            shorten_sent_message(sqe, which);
            break;
        case IORING_OP_RECVMSG:
            shorten_received_message(sqe, which);
            break;
        default:
            break;
    }
}

}  // namespace

/// Asks the kernel once. A fault that is planned at that time must not hit a call of the probe.
bool can_inject_results() noexcept {
    static const bool can = [] {
        const kernel::faults_held_off now;
        return probe();
    }();
    return can;
}

void apply(io_uring_sqe& sqe, const io_operation& op) noexcept {
    const auto which = call_of(sqe, op);
    if (which == call::poll) {
        apply_to_poll(sqe);
        return;
    }
    if (!kernel::faults_are_planned() || !which || !can_inject_results()) {
        return;
    }
    if (const int error = kernel::injected(*which); error != 0) {
        replace(sqe, -error);
    } else {
        shorten(sqe, *which);
    }
}

void apply_to_poll(io_uring_sqe& sqe) noexcept {
    if (!kernel::faults_are_planned() || !can_inject_results()) {
        return;
    }
    // The kernel's own poll goes on when the thread is interrupted.
    if (const int error = kernel::injected(call::poll); error != 0 && error != EINTR) {
        replace(sqe, -error);
    }
}

}  // namespace eddy::uring_faults

#endif
