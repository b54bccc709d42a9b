#include "engine/engine.hpp"

#include "kernel/descriptor.hpp"
#include "kernel/io.hpp"

#include <cerrno>
#include <numeric>
#include <span>

#include <sys/socket.h>

namespace eddy {

namespace {

descriptor_kind kind_of(kernel::file_type type) noexcept {
    switch (type) {
        case kernel::file_type::tcp_socket:
            return descriptor_kind::tcp;
        case kernel::file_type::stream_socket:
            return descriptor_kind::stream;
        case kernel::file_type::message_socket:
            return descriptor_kind::datagram;
        case kernel::file_type::pipe:
            return descriptor_kind::pipe;
        case kernel::file_type::tty:
            return descriptor_kind::tty;
        case kernel::file_type::file:
            return descriptor_kind::file;
        case kernel::file_type::other:
            break;
    }
    return descriptor_kind::other;
}

bool needs_socket(opcode code) noexcept {
    switch (code) {
        case opcode::recv:
        case opcode::send:
        case opcode::recvmsg:
        case opcode::sendmsg:
        case opcode::accept:
        case opcode::connect:
        case opcode::shutdown:
            return true;
        default:
            return false;
    }
}

bool has_offsets(descriptor_kind kind) noexcept {
    return kind == descriptor_kind::file || kind == descriptor_kind::other;
}

std::uint64_t size_of(std::span<const iovec> vectors) noexcept {
    return std::accumulate(vectors.begin(), vectors.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const iovec& v) { return sum + v.iov_len; });
}

/// `visit` may take the operation out of the list.
template <class Visitor>
void for_each(const io_list& list, Visitor&& visit) {
    io_operation* op = list.front();
    while (op != nullptr) {
        io_operation* const next = io_list::next(*op, list);
        visit(*op);
        op = next;
    }
}

/// The state of a slot that belongs to `fd` from now on.
fd_slot fresh_slot(const fd_slot& old, int fd, const char* name) noexcept {
    fd_slot fresh;
    fresh.fd = fd;
    fresh.generation = old.generation + 1;
    fresh.name = name;
    return fresh;
}

}  // namespace

std::error_code engine::examine(fd_slot& fresh, const attach_options& options) noexcept {
    if (options.kind != descriptor_kind::unknown) {
        fresh.kind = options.kind;
        return {};
    }
    kernel::file_facts facts;
    if (auto error = kernel::examine(fresh.fd, facts)) {
        return error;
    }
    fresh.kind = kind_of(facts.type);
    fresh.identity = facts.identity;
    return {};
}

std::error_code engine::attach(int fd, const attach_options& options, fd_slot*& out) noexcept {
    if (fd < 0) {
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    fd_slot* const slot = table_.make(fd);
    if (slot == nullptr) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    if (slot->detaching) {
        return std::make_error_code(std::errc::device_or_resource_busy);
    }
    fd_slot fresh = fresh_slot(*slot, fd, options.name);
    if (auto error = examine(fresh, options)) {
        return error;
    }
    if (slot->fd >= 0 && fresh.identity != 0 && fresh.identity == slot->identity) {
        return std::make_error_code(std::errc::file_exists);
    }
    fresh.shared = fd <= 2 || fresh.kind == descriptor_kind::tty;
    fresh.may_write = true;
    if (fresh.kind != descriptor_kind::file && !fresh.shared && wants_nonblocking()) {
        bool was = false;
        if (auto error = kernel::set_nonblocking(fd, true, was)) {
            return error;
        }
        fresh.restore_blocking = !was;
    }
    if (auto error = enroll(fresh)) {
        bool was = false;
        if (fresh.restore_blocking) {
            static_cast<void>(kernel::set_nonblocking(fd, false, was));
        }
        return error;
    }
    if (slot->fd >= 0) {
        end_operations(*slot, end_reason::bad_fd);  // its fd was closed behind our back
    }
    // What still holds the old fd, in the kernel or on another thread, counts for the new one too:
    // the number is not closed before it has let go.
    fresh.holds = slot->holds;
    fresh.readers = slot->readers;
    fresh.writers = slot->writers;
    fresh.waiters = slot->waiters;
    *slot = fresh;
    out = slot;
    return {};
}

void engine::detach(fd_slot& slot, detach_how how, io_operation* done) noexcept {
    slot.lost = !is_ours(slot);
    slot.detaching = true;
    slot.close_when_quiet = how == detach_how::close;
    slot.detached = done;
    expel(slot);
    end_operations(slot, slot.lost ? end_reason::bad_fd : end_reason::canceled);
    if (slot.holds == 0) {
        quiet(slot);
    }
}

bool engine::is_ours(const fd_slot& slot) noexcept {
    std::uint32_t identity = 0;
    return slot.identity == 0 ||
           (!kernel::identify(slot.fd, identity) && identity == slot.identity);
}

std::error_code engine::release(fd_slot& slot) noexcept {
    bool away = false;
    for (const io_list* list : {&slot.readers, &slot.writers}) {
        for_each(*list, [&](io_operation& op) { away |= op.phase_ == phase::away; });
    }
    if (away) {
        return std::make_error_code(std::errc::device_or_resource_busy);
    }
    if (!is_ours(slot)) {
        detach(slot, detach_how::keep_open, nullptr);
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    slot.detaching = true;
    expel(slot);
    end_operations(slot, end_reason::canceled);
    if (auto error = quiesce(slot)) {
        return error;
    }
    if (slot.fd >= 0) {
        quiet(slot);
    }
    return {};
}

std::error_code engine::reclaim(io_operation& op) noexcept {
    EDDY_ASSERT(op.phase_ != phase::away,
                "an operation was destroyed while an executor was performing it");
    cancel(op, end_reason::canceled);
    if (auto error = quiesce(op)) {
        return error;
    }
    drop_results(op);
    if (op.phase_ == phase::completed) {
        drop_result(op.request_.code, op.result_);
    }
    if (op.queued_) {
        ready_.erase(op);
    }
    op.phase_ = phase::idle;
    return {};
}

void engine::drop_result(opcode code, io_result result) noexcept {
    if (result && (code == opcode::accept || code == opcode::open)) {
        kernel::close(result.fd());
    }
}

void engine::quiet(fd_slot& slot) noexcept {
    io_result result;
    if (slot.lost) {
        result = io_result::system_error(EBADF);
    } else if (slot.close_when_quiet) {
        result = kernel::close(slot.fd);
    } else if (slot.restore_blocking) {
        bool was = false;
        static_cast<void>(kernel::set_nonblocking(slot.fd, false, was));
    }
    EDDY_ASSERT(slot.readers.empty() && slot.writers.empty() && slot.waiters.empty(),
                "a descriptor was detached with operations left");
    auto* const done = slot.detached;
    const auto generation = slot.generation + 1;  // handles of this fd are stale from here on
    slot = fd_slot();
    slot.generation = generation;
    if (done != nullptr) {
        done->result_ = result;
        done->phase_ = phase::completed;
        ready_.push(*done);
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

void engine::let_go(fd_slot& slot) noexcept {
    if (--slot.holds == 0 && slot.detaching) {
        quiet(slot);
    }
}

void engine::end_operations(fd_slot& slot, end_reason reason) noexcept {
    for (io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        for_each(*list, [&](io_operation& op) { cancel(op, reason); });
    }
}

void engine::abandon(fd_slot& slot) noexcept {
    for (io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        for_each(*list, [&](io_operation& op) { forget(op); });
    }
    kernel::close(slot.fd);
    const auto generation = slot.generation + 1;
    slot = fd_slot();
    slot.generation = generation;
}

void engine::forget(io_operation& op) noexcept {
    if (op.list_next_ != nullptr) {
        unlink(op);
    }
    op.phase_ = phase::idle;
    op.queued_ = false;
}

void engine::end_back_off() noexcept {
    backing_off_ = false;
    table_.for_each([this](fd_slot& slot) {
        if (slot.backing_off) {
            slot.backing_off = false;
            activate(slot, slot.readers);
            activate(slot, slot.writers);
        }
    });
}

void engine::for_each_operation(function_ref<void(io_operation&)> visit) noexcept {
    for_each(unattached_, visit);
    table_.for_each([&](fd_slot& slot) {
        for (const io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
            for_each(*list, visit);
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

bool is_read(opcode code) noexcept {
    switch (code) {
        case opcode::read:
        case opcode::readv:
        case opcode::recv:
        case opcode::recvmsg:
        case opcode::accept:
            return true;
        default:
            return false;
    }
}

bool engine::settled(const io_operation& op, io_result& result) noexcept {
    if (!valid(op)) {
        result = io_result::system_error(EBADF);
        return true;
    }
    const io_request& request = op.request_;
    if (needs_socket(request.code) && !is_socket(request.slot->kind)) {
        result = io_result::system_error(ENOTSOCK);
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

std::uint64_t size_of(const io_request& request) noexcept {
    switch (request.code) {
        case opcode::read:
        case opcode::write:
        case opcode::recv:
        case opcode::send:
            return request.size;
        case opcode::readv:
        case opcode::writev:
            return size_of(
                {static_cast<const iovec*>(request.data), static_cast<std::size_t>(request.flags)});
        case opcode::recvmsg:
        case opcode::sendmsg: {
            const auto& message = *static_cast<const msghdr*>(request.data);
            return size_of({message.msg_iov, message.msg_iovlen});
        }
        default:
            return 0;
    }
}

io_list& engine::list_of(io_operation& op) noexcept {
    fd_slot* const slot = op.request_.slot;
    if (slot == nullptr) {
        return unattached_;
    }
    if (op.request_.code == opcode::wait) {
        return slot->waiters;
    }
    return is_read(op.request_.code) ? slot->readers : slot->writers;
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
            break;
    }
    return io_result::system_error(ECANCELED);
}

bool engine::advance(io_operation& op, io_result result) noexcept {
    io_request& request = op.request_;
    const bool transfer = request.code == opcode::recv || request.code == opcode::send;
    if (!transfer || (request.flags & MSG_WAITALL) == 0 || result.raw() <= 0 ||
        result.count() >= request.size) {
        return false;
    }
    request.data = static_cast<std::byte*>(request.data) + result.count();
    request.size -= result.count();
    op.moved_ += static_cast<std::uint32_t>(result.count());
    return true;
}

io_result engine::total(const io_operation& op, io_result last) noexcept {
    return op.moved_ == 0 ? last
                          : io_result::value(std::int64_t{op.moved_} +
                                             static_cast<std::int64_t>(last.count()));
}

void engine::link(io_operation& op) noexcept {
    op.phase_ = phase::waiting;
    list_of(op).push_back(op);
}

void engine::unlink(io_operation& op) noexcept { list_of(op).erase(op); }

void engine::complete(io_operation& op, io_result result) noexcept {
    unlink(op);
    op.result_ = total(op, result);
    op.phase_ = phase::completed;
    if (!ready_queue::contains(op)) {
        ready_.push(op);
    }
}

void engine::make_runnable(io_operation& op) noexcept {
    if (!ready_queue::contains(op)) {
        op.phase_ = phase::runnable;
        ready_.push(op);
    }
}

accept_failure classify_accept(io_result result) noexcept {
    switch (result.system_error()) {
        case ECONNABORTED:
        case EPROTO:
        case ENOPROTOOPT:
        case ENETDOWN:
        case ENETUNREACH:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
        case EPERM:
            return accept_failure::transient;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            return accept_failure::exhausted;
        default:
            return accept_failure::lasting;
    }
}

void io_list::push_back(io_operation& op) noexcept {
    if (head_ == nullptr) {
        op.list_next_ = op.list_prev_ = head_ = &op;
        return;
    }
    io_operation* const tail = head_->list_prev_;
    op.list_next_ = head_;
    op.list_prev_ = tail;
    tail->list_next_ = head_->list_prev_ = &op;
}

void io_list::erase(io_operation& op) noexcept {
    if (op.list_next_ == &op) {
        head_ = nullptr;
    } else {
        op.list_prev_->list_next_ = op.list_next_;
        op.list_next_->list_prev_ = op.list_prev_;
        if (head_ == &op) {
            head_ = op.list_next_;
        }
    }
    op.list_next_ = op.list_prev_ = nullptr;
}

}  // namespace eddy
