// SPDX-License-Identifier: Apache-2.0
#include "os/process_fixture.hpp"
#include "support/signals.hpp"
#include "watch/test_watch.hpp"

#include <memory>
#include <set>
#include <vector>

namespace eddy::test::children_watch_test {
namespace {

class ChildrenWatch : public ProcessTest {
protected:
    static pid_t fork_child(int code) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::_exit(code);
        }
        return pid;
    }

    blocked_signals blocked_{{SIGCHLD, SIGHUP}};
};
EDDY_ON_EVERY_ENGINE(ChildrenWatch);

TEST_P(ChildrenWatch, IsToldOfEachUnwatchedChildAndReapsNobodyWhileItIsDisarmed) {
    child_source source(loop());
    std::set<pid_t> forked;
    int told = 0;
    children_watch_handle all = watch_children(source, [&](auto&, const child_event& event) {
        EXPECT_EQ(forked.erase(event.pid), 1U);
        EXPECT_EQ(event.status.code, 3);
        return ++told == 5 ? reaction::disarm : reaction::rearm;
    });
    process_handle mine = spawn(shell("exit 1"));
    for (int i = 0; i != 6; ++i) {
        forked.insert(fork_child(3));
    }
    EXPECT_EQ(end_of(mine).code, 1);
    ASSERT_TRUE(until([&] { return told == 5; }));
    EXPECT_LT(turns_in(5ms), 20U);
    EXPECT_EQ(told, 5);
    EXPECT_TRUE(has_children());
    all->arm();
    ASSERT_TRUE(until([&] { return told == 6; }));
    EXPECT_TRUE(forked.empty());
}

TEST_P(ChildrenWatch, OfOneIsToldItsStopsContinuationsAndEndAndIsDisarmedThen) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    std::vector<child_change> told;
    const children_watch_handle one =
        watch_changes(source, child, [&](children_watch&, const child_event& event) {
            told.push_back(event.what);
            return reaction::rearm;
        });
    settle();
    const int signals[] = {SIGSTOP, SIGCONT, SIGSTOP, SIGKILL};
    for (std::size_t i = 0; i != 4; ++i) {
        EXPECT_FALSE(child.send_signal(signals[i]));
        ASSERT_TRUE(until([&] { return told.size() == i + 1; }));
    }
    EXPECT_EQ(told, (std::vector{child_change::stopped, child_change::continued,
                                 child_change::stopped, child_change::ended}));
    settle();
    EXPECT_FALSE(one->armed());
}

TEST_P(ChildrenWatch, WithAnotherPriorityIsToldWhatOthersWereTold) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    children_watch_handle second;
    std::vector<child_change> told;
    const children_watch_handle first =
        watch_changes(source, child, [&](children_watch&, const child_event&) {
            second->set_priority(40);
            return reaction::rearm;
        });
    second = watch_changes(source, child, [&](children_watch&, const child_event& event) {
        told.push_back(event.what);
        return reaction::rearm;
    });
    first->set_priority(10);
    second->set_priority(20);
    settle();
    EXPECT_FALSE(child.send_signal(SIGSTOP));
    ASSERT_TRUE(until([&] { return told.size() == 1; }));
    EXPECT_FALSE(child.send_signal(SIGCONT));
    ASSERT_TRUE(until([&] { return told.size() == 2; }));
    EXPECT_EQ(told, (std::vector{child_change::stopped, child_change::continued}));
}

TEST_P(ChildrenWatch, WithAnotherPriorityIsCalledInAnotherOrder) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    std::vector<char> order;
    const auto told = [&order](char name) {
        return [&order, name](children_watch&, const child_event&) {
            order.push_back(name);
            return reaction::rearm;
        };
    };
    const auto a = watch_changes(source, child, told('a'), {.priority = 10});
    const auto b = watch_changes(source, child, told('b'), {.priority = 20});
    settle();
    EXPECT_FALSE(child.send_signal(SIGSTOP));
    ASSERT_TRUE(until([&] { return order.size() == 2; }));
    a->set_priority(30);
    EXPECT_FALSE(child.send_signal(SIGCONT));
    ASSERT_TRUE(until([&] { return order.size() == 4; }));
    EXPECT_EQ(order, (std::vector{'a', 'b', 'b', 'a'}));
}

TEST_P(ChildrenWatch, ThatIsRequeuedIsToldWhatOthersWereToldMeanwhile) {
    child_source source(loop());
    process_handle child = spawn(sleeper());
    std::vector<child_change> first_told;
    std::vector<child_change> second_told;
    const children_watch_handle first =
        watch_changes(source, child, [&](children_watch&, const child_event& event) {
            first_told.push_back(event.what);
            return reaction::rearm;
        });
    const children_watch_handle second =
        watch_changes(source, child, [&](children_watch&, const child_event& event) {
            second_told.push_back(event.what);
            if (second_told.size() != 1) {
                return reaction::rearm;
            }
            EXPECT_FALSE(child.send_signal(SIGCONT));
            siginfo_t info{};
            EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WCONTINUED | WNOWAIT),
                      0);
            first->disarm();
            first->arm();  // looks at once
            return reaction::requeue;
        });
    first->set_priority(10);
    second->set_priority(20);
    settle();
    EXPECT_FALSE(child.send_signal(SIGSTOP));
    ASSERT_TRUE(until([&] { return second_told.size() == 3; }));
    EXPECT_EQ(first_told, (std::vector{child_change::stopped, child_change::continued}));
    EXPECT_EQ(second_told,
              (std::vector{child_change::stopped, child_change::stopped, child_change::continued}));
}

TEST_P(ChildrenWatch, OfAStrangerIsRefused) {
    child_source source(loop());
    process_handle stranger;
    ASSERT_FALSE(process_handle::adopt(loop(), ::getppid(), stranger));
    const auto refused = [&](const process_handle& process) {
        try {
            const auto w = watch_changes(source, process, [](auto&, const child_event&) {});
        } catch (const std::system_error& e) {
            return e.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(refused(stranger), errc::process_not_child);
    EXPECT_EQ(refused({}), std::errc::bad_file_descriptor);
}

TEST_P(ChildrenWatch, ASignalWatchOfSigchldBesideItIsCalledToo) {
    child_source source(loop());
    int children = 0;
    int signals = 0;
    const children_watch_handle all =
        watch_children(source, [&](auto&, const child_event&) { ++children; });
    const signal_watch_handle signal =
        loop().on_signal(SIGCHLD, [&](auto&, const signal_info& info) {
            EXPECT_EQ(info.signum, SIGCHLD);
            ++signals;
        });
    for (int i = 1; i != 20; ++i) {
        fork_child(0);
        ASSERT_TRUE(until([&] { return children == i && signals >= i; }));
    }
}

}  // namespace
}  // namespace eddy::test::children_watch_test
