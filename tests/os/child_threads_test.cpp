// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/os/child_source.hpp>
#include <eddy/os/signal_source.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace eddy::test::child_threads_test {
namespace {

/// Several loops that share SIGCHLD: each spawns processes of its own, and takes children that
/// nobody watches, while others fork and reap.
class ChildThreads : public ProcessTest {
protected:
    /// One loop with its thread.
    struct worker {
        worker(engine_kind engine, int spawns, std::atomic<int>& count)
            : home({.engine = engine}), children(home), left(spawns), all_taken(count) {}

        void begin() {
            EXPECT_FALSE(children.wait_any(any));
            spawn_next();
        }
        void spawn_next() {
            if (left == 0) {
                return;
            }
            process = process_handle(home, {.program = "/bin/true"});
            mine.push_back(process.pid());
            process.start(end);
        }

        eddy::loop home;
        child_source children;
        process_handle process;
        int left;
        std::atomic<int>& all_taken;
        std::vector<pid_t> mine;
        std::vector<pid_t> taken;
        std::atomic<bool> done{false};
        exit_wait end{[](exit_wait& w) noexcept {
            auto& self = detail::owner_of<&worker::end>(w);
            EXPECT_FALSE(w.error());
            EXPECT_TRUE(w.status().success() && w.status().has_usage);
            if (--self.left == 0) {
                self.done = true;
            }
            self.spawn_next();
        }};
        child_wait any{[](child_wait& w) noexcept {
            auto& self = detail::owner_of<&worker::any>(w);
            if (!w.error()) {
                self.taken.push_back(w.event().pid);
                ++self.all_taken;
                EXPECT_FALSE(self.children.wait_any(w));
            }
        }};
    };

    void share(int spawns, int forks) {
        std::atomic<int> taken{0};
        std::latch stopped(1);  // whoever stops a loop has left it before it ends
        std::array<std::unique_ptr<worker>, 3> workers;
        std::vector<std::thread> threads;
        for (auto& one : workers) {
            one = std::make_unique<worker>(GetParam(), spawns, taken);
        }
        std::array<std::vector<pid_t>, 3> takings;
        for (std::size_t i = 0; i != workers.size(); ++i) {
            threads.emplace_back([&workers, &takings, &stopped, i] {
                workers[i]->begin();
                workers[i]->home.run();
                stopped.wait();
                EXPECT_EQ(workers[i]->left, 0);
                workers[i]->any.cancel();
                takings[i] = std::move(workers[i]->taken);
                workers[i].reset();  // by the thread that has run the loop
            });
        }
        std::multiset<pid_t> forked;  // a number may come again
        const time_point limit = clock::now() + 60s;
        for (int i = 0; i != forks && clock::now() < limit; ++i) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                ::_exit(0);
            }
            // Not all at once, so that numbers of processes are not what is tested.
            while (i - taken.load() > 8 && clock::now() < limit) {
                std::this_thread::yield();
            }
            forked.insert(pid);
        }
        while (clock::now() < limit &&
               (taken.load() < forks ||
                !std::all_of(workers.begin(), workers.end(),
                             [](const auto& one) { return one->done.load(); }))) {
            std::this_thread::yield();
        }
        for (auto& one : workers) {
            one->home.stop();
        }
        stopped.count_down();
        for (std::thread& one : threads) {
            one.join();
        }
        EXPECT_EQ(taken, forks);
        for (const auto& taking : takings) {
            for (const pid_t pid : taking) {
                const auto found = forked.find(pid);
                ASSERT_NE(found, forked.end()) << "told twice, or of a loop's own: " << pid;
                forked.erase(found);
            }
        }
        EXPECT_TRUE(forked.empty());
    }

    blocked_signals blocked_{SIGCHLD};
};
EDDY_ON_EVERY_ENGINE(ChildThreads);

TEST_P(ChildThreads, LoopsShareTheSignalAndNeverTakeEachOthersChildren) { share(30, 90); }

TEST_P(ChildThreads, TheSignalGoesToWhoeverHasItWhicheverLoopHasReadIt) {
    child_source here(loop());
    child_wait any([](child_wait&) noexcept {});
    ASSERT_FALSE(here.wait_any(any));
    settle();
    std::atomic<int> signals{0};
    std::atomic<eddy::loop*> other{nullptr};
    std::latch stopped(1);
    std::thread second([&] {
        eddy::loop home({.engine = GetParam()});
        signal_source source(home, {SIGCHLD});
        struct counting {
            signal_source& source;
            std::atomic<int>& signals;
            signal_wait wait{[](signal_wait& w) noexcept {
                auto& self = detail::owner_of<&counting::wait>(w);
                ++self.signals;
                EXPECT_FALSE(w.error() || self.source.wait(w, SIGCHLD));
            }};
        } count{source, signals};
        EXPECT_FALSE(source.wait(count.wait, SIGCHLD));
        home.post([&] { other = &home; });
        home.run();
        stopped.wait();
        count.wait.cancel();
    });
    ASSERT_TRUE(until_driven([&] { return other.load() != nullptr; }));
    for (int i = 1; i != 30; ++i) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::_exit(0);
        }
        ASSERT_TRUE(until_driven([&] { return !any.pending() && signals >= i; }));
        EXPECT_EQ(any.event().pid, pid);
        ASSERT_FALSE(here.wait_any(any));
    }
    other.load()->stop();
    stopped.count_down();
    second.join();
    any.cancel();
    settle();
}

class LongChildThreads : public ChildThreads {};
EDDY_ON_EVERY_ENGINE(LongChildThreads);

TEST_P(LongChildThreads, LoopsShareTheSignalAndNeverTakeEachOthersChildren) { share(1000, 3000); }

}  // namespace
}  // namespace eddy::test::child_threads_test
