// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>

#include <atomic>
#include <cstdint>

namespace eddy {

class pollset;

namespace detail {
class poll_core;
class worker_list;
class station;
}  // namespace detail

/// Represents a thread inside `pollset::work`, so that others can kick just that thread. The user
/// owns the worker and passes it to `work`, and can use it again when `work` has returned.
///
/// Lifetime: must not end while a thread is inside with it. Kicking a worker that is not inside
/// returns an error; kicking one that was destroyed is misuse.
class pollset_worker {
public:
    pollset_worker() noexcept = default;
    pollset_worker(const pollset_worker&) = delete;
    pollset_worker& operator=(const pollset_worker&) = delete;
    ~pollset_worker() { EDDY_ASSERT(set_ == nullptr, "a worker was destroyed inside work()"); }

private:
    //   outside -> running -> waiting -> running -> outside
    //                      -> polling -> running
    enum class state : std::uint8_t {
        outside,
        running,  ///< looks for something to run, or runs it
        waiting,  ///< for its turn to poll, or for something to run
        polling,  ///< in the kernel, for all workers that share its station
    };

    pollset* set_ = nullptr;
    state state_ = state::outside;
    bool kicked_ = false;
    pollset_worker* next_of_set_ = nullptr;
    pollset_worker* prev_of_set_ = nullptr;
    pollset_worker* next_waiting_ = nullptr;
    pollset_worker* prev_waiting_ = nullptr;
    detail::station* station_ = nullptr;  ///< where it waits or polls
    /// The futex on which the worker sleeps while it waits:
    ///
    ///     awake  --a moment has passed--> asleep --call()--> called
    ///            --call()-->              called
    ///
    /// Only a worker that is asleep has to be woken by a system call.
    static constexpr std::uint32_t asleep = 0;
    static constexpr std::uint32_t called = 1;
    static constexpr std::uint32_t awake = 2;
    std::atomic<std::uint32_t> call_{awake};

    friend class detail::poll_core;
    friend class detail::worker_list;
    friend class detail::station;
    friend class pollset;
};

}  // namespace eddy
