#include <eddy/base/member.hpp>
#include <eddy/io/detail/run_end.hpp>

#include <thread>

namespace eddy::detail {

/// Another thread posts instead of stopping the loop: a stop that the loop takes before it looks at
/// `reached_` would be lost, and one that it takes after it would end the next run.
void run_end::reach() noexcept {
    if (loop::current() == &home_) {
        end_run();
        return;
    }
    // relaxed: the push publishes it.
    inside_.store(true, std::memory_order_relaxed);
    home_.post(entry_);
    inside_.store(false, std::memory_order_release);  // pairs with settle()
}

void run_end::settle() const noexcept {
    while (inside_.load(std::memory_order_acquire)) {  // pairs with reach()
        std::this_thread::yield();
    }
}

void run_end::on_entry(entry& e) noexcept { owner_of<&run_end::entry_>(e).end_run(); }

}  // namespace eddy::detail
