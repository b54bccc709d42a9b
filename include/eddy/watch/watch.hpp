// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/reaction.hpp>
#include <eddy/loop/loop.hpp>

#include <atomic>
#include <cstdint>

namespace eddy {

struct watch_options {
    priority_level priority = default_priority;
    /// Names the watch in lists of what is going on. Must live as long as the watch.
    const char* name = "";
    /// If true, the watch is armed from the beginning.
    bool armed = true;
};

/// Base of all watches. A watch belongs to a loop and calls back for each event until its removal.
///
///     disarmed --arm()--> armed --event--> ready --dispatched--> its callback --reaction--> ...
///     any --remove()--> removing --nothing holds it any more--> on_removed
///
/// Everything that can fail happens in the constructor; nothing allocates or fails later. A
/// disarmed watch is never called, even if its event was harvested before it was disarmed.
///
/// Any thread may call arm(), disarm(), set_priority() and remove(). On the loop's thread, inside
/// any callback, they act at once. Otherwise they are posted, as one word and one entry in the
/// loop's inbox: a later call overrides an earlier one, and remove() is final.
/// tests/model/watch_command.pml is the model.
///
/// Lifetime: until on_removed, which may destroy the watch. Destroying it earlier, on the loop's
/// thread or while the loop does not run, removes it at once and without on_removed. No other
/// thread may be inside a call then. On io_uring that waits until the kernel has let go of an armed
/// watch.
///
/// A loop that drains or ends disarms its watches. Only an armed watch keeps run_mode::empty going.
class EDDY_API watch {
public:
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    virtual ~watch() = default;

    // Thread: any.
    void arm() noexcept { command(arm_bit); }
    void disarm() noexcept { command(disarm_bit); }
    void set_priority(priority_level priority) noexcept;
    /// Removes the watch. on_removed is called once, later, on the loop's thread.
    void remove() noexcept { command(removal_bit); }

    loop& home() const noexcept { return home_; }
    const char* name() const noexcept { return name_; }

    // Thread: the loop's.
    bool armed() const noexcept { return armed_; }
    bool removing() const noexcept { return removing_; }
    priority_level priority() const noexcept { return priority_; }

protected:
    enum class arming : std::uint8_t {
        look,     ///< an event that is ready already counts
        edge,     ///< only a new event counts: the callback has left nothing
        requeue,  ///< the last event counts again
    };

    watch(loop& home, const watch_options& options) noexcept
        : home_(home),
          name_(options.name),
          command_(entry::command(),
                   [](entry& e) noexcept { detail::owner_of<&watch::command_>(e).on_command(); }),
          priority_(options.priority) {
        EDDY_ASSERT(options.priority < priority_count, "a priority is 0 to 63");
        home.attend();  // constructors of kinds may queue an event that is ready
    }

    // Each kind of watch implements these functions. Thread: the loop's.

    /// Calls the user's callback.
    virtual reaction call() noexcept = 0;
    /// Waits for the next event, because the watch was armed.
    virtual void start(arming how) noexcept = 0;
    /// Drops an event that is ready and stops waiting, because the watch was disarmed.
    virtual void stop() noexcept = 0;
    /// True if nothing refers to the watch any more after stop().
    virtual bool quiet() const noexcept { return true; }
    virtual void reprioritise(priority_level priority) noexcept = 0;
    /// Applies the value that was given to change().
    virtual void changed(std::uint32_t) noexcept {}
    /// Lets go of everything, then calls the user's on_removed, which may destroy the watch.
    virtual void removed() noexcept = 0;

    /// Calls back for an event of an armed watch, and does what the reaction says.
    void dispatch() noexcept;
    /// Does what dispatch() does, without virtual calls, for a known kind: src/watch/dispatch.hpp.
    template <class Kind>
    void dispatch_as(Kind& kind) noexcept;
    /// Changes a number that only the kind understands, from any thread as set_priority() does.
    void change(std::uint32_t value) noexcept;
    /// Disarms a watch whose wait is over, so that there is nothing to stop. Unlike disarm() it
    /// acts at once even while the loop does not run, so that a later arm() counts.
    void lapse() noexcept { armed_ = false; }
    /// Completes a removal. Kinds call this when quiet() has become true.
    void finish_removal() noexcept;
    /// Tells a running callback that the watch is gone, and takes back posted commands. Destructors
    /// of kinds call this first.
    void leave() noexcept {
        if (gone_ != nullptr) {
            *gone_ = true;
        }
        home_.attend();
        // relaxed: no other thread may be inside a call.
        if (commands_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            leave_commands();
        }
    }
    /// Arms the watch without start(). For constructors of kinds, on the loop's thread.
    void begin_armed() noexcept { armed_ = true; }
    bool calling() const noexcept { return gone_ != nullptr; }

    bool on_thread() const noexcept { return loop::current() == &home_; }
    /// Does not count the current completion of the loop, since it is no event of the user.
    void do_not_count() noexcept { --home_.counters_.completions; }
    bool loop_ends() const noexcept { return home_.ends(); }
    void start_queued(io_operation& op, const io_request& request) noexcept {
        home_.start_queued(op, request);
    }
    [[nodiscard]] bool part(io_operation& wait) noexcept { return home_.part(wait); }
    /// Attaches an fd that a watch has given back in this turn, and starts the wait for new events.
    /// Returns false if it did nothing. For constructors of kinds, together with begin_armed().
    [[nodiscard]] bool watch_again(io_operation& wait, int fd, interest wanted) noexcept {
        return home_.watch_again(wait, fd, name_, wanted);
    }
    void start_wait(io_operation& op, interest wanted, bool edge) noexcept {
        home_.start_wait(op, wanted, edge);
    }
    /// Starts `op` with its last request, if that was for new events and nothing has changed since.
    /// Returns false if it did nothing.
    [[nodiscard]] bool wait_again(io_operation& op) noexcept { return home_.wait_again(op); }
    void complete_queued(io_operation& op, io_result result) noexcept {
        home_.complete_queued(op, result);
    }
    void withdraw(io_operation& op) noexcept {
        static_cast<void>(op.pending() && home_.withdraw(op));
    }
    void move(operation& op, priority_level priority) noexcept { home_.move(op, priority); }

private:
    static constexpr std::uint64_t posted_bit = 1;  ///< `command_` is posted, or about to be
    static constexpr std::uint64_t removal_bit = 2;
    static constexpr std::uint64_t arm_bit = 4;
    static constexpr std::uint64_t disarm_bit = 8;
    static constexpr std::uint64_t priority_bit = 16;
    static constexpr std::uint64_t change_bit = 32;
    static constexpr unsigned priority_shift = 8;
    static constexpr unsigned change_shift = 32;

    static std::uint64_t merged(std::uint64_t before, std::uint64_t wanted) noexcept;
    void command(std::uint64_t wanted) noexcept;
    void post(std::uint64_t wanted) noexcept;
    void take_posted() noexcept;
    void apply(std::uint64_t wanted) noexcept;
    EDDY_COLD void leave_commands() noexcept;
    void begin_removal() noexcept;
    void react(reaction wish) noexcept;
    void on_command() noexcept;

    loop& home_;
    const char* name_;
    entry command_;
    std::atomic<std::uint64_t> commands_{0};
    bool* gone_ = nullptr;  ///< set while the callback runs; the destructor writes true there
    priority_level priority_;
    bool armed_ = false;
    bool removing_ = false;
    bool removal_taken_ = false;  ///< seen by the loop: other threads no longer post
    bool removed_ = false;
};

}  // namespace eddy
