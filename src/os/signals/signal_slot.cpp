// SPDX-License-Identifier: Apache-2.0

// Reads one signal when a waiter for it is about to run.
#include "os/signals/signal_slot.hpp"

#include "kernel/io.hpp"
#include "kernel/signal.hpp"
#include "os/processes/process_registry.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/requests.hpp>

#include <cerrno>
#include <csignal>
#include <new>
#include <utility>

#include <sys/signalfd.h>

namespace eddy {

namespace {

signal_info info_of(const signalfd_siginfo& record) noexcept {
    return {.signum = static_cast<int>(record.ssi_signo),
            .code = record.ssi_code,
            .pid = static_cast<pid_t>(record.ssi_pid),
            .uid = record.ssi_uid,
            .status = record.ssi_status,
            .error = record.ssi_errno,
            .value = static_cast<std::intptr_t>(record.ssi_ptr)};
}

}  // namespace

std::error_code signal_source::slot::open() noexcept {
    sigset_t listened_to;
    sigemptyset(&listened_to);
    if (!ignored) {
        sigaddset(&listened_to, signum);
    }
    unique_fd made;
    if (auto error = kernel::make_signalfd(listened_to, made)) {
        return error;
    }
    if (signum == SIGCHLD && !ignored) {
        children.reset(new (std::nothrow) detail::child_listener(
            source.home_, detail::child_listener::kind::signal, &on_child, this));
        if (children == nullptr) {
            return {ENOMEM, std::system_category()};
        }
    }
    return descriptor::attach(source.home_, made, fd,
                              {.kind = descriptor_kind::other, .name = source.options_.name});
}

void signal_source::slot::look_at(priority_level priority) noexcept {
    if (look.posted()) {
        if (look.priority() <= priority) {
            return;
        }
        source.home_.disarm(look);
    }
    look.set_priority(priority);
    source.home_.post(look);
}

void signal_source::slot::on_look(entry& e) noexcept {
    detail::owner_of<&slot::look>(e).look_now();
}

void signal_source::slot::on_loop_ends(entry& e) noexcept {
    detail::owner_of<&slot::look>(e).end({ECANCELED, std::system_category()}, true);
}

void signal_source::slot::look_now() noexcept {
    signal_wait* const next = source.next_for(signum);
    if (next == nullptr) {
        stop_waiting();
        return;
    }
    if (next->priority() > look.priority()) {  // a more urgent wait has ended
        look_at(next->priority());
        return;
    }
    signalfd_siginfo record;
    const io_result got = read_record(record);
    if (got.would_block()) {
        wait_until_ready();
    } else if (!got) {
        end(got.error(), false);
    } else {
        source.deliver(*next, info_of(record));
    }
}

void signal_source::slot::on_child(void* s) noexcept {
    slot& self = *static_cast<slot*>(s);
    if (const signal_wait* const next = self.source.next_for(self.signum)) {
        self.look_at(next->priority());
    }
}

io_result signal_source::slot::read_record(signalfd_siginfo& out) noexcept {
    if (children == nullptr) {
        return kernel::read(fd.native_handle(), &out, sizeof out, -1);
    }
    children->join_after_fork();  // in time, because every wait begins with a look
    detail::child_table& table = detail::process_registry::instance().children();
    if (table.take_kept(out)) {
        return io_result::value(sizeof out);
    }
    const io_result got = kernel::read(fd.native_handle(), &out, sizeof out, -1);
    if (got) {
        table.read_as_signal(*children);
    }
    return got;
}

void signal_source::slot::wait_until_ready() noexcept {
    if (!ready.pending()) {
        source.home_.start(ready, eddy::wait(fd, interest::readable));
    }
}

void signal_source::slot::stop_waiting() noexcept {
    if (ready.pending()) {
        canceling = true;
        source.home_.cancel(ready);
    }
}

void signal_source::slot::on_ready(io_operation& op) noexcept {
    slot& self = detail::owner_of<&slot::ready>(op);
    const bool unwanted = std::exchange(self.canceling, false);
    if (!op.result() && !unwanted) {
        self.end(op.result().error(), op.was_canceled());
    } else if (const signal_wait* const next = self.source.next_for(self.signum)) {
        self.look_at(next->priority());
    }
}

void signal_source::slot::end(std::error_code error, bool loop_ends) noexcept {
    signal_set only_this;
    only_this.add(signum);
    source.end_waits(only_this, error, loop_ends);
}

}  // namespace eddy
