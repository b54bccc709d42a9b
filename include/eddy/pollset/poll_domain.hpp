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

/// How the threads inside share the kernel's pollers.
enum class poll_strategy : std::uint8_t {
    automatic,  ///< what EDDY_POLL_STRATEGY names, else the first available of domain, epoll1, poll
    /// One epoll set a domain; whoever harvests shows it to all before running anything. A pollset
    /// whose thread would have to wait for another pollset's gets its own epoll set, if it shares
    /// no fd: 64 in a domain do.
    /// While closures take a microsecond or two, one thread of a pollset runs them all. Another
    /// thread sleeps for 0.1 ms at a time and then looks whether they are still run; if a closure
    /// then blocks, or that thread leaves `work`, it goes on itself after the second look at the
    /// latest. How soon that is depends on the scheduler: nothing is promised in milliseconds.
    domain,
    epoll1,  ///< one designated poller, handed on between neighbourhoods of cores
    /// An epoll set for what a pollset holds, shared while that is one fd or none. Of handles with
    /// duplicates of one fd, the kernel tells one.
    epollex,
    poll,  ///< poll(2), for kernels and sandboxes without epoll
};

EDDY_API const char* to_string(poll_strategy s) noexcept;

struct poll_domain_options {
    poll_strategy strategy = poll_strategy::automatic;
    /// Null: closures run in `work`. Lifetime: longer than the domain.
    closure_executor* executor = nullptr;
    /// Upper bound, 1 to 1,024, on the events that one look at the kernel takes in a domain where
    /// something has another priority than the default. The closures of these events run in the
    /// order of priorities. In other domains a look takes as many as suits the strategy.
    std::size_t look_max = 1024;
};

/// What the threads inside have done, since the beginning.
struct poll_counters {
    std::uint64_t waits = 0;          ///< calls that wait for events
    std::uint64_t events = 0;         ///< that they brought
    std::uint64_t spurious = 0;       ///< of these, for handles that were gone
    std::uint64_t sleeps = 0;         ///< of threads that waited for their turn
    std::uint64_t thread_wakes = 0;   ///< of these, those that it took a call to wake (futex)
    std::uint64_t poller_wakes = 0;   ///< wakes of threads in the kernel (eventfd)
    std::uint64_t registrations = 0;  ///< changes of what the kernel watches
};

/// Where pollsets are born: they share pollers and a lock. An fd joins pollsets and pollset_sets of
/// its own domain only. One is enough for most programs; pollsets in domains of their own share not
/// even the lock.
///
/// Thread: any, except construction and destruction. Lifetime: longer than whatever was made in it.
/// Fork: a child may only destroy it and what is in it; all else fails with errc::forked.
class EDDY_API poll_domain {
public:
    /// Throws std::system_error: `invalid_argument` if EDDY_POLL_STRATEGY is none of the names,
    /// `errc::strategy_denied` if the kernel refuses the strategy that was asked for.
    explicit poll_domain(poll_domain_options options = {});
    ~poll_domain();
    poll_domain(const poll_domain&) = delete;
    poll_domain& operator=(const poll_domain&) = delete;

    /// The one that pollsets are born in if they are given none. Made on first use, never
    /// destroyed.
    static poll_domain& shared();

    /// Never `automatic`.
    poll_strategy strategy() const noexcept;
    poll_counters counters() const noexcept;

private:
    std::unique_ptr<detail::poll_core> core_;

    friend class poll_handle;
    friend class pollset;
    friend class pollset_set;
};

}  // namespace eddy
