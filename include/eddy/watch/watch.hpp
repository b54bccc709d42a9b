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
    /// For lists of what is going on. Must live as long as the watch.
    const char* name = "";
    /// Armed from the beginning.
    bool armed = true;
};

/// What all watches have in common: something on a loop that calls back again and again, until it
/// is removed.
///
///     disarmed --arm()--> armed --event--> ready --dispatched--> its callback --reaction--> ...
///     any --remove()--> removing --nothing holds it any more--> on_removed
///
/// Everything that can fail happens in the constructor; after that nothing allocates or fails. A
/// disarmed watch is never called, also if its event was harvested before it was disarmed.
///
/// arm(), disarm(), set_priority() and remove() may be called by any thread. On the loop's, inside
/// its own callback or any other, they act at once. Otherwise they are posted: one word and one
/// entry in the loop's inbox, in which a later call overrides an earlier one and remove() is the
/// last word. tests/model/watch_command.pml is the model.
///
/// Lifetime: until on_removed, from which it may be destroyed; or destroyed on the loop's thread
/// (or while the loop does not run), which removes it at once, without on_removed. No thread may be
/// inside a call then. With io_uring that waits until the kernel has let go of an armed one.
///
/// A loop that drains or ends disarms it. Only an armed watch keeps run_mode::empty going.
class EDDY_API watch {
public:
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    virtual ~watch() = default;

    // Thread: any.
    void arm() noexcept { command(arm_bit); }
    void disarm() noexcept { command(disarm_bit); }
    void set_priority(priority_level priority) noexcept;
    /// on_removed is called once, later, on the loop's thread.
    void remove() noexcept { command(removal_bit); }

    loop& home() const noexcept { return home_; }
    const char* name() const noexcept { return name_; }

    // Thread: the loop's.
    bool armed() const noexcept { return armed_; }
    bool removing() const noexcept { return removing_; }
    priority_level priority() const noexcept { return priority_; }

protected:
    enum class arming : std::uint8_t {
        look,     ///< what is ready already counts
        edge,     ///< nothing was left
        requeue,  ///< it is ready
    };

    watch(loop& home, const watch_options& options) noexcept
        : home_(home),
          name_(options.name),
          command_(entry::command(),
                   [](entry& e) noexcept { detail::owner_of<&watch::command_>(e).on_command(); }),
          priority_(options.priority) {
        EDDY_ASSERT(options.priority < priority_count, "a priority is 0 to 63");
        home.attend();  // what is ready already is queued by the constructors of kinds
    }

    // What the kinds of watches do. Thread: the loop's.

    /// Calls the user's callback.
    virtual reaction call() noexcept = 0;
    /// The watch was armed: waits for its next event.
    virtual void start(arming how) noexcept = 0;
    /// It was disarmed: forgets an event that it has, and stops waiting.
    virtual void stop() noexcept = 0;
    /// Nobody holds anything of it after stop().
    virtual bool quiet() const noexcept { return true; }
    virtual void reprioritise(priority_level priority) noexcept = 0;
    /// What change() was told.
    virtual void changed(std::uint32_t) noexcept {}
    /// Lets go of everything, then calls the user's on_removed. The watch may be gone afterwards.
    virtual void removed() noexcept = 0;

    /// There is an event for an armed watch: calls back, and does what the reaction says.
    void dispatch() noexcept;
    /// The same for a kind that is known: src/watch/dispatch.hpp.
    template <class Kind>
    void dispatch_as(Kind& kind) noexcept;
    /// Like set_priority(), for a number that only the kind understands.
    void change(std::uint32_t value) noexcept;
    /// What it waited for is over, and there is nothing to stop. Unlike disarm() also at once while
    /// the loop does not run, so that an arm() that comes after it counts.
    void lapse() noexcept { armed_ = false; }
    /// Call it when quiet() has become true.
    void finish_removal() noexcept;
    /// Call it first in the destructors of kinds.
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
    /// For the constructors of kinds, on the loop's thread: as arm(), but start() is theirs.
    void begin_armed() noexcept { armed_ = true; }
    bool calling() const noexcept { return gone_ != nullptr; }

    bool on_thread() const noexcept { return loop::current() == &home_; }
    /// What is dispatched just now is not an event of the user.
    void do_not_count() noexcept { --home_.counters_.completions; }
    bool loop_ends() const noexcept { return home_.ends(); }
    void start_queued(io_operation& op, const io_request& request) noexcept {
        home_.start_queued(op, request);
    }
    [[nodiscard]] bool part(io_operation& wait) noexcept { return home_.part(wait); }
    /// For the constructors of kinds, as begin_armed(): attaches an fd that a watch has given back
    /// in this turn, and starts the wait for something new. False: nothing was done.
    [[nodiscard]] bool watch_again(io_operation& wait, int fd, interest wanted) noexcept {
        return home_.watch_again(wait, fd, name_, wanted);
    }
    void start_wait(io_operation& op, interest wanted, bool edge) noexcept {
        home_.start_wait(op, wanted, edge);
    }
    /// Starts it as it was started last, if that was for something new and nothing has changed.
    /// False: nothing was done.
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
    bool* gone_ = nullptr;  ///< while the callback runs: to be told if the watch is destroyed
    priority_level priority_;
    bool armed_ = false;
    bool removing_ = false;
    bool removal_taken_ = false;  ///< the loop has seen it: no other thread posts any more
    bool removed_ = false;
};

}  // namespace eddy
