#pragma once

#include <eddy/loop/loop.hpp>
#include <eddy/watch/fd_watch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy {

/// Watches of one priority that share the time of their loop by bytes moved: of those that are
/// ready, the one that has moved the fewest bytes by its weight is called first. With weights of 3
/// and 1, and always something to do, the first moves three quarters of all bytes. What a callback
/// moves it has to tell by fd_watch::moved(), and it should move a bounded amount and return
/// reaction::again: a group chooses between calls, it does not interrupt them.
///
/// A member that was idle does not save up what it did not use, except `credit` bytes by weight.
///
/// Thread: the loop's. Lifetime: its members leave it when they are removed or destroyed, and all
/// must have before it is destroyed.
class EDDY_API bandwidth_group {
public:
    explicit bandwidth_group(loop& home, priority_level priority = default_priority,
                             std::size_t credit = std::size_t{256} * 1024);
    ~bandwidth_group();
    bandwidth_group(const bandwidth_group&) = delete;
    bandwidth_group& operator=(const bandwidth_group&) = delete;

    /// The watch gets the priority of the group. Throws std::bad_alloc. Precondition: it is in no
    /// group, and `weight` is not 0.
    void add(fd_watch& member, std::uint32_t weight = 1);
    /// From the next event on it is called like any other.
    void remove(fd_watch& member) noexcept;

    std::size_t size() const noexcept { return size_; }

private:
    static bool behind(const fd_watch* a, const fd_watch* b) noexcept;
    static std::uint64_t by_weight(std::uint64_t bytes, std::uint32_t weight) noexcept;
    void offer(fd_watch& member) noexcept;
    void withdraw(fd_watch& member) noexcept;
    void charge(fd_watch& member, std::size_t bytes) noexcept;
    void choose() noexcept;

    loop& home_;
    std::size_t credit_;
    std::size_t size_ = 0;
    std::uint64_t pass_ = 0;          ///< of whom was chosen last
    std::vector<fd_watch*> offered_;  ///< a heap, with the one that is to run in front
    entry turn_;
    bool* gone_ = nullptr;  ///< while a member is called: to be told if the group is destroyed

    friend class fd_watch;
};

}  // namespace eddy
