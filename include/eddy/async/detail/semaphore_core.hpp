#pragma once

#include <eddy/async/detail/wait_sender.hpp>

#include <cstddef>

namespace eddy::detail {

struct semaphore_waiter : waiter {
    semaphore_waiter(callback complete, std::size_t n) noexcept : waiter(complete), wanted(n) {}
    const std::size_t wanted;
};

/// What a semaphore and a mutex are. Who wants more than there is holds up those behind it.
class semaphore_core : public wait_core {
public:
    explicit semaphore_core(std::size_t permits) noexcept : permits_(permits) {}

    EDDY_API bool try_acquire(std::size_t n) noexcept;
    EDDY_API void release(std::size_t n) noexcept;
    EDDY_API std::size_t available() const noexcept;

    EDDY_API bool enter(semaphore_waiter& node, bool may_wait) noexcept;
    EDDY_API void stop(semaphore_waiter& node) noexcept;
    EDDY_API void take_back(semaphore_waiter& node) noexcept;

private:
    bool take(std::size_t n) noexcept;
    void grant(wait_list& here) noexcept;

    std::size_t permits_;
    wait_list waiting_;
};

EDDY_EX_BEGIN

struct acquire_wait {
    struct node : semaphore_waiter {
        node(callback complete, acquire_wait& wait) noexcept
            : semaphore_waiter(complete, wait.wanted) {}
    };
    using signatures = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node&, Receiver& receiver) noexcept {
        ex::set_value(static_cast<Receiver&&>(receiver));
    }

    semaphore_core* core;
    std::size_t wanted;
};

EDDY_EX_END
}  // namespace eddy::detail
