#if EDDY_HAS_IO_URING && defined(EDDY_FAULTS)

#include "engine/uring_faults.hpp"

#include "engine/engine.hpp"
#include "engine/request_facts.hpp"
#include "kernel/once.hpp"

#include <cerrno>
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

/// The result of an entry that asks for `wanted`; an older kernel says 0, or refuses the flag.
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

/// A poll that stands in front of a call is one whatever the operation is.
std::optional<call> call_of(const io_uring_sqe& sqe, const io_operation& op) noexcept {
    return sqe.opcode == IORING_OP_POLL_ADD ? call::poll : call_of(op);
}

/// Its length is one of bytes.
bool moves_bytes(const io_uring_sqe& sqe) noexcept {
    return sqe.opcode == IORING_OP_READ || sqe.opcode == IORING_OP_WRITE ||
           sqe.opcode == IORING_OP_SEND || sqe.opcode == IORING_OP_RECV;
}

}  // namespace

bool can_inject_results() noexcept {
    static const bool can = probe();
    return can;
}

void apply(io_uring_sqe& sqe, const io_operation& op) noexcept {
    const auto which = call_of(sqe, op);
    if (!kernel::faults_are_planned() || !which || !can_inject_results()) {
        return;
    }
    if (const int error = kernel::injected(*which); error != 0) {
        // The kernel's own poll goes on when the thread is interrupted.
        if (*which != call::poll || error != EINTR) {
            replace(sqe, -error);
        }
    } else if (moves_bytes(sqe)) {
        sqe.len = static_cast<unsigned>(kernel::shortened(*which, sqe.len));
    }
}

}  // namespace eddy::uring_faults

#endif
