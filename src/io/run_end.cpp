#include <eddy/base/member.hpp>
#include <eddy/io/detail/run_end.hpp>

namespace eddy::detail {

/// Another thread posts instead of stopping the loop: a stop that the loop takes before it looks at
/// `reached_` would be lost, and one that it takes after it would end the next run.
void run_end::reach() noexcept {
    if (loop::current() == &home_) {
        end_run();
        return;
    }
    home_.hand_over(entry_);
}

void run_end::on_entry(entry& e) noexcept { owner_of<&run_end::entry_>(e).end_run(); }

}  // namespace eddy::detail
