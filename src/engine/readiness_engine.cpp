#include "base/make_opened.hpp"
#include "engine/buffer_pool.hpp"
#include "engine/engine.hpp"
#include "kernel/io.hpp"
#include "poller/poller.hpp"

#include <array>
#include <cerrno>
#include <span>

#include <sys/socket.h>

namespace eddy {

namespace {

constexpr interest hangups = interest::error | interest::hangup | interest::peer_closed;

std::uint64_t token_of(const fd_slot& slot) noexcept {
    return std::uint64_t{slot.generation} << 32 | static_cast<std::uint32_t>(slot.fd);
}

/// A short transfer means that the next try would block: on TCP without urgent data, and when
/// writing to a pipe. Anywhere else only EAGAIN says that: waiting for an edge after a short read
/// hangs on unix sockets that pass descriptors, on terminals, at the mark of urgent data, on
/// inotify, and on a pipe that its writer has put into packet mode (which its reader cannot see). A
/// file that is sent may have come to its end.
bool short_means_empty(const fd_slot& slot, const io_request& request) noexcept {
    if (slot.hangup_seen || slot.urgent_seen || slot.shared || looks_elsewhere(request)) {
        return false;
    }
    return (slot.kind == descriptor_kind::tcp && request.code != opcode::send_file) ||
           (slot.kind == descriptor_kind::pipe && !is_read(request.code));
}

/// A receive is small, and its buffer is the loop's.
bool blocks(const io_request& request) noexcept {
    return request.slot->kind == descriptor_kind::file && request.code != opcode::receive;
}

}  // namespace

/// Performs operations by making the calls itself when a poller says that they make sense.
///
/// A descriptor is registered once. On an edge-triggered poller the registration only ever grows:
/// to writing when the first write would block, to what a readiness wait asks for. On a
/// level-triggered one it is exactly what operations wait for.
class readiness_engine final : public engine {
public:
    readiness_engine(engine_kind kind, ready_queue& ready) noexcept : engine(ready), kind_(kind) {}

    std::error_code open() noexcept {
        const auto error =
            kind_ == engine_kind::poll ? make_poll_poller(poller_) : make_epoll_poller(poller_);
        edge_ = !error && poller_->traits().edge;
        return error;
    }

    engine_kind kind() const noexcept override { return kind_; }
    progress start(io_operation& op, bool may_try) noexcept override;
    progress finish(io_operation& op) noexcept override;
    void cancel(io_operation& op, end_reason reason) noexcept override;
    std::error_code wait(time_point until, bool& woken) noexcept override;
    void wake() noexcept override { poller_->wake(); }
    std::error_code native_handle(int& out) noexcept override {
        out = poller_->native_handle();
        return out >= 0 ? std::error_code() : std::make_error_code(std::errc::not_supported);
    }
    bool settle() noexcept override { return !feed(0) && may_sleep(); }
    std::error_code rebuild_after_fork() noexcept override;

protected:
    std::error_code enroll(fd_slot& slot) noexcept override;
    void expel(fd_slot& slot) noexcept override;
    void activate(fd_slot& slot, io_list& list) noexcept override;
    bool wants_nonblocking() const noexcept override { return true; }
    void resume(io_operation& op) noexcept override { make_runnable(op); }

private:
    progress start_transfer(io_operation& op, bool may_try) noexcept;
    progress start_connect(io_operation& op) noexcept;
    progress start_wait(io_operation& op) noexcept;
    progress attempt(io_operation& op) noexcept;
    progress finish_accept(io_operation& op, io_result result) noexcept;
    progress finish_connect(io_operation& op) noexcept;
    progress finish_wait(io_operation& op) noexcept;
    void hold(io_operation& op) noexcept;
    progress block(io_operation& op) noexcept;
    void done(io_operation& op, io_result result) noexcept;
    void look_after(fd_slot& slot, io_result result) noexcept;
    void note_transfer(fd_slot& slot, const io_request& request, io_result result) noexcept;
    void on_event(fd_slot& slot, interest ready) noexcept;
    void on_invalid(fd_slot& slot) noexcept;
    std::error_code update(fd_slot& slot) noexcept;
    interest wanted_by(const fd_slot& slot) const noexcept;
    trigger how() const noexcept { return edge_ ? trigger::edge : trigger::level; }

    static bool is_linked(const io_operation& op) noexcept { return op.list_next_ != nullptr; }
    static void set_may(fd_slot& slot, const io_request& request, bool may) noexcept;
    static bool may(const fd_slot& slot, const io_request& request) noexcept {
        return is_read(request.code) ? slot.may_read : slot.may_write;
    }

    engine_kind kind_;
    bool edge_ = false;
    std::unique_ptr<poller> poller_;
    std::array<poll_event, 256> events_;
};

std::error_code readiness_engine::enroll(fd_slot& slot) noexcept {
    if (slot.kind == descriptor_kind::file) {
        slot.may_read = true;
        return {};
    }
    if (edge_) {
        slot.registered = interest::readable | interest::priority | interest::peer_closed;
    }
    const auto error = poller_->add(slot.fd, slot.registered, how(), token_of(slot));
    if (error == std::errc::operation_not_permitted) {
        slot.kind = descriptor_kind::file;  // always ready, says epoll
        slot.registered = interest::none;
        slot.may_read = true;
        return {};
    }
    return error;
}

void readiness_engine::expel(fd_slot& slot) noexcept {
    if (slot.kind != descriptor_kind::file) {
        poller_->remove(slot.fd);
        slot.registered = interest::none;
    }
}

progress readiness_engine::start(io_operation& op, bool may_try) noexcept {
    const io_request& request = op.request_;
    if (request.code == opcode::receive) {
        op.request_.size = pool_->buffer_size();
    }
    if (settled(op, op.result_)) {
        return progress::finished;
    }
    switch (request.code) {
        case opcode::open:
        case opcode::fsync:
            link(op);
            return progress::blocking;
        case opcode::wait:
            return start_wait(op);
        case opcode::connect:
            return start_connect(op);
        case opcode::shutdown:
            op.result_ = perform(request);
            return progress::finished;
        default:
            return start_transfer(op, may_try);
    }
}

progress readiness_engine::start_transfer(io_operation& op, bool may_try) noexcept {
    fd_slot& slot = *op.request_.slot;
    const bool first = list_of(op).empty();
    if (blocks(op.request_)) {
        link(op);
        if (op.request_.offset >= 0 || first) {
            if (may_try) {
                return progress::blocking;
            }
            make_runnable(op);
        }
        return progress::pending;
    }
    if (!first || slot.backing_off) {
        link(op);
        return progress::pending;
    }
    if (!may(slot, op.request_)) {
        return block(op);
    }
    if (may_try) {
        return attempt(op);
    }
    link(op);
    make_runnable(op);
    return progress::pending;
}

progress readiness_engine::start_connect(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    const io_result result = perform(op.request_);
    switch (result.system_error()) {
        case EINPROGRESS:
            op.in_progress_ = true;
            slot.may_read = slot.may_write = slot.hangup_seen = false;
            return block(op);
        case EAGAIN:  // a unix listener whose backlog is full; no event would tell
            back_off(slot);
            hold(op);
            return progress::pending;
        default:
            done(op, result);
            return progress::finished;
    }
}

progress readiness_engine::start_wait(io_operation& op) noexcept {
    if (op.request_.edge) {
        return block(op);
    }
    const io_result ready = perform(op.request_);
    if (ready && ready.raw() == 0) {
        return block(op);
    }
    if (ready && (static_cast<interest>(ready.raw()) & interest::invalid) != interest::none) {
        on_invalid(*op.request_.slot);
        op.result_ = io_result::system_error(EBADF);
        return progress::finished;
    }
    if (op.request_.multishot && ready) {
        // Through the ready queue, so that the first result is like all others.
        if (block(op) == progress::finished) {
            return progress::finished;
        }
        op.told_ = static_cast<std::uint32_t>(ready.raw());
        make_runnable(op);
        return progress::pending;
    }
    op.result_ = ready;
    return progress::finished;
}

/// The operation stays in its list, or joins it.
void readiness_engine::hold(io_operation& op) noexcept {
    if (!is_linked(op)) {
        link(op);
    }
    op.phase_ = phase::waiting;
}

/// The operation waits for the poller. If the poller cannot be told, it fails.
progress readiness_engine::block(io_operation& op) noexcept {
    hold(op);
    if (auto error = update(*op.request_.slot)) {
        done(op, io_result::system_error(error.value()));
        return progress::finished;
    }
    return progress::pending;
}

void readiness_engine::done(io_operation& op, io_result result) noexcept {
    op.result_ = result;
    if (is_linked(op)) {
        fd_slot& slot = *op.request_.slot;
        io_list& list = list_of(op);
        unlink(op);
        activate(slot, list);
    }
}

/// Makes the call; the operation is the first of its list, or the list is empty.
progress readiness_engine::attempt(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    if (lacks_buffer(op)) {
        hold(op);
        starve(op);
        return progress::pending;
    }
    const io_result result =
        op.request_.code == opcode::receive ? receive(op) : perform(op.request_);
    if (result.would_block()) {
        set_may(slot, op.request_, false);
        if (!edge_ && slot.error_told) {
            // An error that no call takes away (a queue of them that nobody reads) would be told
            // again at once, for ever.
            back_off(slot);
        }
        return block(op);
    }
    if (op.request_.code == opcode::accept) {
        return finish_accept(op, result);
    }
    note_transfer(slot, op.request_, result);
    if (advance(op, result)) {
        if (!may(slot, op.request_)) {
            return block(op);
        }
        hold(op);
        make_runnable(op);
        return progress::pending;
    }
    done(op, total(op, result));
    look_after(slot, result);
    return progress::finished;
}

/// EBADF: the fd was closed behind our back, or only is not open for this direction.
void readiness_engine::look_after(fd_slot& slot, io_result result) noexcept {
    if (result.system_error() != EBADF) {
        return;
    }
    const io_result ready = kernel::ready_now(slot.fd, interest::none);
    if (any(static_cast<interest>(ready.raw()) & interest::invalid)) {
        on_invalid(slot);
    }
}

void readiness_engine::note_transfer(fd_slot& slot, const io_request& request,
                                     io_result result) noexcept {
    if (result && result.raw() != 0 && short_means_empty(slot, request) &&
        result.count() < offered(request)) {
        set_may(slot, request, false);
    }
}

void readiness_engine::set_may(fd_slot& slot, const io_request& request, bool may) noexcept {
    if (is_read(request.code)) {
        slot.may_read = may;
    } else {
        slot.may_write = may;
    }
}

progress readiness_engine::finish(io_operation& op) noexcept {
    switch (op.request_.code) {
        case opcode::wait:
            return finish_wait(op);
        case opcode::connect:
            return finish_connect(op);
        default:
            return blocks(op.request_) ? progress::blocking : attempt(op);
    }
}

progress readiness_engine::finish_accept(io_operation& op, io_result result) noexcept {
    fd_slot& slot = *op.request_.slot;
    op.result_ = result;
    const accept_failure failure = classify_accept(result);
    if (!result && failure == accept_failure::transient) {
        // So many were gone again that something is wrong: not at once.
        back_off(slot);
        hold(op);
        return progress::pending;
    }
    const bool exhausted = !result && failure == accept_failure::exhausted;
    if (exhausted) {
        back_off(slot);
    }
    const bool ends = !op.request_.multishot || (!result && failure == accept_failure::lasting);
    if (ends) {
        done(op, result);
        look_after(slot, result);
        return progress::finished;
    }
    hold(op);
    if (!exhausted) {
        make_runnable(op);
    }
    return progress::more;
}

progress readiness_engine::finish_connect(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    if (!op.in_progress_) {
        return start_connect(op);
    }
    const io_result ready = kernel::ready_now(slot.fd, interest::writable);
    if (ready && ready.raw() == 0) {
        slot.may_write = false;
        return block(op);
    }
    // A second connect() says how the first has ended and makes the socket fit for a third, which
    // reading SO_ERROR does not. Only TCP is sure not to begin anew with it.
    done(op, slot.kind == descriptor_kind::tcp ? perform(op.request_)
                                               : kernel::connect_result(slot.fd));
    return progress::finished;
}

progress readiness_engine::finish_wait(io_operation& op) noexcept {
    const auto ready = static_cast<interest>(op.told_);
    op.told_ = 0;
    op.result_ = io_result::value(static_cast<std::int64_t>(ready));
    if (op.request_.multishot && !any(ready & (interest::error | interest::hangup))) {
        op.phase_ = phase::waiting;
        static_cast<void>(
            update(*op.request_.slot));  // a level-triggered poller, which cannot fail
        return progress::more;
    }
    done(op, op.result_);
    return progress::finished;
}

void readiness_engine::cancel(io_operation& op, end_reason reason) noexcept {
    end_starving(op);
    if (op.phase_ != phase::waiting && op.phase_ != phase::runnable) {
        return;  // it has a result, or is with another thread and will have one
    }
    io_list& list = list_of(op);
    op.wanted_end_ = reason;
    complete(op, result_of(reason));
    if (looks_elsewhere(op.request_)) {
        op.request_.slot->may_read = true;  // what it has found says nothing about the data
    }
    if (op.request_.slot != nullptr && !op.request_.slot->detaching) {
        activate(*op.request_.slot, list);
        static_cast<void>(update(*op.request_.slot));  // only takes away: cannot fail
    }
}

void readiness_engine::activate(fd_slot& slot, io_list& list) noexcept {
    if (&list == &slot.waiters || slot.backing_off) {
        return;
    }
    while (!list.empty() && list.front()->phase_ == phase::waiting) {
        io_operation& first = *list.front();
        if (may(slot, first.request_)) {
            make_runnable(first);
            return;
        }
        const auto error = update(slot);
        if (!error) {
            return;
        }
        complete(first, io_result::system_error(error.value()));
    }
}

std::error_code readiness_engine::wait(time_point until, bool& woken) noexcept {
    const bool sleeps = !feed(0) && until != time_point::min() && may_sleep();
    std::size_t count = 0;
    if (auto error = poller_->wait(sleeps ? until : time_point::min(), events_, count, woken)) {
        return error;
    }
    for (const poll_event& event : std::span(events_).first(count)) {
        fd_slot* const slot = table_.find(static_cast<int>(event.token & UINT32_MAX));
        // An event of an fd that was detached, and perhaps replaced by another of its number.
        if (slot == nullptr || slot->generation != event.token >> 32 || slot->fd < 0) {
            continue;
        }
        on_event(*slot, event.ready);
    }
    static_cast<void>(feed(0));
    return {};
}

void readiness_engine::on_event(fd_slot& slot, interest ready) noexcept {
    if (any(ready & interest::invalid)) {
        on_invalid(slot);
        return;
    }
    slot.error_told = any(ready & interest::error);
    if (any(ready & (interest::readable | interest::priority | hangups))) {
        slot.may_read = true;
        slot.hangup_seen |= any(ready & hangups);
        slot.urgent_seen |= any(ready & interest::priority);
        activate(slot, slot.readers);
    }
    if (any(ready & (interest::writable | interest::error | interest::hangup))) {
        slot.may_write = true;
        activate(slot, slot.writers);
    }
    for (io_operation* op = slot.waiters.front(); op != nullptr;
         op = io_list::next(*op, slot.waiters)) {
        const auto unasked = interest::error | interest::hangup;
        const auto seen = ready & (static_cast<interest>(op->request_.flags) | unasked);
        if (any(seen)) {
            op->told_ |= static_cast<std::uint32_t>(seen);
            make_runnable(*op);
        }
    }
    if (!edge_) {
        static_cast<void>(update(slot));
    }
}

/// The fd was closed behind our back.
void readiness_engine::on_invalid(fd_slot& slot) noexcept {
    expel(slot);
    end_operations(slot, end_reason::bad_fd);
}

interest readiness_engine::wanted_by(const fd_slot& slot) const noexcept {
    auto wanted = interest::none;
    // What backs off waits for time, not for the descriptor.
    if (!slot.readers.empty() && !slot.may_read && !slot.backing_off) {
        wanted |= interest::readable | interest::peer_closed;
    }
    if (!slot.writers.empty() && !slot.may_write && !slot.backing_off) {
        wanted |= interest::writable;
    }
    for (const io_operation* op = slot.waiters.front(); op != nullptr;
         op = io_list::next(*op, slot.waiters)) {
        // On a level-triggered poller one that was told and has not run yet needs no more.
        if (edge_ || op->phase_ == phase::waiting) {
            wanted |= static_cast<interest>(op->request_.flags);
            // Reported unasked, but only of what is in the set at all.
            wanted |= edge_ ? interest::none : interest::hangup;
        }
    }
    return edge_ ? wanted | slot.registered : wanted;
}

std::error_code readiness_engine::update(fd_slot& slot) noexcept {
    const interest wanted = wanted_by(slot);
    if (wanted == slot.registered || slot.kind == descriptor_kind::file) {
        return {};
    }
    const auto error = poller_->modify(slot.fd, wanted, how(), token_of(slot));
    if (!error) {
        slot.registered = wanted;
    }
    return error;
}

std::error_code readiness_engine::rebuild_after_fork() noexcept {
    for_each_operation([this](io_operation& op) {
        end_starving(op);
        if (op.phase_ == phase::waiting || op.phase_ == phase::runnable) {
            op.wanted_end_ = end_reason::canceled;
            complete(op, result_of(end_reason::canceled));
        }
    });
    // Closing the inherited epoll fd leaves the parent's registrations alone; removing would not.
    if (auto error = open()) {
        return error;
    }
    std::error_code first_error;
    table_.for_each([&](fd_slot& slot) {
        slot.registered = interest::none;
        if (auto error = enroll(slot); error && !first_error) {
            first_error = error;
        }
    });
    return first_error;
}

std::error_code make_readiness_engine(engine_kind kind, ready_queue& ready,
                                      std::unique_ptr<engine>& out) noexcept {
    return make_opened<readiness_engine>(
        out, [](auto& made) { return made.open(); }, kind, ready);
}

}  // namespace eddy
