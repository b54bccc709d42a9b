#pragma once

#include "engine/engine.hpp"
#include "poller/poller.hpp"

#include <array>
#include <memory>

namespace eddy {

/// Performs operations by making the calls itself when a poller says that they make sense.
///
/// A descriptor is registered once. On an edge-triggered poller the registration only ever grows:
/// to writing when the first write would block, to what a readiness wait asks for. On a
/// level-triggered one it is exactly what operations wait for.
class readiness_engine final : public engine {
public:
    readiness_engine(engine_kind kind, ready_queue& ready) noexcept : engine(ready), kind_(kind) {}

    std::error_code open() noexcept;

    engine_kind kind() const noexcept override { return kind_; }
    progress start(io_operation& op, bool may_try) noexcept override;
    progress finish(io_operation& op) noexcept override;
    bool part(fd_slot& slot) noexcept override;
    fd_slot* attach_again(int fd, const char* name) noexcept override;
    void cancel(io_operation& op, end_reason reason) noexcept override;
    std::error_code wait(time_point until, bool& woken) noexcept override;
    void wake() noexcept override { poller_->wake(); }
    std::error_code native_handle(int& out) noexcept override;
    bool settle() noexcept override { return !feed(0) && may_sleep(); }
    std::error_code rebuild_after_fork() noexcept override;

    // In line, see readiness_calls.hpp.

    /// Makes the call of a recv or send that has nothing to wait for, once, without an operation:
    /// `slot` has data, or takes it. Then one of the two below is told of what it has not moved.
    template <opcode Code>
    [[nodiscard, gnu::always_inline]] static io_result transfer_now(fd_slot& slot, void* data,
                                                                    std::size_t size,
                                                                    int flags) noexcept;
    template <opcode Code>
    [[gnu::always_inline]] static void moved_part(fd_slot& slot) noexcept;
    /// Whether that is a result: an error, or the end. False: start an operation.
    [[nodiscard]] EDDY_COLD bool moved_nothing(fd_slot& slot, opcode code,
                                               io_result result) noexcept;
    /// finish() for a receive.
    [[gnu::always_inline]] progress finish_receive(io_operation& op) noexcept;
    /// The same for one that is easy.
    [[gnu::always_inline]] progress finish_easy_receive(io_operation& op) noexcept;

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
    progress finish_wait(io_operation& op) noexcept;

    void hold(io_operation& op) noexcept;
    progress block(io_operation& op) noexcept;
    progress tell(io_operation& op) noexcept;
    void end(io_operation& op, end_reason reason) noexcept;
    void done(io_operation& op, io_result result) noexcept;
    void done(io_operation& op, io_list& list, io_result result) noexcept;
    void wake_first(fd_slot& slot, io_list& list) noexcept;
    void look_after(fd_slot& slot, io_result result) noexcept;

    void on_event(fd_slot& slot, interest ready) noexcept;
    bool note_conditions(fd_slot& slot, interest ready) noexcept;
    void tell_waiters(fd_slot& slot, interest ready) noexcept;
    void on_invalid(fd_slot& slot) noexcept;
    std::error_code update(fd_slot& slot) noexcept;
    interest wanted_by(const fd_slot& slot) const noexcept;
    void stays(const fd_slot& slot) noexcept;
    EDDY_COLD void expel_leavers() noexcept;
    EDDY_COLD void on_stray() noexcept;
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
    /// No number has more than one registration. Others may be left of files that were closed
    /// before they were removed, and live on as duplicates.
    bool tidy_ = true;
    bool handle_given_ = false;  ///< others wait for it: it must stay the same
    std::unique_ptr<poller> poller_;
    /// A released fd that is still registered.
    struct leaver {
        int fd;
        fd_slot* slot;
    };
    std::array<leaver, 32> leavers_;
    unsigned leaver_count_ = 0;
    unsigned strays_ = 0;  ///< events of registrations that nobody knows any more
    std::array<poll_event, 256> events_;
};

/// The operation stays in its list, or joins it.
inline void readiness_engine::hold(io_operation& op) noexcept {
    if (!is_linked(op)) {
        link(op);
    }
    op.phase_ = phase::waiting;
}

/// The operation waits for the poller. If the poller cannot be told, it fails.
inline progress readiness_engine::block(io_operation& op) noexcept {
    hold(op);
    const auto awaited =
        is_read(op.request_.code) ? interest::readable | interest::peer_closed : interest::writable;
    const bool told = edge_ && op.request_.code != opcode::wait &&
                      (op.request_.slot->registered & awaited) == awaited;
    return told ? progress::pending : tell(op);
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
