// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/intrusive/operation.hpp>

namespace eddy {

/// A piece of work that can be posted to a loop. Its user owns it.
///
///     idle --post()--> posted --the loop takes it--> idle, then on_run
///                      posted --cancel()--> cancelled --the loop takes it--> idle, then on_cancel
///
/// Each post() leads to exactly one call of one of the two callbacks, either of which may be null.
/// A callback may post the entry again or destroy it, and must not throw.
///
/// Lifetime: the entry must stay alive from post() until its callback was called.
class entry : public operation {
public:
    using callback = void (*)(entry&) noexcept;

    entry() noexcept : operation(node_kind::entry) {}
    explicit entry(callback on_run, callback on_cancel = nullptr) noexcept : entry() {
        set_callbacks(on_run, on_cancel);
    }
    ~entry() {
        EDDY_ASSERT(!posted(),
                    "an entry was destroyed while it was posted: cancel it and wait for "
                    "its on_cancel first");
    }

    void set_callbacks(callback on_run, callback on_cancel = nullptr) noexcept {
        on_run_ = on_run;
        on_cancel_ = on_cancel;
    }
    /// Precondition: the entry is not posted.
    void set_priority(priority_level priority) noexcept {
        EDDY_ASSERT(!posted() && priority < priority_count, "bad time or value for a priority");
        priority_ = priority;
    }
    bool posted() const noexcept { return state_.load(std::memory_order_relaxed) != idle; }

private:
    static constexpr std::uint8_t idle = 0;
    static constexpr std::uint8_t is_posted = 1;
    static constexpr std::uint8_t is_cancelled = 2;

    /// Marks work of the library itself, which goes before all other, even while the loop ends.
    struct command {};
    entry(command, callback on_run) noexcept
        : operation(node_kind::entry), on_run_(on_run), on_cancel_(on_run) {
        priority_ = 0;
        is_command_ = true;
    }

    /// Thread: any.
    void request_cancel() noexcept {
        std::uint8_t expected = is_posted;
        // relaxed: only the word itself travels. A loop that misses the cancellation runs the
        // entry, as if it had come too late.
        state_.compare_exchange_strong(expected, is_cancelled, std::memory_order_relaxed);
    }

    callback on_run_ = nullptr;
    callback on_cancel_ = nullptr;

    friend class loop;
    friend class loop_group;
    friend class watch;
};

}  // namespace eddy
