// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/engine.hpp"
#include "poller/epoll_poller.hpp"

#include <array>
#include <memory>

namespace eddy {

/// Performs operations by making the calls itself, when a poller says that they make sense.
///
/// A descriptor is registered once. On an edge-triggered poller the registration only grows: by
/// writing when the first write would block, and by what a readiness wait asks for. On a
/// level-triggered poller it is exactly what operations wait for.
class readiness_engine final : public engine {
public:
    readiness_engine(engine_kind kind, ready_queue& ready) noexcept : engine(ready), kind_(kind) {}

    call_failure open() noexcept;

    engine_kind kind() const noexcept override { return kind_; }
    progress start(io_operation& op, bool may_try) noexcept override;
    progress finish(io_operation& op) noexcept override;
    bool part(fd_slot& slot) noexcept override;
    /// Gives an fd back together with `wait`, which may be pending. False: nothing was done.
    [[nodiscard]] bool part_with(io_operation& wait) noexcept;
    fd_slot* attach_again(int fd, const char* name) noexcept override;
    void cancel(io_operation& op, end_reason reason) noexcept override;
    io_result wait(time_point until, bool& woken) noexcept override;
    const char* wait_call() const noexcept override {
        return kind_ == engine_kind::poll ? "ppoll" : "epoll_wait";
    }
    void wake() noexcept override { poller_->wake(); }
    call_failure native_handle(int& out) noexcept override;
    bool settle() noexcept override { return !feed(0) && may_sleep(); }
    call_failure rebuild_after_fork() noexcept override;

    /// Inlined wait(), see readiness_wait.hpp.
    [[gnu::always_inline]] io_result wait_in_line(time_point until, bool& woken) noexcept;

    // Inlined, see readiness_calls.hpp.

    /// Makes the call of a recv or send once, without an operation, on a socket that has data or
    /// takes it. If less than `size` is moved, moved_part() or moved_nothing() must be called.
    template <opcode Code>
    [[nodiscard, gnu::always_inline]] static io_result transfer_now(fd_slot& slot, void* data,
                                                                    std::size_t size,
                                                                    int flags) noexcept;
    /// Takes note of a transfer_now() that has moved a part.
    template <opcode Code>
    [[gnu::always_inline]] static void moved_part(fd_slot& slot) noexcept;
    /// Takes note of a transfer_now() that has moved nothing. True: that is a result, either an
    /// error or the end. False: start an operation.
    [[nodiscard]] EDDY_COLD bool moved_nothing(fd_slot& slot, opcode code,
                                               io_result result) noexcept;
    /// Inlined finish() for a receive.
    [[gnu::always_inline]] progress finish_receive(io_operation& op) noexcept;
    /// Inlined finish() for a receive that is easy, see io_operation::easy_.
    [[gnu::always_inline]] progress finish_easy_receive(io_operation& op) noexcept;
    /// Inlined finish() for a readiness wait.
    progress finish_wait(io_operation& op) noexcept;

protected:
    std::error_code enroll(fd_slot& slot) noexcept override;
    void expel(fd_slot& slot) noexcept override;
    void expel_later(fd_slot& slot) noexcept override;
    bool readmit(fd_slot& fresh, fd_slot& before) noexcept override;
    void activate(fd_slot& slot, io_list& list) noexcept override;
    bool wants_nonblocking() const noexcept override { return true; }
    void resume(io_operation& op) noexcept override {
        op.easy_ = 0;
        reserve_buffer(op);
        make_runnable(op);
    }

private:
    progress start_other(io_operation& op, bool may_try) noexcept;
    progress start_transfer(io_operation& op, bool may_try) noexcept;
    progress go(io_operation& op, bool may_try) noexcept;
    progress attempt(io_operation& op) noexcept;
    progress attempt_other(io_operation& op) noexcept;
    io_result call_for(io_operation& op) noexcept;
    progress after(io_operation& op, io_result result) noexcept;
    template <opcode Code>
    progress start_plain(io_operation& op, bool may_try) noexcept;
    template <opcode Code, bool Easy = false>
    [[gnu::always_inline]] progress attempt_plain(io_operation& op) noexcept;
    progress receives_on(io_operation& op, io_result result) noexcept;
    progress would_block(io_operation& op) noexcept;
    progress go_on(io_operation& op) noexcept;
    progress start_connect(io_operation& op) noexcept;
    progress finish_connect(io_operation& op) noexcept;
    progress finish_accept(io_operation& op, io_result result) noexcept;
    progress start_wait(io_operation& op) noexcept;
    bool waits_on(io_operation& op) noexcept;

    void hold(io_operation& op) noexcept;
    progress block(io_operation& op) noexcept;
    progress tell(io_operation& op) noexcept;
    void end(io_operation& op, end_reason reason) noexcept;
    void done(io_operation& op, io_result result) noexcept;
    void done(io_operation& op, io_list& list, io_result result) noexcept;
    void wake_first(fd_slot& slot, io_list& list) noexcept;
    void look_after(fd_slot& slot, io_result result) noexcept;

    io_result wait_in_poller(time_point until, bool& woken) noexcept;
    void take_event(const poll_event& event, bool& woken) noexcept;
    [[gnu::noinline]] void take_other_event(const poll_event& event, bool& woken) noexcept;
    void on_event(fd_slot& slot, interest ready) noexcept;
    bool note_conditions(fd_slot& slot, interest ready) noexcept;
    void tell_waiters(fd_slot& slot, interest ready) noexcept;
    void on_invalid(fd_slot& slot) noexcept;
    std::error_code update(fd_slot& slot) noexcept;
    interest wanted_by(const fd_slot& slot) const noexcept;
    bool may_part(const fd_slot& slot) const noexcept;
    void leave(fd_slot& slot) noexcept;
    void stays(const fd_slot& slot) noexcept;
    [[gnu::noinline]] void fill_place_of(const fd_slot& slot) noexcept;
    bool handle_given() const noexcept { return leaver_max_ == 0; }
    EDDY_COLD void expel_leavers() noexcept;
    EDDY_COLD void on_stray() noexcept;
    /// The interest of each registration from the start, on an edge-triggered poller.
    static constexpr interest from_the_start =
        interest::readable | interest::priority | interest::peer_closed;
    static std::uint64_t token_of(std::uint32_t generation, int fd) noexcept {
        return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
    }
    static std::uint64_t token_of(const fd_slot& slot) noexcept {
        return token_of(slot.generation, slot.fd);
    }
    trigger how() const noexcept { return edge_ ? trigger::edge : trigger::level; }

    static bool is_linked(const io_operation& op) noexcept { return op.list_next_ != nullptr; }
    static bool may(const fd_slot& slot, const io_request& request) noexcept {
        return is_read(request.code) ? slot.may_read : slot.may_write;
    }
    static void cannot(fd_slot& slot, opcode code) noexcept {
        if (is_read(code)) {
            slot.may_read = false;
        } else {
            slot.may_write = false;
        }
    }

    engine_kind kind_;
    /// No number has more than one registration. If false, there may be others, of files that were
    /// closed before they were removed and live on as duplicates.
    bool tidy_ = true;
    std::unique_ptr<poller> poller_;
    epoll_poller* epoll_ = nullptr;  ///< poller_, if it is one of these; else null
    /// A released fd that is still registered.
    struct leaver {
        int fd;
        fd_slot* slot;
    };
    static constexpr unsigned leaver_room = 32;
    std::array<leaver, leaver_room> leavers_;
    unsigned leaver_count_ = 0;
    /// 0: a host was given the handle, and waits for it. The handle must stay the same, and a
    /// registration that is left behind would wake the host.
    unsigned leaver_max_ = leaver_room;
    unsigned strays_ = 0;  ///< events of registrations that belong to no slot
    static constexpr std::size_t event_room = 256;
    union {
        std::array<epoll_event, event_room> epoll_events_;
        std::array<poll_event, event_room> events_;  ///< of any other poller
    };
};

/// Removes `slot` from the fds that await deregistration; usually it is the last of them.
inline void readiness_engine::stays(const fd_slot& slot) noexcept {
    if (leavers_[--leaver_count_].slot != &slot) {
        fill_place_of(slot);
    }
}

/// True if only waits are pending on the slot, nothing must be done to the fd, and the poller can
/// be updated later.
inline bool readiness_engine::may_part(const fd_slot& slot) const noexcept {
    slot_state otherwise;
    otherwise.detaching = otherwise.restore_blocking = otherwise.lost = true;
    return slot.registered == from_the_start && !slot.has_any(otherwise) && slot.readers.empty() &&
           slot.writers.empty() && slot.holds == 0 && leaver_count_ < leaver_max_;
}

inline void readiness_engine::leave(fd_slot& slot) noexcept {
    leavers_[leaver_count_++] = {slot.fd, &slot};
    slot.fd = -1;
    slot.watched_read = slot.watched_write = false;
    slot.parted = true;
}

inline bool readiness_engine::part(fd_slot& slot) noexcept {
    if (!slot.waiters.empty() || !may_part(slot)) {
        return false;
    }
    leave(slot);
    return true;
}

inline bool readiness_engine::part_with(io_operation& wait) noexcept {
    fd_slot& slot = *wait.request_.slot;
    const bool quiet = wait.phase_ == phase::waiting ? slot.waiters.has_only(wait)
                                                     : !wait.pending() && slot.waiters.empty();
    if (!quiet || slot.generation != wait.request_.generation || !may_part(slot)) {
        return false;
    }
    slot.waiters = {};
    wait.list_next_ = wait.list_prev_ = nullptr;
    wait.phase_ = phase::idle;
    leave(slot);
    return true;
}

/// Attaches an fd with the registration that it has left behind. Adding the fd fails if its number
/// is still that file, and leaves the registration as it is, with its token. This will do because
/// - nobody has a handle of this generation: see part();
/// - no event of it is on its way: a batch is gone through before anything runs;
/// - nothing was reported since it was registered: each event would have set `may_read`, and no
///   operation was there to clear it. So the kernel still has to report what is ready, as it would
///   after a new registration. (It repeats a report only after a change.)
/// - it is no leftover of the same number with another token: see `tidy_`.
inline fd_slot* readiness_engine::attach_again(int fd, const char* name) noexcept {
    fd_slot* const slot = table_.find(fd);
    if (slot == nullptr || !slot->parted) {
        return nullptr;
    }
    slot->parted = false;
    if (slot->may_read || !tidy_) {
        return nullptr;
    }
    if (!poller_->has(fd, slot->registered, how(), token_of(slot->generation + 1, fd))) {
        tidy_ = false;
        return nullptr;
    }
    stays(*slot);
    slot->fd = fd;
    slot->name = name;
    slot->mode_unsure = true;  // most likely it still is
    return slot;
}

/// Keeps the operation in its list, or puts it there.
inline void readiness_engine::hold(io_operation& op) noexcept {
    if (!is_linked(op)) {
        link(op);
    }
    op.phase_ = phase::waiting;
}

/// Makes the operation wait for the poller. The operation fails if the poller cannot be updated.
inline progress readiness_engine::block(io_operation& op) noexcept {
    hold(op);
    const auto awaited =
        is_read(op.request_.code) ? interest::readable | interest::peer_closed : interest::writable;
    const bool told = edge_ && op.request_.code != opcode::wait &&
                      (op.request_.slot->registered & awaited) == awaited;
    return told ? progress::pending : tell(op);
}

inline progress readiness_engine::finish_wait(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    settle_mode(slot);
    op.result_ = io_result::value(op.told_);
    op.told_ = 0;
    if (op.request_.multishot && waits_on(op)) {
        return progress::more;
    }
    slot.waiters.erase(op);
    return progress::finished;
}

inline void readiness_engine::done(io_operation& op, io_result result) noexcept {
    done(op, list_of(op), result);
}
inline void readiness_engine::done(io_operation& op, io_list& list, io_result result) noexcept {
    op.result_ = result;
    if (is_linked(op)) {
        list.erase(op);
        if (!list.empty()) {
            activate(*op.request_.slot, list);
        }
    }
}

}  // namespace eddy
