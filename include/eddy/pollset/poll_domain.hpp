// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/pollset/closure.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>

namespace eddy {

namespace detail {
class poll_core;
}

/// Says how the threads inside a domain share the kernel's pollers.
enum class poll_strategy : std::uint8_t {
    automatic,  ///< the one in EDDY_POLL_STRATEGY, else the first available of domain, epoll1, poll
    /// One epoll set per domain. A thread that harvests events shows them to all before it runs any
    /// closure. A pollset that shares no fd gets an epoll set of its own when one of its threads
    /// would have to wait for a thread of another pollset; at most 64 pollsets per domain do. While
    /// closures take a microsecond or two, one thread of a pollset runs them all. Another thread
    /// sleeps, and checks every 0.1 ms that closures are still run. If one blocks, or the first
    /// thread leaves `work`, the second goes on itself after its second check at the latest. How
    /// soon that is depends on the scheduler: nothing is promised in milliseconds.
    domain,
    epoll1,  ///< one designated poller, handed on between neighbourhoods of cores
    /// One epoll set per pollset, shared with others while the pollset holds one fd or none. If
    /// several handles hold duplicates of one fd, the kernel notifies only one of them.
    epollex,
    poll,  ///< poll(2), for kernels and sandboxes without epoll
};

EDDY_API const char* to_string(poll_strategy s) noexcept;

struct poll_domain_options {
    poll_strategy strategy = poll_strategy::automatic;
    /// Runs the closures; if null, `work` does. Lifetime: longer than the domain.
    closure_executor* executor = nullptr;
    /// Upper bound, 1 to 1,024, on the events that one look at the kernel takes in a domain where
    /// something has another priority than the default. The closures of these events run in the
    /// order of their priorities. In other domains the strategy decides how many a look takes.
    std::size_t look_max = 1024;
};

/// Counts what the threads inside a domain have done since its beginning.
struct poll_counters {
    std::uint64_t waits = 0;          ///< calls that wait for events
    std::uint64_t events = 0;         ///< events that these calls brought
    std::uint64_t spurious = 0;       ///< events for handles that were gone
    std::uint64_t sleeps = 0;         ///< times that a thread waited for its turn
    std::uint64_t thread_wakes = 0;   ///< sleeps that a system call had to end (futex)
    std::uint64_t poller_wakes = 0;   ///< wakes of threads in the kernel (eventfd)
    std::uint64_t registrations = 0;  ///< changes of what the kernel watches
};

/// Groups pollsets that share pollers and a lock. An fd can join only pollsets and pollset_sets of
/// its own domain. One domain is enough for most programs; pollsets of different domains share
/// nothing, not even the lock.
///
/// Thread: any, except construction and destruction. Lifetime: longer than everything made in it.
/// Fork: a child may only destroy the domain and what is in it; all else fails with errc::forked.
class EDDY_API poll_domain {
public:
    /// Throws std::system_error: `invalid_argument` if EDDY_POLL_STRATEGY names no strategy,
    /// `errc::strategy_denied` if the kernel refuses the strategy that was asked for.
    explicit poll_domain(poll_domain_options options = {});
    ~poll_domain();
    poll_domain(const poll_domain&) = delete;
    poll_domain& operator=(const poll_domain&) = delete;

    /// The domain of pollsets that are given none. Made on first use, never destroyed.
    static poll_domain& shared();

    /// The strategy in use; never `automatic`.
    poll_strategy strategy() const noexcept;
    poll_counters counters() const noexcept;

private:
    std::unique_ptr<detail::poll_core> core_;

    friend class poll_handle;
    friend class pollset;
    friend class pollset_set;
};

}  // namespace eddy
