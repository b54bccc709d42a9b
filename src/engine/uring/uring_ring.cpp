// SPDX-License-Identifier: Apache-2.0

// Makes and enters the ring, and writes operations into its entries.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_ring.hpp"

#include "engine/engine.hpp"
#include "kernel/io.hpp"
#include "kernel/once.hpp"
#include "kernel/own_fd.hpp"
#include "kernel/sigpipe_guard.hpp"
#include "kernel/thread.hpp"
#include "kernel/uring.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <numeric>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif

namespace eddy {

namespace {

/// The flags of a ring, the best first. The first ones that the kernel knows are used.
constexpr unsigned setups[] = {
    IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_TASKRUN_FLAG |
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,  // 6.1
    IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_TASKRUN_FLAG |
        IORING_SETUP_COOP_TASKRUN,  // 5.19
    IORING_SETUP_R_DISABLED,        // 5.10
};
constexpr unsigned needed_features = IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG;

std::uint32_t cut(std::uint64_t size) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kernel::transfer_max));
}

std::uint64_t file_offset(std::int64_t offset) noexcept {
    return offset < 0 ? ~0ULL : static_cast<std::uint64_t>(offset);  // the file's own position
}

/// Returns the poll mask of a wait. For urgent data alone the kernel (6.18) would not wake: it must
/// be asked for the band too.
unsigned poll_mask(const io_request& request) noexcept {
    const auto wanted = static_cast<interest>(request.flags);
    return static_cast<unsigned>(request.flags) |
           (any(wanted & interest::priority) ? unsigned{POLLRDBAND} : 0U);
}

call_failure setup_failed(int error) noexcept {
    return {std::error_code(error, std::system_category()), "io_uring_setup"};
}

}  // namespace

call_failure uring_ring::open(unsigned entries, const unique_fd& told) noexcept {
    io_result result = io_result::system_error(EINVAL);
    for (const unsigned flags : setups) {
        if (told && (flags & IORING_SETUP_DEFER_TASKRUN) != 0) {
            // The kernel (6.18) would report only once what another eventfd has caused.
            continue;
        }
        io_uring_params parameters{};
        parameters.flags = flags | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE;
        parameters.cq_entries = entries * 4;
        result = kernel::once(kernel::call::uring_setup, [&] {
            return io_result::from_kernel(io_uring_queue_init_params(entries, &ring_, &parameters));
        });
        if (result.system_error() != EINVAL) {
            multishot_receive_ = (flags & IORING_SETUP_SINGLE_ISSUER) != 0;  // both came with 6.0
            break;
        }
    }
    if (!result) {
        return setup_failed(result.system_error());
    }
    open_ = true;
    enabled_ = false;
    if (auto error = kernel::move_from_standard(ring_.ring_fd)) {
        close();
        return {error, "fcntl"};
    }
    ring_.enter_ring_fd = ring_.ring_fd;
    if ((ring_.features & needed_features) != needed_features) {
        close();
        return setup_failed(EINVAL);  // as an even older kernel says
    }
    // The entries are used in the order of the queue, so this array is never written again.
    std::iota(ring_.sq.array, ring_.sq.array + *ring_.sq.kring_entries, 0U);
    hows_.reset(new (std::nothrow) open_how[*ring_.sq.kring_entries]);
    if (hows_ == nullptr) {
        close();
        return out_of_memory();
    }
    if (told) {
        if (auto error = kernel::uring_register_eventfd(ring_.ring_fd, told.get())) {
            close();
            return {error, "io_uring_register (IORING_REGISTER_EVENTFD)"};
        }
    }
    return {};
}

void uring_ring::close() noexcept {
    if (open_) {
        kernel::surely(kernel::call::uring_exit, [&] {
            io_uring_queue_exit(&ring_);
            return io_result();
        });
        open_ = enabled_ = registered_ = false;
        enters_ = enters_until_registered;
    }
}

call_failure uring_ring::try_out() noexcept {
    uring_ring ring;
    if (auto failure = ring.open(1, unique_fd())) {
        return failure;
    }
    if (auto failure = ring.enable()) {
        return failure;
    }
    static_cast<void>(ring.next_sqe());  // all 0: an entry that does nothing
    // Repeated, because a signal may interrupt it.
    const time_point give_up = saturating_add(clock::now(), std::chrono::seconds(1));
    do {
        if (auto error = ring.enter(1, give_up)) {
            return {error, "io_uring_enter"};
        }
    } while (!ring.has_completion() && clock::now() < give_up);
    if (!ring.has_completion()) {
        return {std::make_error_code(std::errc::timed_out), "io_uring_enter"};
    }
    return {};
}

call_failure uring_ring::enable() noexcept {
    if (enabled_) {
        return {};
    }
    if (auto error = kernel::uring_enable(ring_.ring_fd)) {
        return {error, "io_uring_register (IORING_REGISTER_ENABLE_RINGS)"};
    }
    owner_ = kernel::thread_number();
    enabled_ = true;
    run_begins();
    return {};
}

bool uring_ring::belongs_to_another_thread() const noexcept {
    return enabled_ && owner_ != kernel::thread_number();
}

std::error_code uring_ring::share_buffers(io_uring_buf_ring& memory, unsigned entries) noexcept {
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(&memory);
    registration.ring_entries = entries;
    registration.bgid = buffer_group;
    return kernel::once(kernel::call::uring_buffers,
                        [&] {
                            return io_result::from_kernel(
                                io_uring_register_buf_ring(&ring_, &registration, 0));
                        })
        .error();
}

bool uring_ring::settled() const noexcept {
    const unsigned flags = std::atomic_ref(*ring_.sq.kflags).load(std::memory_order_relaxed);
    return io_uring_sq_ready(&ring_) == 0 &&
           (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) == 0;
}

/// Makes the filled entries visible to the kernel. Returns how many it has not taken yet.
unsigned uring_ring::publish() noexcept {
    io_uring_sq& queue = ring_.sq;
    queue.sqe_head = queue.sqe_tail;
    // release: pairs with the kernel's load of the tail; it then sees the entries.
    std::atomic_ref(*queue.ktail).store(queue.sqe_tail, std::memory_order_release);
    // acquire: pairs with the kernel's store of the head; it has read those entries.
    return queue.sqe_tail - std::atomic_ref(*queue.khead).load(std::memory_order_acquire);
}

bool uring_ring::kernel_has_work() const noexcept {
    const unsigned flags = std::atomic_ref(*ring_.sq.kflags).load(std::memory_order_relaxed);
    const bool told = (ring_.flags & IORING_SETUP_TASKRUN_FLAG) != 0;
    return !told || (flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

std::error_code uring_ring::enter(unsigned wait_for, time_point until) noexcept {
    if (!enabled_) {
        return {};
    }
    const unsigned to_submit = publish();
    if (wait_for == 0 && to_submit == 0 && !kernel_has_work()) {
        return {};
    }
    std::optional<kernel::sigpipe_guard> guard;
    if (guard_sigpipe_) {
        guard.emplace();
    }
    if (enters_ != enters_until_registered && ++enters_ == enters_until_registered) {
        register_with_thread();
    }
    return kernel::uring_enter(name(), to_submit, wait_for, until);
}

std::error_code uring_ring::flush() noexcept {
    return kernel::uring_enter(name(), 0, 0, time_point::min());
}

bool uring_ring::unsubmit(const io_operation& op) noexcept {
    io_uring_sq& queue = ring_.sq;
    bool found = false;
    // acquire: as in publish(). The kernel takes entries only while it is entered.
    unsigned head = std::atomic_ref(*queue.khead).load(std::memory_order_acquire);
    for (; head != queue.sqe_tail; ++head) {
        io_uring_sqe& sqe = queue.sqes[head & *queue.kring_mask];
        if (sqe.user_data == token(op)) {
            sqe = {};
            sqe.user_data = nobodys_token;
            found = true;
        }
    }
    return found;
}

std::error_code uring_ring::cancel(const io_operation& op, duration limit) noexcept {
    return kernel::uring_cancel(ring_.ring_fd, token(op), limit);
}

/// Registers the ring with the thread, so that the kernel finds it sooner, and without counting its
/// users: a call that does nothing takes a sixth less. The thread has 16 places for rings, and
/// keeps a ring alive, so the registration lasts only for a run. A kernel before 5.18 refuses.
void uring_ring::register_with_thread() noexcept {
    const io_result registered = kernel::once(kernel::call::uring_register, [&] {
        return io_result::from_kernel(io_uring_register_ring_fd(&ring_));
    });
    registered_ = registered == io_result::value(1);
}

void uring_ring::run_ends() noexcept {
    enters_ = enters_until_registered;
    if (registered_) {
        registered_ = false;
        kernel::surely(kernel::call::uring_register,
                       [&] { return io_result::from_kernel(io_uring_unregister_ring_fd(&ring_)); });
        ring_.enter_ring_fd = ring_.ring_fd;
    }
}

int uring_ring::no_sigpipe() noexcept {
    if (kernel::has_rwf_nosignal()) {
        return kernel::no_sigpipe;
    }
    guard_sigpipe_ = true;
    return 0;
}

void uring_ring::prepare_write(io_uring_sqe& sqe, const io_request& request) noexcept {
    const int fd = request.slot->fd;
    if (is_socket(request.slot->kind)) {
        io_uring_prep_send(&sqe, fd, request.data, cut(request.size), MSG_NOSIGNAL);
        return;
    }
    // On a terminal, the kernel asks poll() and then waits in the submission until all is written.
    io_uring_prep_write(&sqe, fd, request.data, cut(bite(*request.slot, request.size)),
                        file_offset(request.offset));
    if (request.slot->kind == descriptor_kind::pipe) {
        sqe.rw_flags = no_sigpipe();
    }
}

void uring_ring::prepare_writev(io_uring_sqe& sqe, const io_request& request) noexcept {
    if (is_bitten(*request.slot) && !is_socket(request.slot->kind)) {
        prepare_write(sqe, first_vector(request));
        return;
    }
    const auto vectors = vectors_of(request);
    io_uring_prep_writev(&sqe, request.slot->fd, vectors.data(),
                         static_cast<unsigned>(vectors.size()), file_offset(request.offset));
    if (request.slot->kind == descriptor_kind::pipe || is_socket(request.slot->kind)) {
        sqe.rw_flags = no_sigpipe();
    }
}

void uring_ring::prepare_open(io_uring_sqe& sqe, const io_request& request) noexcept {
    const auto* const path = static_cast<const char*>(request.data);
    const int flags = request.flags | O_CLOEXEC;
    if (request.size == 0) {
        io_uring_prep_openat(&sqe, request.directory(), path, flags, request.mode);
        return;
    }
    open_how& how = hows_[static_cast<std::size_t>(&sqe - ring_.sq.sqes)];
    how = kernel::how_to_open(flags, request.mode, request.size);
    io_uring_prep_openat2(&sqe, request.directory(), path, &how);
}

void uring_ring::prepare_receive(io_uring_sqe& sqe, const io_request& request) const noexcept {
    if (receives_on(request)) {
        io_uring_prep_recv_multishot(&sqe, request.slot->fd, nullptr, 0, 0);
        if (request.slot->kind != descriptor_kind::datagram) {  // it would cut messages
            // Linux 6.17: `optlen`, at the same place, is how many bytes end the receive.
            sqe.file_index = cut(request.size * buffers_in_a_row);
            sqe.off = kernel::injected(kernel::call::uring_receive_limit) != 0 ? 1 : 0;
        }
    } else if (is_socket(request.slot->kind)) {
        prepare_single_receive(sqe, request);
        return;
    } else {
        io_uring_prep_read(&sqe, request.slot->fd, nullptr, cut(request.size), file_offset(-1));
    }
    pick_buffer(sqe);
}

void uring_ring::prepare(io_uring_sqe& sqe, const io_request& request) noexcept {
    const int fd = request.slot != nullptr ? request.slot->fd : -1;
    const int message_flags = request.flags & ~(MSG_DONTWAIT | MSG_WAITALL);  // see prepare_send()
    switch (request.code) {
        case opcode::read:
            io_uring_prep_read(&sqe, fd, request.data, cut(request.size),
                               file_offset(request.offset));
            break;
        case opcode::write:
            prepare_write(sqe, request);
            break;
        case opcode::readv: {
            const auto vectors = vectors_of(request);
            io_uring_prep_readv(&sqe, fd, vectors.data(), static_cast<unsigned>(vectors.size()),
                                file_offset(request.offset));
            break;
        }
        case opcode::writev:
            prepare_writev(sqe, request);
            break;
        case opcode::recv:
            io_uring_prep_recv(&sqe, fd, request.data, cut(request.size), message_flags);
            break;
        case opcode::send:
            prepare_send(sqe, request);
            break;
        case opcode::recvmsg:
            io_uring_prep_recvmsg(&sqe, fd, static_cast<msghdr*>(request.data),
                                  static_cast<unsigned>(message_flags | MSG_CMSG_CLOEXEC));
            break;
        case opcode::sendmsg:
            io_uring_prep_sendmsg(&sqe, fd, static_cast<const msghdr*>(request.data),
                                  static_cast<unsigned>(message_flags | MSG_NOSIGNAL));
            break;
        case opcode::receive:
            prepare_receive(sqe, request);
            break;
        case opcode::accept:
            io_uring_prep_accept(&sqe, fd, static_cast<sockaddr*>(request.data),
                                 request.address_size, request.flags | SOCK_CLOEXEC);
            if (request.multishot && multishot_accept_) {
                sqe.ioprio |= IORING_ACCEPT_MULTISHOT;
            }
            break;
        case opcode::connect:
            io_uring_prep_connect(&sqe, fd, static_cast<const sockaddr*>(request.data),
                                  request.mode);
            break;
        case opcode::shutdown:
            io_uring_prep_shutdown(&sqe, fd, request.flags);
            break;
        case opcode::open:
            prepare_open(sqe, request);
            break;
        case opcode::fsync:
            io_uring_prep_fsync(&sqe, fd, request.flags != 0 ? IORING_FSYNC_DATASYNC : 0U);
            break;
        case opcode::wait:
            io_uring_prep_poll_add(&sqe, fd, poll_mask(request));
            if (request.multishot) {
                sqe.len = IORING_POLL_ADD_MULTI;
            }
            break;
        case opcode::none:
        case opcode::close:
        case opcode::send_file:  // see prepare_poll()
            io_uring_prep_nop(&sqe);
            break;
    }
}

void uring_ring::prepare_poll(io_uring_sqe& sqe, const io_request& request) noexcept {
    const auto wanted = is_read(request.code) ? interest::readable : interest::writable;
    io_uring_prep_poll_add(&sqe, request.slot->fd, static_cast<unsigned>(wanted));
}

void uring_ring::prepare_cancel(io_uring_sqe& sqe, const io_operation& op) noexcept {
    io_uring_prep_cancel64(&sqe, token(op), 0);
    sqe.user_data = reinterpret_cast<std::uintptr_t>(op.request().slot) | cancel_mark;
}

void uring_ring::prepare_wake(io_uring_sqe& sqe, int fd) noexcept {
    io_uring_prep_poll_multishot(&sqe, fd, static_cast<unsigned>(interest::readable));
    sqe.user_data = wake_token;
}

}  // namespace eddy

#endif
