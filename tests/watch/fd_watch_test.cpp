// SPDX-License-Identifier: Apache-2.0
#include "support/in_child.hpp"
#include "watch/test_watch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>

namespace eddy::test::fd_watch_test {
namespace {

class FdWatch : public EngineTest {};
EDDY_ON_EVERY_ENGINE(FdWatch);

TEST_P(FdWatch, OfTwoDescriptorsIsCalledForItsOwn) {
    fd_pair one = make_pipe();
    fd_pair two = make_pipe();
    test_watch first(loop(), one.first.get(), interest::readable, take_all);
    test_watch second(loop(), two.first.get(), interest::readable, take_all);
    write_all(two.second.get(), "x");
    ASSERT_TRUE(until([&] { return second.calls == 1; }));
    EXPECT_EQ(first.calls, 0);
    first.remove();
    write_all(one.second.get(), "x");
    ASSERT_TRUE(until([&] { return first.removals == 1; }));
    settle();
    EXPECT_EQ(first.calls, 0);
}

TEST_P(FdWatch, RearmSeesTheNextEventAndDisarmDoesNot) {
    fd_pair pipe = make_pipe();
    reaction next = reaction::rearm;
    test_watch w(loop(), pipe.first.get(), interest::readable, [&](test_watch& self) {
        EXPECT_EQ(self.ready(), interest::readable);
        drain(self.native_handle());
        return next;
    });
    for (int i = 1; i != 10; ++i) {
        write_all(pipe.second.get(), "x");
        ASSERT_TRUE(until([&] { return w.calls == i; }));
        settle();
        ASSERT_EQ(w.calls, i);
    }
    next = reaction::disarm;
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 10; }));
    EXPECT_FALSE(w.armed());
    write_all(pipe.second.get(), "x");
    EXPECT_LE(turns_in(20ms), 20U);
    EXPECT_EQ(w.calls, 10);
    w.arm();  // it is ready, and nothing happens to it any more
    ASSERT_TRUE(until([&] { return w.calls == 11; }));
}

TEST_P(FdWatch, MadeAnewInACallbackIsCalledForWhatIsThereAndForWhatComes) {
    fd_pair pipe = make_pipe();
    fd_pair trigger = make_pipe();
    write_all(pipe.second.get(), "x");
    std::optional<test_watch> w;
    w.emplace(loop(), pipe.first.get(), interest::readable,
              [](test_watch&) { return reaction::disarm; });  // leaves it there
    ASSERT_TRUE(until([&] { return w->calls == 1; }));
    test_watch maker(loop(), trigger.first.get(), interest::readable, [&](test_watch& self) {
        drain(self.native_handle());
        w.reset();
        w.emplace(loop(), pipe.first.get(), interest::readable, take_all);
        return reaction::rearm;
    });
    for (int i = 0; i != 3; ++i) {
        write_all(trigger.second.get(), "x");
        ASSERT_TRUE(until([&] { return maker.calls == i + 1; }));
        if (i != 0) {
            write_all(pipe.second.get(), "x");
        }
        ASSERT_TRUE(until([&] { return w->calls == 1; }));
        write_all(pipe.second.get(), "x");
        ASSERT_TRUE(until([&] { return w->calls == 2; }));
    }
    w.reset();
    settle();
}

TEST_P(FdWatch, AgainIsCalledWhileThereIsSomethingLeft) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, take_one);
    write_all(pipe.second.get(), "abcd");
    ASSERT_TRUE(until([&] { return w.calls == 4; }));
    settle();
    EXPECT_EQ(w.calls, 4);
    write_all(pipe.second.get(), "e");
    ASSERT_TRUE(until([&] { return w.calls == 5; }));
}

TEST_P(FdWatch, RequeueIsCalledAgainWithoutTheKernelAndLosesNoEdge) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, [&](test_watch& self) {
        EXPECT_EQ(self.ready(), interest::readable);
        if (self.calls == 1) {
            drain(self.native_handle());
            write_all(pipe.second.get(), "y");  // it comes between the two calls
            return reaction::requeue;
        }
        if (self.calls == 3) {
            drain(self.native_handle());
        }
        return reaction::rearm;
    });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 3; }));
    settle();
    EXPECT_EQ(w.calls, 3);
}

TEST_P(FdWatch, ReactionHasTheLastWordOverCallsInside) {
    fd_pair pipe = make_pipe();
    reaction next = reaction::disarm;
    bool arms = true;
    test_watch w(loop(), pipe.first.get(), interest::readable, [&](test_watch& self) {
        if (arms) {
            self.arm();
        } else {
            self.disarm();
        }
        return next;
    });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    settle();
    EXPECT_EQ(w.calls, 1) << "armed inside, and disarmed by the reaction";
    next = reaction::leave;
    arms = false;
    w.arm();
    ASSERT_TRUE(until([&] { return w.calls == 2; }));
    settle();
    EXPECT_EQ(w.calls, 2) << "disarmed inside, and left so";
    EXPECT_FALSE(w.armed());
}

TEST_P(FdWatch, LeaveKeepsWhatACallInsideHasArmed) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, [](test_watch& self) {
        if (self.calls < 3) {
            self.arm();
        }
        return reaction::leave;
    });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 3; }));
    settle();
    EXPECT_EQ(w.calls, 3);
    EXPECT_FALSE(w.armed());
}

TEST_P(FdWatch, RemoveReactionTellsOnceAndClosesRightBefore) {
    fd_pair pipe = make_pipe();
    const int fd = pipe.first.get();
    test_watch w(loop(), std::move(pipe.first), interest::readable, [&](test_watch& self) {
        self.remove();
        EXPECT_TRUE(is_open(fd));
        return reaction::remove;
    });
    w.look_at = fd;
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_FALSE(w.open_when_removed);
    EXPECT_FALSE(is_open(fd));
    w.remove();
    w.arm();
    settle();
    EXPECT_EQ(w.removals, 1);
    EXPECT_EQ(w.calls, 1);
}

TEST_P(FdWatch, KeepsItsFdOpenUntilItWasTakenOut) {
    fd_pair pipe = make_pipe();
    const int fd = pipe.first.get();
    test_watch w(loop(), std::move(pipe.first), interest::readable, take_all);
    settle();
    w.remove();
    EXPECT_TRUE(is_open(fd)) << "never earlier";
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_FALSE(is_open(fd));
}

TEST_P(FdWatch, GivesABorrowedFdBackAsItWas) {
    fd_pair pipe = make_pipe();
    set_nonblocking(pipe.first.get(), false);
    {
        test_watch w(loop(), pipe.first.get(), interest::readable, take_all);
        EXPECT_TRUE(is_nonblocking(pipe.first.get()));
        w.look_at = pipe.first.get();
        w.remove();
        ASSERT_TRUE(until([&] { return w.removals == 1; }));
        EXPECT_TRUE(w.open_when_removed);
    }
    EXPECT_FALSE(is_nonblocking(pipe.first.get()));
    test_watch again(loop(), pipe.first.get(), interest::readable, take_all);
}

TEST_P(FdWatch, MayBeDestroyedInItsOwnCallback) {
    fd_pair pipe = make_pipe();
    int calls = 0;
    std::unique_ptr<test_watch> w;
    w = std::make_unique<test_watch>(loop(), std::move(pipe.first), interest::readable,
                                     [&](test_watch&) {
                                         ++calls;
                                         w.reset();
                                         return reaction::destroyed;
                                     });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return calls == 1; }));
    settle();
    EXPECT_EQ(calls, 1);
}

TEST_P(FdWatch, OfTheSameBatchThatIsDisarmedRemovedOrDestroyedIsNotCalled) {
    for (int what = 0; what != 3; ++what) {
        fd_pair a = make_pipe();
        fd_pair b = make_pipe();
        std::unique_ptr<test_watch> one;
        std::unique_ptr<test_watch> two;
        int calls = 0;
        const auto end_other = [&](std::unique_ptr<test_watch>& other) {
            return [&, what](test_watch& self) {
                ++calls;
                drain(self.native_handle());
                if (what == 0) {
                    other->disarm();
                } else if (what == 1) {
                    other->remove();
                } else {
                    other.reset();
                }
                return reaction::rearm;
            };
        };
        one =
            std::make_unique<test_watch>(loop(), a.first.get(), interest::readable, end_other(two));
        two =
            std::make_unique<test_watch>(loop(), b.first.get(), interest::readable, end_other(one));
        settle();
        write_all(a.second.get(), "x");
        write_all(b.second.get(), "x");
        ASSERT_TRUE(until([&] { return calls == 1; }));
        settle();
        EXPECT_EQ(calls, 1) << what;
    }
}

TEST_P(FdWatch, OfSeveralRemovedDuringOneRunEachIsTold) {
    fd_pair one = make_pipe();
    fd_pair two = make_pipe();
    fd_pair three = make_pipe();
    test_watch first(loop(), one.first.get(), interest::readable, take_all);
    test_watch second(loop(), two.first.get(), interest::readable, take_all);
    test_watch third(loop(), three.first.get(), interest::readable, [&](test_watch&) {
        first.remove();
        second.remove();
        return reaction::remove;
    });
    write_all(three.second.get(), "x");
    ASSERT_TRUE(until([&] { return third.removals == 1; }));
    ASSERT_TRUE(until([&] { return first.removals == 1 && second.removals == 1; }));
    settle();
    EXPECT_EQ(first.removals + second.removals + third.removals, 3);
    EXPECT_EQ(first.calls + second.calls, 0);
}

TEST_P(FdWatch, OfARegularFileFiresUntilToldOtherwise) {
    const scratch_directory directory;
    test_watch w(
        loop(), directory.file("f", "x"), interest::readable,
        [](test_watch& self) { return self.calls < 5 ? reaction::rearm : reaction::disarm; },
        {.armed = false});
    settle();
    EXPECT_EQ(w.calls, 0);
    w.arm();
    ASSERT_TRUE(until([&] { return w.calls == 5; }));
    settle();
    EXPECT_EQ(w.calls, 5);
    w.set_interest(interest::priority);
    w.arm();
    EXPECT_LE(turns_in(20ms), 20U);
    EXPECT_EQ(w.calls, 5) << "a file is ready for nothing but reading and writing";
    w.set_interest(interest::writable);
    ASSERT_TRUE(until([&] { return w.calls == 6; }));
}

TEST_P(FdWatch, OfARegularFileThatIsMadeForUrgentDataIsNeverCalled) {
    const scratch_directory directory;
    std::optional<test_watch> w;
    loop().post([&] {
        w.emplace(loop(), directory.file("f", "x"), interest::priority,
                  [](test_watch&) { return reaction::disarm; });
    });
    EXPECT_LE(turns_in(20ms), 20U);
    ASSERT_TRUE(w);
    EXPECT_EQ(w->calls, 0);
}

TEST_P(FdWatch, TheErrorForASecondWatchOfAnFdNamesTheOneForBothDirections) {
    fd_pair pair = unix_stream_pair();
    const auto reads = loop().on_readable(pair.first.get(), [](auto&) {});
    try {
        const auto writes = loop().on_writable(pair.first.get(), [](auto&) {});
        FAIL() << "two watches that have one fd to themselves";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::file_exists);
        EXPECT_NE(std::string(e.what()).find("bidi_watch"), std::string::npos) << e.what();
    }
}

/// In a child: standard input may be anything here.
TEST_P(FdWatch, WatchesFdZero) {
    EXPECT_EQ(in_child([&] {
                  fd_pair pipe = make_pipe();
                  EXPECT_EQ(::dup2(pipe.first.get(), 0), 0);
                  eddy::loop home({.engine = GetParam()});
                  test_watch w(home, 0, interest::readable, take_one);
                  write_all(pipe.second.get(), "x");
                  home.run(run_mode::stopped, {.until = clock::now() + patience, .completions = 1});
                  EXPECT_EQ(w.native_handle(), 0);
                  return w.calls;
              }),
              1);
}

TEST_P(FdWatch, OfADirectionThatHasOneIsAnError) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first), {.nonblocking = true});
    test_watch reads(d, interest::readable, take_all);
    const auto error_of = [](const auto& make) {
        try {
            make();
        } catch (const std::system_error& e) {
            return e.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(error_of([&] { test_watch w(d, interest::readable, take_all); }),
              std::errc::file_exists);
    EXPECT_EQ(error_of([&] { test_watch w(d, interest::priority, take_all); }),
              std::errc::file_exists);
    EXPECT_EQ(
        error_of([&] { test_watch w(loop(), d.native_handle(), interest::writable, take_all); }),
        std::errc::file_exists);
    EXPECT_TRUE(is_open(d.native_handle()));
    EXPECT_EQ(error_of([&] { test_watch w(loop(), -1, interest::writable, take_all); }),
              std::errc::bad_file_descriptor);
    {
        test_watch writes(d, interest::writable, [](test_watch&) { return reaction::disarm; });
        ASSERT_TRUE(until([&] { return writes.calls == 1; }));
    }
    test_watch writes(d, interest::writable, [](test_watch&) { return reaction::disarm; });
    ASSERT_TRUE(until([&] { return writes.calls == 1; }));
    EXPECT_EQ(reads.calls, 0);
}

TEST_P(FdWatch, AndAnOperationOnOneDescriptorAreBothTold) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first), {.nonblocking = true});
    std::string buffer(8, '\0');
    recorder r;
    std::vector<std::string> order;
    test_watch w(d, interest::readable,
                 [&](test_watch&) {
                     order.emplace_back("watch");
                     return reaction::rearm;
                 },
                 {.priority = 10});
    r.then([&](recorder&) { order.emplace_back("read"); });
    settle();
    start(r, recv(d, bytes(buffer)));
    settle();
    write_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(until([&] { return w.calls >= 1; }));
    EXPECT_EQ(r.count(), 3U);
    if (!on(engine_kind::io_uring)) {  // there the kernel has read before the loop is told
        EXPECT_EQ(order.front(), "watch");
    }
}

TEST_P(FdWatch, WithTheHighestNumberThatThereCanBe) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    fd_pair pipe = make_pipe();
    const auto highest = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1U << 20) - 1);
    unique_fd high(::fcntl(pipe.first.get(), F_DUPFD_CLOEXEC, highest));
    ASSERT_EQ(high.get(), highest);
    test_watch w(loop(), std::move(high), interest::readable, take_all);
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
}

TEST_P(FdWatch, ALimitOfEventsInOneRunCountsCallsOnly) {
    fd_pair pipes[4] = {make_pipe(), make_pipe(), make_pipe(), make_pipe()};
    int calls = 0;
    std::vector<std::unique_ptr<test_watch>> watches;
    for (auto& pipe : pipes) {
        watches.push_back(std::make_unique<test_watch>(loop(), pipe.first.get(), interest::readable,
                                                       [&](test_watch& w) {
                                                           ++calls;
                                                           return take_all(w);
                                                       }));
        write_all(pipe.second.get(), "x");
    }
    const int expected[] = {2, 3, 4};
    const std::size_t limits[] = {2, 1, 1};
    for (int i = 0; i != 3; ++i) {
        loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = limits[i]});
        EXPECT_EQ(calls, expected[i]);
    }
}

TEST_P(FdWatch, OnlyAnArmedOneKeepsTheLoopAlive) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable,
                 [](test_watch&) { return reaction::disarm; });
    loop().poll();
    EXPECT_FALSE(loop().empty());
    write_all(pipe.second.get(), "x");
    loop().run(run_mode::empty, {.until = clock::now() + patience});
    EXPECT_EQ(w.calls, 1);
    EXPECT_TRUE(loop().empty());
}

TEST_P(FdWatch, IsDisarmedByALoopThatDrains) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, take_all);
    loop().poll();
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    EXPECT_TRUE(loop().empty());
    EXPECT_FALSE(w.armed());
    EXPECT_EQ(w.calls, 0);
    w.arm();
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
}

TEST_P(FdWatch, MadeOfALambdaLivesAsLongAsItsHandle) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first), {.nonblocking = true});
    auto token = std::make_shared<int>(0);
    watch_handle reads = loop().on_readable(d, [token](auto& w) {
        ++*token;
        drain(w.native_handle());
        return reaction::rearm;
    });
    watch_handle writes = loop().on_writable(d, [token](fd_watch& w) {
        *token += 100;
        w.disarm();
        return reaction::remove;
    });
    ASSERT_TRUE(until([&] { return *token == 100; }));
    write_all(pair.second.get(), "x");
    ASSERT_TRUE(until([&] { return *token == 101; }));
    settle();
    EXPECT_EQ(token.use_count(), 3);
    EXPECT_TRUE(writes->removing());
    reads.reset();
    writes = {};
    ASSERT_TRUE(until([&] { return token.use_count() == 1; }));
    int plain = 0;
    watch_handle level = loop().on_readable(d, [&](fd_watch& w) {
        ++plain;
        read_one(w.native_handle());
    });
    write_all(pair.second.get(), "abc");
    ASSERT_TRUE(until([&] { return plain == 3; }));
}

TEST_P(FdWatch, MadeOfALambdaMayDropItsHandleInside) {
    fd_pair pipe = make_pipe();
    int calls = 0;
    watch_handle w;
    w = loop().on_readable(std::move(pipe.first), [&](auto&) {
        ++calls;
        w.reset();
        return reaction::destroyed;
    });
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return calls == 1; }));
    settle();
    EXPECT_EQ(calls, 1);
}

TEST_P(FdWatch, RearmedMakesNoSystemCallOfItsOwnOnEpoll) {
    if (!on(engine_kind::epoll)) {
        GTEST_SKIP();
    }
    fd_pair pipe = make_pipe();
    std::uint64_t before = 0;
    test_watch w(loop(), pipe.first.get(), interest::readable, [&](test_watch& self) {
        drain(self.native_handle());  // not through the library, so not counted
        if (self.calls == 1) {
            before = loop().counters().syscalls;
        }
        if (self.calls == 101) {
            loop().stop();
            return reaction::rearm;
        }
        write_all(pipe.second.get(), "x");
        return reaction::rearm;
    });
    write_all(pipe.second.get(), "x");
    loop().run_for(patience);
    ASSERT_EQ(w.calls, 101);
    EXPECT_EQ(loop().counters().syscalls - before, 100U) << "one wait for each event";
}

}  // namespace
}  // namespace eddy::test::fd_watch_test
