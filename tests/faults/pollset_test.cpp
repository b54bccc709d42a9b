// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_set.hpp>
#include <eddy/pollset/pollset_timer.hpp>

#include <algorithm>
#include <array>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace eddy::test::pollset_faults {

namespace {

/// Orphaned at the end of its block, in whatever way that is left.
class handle_of_block {
public:
    handle_of_block(poll_domain& domain, unique_fd fd) : handle_(domain, std::move(fd)) {}
    ~handle_of_block() {
        handle_.orphan(done_);
        EXPECT_EQ(done_.calls(), 1);
    }
    handle_of_block(const handle_of_block&) = delete;
    handle_of_block& operator=(const handle_of_block&) = delete;
    poll_handle& get() noexcept { return handle_; }

private:
    noted done_;
    poll_handle handle_;
};

/// A handle joins a pollset, is told of two events there, and leaves.
void serves(poll_domain& domain, attempt& a) {
    fd_pair pipe = make_pipe();
    a.guard([&] {
        pollset set(domain);
        handle_of_block handle(domain, std::move(pipe.first));
        if (const auto error = set.add(handle.get())) {
            a.told(error);
            return;
        }
        const time_point end = clock::now() + a.limit();
        for (int round = 0; round != 2; ++round) {
            noted readable;
            a.told(handle.get().notify_on_read(readable));
            write_all(pipe.second.get(), "x");
            while (readable.calls() == 0 && clock::now() < end) {
                const auto why = set.work(end);
                if (!why) {
                    a.told(why.error());
                    break;
                }
            }
            if (readable.calls() == 0) {
                if (a.errors().empty()) {
                    a.give_up();
                }
                EXPECT_TRUE(handle.get().cancel(readable));
                return;
            }
            EXPECT_EQ(readable.calls(), 1);
            a.told(readable.error());
            char byte = 0;
            EXPECT_EQ(::read(handle.get().fd(), &byte, 1), 1);
        }
        a.succeed();
    });
}

/// A worker of another thread waits, and is told of an event of a handle in a set, and of a timer.
void wakes_a_worker(poll_domain& domain, attempt& a) {
    fd_pair pipe = make_pipe();
    a.guard([&] {
        pollset set(domain);
        pollset_set bag(domain);
        handle_of_block handle(domain, std::move(pipe.first));
        for (const auto error : {bag.add(set), bag.add(handle.get())}) {
            if (error) {
                a.told(error);
                return;
            }
        }
        noted readable;
        noted due;
        pollset_timer timer(set, due);
        const std::error_code armed = handle.get().notify_on_read(readable);
        const std::error_code timed = timer.set_after(200us);
        std::error_code failed;
        std::thread worker([&] {
            const time_point end = clock::now() + a.limit();
            while (readable.calls() == 0 || due.calls() == 0) {
                const auto why = set.work(end);
                if (!why || clock::now() >= end) {
                    failed = why ? std::error_code() : why.error();
                    break;
                }
            }
        });
        write_all(pipe.second.get(), "x");
        worker.join();
        handle.get().cancel(readable);
        timer.cancel();
        for (const auto error : {armed, timed, failed, readable.error(), due.error()}) {
            a.told(error);
        }
        EXPECT_LE(readable.calls(), 1);
        EXPECT_LE(due.calls(), 1);
        a.succeed(readable.calls() == 1 && due.calls() == 1);
        if (!a.succeeded() && a.errors().empty()) {
            a.give_up();
        }
    });
}

void both(poll_domain& domain, attempt& a) {
    serves(domain, a);
    if (a.succeeded() && a.errors().empty()) {
        a.succeed(false);
        wakes_a_worker(domain, a);
    }
}

/// Of several workers in one pollset, one waits in the kernel, and those that are not even next
/// sleep, until the end of their time.
void sleep_beside_each_other(poll_domain& domain, attempt& a) {
    a.guard([&] {
        pollset set(domain);
        std::array<std::error_code, 4> failed;
        std::vector<std::thread> workers;
        std::latch together(failed.size());
        for (std::error_code& error : failed) {
            workers.emplace_back([&] {
                together.arrive_and_wait();
                const time_point end = clock::now() + std::min<duration>(a.limit(), 2ms);
                while (clock::now() < end) {
                    if (const auto why = set.work(end); !why) {
                        error = why.error();
                        break;
                    }
                }
            });
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
        for (const std::error_code error : failed) {
            a.told(error);
        }
        a.succeed(a.errors().empty());
    });
}

class PollsetFaultTest : public PollsetTest {
protected:
    using scenario_of_domain = void(poll_domain&, attempt&);

    void with_every_fault(scenario_of_domain& run, unsigned nth_max) {
        test::with_every_fault(subject_of(run), nth_max);
    }
    void with_the_faults_of(const char* name, scenario_of_domain& run) {
        test::with_the_faults_of(name, subject_of(run));
    }
    void without_faults(scenario_of_domain& run) {
        for (int i = 0; i != 2; ++i) {
            attempt clean(patience);
            run(domain(), clean);
            EXPECT_TRUE(clean.succeeded());
            EXPECT_TRUE(clean.errors().empty());
        }
    }

private:
    fault_subject subject_of(scenario_of_domain& run) {
        return {.name = std::string(to_string(GetParam())),
                .scenario = [this, &run](attempt& a) { run(domain(), a); },
                .settle = [] { return std::uint64_t{0}; }};
    }
};

class ScenarioPollset : public PollsetFaultTest {};
TEST_P(ScenarioPollset, SucceedsTwice) { without_faults(both); }
TEST_P(ScenarioPollset, MeetsItsFaults) { with_the_faults_of("Pollset", both); }
EDDY_WITH_EVERY_STRATEGY(ScenarioPollset);

class FullFaultsPollset : public PollsetFaultTest {};
TEST_P(FullFaultsPollset, AreToldAndLoseNothing) { with_every_fault(both, first_three); }
EDDY_WITH_EVERY_STRATEGY(FullFaultsPollset);

class LongFaultsPollset : public PollsetFaultTest {};
TEST_P(LongFaultsPollset, AreToldAndLoseNothing) { with_every_fault(both, all_of_them); }
EDDY_WITH_EVERY_STRATEGY(LongFaultsPollset);

class ScenarioPollsetSleepers : public PollsetFaultTest {};
TEST_P(ScenarioPollsetSleepers, SucceedsTwice) { without_faults(sleep_beside_each_other); }
TEST_P(ScenarioPollsetSleepers, MeetsItsFaults) {
    with_the_faults_of("PollsetSleepers", sleep_beside_each_other);
}
EDDY_WITH_EVERY_STRATEGY(ScenarioPollsetSleepers);

class FullFaultsPollsetSleepers : public PollsetFaultTest {};
TEST_P(FullFaultsPollsetSleepers, AreToldAndLoseNothing) {
    with_every_fault(sleep_beside_each_other, first_three);
}
EDDY_WITH_EVERY_STRATEGY(FullFaultsPollsetSleepers);

class LongFaultsPollsetSleepers : public PollsetFaultTest {};
TEST_P(LongFaultsPollsetSleepers, AreToldAndLoseNothing) {
    with_every_fault(sleep_beside_each_other, all_of_them);
}
EDDY_WITH_EVERY_STRATEGY(LongFaultsPollsetSleepers);

}  // namespace

}  // namespace eddy::test::pollset_faults
