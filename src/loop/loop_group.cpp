// SPDX-License-Identifier: Apache-2.0

// Runs each loop of a group on its own thread, and stops all loops when one fails.
#include <eddy/loop/loop_group.hpp>

#include "base/report.hpp"
#include "kernel/os_thread.hpp"
#include "kernel/signal.hpp"
#include "kernel/thread.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

namespace eddy {

struct loop_group::state {
    /// The argument of a loop's thread.
    struct runner {
        state* group = nullptr;
        std::size_t index = 0;
        kernel::os_thread thread;
    };

    loop_group_options options;
    std::vector<std::unique_ptr<loop>> loops;
    std::vector<runner> runners;
    std::atomic<std::size_t> turn{0};

    bool contains(const loop* l) const noexcept {
        return std::any_of(loops.begin(), loops.end(),
                           [l](const auto& member) { return member.get() == l; });
    }

    void run(std::size_t index) noexcept try {
        if (options.pin_to_cores) {
            // The process may not use that core: no reason to stop, the thread stays unbound.
            if (const unsigned cores = kernel::core_count(); cores != 0) {
                static_cast<void>(kernel::pin_to_core(static_cast<unsigned>(index) % cores));
            }
        }
        loops[index]->run(run_mode::drained);
    } catch (const std::exception& error) {
        reportf("a loop group stops: %s", error.what());
        fails(index, std::current_exception());
    }

    /// Stops the other loops: without one of its loops, a group would lack the work of that loop,
    /// and nobody would notice. Loops that have ended keep their stop until join() takes it back.
    void fails(std::size_t index, std::exception_ptr why) noexcept {
        {
            const std::lock_guard lock(mutex);
            if (failure == nullptr) {
                failure = std::move(why);
            }
        }
        for (std::size_t i = 0; i != loops.size(); ++i) {
            if (i != index) {
                loops[i]->stop();
            }
        }
    }

    std::error_code start(std::size_t index) noexcept {
        const auto run_one = [](void* argument) -> void* {
            auto& one = *static_cast<runner*>(argument);
            one.group->run(one.index);
            return nullptr;
        };
        runner& one = runners[index];
        one.group = this;
        one.index = index;
        return one.thread.start(run_one, &one);
    }

    bool running() const noexcept { return runners.front().thread.joinable(); }

    /// Joins the threads. A stop that a loop got after its failure is taken back: it would silently
    /// end the loop's next run, while the group looks alive. A stop from before start() stays.
    void join() noexcept {
        if (!running()) {
            return;
        }
        for (runner& one : runners) {
            one.thread.join();
        }
        for (const auto& member : loops) {
            member->take_back_stop();
        }
    }

    std::mutex mutex;
    std::exception_ptr failure;  ///< of the first loop that could not go on
};

loop_group::loop_group(loop_group_options options) : state_(std::make_unique<state>()) {
    EDDY_ASSERT(options.size != 0, "a loop group needs at least one loop");
    state_->options = options;
    state_->runners = std::vector<state::runner>(options.size);
    for (std::size_t i = 0; i != options.size; ++i) {
        state_->loops.push_back(std::make_unique<loop>(options.loop));
    }
}

loop_group::~loop_group() {
    EDDY_ASSERT(!state_->contains(loop::current()), "a loop group was destroyed by its own thread");
    stop();
    state_->join();
}

void loop_group::start() {
    EDDY_ASSERT(!state_->running(), "a loop group was started that runs already");
    for (std::size_t i = 0; i != state_->loops.size(); ++i) {
        if (const auto error = state_->start(i)) {
            // Only the loops that run: a stop would end the next run of the others.
            std::for_each_n(state_->loops.begin(), i, [](const auto& member) { member->stop(); });
            state_->join();
            throw std::system_error(error, "loop_group: cannot start a thread");
        }
    }
}

void loop_group::start(const sigset_t& signals) {
    if (auto error = kernel::block_signals(signals)) {
        throw std::system_error(error, "cannot block signals");
    }
    start();
}

void loop_group::stop() noexcept {
    for (const auto& member : state_->loops) {
        member->stop();
    }
}

void loop_group::join() {
    EDDY_ASSERT(!state_->contains(loop::current()), "a loop group was joined by its own thread");
    state_->join();
    if (const std::exception_ptr why = std::exchange(state_->failure, nullptr)) {
        std::rethrow_exception(why);
    }
}

std::size_t loop_group::size() const noexcept { return state_->loops.size(); }

loop& loop_group::at(std::size_t index) noexcept {
    EDDY_ASSERT(index < size(), "there is no loop of this number in the group");
    return *state_->loops[index];
}

loop& loop_group::next() noexcept {
    if (loop* const here = loop::current(); state_->contains(here)) {
        return *here;
    }
    return at(state_->turn.fetch_add(1, std::memory_order_relaxed) % size());
}

void loop_group::post(entry& e) noexcept { next().post(e); }

void loop_group::cancel(entry& e) noexcept { e.request_cancel(); }

void loop_group::post_at(time_point when, timer& t) noexcept { t.home().post_at(when, t); }

void loop_group::cancel(timer& t) noexcept { t.home().cancel(t); }

}  // namespace eddy
