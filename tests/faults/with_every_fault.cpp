// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include "engine/uring/uring_faults.hpp"
#include "faults/planned_fault.hpp"
#include "kernel/io.hpp"
#include "support/crash_reporter.hpp"
#include "support/memory_faults.hpp"
#include "support/threads.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <sys/wait.h>

namespace eddy::test {

namespace {

/// What a run without a fault never needs, nor one with a fault that happens once.
constexpr duration generous = std::chrono::seconds(10);
/// While all calls of a kind fail, what waits for one waits for ever.
constexpr duration brief = std::chrono::milliseconds(60);

bool has_children() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/// What must be the same before and after.
struct holdings {
    std::size_t fds;
    std::int64_t blocks;
    std::uint64_t held;
    bool children;
    sigset_t mask;

    static holdings now(const fault_subject& subject) {
        holdings result{};
        result.held = subject.settle();
        result.fds = open_fds();
        result.blocks = own_memory_faults().live.load();
        result.children = has_children();
        ::pthread_sigmask(SIG_SETMASK, nullptr, &result.mask);
        return result;
    }
    bool has_signal_mask_of(const holdings& other) const {
        for (int signal = 1; signal < SIGRTMAX; ++signal) {
            if (sigismember(&mask, signal) != sigismember(&other.mask, signal)) {
                return false;
            }
        }
        return true;
    }
};

bool can_inject_into_io_uring() {
#if EDDY_HAS_IO_URING
    return uring_faults::can_inject_results();
#else
    return false;
#endif
}

/// The calls that the kernel makes itself for an operation of io_uring.
bool is_performed_by_io_uring(kernel::call which) {
    using enum kernel::call;
    constexpr std::array all{read, write, recv, send, accept, connect, shutdown, open, fsync, poll};
    return std::ranges::find(all, which) != all.end();
}

class trials {
public:
    trials(const fault_subject& subject, unsigned nth_max)
        : subject_(subject), nth_max_(nth_max), only_(std::getenv("EDDY_FAULT")) {}

    void run() {
        begin();
        for (const fault_kind& kind : fault_kinds()) {
            try_kind(kind);
            if (::testing::Test::HasFailure()) {
                return;
            }
        }
        ASSERT_NE(fired_, 0U) << "the scenario makes no call that can fail";
        ::testing::Test::RecordProperty("faults", std::to_string(fired_));
    }

    void run_those_of(std::string_view scenario) {
        begin();
        for (const fault_kind& kind : fault_kinds()) {
            if (scenario != kind.by.scenario ||
                (kind.by.only != nullptr && subject_.name != kind.by.only)) {
                continue;
            }
            if (subject_.name == to_string(engine_kind::io_uring) &&
                is_performed_by_io_uring(kind.which) && !can_inject_into_io_uring()) {
                continue;
            }
            // Threads that sleep only beside others may miss them on a crowded machine.
            bool fired = false;
            for (int tries = 0; !fired && tries != 50; ++tries) {
                fired = try_one({&kind, kind.errors.front(), how::once, 1});
            }
            EXPECT_TRUE(fired) << kind.name << " is not called";
        }
    }

private:
    using how = planned_fault::how;

    void begin() {
        if (EDDY_HAS_IO_URING != 0) {
            static_cast<void>(can_inject_into_io_uring());
        }
        // What is kept for later is there after the first times.
        for (int i = 0; i != 3; ++i) {
            succeeds("before any fault");
        }
    }

    void try_kind(const fault_kind& kind) {
        for (const documented_error& error : kind.errors) {
            const bool fired = try_each({&kind, error, how::once, 1});
            if (!fired && only_ == nullptr) {
                return;  // the scenario makes no such call
            }
            ::testing::Test::RecordProperty(kind.name, "tried");
            if (!error.passes) {
                try_each({&kind, error, how::from_then_on, 1});
            }
        }
        if (kind.may_be_short && may_shorten(kind.which)) {
            try_each({&kind, {}, how::shorter, 1});
        }
    }

    bool may_shorten(kernel::call which) const {
        using enum kernel::call;
        return which == recv || which == send ? subject_.may_shorten_sockets
                                              : which != read || subject_.may_shorten_reads;
    }

    /// True if the first of them has fired.
    bool try_each(planned_fault fault) {
        const std::uint64_t before = fired_;
        for (; fault.nth <= nth_max_; ++fault.nth) {
            if (::testing::Test::HasFailure()) {
                return true;
            }
            if (only_ != nullptr && fault.key() != only_) {
                if (fault.nth > longest_row) {
                    return false;
                }
                continue;
            }
            if (!try_one(fault) || only_ != nullptr) {
                break;
            }
            EXPECT_LT(fault.nth, longest_row) << "the scenario does not come to an end";
        }
        return fired_ != before;
    }

    /// False: it has not fired.
    bool try_one(const planned_fault& fault) {
        const std::string what =
            subject_.name + ": " + fault.words() + " (EDDY_FAULT=" + fault.key() + ")";
        SCOPED_TRACE(what);
        const crash_reporter reporter(what);
        const holdings before = holdings::now(subject_);
        const bool fired = hit_and_recover(fault);
        if (!fired) {
            return false;
        }
        ++fired_;
        holdings after = holdings::now(subject_);
        if (after.blocks > before.blocks && !::testing::Test::HasFailure()) {
            // Something may have been kept for later. It is not kept a second time.
            const std::int64_t blocks = after.blocks;
            hit_and_recover(fault);
            after = holdings::now(subject_);
            EXPECT_LE(after.blocks, blocks) << "memory is lost";
        }
        EXPECT_EQ(after.fds, before.fds) << "descriptors are lost";
        EXPECT_EQ(after.held, before.held) << "leases or operations are lost";
        EXPECT_TRUE(all_threads_end()) << "threads are left";
        EXPECT_FALSE(after.children) << "children are left";
        EXPECT_TRUE(after.has_signal_mask_of(before)) << "the signal mask has changed";
        return true;
    }

    /// A worker of the kernel's for io_uring has the name of its process at first.
    bool all_threads_end() const {
        const time_point end = clock::now() + 1s;
        while (!threads_.started().empty()) {
            if (clock::now() > end) {
                return false;
            }
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }

    bool hit_and_recover(const planned_fault& fault) {
        bool fired = false;
        {
            attempt hit(fault.often == how::from_then_on ? brief : generous);
            fired = hit_with(fault, hit);
            if (!fired && hit.gave_up()) {
                // On a crowded machine the brief limit may be too short for the scenario itself.
                hit = attempt(generous);
                fired = hit_with(fault, hit);
            }
            judge(fault, hit, fired);
        }
        subject_.settle();
        if (fired) {
            succeeds("afterwards");
        }
        return fired;
    }

    bool hit_with(const planned_fault& fault, attempt& hit) const {
        fault.begin();
        subject_.scenario(hit);
        const bool fired = kernel::fired(fault.kind->which) != 0;
        kernel::fail_nothing();
        return fired;
    }

    /// What comes first is the fault, or what a peer sees of one that the library survives. A wait
    /// that goes on failing ends everything else first.
    static bool begins_with(const planned_fault& fault,
                            const std::vector<std::error_code>& errors) {
        const auto is = [&](std::error_code error) { return fault.is(error); };
        return fault.often == how::from_then_on ? std::ranges::any_of(errors, is)
                                                : !errors.empty() && is(errors.front());
    }

    const char* unseen(const planned_fault& fault) const {
        const bool must_be_told =
            fault.often != how::shorter && fault.nth == 1 && !fault.expected.passes &&
            std::ranges::find(subject_.tells, fault.kind->which) != subject_.tells.end();
        return must_be_told ? nullptr : fault.unseen();
    }

    void judge(const planned_fault& fault, const attempt& hit, bool fired) const {
        const auto& errors = hit.errors();
        EXPECT_TRUE(!hit.gave_up() || fault.often == how::from_then_on) << "it has to be cancelled";
        if (!fired) {
            EXPECT_TRUE(hit.succeeded()) << "it fails without a fault" << words_of(errors);
            return;
        }
        if (hit.gave_up()) {
            // What is cancelled then says so, in any order.
            EXPECT_TRUE(begins_with(fault, errors) || unseen(fault) != nullptr)
                << "it waits without a word" << words_of(errors);
        } else if (!errors.empty()) {
            EXPECT_TRUE(begins_with(fault, errors) || unseen(fault) != nullptr)
                << "another error" << words_of(errors);
        } else if (hit.succeeded()) {
            EXPECT_NE(unseen(fault), nullptr) << "it succeeds although a call has failed";
        } else {
            ADD_FAILURE() << "it neither succeeds nor says why";
        }
        for (const std::error_code error : errors) {
            EXPECT_TRUE(fault.explains(error))
                << "an error that comes of nothing" << words_of(errors);
        }
    }

    void succeeds(const char* when) {
        attempt clean(generous);
        subject_.scenario(clean);
        EXPECT_TRUE(clean.succeeded() && clean.errors().empty() && !clean.gave_up())
            << "it does not succeed " << when
            << (clean.gave_up() ? ", and had to be cancelled" : "") << words_of(clean.errors());
    }

    static std::string words_of(const std::vector<std::error_code>& errors) {
        std::string all;
        for (const std::error_code error : errors) {
            all += "\n  " + error.message();
        }
        return all;
    }

    static constexpr unsigned longest_row = 2000;

    const fault_subject& subject_;
    unsigned nth_max_;
    const char* only_;
    std::uint64_t fired_ = 0;
    thread_census threads_;
};

const char* obstacle_to(const loop_scenario& scenario) {
    return scenario.obstacle != nullptr ? scenario.obstacle() : nullptr;
}

void say_nothing(std::string_view) noexcept {}

}  // namespace

void with_every_fault(const fault_subject& subject, unsigned nth_max) {
    static_cast<void>(kernel::has_rwf_nosignal());
    trials(subject, nth_max).run();
}

void with_the_faults_of(const char* scenario, const fault_subject& subject) {
    static_cast<void>(kernel::has_rwf_nosignal());
    trials(subject, 1).run_those_of(scenario);
}

void FaultTest::SetUp() {
    before_ = set_report_handler(&say_nothing);
    EngineTest::SetUp();
    if (!IsSkipped()) {
        make_loop({.wait_retry = 20ms});
    }
}

void FaultTest::TearDown() {
    EngineTest::TearDown();
    set_report_handler(before_);
}

fault_subject FaultTest::subject_of(const loop_scenario& scenario) {
    return {.name = std::string(to_string(GetParam())),
            .scenario = [this, run = scenario.run](attempt& a) { run(loop(), a); },
            .settle = [this]() -> std::uint64_t {
                settle();
                return loop().counters().leases_out;
            },
            .may_shorten_sockets = !scenario.messages && !(scenario.tcp && on(engine_kind::epoll)),
            .may_shorten_reads = !scenario.records,
            .tells = scenario.tells};
}

const char* left_out_on(engine_kind engine, bool can_inject_results) noexcept {
    return engine == engine_kind::io_uring && !can_inject_results
               ? "without faults of what io_uring performs: results are injected since Linux 6.10"
               : nullptr;
}

void FaultTest::name_what_was_left_out() const {
    if (const char* const what = left_out_on(GetParam(), can_inject_into_io_uring())) {
        GTEST_SKIP() << what;
    }
}

void FaultTest::with_every_fault(const loop_scenario& scenario, unsigned nth_max) {
    if (const char* const why = obstacle_to(scenario)) {
        GTEST_SKIP() << why;
    }
    test::with_every_fault(subject_of(scenario), nth_max);
    name_what_was_left_out();
}

void FaultTest::with_the_faults_of(const char* name, const loop_scenario& scenario) {
    if (const char* const why = obstacle_to(scenario)) {
        GTEST_SKIP() << why;
    }
    test::with_the_faults_of(name, subject_of(scenario));
    name_what_was_left_out();
}

void FaultTest::without_faults(const loop_scenario& scenario) {
    if (const char* const why = obstacle_to(scenario)) {
        GTEST_SKIP() << why;
    }
    for (int i = 0; i != 2; ++i) {
        attempt clean(generous);
        scenario.run(loop(), clean);
        EXPECT_TRUE(clean.succeeded());
        EXPECT_TRUE(clean.errors().empty());
        EXPECT_FALSE(clean.gave_up());
    }
}

}  // namespace eddy::test
