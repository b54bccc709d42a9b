// SPDX-License-Identifier: Apache-2.0

// The part of every engine that takes back, ends and completes operations.
#include "engine/engine.hpp"
#include "engine/whole_transfer.hpp"
#include "kernel/io.hpp"
#include "kernel/passed_fds.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace eddy {

namespace {

std::uint8_t& saved_error(const io_request& request) noexcept {
    fd_slot& slot = *request.slot;
    return is_read(request.code) ? slot.saved_read_error : slot.saved_write_error;
}

}  // namespace

std::error_code engine::reclaim(io_operation& op) noexcept {
    if (withdraw(op)) {
        return {};
    }
    if (auto error = quiesce(op)) {
        return error;
    }
    take_out(op);
    return {};
}

bool engine::withdraw(io_operation& op) noexcept {
    EDDY_ASSERT(op.phase_ != phase::away,
                "an operation was destroyed while an executor was performing it");
    if (leave_list(op)) {
        return true;
    }
    cancel(op, end_reason::canceled);
    if (op.in_kernel_) {
        return false;
    }
    take_out(op);
    return true;
}

void engine::take_out(io_operation& op) noexcept {
    drop_results(op);
    if (op.phase_ == phase::completed) {
        drop_result(op.request_, op.result_);
        drop_buffer(op);
    }
    if (op.queued_) {
        ready_.erase(op);
    }
    op.phase_ = phase::idle;
    if (op.list_next_ != nullptr) {
        finished(op, op.result_);  // the next one in the list may go on
    }
}

void engine::drop_result(const io_request& request, io_result result) noexcept {
    if (!result) {
        return;
    }
    if (request.code == opcode::accept || request.code == opcode::open) {
        kernel::close(result.fd());
    } else if (request.code == opcode::recvmsg) {
        kernel::for_each_passed_fd(*static_cast<msghdr*>(request.data),
                                   [](int fd) { kernel::close(fd); });
    }
}

void engine::finished(io_operation& op, io_result result) noexcept {
    fd_slot* const slot = op.request_.slot;
    io_list& list = list_of(op);
    op.result_ = result;
    unlink(op);
    if (slot != nullptr && !slot->detaching) {
        activate(*slot, list);
    }
}

void engine::send_away(io_operation& op) noexcept {
    op.phase_ = phase::away;
    if (op.request_.slot != nullptr) {
        ++op.request_.slot->holds;
    }
}

void engine::came_back(io_operation& op, io_result result) noexcept {
    finished(op, result);
    op.phase_ = phase::completed;
    if (op.request_.slot != nullptr) {
        let_go(*op.request_.slot);
    }
}

void engine::forget(io_operation& op) noexcept {
    end_starving(op);
    if (op.request_.code == opcode::receive) {
        drop_results(op);
        drop_buffer(op);
    }
    if (op.list_next_ != nullptr) {
        unlink(op);
    }
    if (op.queued_ && op.phase_ == phase::runnable) {
        ready_.erase(op);
    }
    op.phase_ = phase::idle;
    op.queued_ = false;
}

void engine::for_each_operation(function_ref<void(io_operation&)> visit) noexcept {
    unattached_.for_each(visit);
    table_.for_each([&](fd_slot& slot) {
        for (const io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
            list->for_each(visit);
        }
    });
}

bool engine::valid(const io_operation& op) noexcept {
    const io_request& request = op.request_;
    if (request.slot == nullptr) {
        return request.code == opcode::open;
    }
    return request.slot->generation == request.generation && !request.slot->detaching;
}

bool engine::settled_oddly(const io_operation& op, io_result& result) noexcept {
    if (!valid(op)) {
        result = io_result::system_error(EBADF);
        return true;
    }
    const io_request& request = op.request_;
    if (needs_socket(request.code) && !is_socket(request.slot->kind)) {
        result = io_result::system_error(ENOTSOCK);
        return true;
    }
    if (request.slot != nullptr && saved_error(request) != 0 && size_of(request) != 0) {
        result = io_result::system_error(std::exchange(saved_error(request), 0));
        return true;
    }
    switch (request.code) {
        case opcode::read:
        case opcode::write:
        case opcode::readv:
        case opcode::writev:
            if (request.offset >= 0 && !has_offsets(request.slot->kind)) {
                result = io_result::system_error(ESPIPE);
                return true;
            }
            [[fallthrough]];
        case opcode::send_file:
            if (request.offset < -1) {
                result = io_result::system_error(EINVAL);
                return true;
            }
            break;
        case opcode::recv:
        case opcode::send:
            break;
        case opcode::wait: {
            constexpr auto always = interest::readable | interest::writable;
            const auto wanted = static_cast<interest>(request.flags);
            result = io_result::value(static_cast<std::int64_t>(wanted & always));
            return request.slot->kind == descriptor_kind::file;
        }
        default:
            return false;
    }
    // A datagram may be empty.
    if (request.slot->kind == descriptor_kind::datagram || size_of(request) != 0) {
        return false;
    }
    result = io_result::value(0);
    return true;
}

io_result engine::result_of(end_reason reason) noexcept {
    switch (reason) {
        case end_reason::timed_out:
            return io_result::eddy_error(errc::timed_out);
        case end_reason::bad_fd:
            return io_result::system_error(EBADF);
        case end_reason::no_memory:
            return io_result::system_error(ENOMEM);
        case end_reason::none:
        case end_reason::canceled:
        case end_reason::closed:
            break;
    }
    return io_result::system_error(ECANCELED);
}

bool engine::advance_further(io_operation& op, io_result result) noexcept {
    if (!eddy::advance(op.request_, result, op.moved_)) {
        return false;
    }
    op.moved_ += static_cast<std::uint32_t>(result.count());
    return true;
}

io_result engine::total_of_parts(const io_operation& op, io_result last) noexcept {
    const int error = last.system_error();
    // An error of a file is not saved: it comes again by itself, and only at its place in the file.
    if (valid(op) && op.request_.slot->kind != descriptor_kind::file && error != ECANCELED &&
        error <= UINT8_MAX) {
        saved_error(op.request_) = static_cast<std::uint8_t>(error);
    }
    return io_result::value(std::int64_t{op.moved_} + static_cast<std::int64_t>(last.count()));
}

void engine::complete(io_operation& op, io_result result) noexcept {
    unlink(op);
    op.result_ = total(op, result);
    op.phase_ = phase::completed;
    if (!ready_queue::contains(op)) {
        ready_.push(op);
    }
}

}  // namespace eddy
