// SPDX-License-Identifier: Apache-2.0

// The part of every engine that attaches fds, detaches them and gives them back.
#include "engine/engine.hpp"

#include "base/report.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/io.hpp"

#include <cerrno>

#include <string.h>

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

/// Returns the first state of a slot that belongs to `fd` from now on.
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
        return kernel::identify(fresh.fd, fresh.identity);
    }
    kernel::file_facts facts;
    if (auto error = kernel::examine(fresh.fd, facts)) {
        return error;
    }
    fresh.kind = kind_of(facts.type);
    fresh.identity = facts.identity;
    return {};
}

std::error_code engine::make_nonblocking(fd_slot& fresh, bool asked_for) noexcept {
    bool was = true;
    if (fresh.kind != descriptor_kind::file && !fresh.shared &&
        (asked_for || wants_nonblocking())) {
        if (auto error = kernel::set_nonblocking(fresh.fd, true, was)) {
            return error;
        }
    }
    fresh.restore_blocking = !was;
    return {};
}

void engine::look_at_mode(fd_slot& slot) noexcept {
    slot.mode_unsure = false;
    if (!kernel::is_nonblocking(slot.fd) && is_ours(slot)) {
        static_cast<void>(make_nonblocking(slot, true));
    }
}

std::error_code engine::refuse(fd_slot& fresh, bool enrolled, std::error_code error) noexcept {
    if (enrolled) {
        expel(fresh);
    }
    if (fresh.restore_blocking) {
        bool was = false;
        static_cast<void>(kernel::set_nonblocking(fresh.fd, false, was));
    }
    return error;
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
    const bool enrolled = slot->fd < 0 && readmit(fresh, *slot);
    const bool same_file = enrolled && slot->kind != descriptor_kind::unknown;
    if (same_file) {
        fresh.kind = options.kind != descriptor_kind::unknown ? options.kind : slot->kind;
        fresh.identity = slot->identity;
    } else if (auto error = examine(fresh, options)) {
        return refuse(fresh, enrolled, error);
    }
    if (slot->fd >= 0 && fresh.identity != 0 && fresh.identity == slot->identity) {
        return std::make_error_code(std::errc::file_exists);
    }
    if (fresh.kind == descriptor_kind::file) {
        // The fd may have been registered as what it was taken for before.
        fresh.tells_of_data = false;
    }
    fresh.shared = fd <= 2 || fresh.kind == descriptor_kind::tty;
    fresh.may_write = true;
    // An fd that came in non-blocking mode was given back in it, and most likely still is.
    fresh.mode_unsure = same_file && options.only_waits && !slot->restore_blocking;
    if (auto error =
            fresh.mode_unsure ? std::error_code() : make_nonblocking(fresh, options.nonblocking)) {
        return refuse(fresh, enrolled, error);
    }
    if (auto error = enrolled ? std::error_code() : enroll(fresh)) {
        return refuse(fresh, false, error);
    }
    if (slot->fd >= 0) {
        slot->backing_off = true;  // no waiting operation may start: it would use the new fd
        end_operations(*slot, end_reason::bad_fd);  // others have closed its fd
    }
    // Holds on the old fd, by the kernel or another thread, count for the new one too: the number
    // is not closed before they end.
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
    ++slot.holds;  // no operation's end may complete the detaching while others are left
    end_operations(slot, slot.lost ? end_reason::bad_fd : end_reason::closed);
    let_go(slot);
}

bool engine::is_ours(const fd_slot& slot) noexcept {
    if (slot.identity == 0) {
        return true;
    }
    std::uint32_t identity = 0;
    const auto error = kernel::identify(slot.fd, identity);
    // Only this error says that the fd is closed. After any other the kernel has not answered, and
    // an open fd would leak.
    return error ? error != std::errc::bad_file_descriptor : identity == slot.identity;
}

std::error_code engine::release(fd_slot& slot) noexcept {
    bool away = false;
    for (const io_list* list : {&slot.readers, &slot.writers}) {
        list->for_each([&](io_operation& op) { away |= op.phase_ == phase::away; });
    }
    if (away) {
        return std::make_error_code(std::errc::device_or_resource_busy);
    }
    if (!is_ours(slot)) {
        detach(slot, detach_how::keep_open, nullptr);
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    return part_from(slot);
}

void engine::give_back_slowly(fd_slot& slot) noexcept {
    // No check for waits: the poller notices a closed fd, and nothing else is done to it.
    const bool only_waits = slot.readers.empty() && slot.writers.empty();
    static_cast<void>(only_waits && !slot.restore_blocking ? part_from(slot) : release(slot));
    if (slot.fd >= 0 && !slot.detaching) {
        // An executor still works on an earlier fd of this number: detaches when that is over.
        detach(slot, detach_how::keep_open, nullptr);
    }
}

std::error_code engine::part_from(fd_slot& slot) noexcept {
    slot.detaching = true;
    expel_later(slot);
    ++slot.holds;  // as in detach()
    end_operations(slot, end_reason::closed);
    --slot.holds;
    if (auto error = quiesce(slot)) {
        return error;
    }
    if (slot.fd >= 0) {
        quiet(slot);
    }
    return {};
}

void engine::quiet(fd_slot& slot) noexcept {
    // A pipe or terminal may be open elsewhere. The mode of a closed socket matters to nobody.
    if (slot.restore_blocking && !slot.lost && !(slot.close_when_quiet && is_socket(slot.kind))) {
        bool was = false;
        static_cast<void>(kernel::set_nonblocking(slot.fd, false, was));
    }
    io_result result;
    if (slot.lost) {
        result = io_result::system_error(EBADF);
    } else if (slot.close_when_quiet) {
        result = kernel::close(slot.fd);
    }
    EDDY_ASSERT(slot.readers.empty() && slot.writers.empty() && slot.waiters.empty(),
                "a descriptor was detached with operations left");
    auto* const done = slot.detached;
    fd_slot left;
    left.generation = slot.generation + 1;  // handles of this fd are stale from here on
    if (any(slot.registered)) {             // the poller was not updated yet
        left.registered = slot.registered;
        left.restore_blocking = slot.restore_blocking;
        left.kind = slot.kind;
        left.identity = slot.identity;
    }
    slot = left;
    if (done != nullptr) {
        done->result_ = result;
        done->phase_ = phase::completed;
        ready_.push(*done);
    }
}

void engine::end_operations(fd_slot& slot, end_reason reason) noexcept {
    for (io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        list->for_each([&](io_operation& op) { cancel(op, reason); });
    }
}

void engine::abandon(fd_slot& slot) noexcept {
    for (io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        list->for_each([&](io_operation& op) { forget(op); });
    }
    kernel::close(slot.fd);
    const auto generation = slot.generation + 1;
    slot = fd_slot();
    slot.generation = generation;
}

void engine::pause_accepts(const io_request& request, io_result result) noexcept {
    fd_slot& slot = *request.slot;
    back_off(slot);
    if (!slot.accept_fails && !tells_every_error(request)) {
        slot.accept_fails = true;
        const char* const name = slot.name == nullptr ? "" : slot.name;
        reportf("accept on fd %d%s%s: %s; it tries again every 50 ms", slot.fd,
                *name == '\0' ? "" : " ", name, ::strerrordesc_np(result.system_error()));
    }
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

}  // namespace eddy
