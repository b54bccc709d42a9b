// SPDX-License-Identifier: Apache-2.0

// Reads SIGCHLD while somebody waits, and looks for changes of children.
#include <eddy/os/child_source.hpp>

#include "kernel/io.hpp"
#include "kernel/signal.hpp"
#include "os/children/child_table.hpp"
#include "os/processes/process_registry.hpp"

#include <eddy/base/assert.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/base/error.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/requests.hpp>

#include <csignal>
#include <utility>

namespace eddy {

namespace {

constexpr priority_level least_urgent = priority_count - 1;

std::error_code canceled() noexcept { return std::make_error_code(std::errc::operation_canceled); }

/// Fails unless SIGCHLD reports every change, and to us.
std::error_code check_signal() noexcept {
    if (kernel::is_ignored(SIGCHLD)) {
        return errc::signal_ignored;
    }
    if (kernel::hides_children()) {
        return errc::children_hidden;
    }
    return kernel::is_blocked_everywhere(SIGCHLD) ? std::error_code() : errc::signal_not_blocked;
}

unique_fd open_signalfd() {
    std::error_code error = check_signal();
    unique_fd made;
    if (!error) {
        error = kernel::make_signalfd(signal_set(SIGCHLD).native(), made);
    }
    if (error) {
        throw std::system_error(error,
                                "cannot watch children: SIGCHLD has to be blocked in all "
                                "threads, and must not be ignored");
    }
    return made;
}

}  // namespace

/// The members that the loop refers to. While somebody waits, `look` or `ready` is pending.
struct child_source::parts {
    parts(child_source& s, const child_source_options& options);

    void look_at(priority_level priority) noexcept;
    void look_for_next() noexcept;
    void on_ready(io_result result) noexcept;
    void wait_for_signal() noexcept;
    void stop_waiting() noexcept;
    bool in_use() const noexcept { return ready.pending() || look.posted() || listener.in_use(); }

    child_source& source;
    descriptor signal;
    io_operation ready;
    entry look;
    detail::child_listener listener;
    bool canceling = false;  ///< `ready` was cancelled because nobody waited
};

child_source::parts::parts(child_source& s, const child_source_options& options)
    : source(s),
      signal(s.home_, open_signalfd(), {.kind = descriptor_kind::other, .name = options.name}),
      ready([](io_operation& op) noexcept {
          detail::owner_of<&parts::ready>(op).on_ready(op.result());
      }),
      look([](entry& e) noexcept { detail::owner_of<&parts::look>(e).source.look_now(); },
           [](entry& e) noexcept {
               detail::owner_of<&parts::look>(e).source.end_waits(canceled(), true);
           }),
      listener(
          s.home_, detail::child_listener::kind::children,
          [](void* told) noexcept { static_cast<parts*>(told)->look_for_next(); }, this) {
    ready.set_priority(0);  // `ready` runs no user code, `look` does
    ready.set_background(options.background);
}

void child_source::parts::look_at(priority_level priority) noexcept {
    if (look.posted()) {
        if (look.priority() <= priority) {
            return;
        }
        source.home_.disarm(look);
    }
    look.set_priority(priority);
    source.home_.post(look);
}

void child_source::parts::look_for_next() noexcept {
    if (const child_wait* const first = source.next()) {
        look_at(first->priority_);
    }
}

void child_source::parts::on_ready(io_result result) noexcept {
    const bool unwanted = std::exchange(canceling, false);
    if (!result && !unwanted) {
        source.end_waits(result.error(), ready.was_canceled());
        return;
    }
    // Read the signal, then look at the children: a change after the look brings another signal.
    signalfd_siginfo record;
    if (kernel::read(signal.native_handle(), &record, sizeof record, -1)) {
        detail::process_registry::instance().children().read(record, listener);
    }
    look_for_next();
}

void child_source::parts::wait_for_signal() noexcept {
    if (!ready.pending()) {
        source.home_.start(ready, eddy::wait(signal, interest::readable));
    }
}

void child_source::parts::stop_waiting() noexcept {
    if (ready.pending()) {
        canceling = true;
        source.home_.cancel(ready);
    }
}

child_source::child_source(loop& home, child_source_options options)
    : home_(home), parts_(std::make_unique<parts>(*this, options)) {}

child_source::~child_source() {
    if (!home_.lost_by_fork()) {
        home_.abandon(parts_->ready);
        home_.disarm(parts_->look);
    } else if (parts_->in_use()) {
        // The loop, which can only be destroyed, still refers to the parts: the child leaks them.
        parts_->signal.close();
        static_cast<void>(parts_.release());
    }
    parts_.reset();
    end_waits(canceled(), false);
}

std::error_code child_source::wait_any(child_wait& w) noexcept {
    EDDY_ASSERT(!w.pending(), "a child_wait was started that is pending already");
    w.followed_ = 0;
    return begin(w);
}

std::error_code child_source::wait_change(
    child_wait& w, const std::shared_ptr<detail::process_state>& process) noexcept {
    EDDY_ASSERT(!w.pending(), "a child_wait was started that is pending already");
    if (process == nullptr || !process->has_handles()) {
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    EDDY_ASSERT(&process->home() == &home_, "a process of another loop was given");
    if (!process->child()) {
        return errc::process_not_child;
    }
    process->add_handle();
    w.process_ = process_handle(process);
    if (w.followed_ != process->number()) {
        w.followed_ = 0;
        w.seen_ = process->changes_seen().count;
    }
    return begin(w);
}

std::error_code child_source::begin(child_wait& w) noexcept {
    if (parts_->listener.in_forked_child()) {
        w.process_.close();
        return errc::forked;
    }
    w.source_ = this;
    w.event_ = {};
    waits_.insert(w);
    parts_->look_at(w.priority_);
    return {};
}

child_wait* child_source::next() const noexcept {
    child_wait* w = waits_.front();
    while (w != nullptr && !w->is_wanted()) {
        w = waits_.next(*w);
    }
    return w;
}

/// Looks for all waits with the priority of the look, which is lowered until every wait had its
/// turn. Waits for the signal only after all of them have found nothing.
void child_source::look_now() noexcept {
    bool asked_for_any = false;
    bool somebody = false;
    for (child_wait* w = waits_.front(); w != nullptr; w = waits_.next(*w)) {
        if (!w->is_wanted()) {
            continue;
        }
        if (w->priority_ > parts_->look.priority()) {
            parts_->look_at(w->priority_);
            return;
        }
        somebody = true;
        if (has_news(*w, asked_for_any)) {
            deliver(*w);
            return;
        }
    }
    if (somebody) {
        parts_->wait_for_signal();
    } else {
        parts_->stop_waiting();
    }
}

bool child_source::has_news(child_wait& w, bool& asked_for_any) noexcept {
    child_event& event = w.event_;
    if (!w.process_) {
        kernel::process_end end;
        if (std::exchange(asked_for_any, true) ||
            !detail::process_registry::instance().reap_unwatched(event.pid, end)) {
            return false;
        }
        event.status = detail::status_of(end);
        return true;
    }
    detail::process_state& process = *w.process_.state();
    event.pid = process.pid();
    if (const auto& changes = process.changes_now(); changes.count != w.seen_) {
        event.what = changes.stopped_by != 0 ? child_change::stopped : child_change::continued;
        event.stopped_by = changes.stopped_by;
        w.seen_ = changes.count;
        return true;
    }
    return process.end(event.status) != std::errc::operation_would_block;
}

void child_source::deliver(child_wait& w) noexcept {
    waits_.erase(w);
    w.process_.close();
    parts_->look_for_next();
    no_longer_wanted();
    w.complete({}, false);
}

/// Puts off the cancellation of `ready`: most often somebody waits again before this look runs.
void child_source::no_longer_wanted() noexcept {
    if (parts_ != nullptr && parts_->ready.pending() && next() == nullptr) {
        parts_->look_at(least_urgent);
    }
}

/// Makes sure that a posted look does not come too late for `w`, whose priority has changed.
void child_source::moved(const child_wait& w) noexcept {
    if (parts_ != nullptr && parts_->look.posted()) {
        parts_->look_at(w.priority_);
    }
}

void child_source::end_waits(std::error_code error, bool loop_ends) noexcept {
    // A completion may do anything, even destroy this source or other waits in the list.
    detail::source_waits<child_wait> ending;
    while (child_wait* const w = waits_.front()) {
        waits_.erase(*w);
        w->source_ = nullptr;
        ending.insert(*w);
    }
    const bool tell = !home_.lost_by_fork();
    while (child_wait* const w = ending.front()) {
        ending.erase(*w);
        w->process_.close();
        if (tell) {
            w->complete(error, loop_ends);
        }
    }
}

void child_wait::moved() noexcept {
    if (source_ != nullptr) {
        source_->moved(*this);
    }
}

void child_wait::follow(const process_handle& process) noexcept {
    EDDY_ASSERT(!pending(), "a child_wait was given another child while it was pending");
    const auto& state = process.state();
    followed_ = state != nullptr ? state->number() : 0;
    seen_ = state != nullptr ? state->changes_seen().count : 0;
}

void child_wait::cancel() noexcept {
    if (!pending()) {
        return;
    }
    detail::source_waits<child_wait>::erase(*this);
    process_.close();
    if (source_ != nullptr) {
        source_->no_longer_wanted();
    }
}

}  // namespace eddy
