// SPDX-License-Identifier: Apache-2.0
// A watch that is removed and made again in one turn, whatever becomes of its fd in between.
#include "kernel/call.hpp"
#include "watch/test_watch.hpp"

#include <cerrno>
#include <functional>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::test::rewatch_test {
namespace {

class Rewatch : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        pipe_ = make_pipe();
        set_nonblocking(pipe_.first.get(), true);
        watch_again();
        settle();
    }
    void TearDown() override {
        watch_.reset();
        settle();
        pipe_ = {};
        EngineTest::TearDown();
    }

    int number() const { return pipe_.first.get(); }
    void watch_again() {
        watch_.reset();
        watch_.emplace(loop(), number(), interest::readable, [this](test_watch& self) {
            nonblocking_when_called_ = is_nonblocking(number());
            return take_all(self);
        });
    }
    /// Puts the file of `fd` at the number that is watched, in place of what is there.
    void put_there(const unique_fd& fd) {
        ASSERT_EQ(::dup3(fd.get(), number(), O_CLOEXEC), number());
    }
    /// Inside a callback, where programs do it.
    void inside(const std::function<void()>& act) {
        bool done = false;
        loop().post([&] {
            act();
            done = true;
        });
        ASSERT_TRUE(until([&] { return done; }));
    }
    /// What comes through `writer` reaches the watch.
    void expect_connected(int writer) {
        for (int i = 0; i != 2; ++i) {
            settle();
            const int before = watch_->calls;
            write_all(writer, "x");
            ASSERT_TRUE(until([&] { return watch_->calls == before + 1; }));
        }
    }
    static unique_fd duplicate_of(const unique_fd& fd) {
        return unique_fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    }

    fd_pair pipe_;
    std::optional<test_watch> watch_;
    bool nonblocking_when_called_ = false;
};
EDDY_ON_EVERY_ENGINE(Rewatch);

TEST_P(Rewatch, AsksTheKernelOnce) {
    std::uint64_t calls = 0;
    inside([&] {
        const std::uint64_t before = kernel::calls_made();
        watch_again();
        calls = kernel::calls_made() - before;
    });
    if (on(engine_kind::epoll)) {
        EXPECT_EQ(calls, 1U);
    }
    expect_connected(pipe_.second.get());
}

TEST_P(Rewatch, OftenHearsOfWhatIsThereAndOfWhatComes) {
    for (int i = 0; i != 100; ++i) {
        inside([&] { watch_again(); });
    }
    EXPECT_EQ(watch_->calls, 0);
    expect_connected(pipe_.second.get());
    inside([&] {
        write_all(pipe_.second.get(), "while it is watched");
        watch_again();
    });
    ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
    inside([&] {
        watch_.reset();
        write_all(pipe_.second.get(), "while it is not");
        watch_again();
    });
    ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
    expect_connected(pipe_.second.get());
}

/// Its edge has been told, and will not be told again by itself.
TEST_P(Rewatch, HearsOfWhatItsPredecessorWasToldOfAndHasLeft) {
    for (int i = 0; i != 3; ++i) {
        inside([&] {
            watch_.reset();
            watch_.emplace(loop(), number(), interest::readable,
                           [](test_watch&) { return reaction::disarm; });
        });
        write_all(pipe_.second.get(), "left");
        ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
        inside([&] { watch_again(); });
        ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
        inside([&] { watch_again(); });
        settle();
        EXPECT_EQ(watch_->calls, 0);
        expect_connected(pipe_.second.get());
    }
}

/// Its edge has been told, though nobody was called for it: as a lie, or by the same wait that the
/// callback is called for in which it is made anew.
TEST_P(Rewatch, HearsOfWhatItsPredecessorSaidThatNothingWasLeftOf) {
    inside([&] {
        watch_.reset();
        watch_.emplace(loop(), number(), interest::readable, [](test_watch& self) {
            read_one(self.native_handle());
            return reaction::rearm;
        });
    });
    write_all(pipe_.second.get(), "xy");
    ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
    inside([&] { watch_again(); });
    ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
    expect_connected(pipe_.second.get());
}

TEST_P(Rewatch, MadeAnewByAnotherCallbackOfTheSameWaitHearsOfWhatIsThereOnly) {
    for (const bool taken : {false, true}) {
        fd_pair urgent = make_pipe();
        const test_watch first(
            loop(), urgent.first.get(), interest::readable,
            [&](test_watch& self) {
                drain(self.native_handle());
                if (taken) {
                    drain(number());
                }
                watch_again();
                return reaction::rearm;
            },
            watch_options{.priority = 0});
        settle();
        write_all(urgent.second.get(), "x");
        write_all(pipe_.second.get(), "x");
        ASSERT_TRUE(until([&] { return first.calls == 1; }));
        if (taken) {
            settle();
            EXPECT_EQ(watch_->calls, 0);
        } else {
            ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
        }
        expect_connected(pipe_.second.get());
    }
}

/// The first of its registrations that was left behind has the token of a watch that is gone.
TEST_P(Rewatch, OfAFileThatWasLeftBehindHearsOfIt) {
    const unique_fd old = duplicate_of(pipe_.first);
    fd_pair other = make_pipe();
    set_nonblocking(other.first.get(), true);
    for (int i = 0; i != 3; ++i) {
        inside([&] {
            watch_.reset();
            put_there(other.first);
            watch_again();
        });
        inside([&] {
            watch_.reset();
            put_there(old);
            watch_again();
        });
        expect_connected(pipe_.second.get());
    }
}

TEST_P(Rewatch, GoesAnotherWayIfTheKernelRefuses) {
    inside([&] {
        watch_.reset();
        kernel::fail(kernel::call::epoll_ctl, ENOMEM);
        watch_again();
        kernel::fail_nothing();
    });
    expect_connected(pipe_.second.get());
    inside([&] { watch_again(); });
    expect_connected(pipe_.second.get());
}

TEST_P(Rewatch, LeavesNothingToWhoAttachesTheFdForReading) {
    for (int i = 0; i != 3; ++i) {
        std::optional<descriptor> d;
        std::string buffer(8, '\0');
        recorder reader;
        inside([&] {
            watch_again();
            watch_.reset();
            d.emplace(attach(std::move(pipe_.first)));
            write_all(pipe_.second.get(), "x");
            start(reader, read(*d, bytes(buffer)));
        });
        ASSERT_TRUE(ends(reader));
        EXPECT_EQ(reader.count(), 1U);
        inside([&] {
            ASSERT_FALSE(d->release(pipe_.first));
            watch_again();
        });
        expect_connected(pipe_.second.get());
    }
}

TEST_P(Rewatch, ManyAtATime) {
    constexpr int count = 100;
    std::vector<fd_pair> pipes;
    std::vector<std::optional<test_watch>> watches(count);
    const auto make = [&](std::size_t i) {
        watches[i].emplace(loop(), pipes[i].first.get(), interest::readable, take_all);
    };
    for (std::size_t i = 0; i != count; ++i) {
        pipes.push_back(make_pipe());
        set_nonblocking(pipes[i].first.get(), true);
        make(i);
    }
    settle();
    for (int round = 0; round != 3; ++round) {
        // All at first, so that some must be taken out; then in the other order.
        inside([&] {
            for (auto& w : watches) {
                w.reset();
            }
            for (std::size_t i = count; i != 0; --i) {
                make(i - 1);
            }
        });
        for (const fd_pair& p : pipes) {
            write_all(p.second.get(), "x");
        }
        for (const auto& w : watches) {
            ASSERT_TRUE(until([&] { return w->calls == 1; }));
        }
    }
    watches.clear();
}

TEST_P(Rewatch, OfWhatWasTakenForReadingHearsThatItCanBeWritten) {
    fd_pair pair = unix_stream_pair();
    std::optional<test_watch> w;
    w.emplace(loop(), pair.first.get(), interest::readable, take_all);
    settle();
    for (int i = 0; i != 3; ++i) {
        inside([&] {
            w.reset();
            w.emplace(loop(), pair.first.get(), interest::writable,
                      [](test_watch&) { return reaction::disarm; });
        });
        ASSERT_TRUE(until([&] { return w->calls == 1; }));
        EXPECT_EQ(w->ready(), interest::writable);
    }
    inside([&] {
        w.reset();
        w.emplace(loop(), pair.first.get(), interest::readable, take_all);
    });
    settle();
    EXPECT_EQ(w->calls, 0);
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(until([&] { return w->calls == 1; }));
}

TEST_P(Rewatch, HearsOfAHangupThatWasToldBefore) {
    pipe_.second.reset();
    ASSERT_TRUE(until([&] { return watch_->calls != 0; }));
    for (int i = 0; i != 3; ++i) {
        inside([&] { watch_again(); });
        ASSERT_TRUE(until([&] { return watch_->calls != 0; }));
        EXPECT_TRUE(any(watch_->ready() & interest::hangup));
    }
}

TEST_P(Rewatch, SetsTheModeThatWasChangedMeanwhileBeforeItIsCalled) {
    for (int i = 0; i != 3; ++i) {
        inside([&] {
            watch_.reset();
            set_nonblocking(number(), false);
            watch_again();
        });
        nonblocking_when_called_ = false;
        expect_connected(pipe_.second.get());
        EXPECT_TRUE(nonblocking_when_called_);
        inside([&] { watch_again(); });
        expect_connected(pipe_.second.get());
        EXPECT_TRUE(nonblocking_when_called_);
        inside([&] { watch_.reset(); });
        EXPECT_FALSE(is_nonblocking(number())) << "that is how it came";
        set_nonblocking(number(), true);
        inside([&] { watch_again(); });
        expect_connected(pipe_.second.get());
    }
}

TEST_P(Rewatch, SetsTheModeThatWasChangedMeanwhileAlsoIfItIsArmedLater) {
    const auto watch_disarmed = [this] {
        watch_.emplace(
            loop(), number(), interest::readable,
            [this](test_watch& self) {
                nonblocking_when_called_ = is_nonblocking(number());
                return take_all(self);
            },
            watch_options{.armed = false});
    };
    inside([&] {
        watch_.reset();
        set_nonblocking(number(), false);
        watch_disarmed();
    });
    write_all(pipe_.second.get(), "x");
    settle();
    watch_->arm();
    ASSERT_TRUE(until([&] { return watch_->calls == 1; }));
    EXPECT_TRUE(nonblocking_when_called_);
}

/// An operation must not block the loop, whatever was there before it.
TEST_P(Rewatch, LeavesTheModeToWhoAttachesTheFdNext) {
    inside([&] {
        watch_again();
        watch_.reset();
        set_nonblocking(number(), false);
    });
    std::optional<descriptor> d;
    inside([&] {
        watch_again();
        watch_.reset();
        d.emplace(attach(std::move(pipe_.first)));
    });
    std::string buffer(8, '\0');
    recorder reader;
    start(reader, read(*d, bytes(buffer)));
    settle();
    ASSERT_FALSE(reader.ended());
    write_all(pipe_.second.get(), "x");
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(reader.count(), 1U);
}

TEST_P(Rewatch, OfAnotherFileInItsPlaceHearsOfThat) {
    const unique_fd old = duplicate_of(pipe_.first);
    fd_pair other = make_pipe();
    inside([&] {
        watch_.reset();
        put_there(other.first);
        watch_again();
    });
    EXPECT_TRUE(is_nonblocking(number()));
    write_all(pipe_.second.get(), "not for it");
    settle();
    EXPECT_EQ(watch_->calls, 0);
    expect_connected(other.second.get());
}

TEST_P(Rewatch, OfAnotherFileThatCameWhileItWasWatchedHearsOfThat) {
    const unique_fd old = duplicate_of(pipe_.first);
    fd_pair other = make_pipe();
    inside([&] {
        put_there(other.first);
        watch_again();
    });
    EXPECT_TRUE(is_nonblocking(number()));
    write_all(pipe_.second.get(), "not for it");
    settle();
    EXPECT_EQ(watch_->calls, 0);
    expect_connected(other.second.get());
    inside([&] {
        put_there(old);
        watch_again();
    });
    drain(old.get());
    expect_connected(pipe_.second.get());
}

TEST_P(Rewatch, OfTheSameFileThatWasClosedAndCameBack) {
    const unique_fd old = duplicate_of(pipe_.first);
    fd_pair other = make_pipe();
    for (int i = 0; i != 3; ++i) {
        inside([&] {
            put_there(other.first);
            watch_.reset();
            put_there(old);
            watch_again();
        });
        expect_connected(pipe_.second.get());
    }
}

TEST_P(Rewatch, OfAFileInItsPlaceIsAlwaysReady) {
    const scratch_directory directory;
    const unique_fd file = directory.file("plain", "x");
    inside([&] {
        watch_.reset();
        put_there(file);
        watch_again();
    });
    ASSERT_TRUE(until([&] { return watch_->calls > 2; }));
}

TEST_P(Rewatch, OfWhatIsAttachedAgainAsAFileIsAlwaysReady) {
    descriptor as_file;
    inside([&] {
        watch_.reset();
        ASSERT_FALSE(
            descriptor::attach(loop(), pipe_.first, as_file, {.kind = descriptor_kind::file}));
        watch_.emplace(as_file, interest::readable, [](test_watch&) { return reaction::rearm; });
    });
    ASSERT_TRUE(until([&] { return watch_->calls > 2; }));
    watch_.reset();
}

TEST_P(Rewatch, LeavesTheModeOfAnothersFileAlone) {
    const unique_fd old = duplicate_of(pipe_.first);
    const fd_pair other = make_pipe();
    set_nonblocking(other.first.get(), false);
    inside([&] {
        watch_.reset();
        set_nonblocking(number(), false);
        watch_.emplace(loop(), number(), interest::readable,
                       [](test_watch&) { return reaction::disarm; });
        put_there(other.first);
    });
    write_all(pipe_.second.get(), "x");
    settle();
    EXPECT_FALSE(is_nonblocking(number()));
    watch_.reset();
    EXPECT_FALSE(is_nonblocking(number()));
    settle();
}

TEST_P(Rewatch, GivesBackTheModeOfItsOwnFileOnly) {
    watch_.reset();
    set_nonblocking(number(), false);
    watch_again();
    const unique_fd old = duplicate_of(pipe_.first);
    const fd_pair other = make_pipe();
    set_nonblocking(other.first.get(), true);
    inside([&] {
        put_there(other.first);
        watch_.reset();
    });
    EXPECT_TRUE(is_nonblocking(number()));
}

TEST_P(Rewatch, AfterACloseIsRefused) {
    inside([&] {
        watch_.reset();
        const int closed = number();
        pipe_.first.reset();
        EXPECT_THROW(test_watch(loop(), closed, interest::readable, take_all), std::system_error);
    });
}

class WatchOfATakenNumber : public EngineTest {};
EDDY_ON_READINESS_ENGINES(WatchOfATakenNumber);

/// The number was closed by others while an executor had something to do with it.
TEST_P(WatchOfATakenNumber, IsGivenBackWhenTheExecutorHasLetGo) {
    eddy::loop elsewhere({.engine = engine_kind::epoll});
    make_loop({.blocking = &elsewhere});
    const scratch_directory directory;
    const descriptor file = attach(directory.file("plain", "content"));
    const int number = file.native_handle();
    std::string buffer(8, '\0');
    recorder reader;
    start(reader, read(file, bytes(buffer)));
    loop().poll();
    const fd_pair pipe = make_pipe();
    const unique_fd taken(::dup3(pipe.first.get(), number, O_CLOEXEC));
    ASSERT_EQ(taken.get(), number);
    { const test_watch w(loop(), number, interest::readable, take_all); }
    EXPECT_TRUE(is_open(number));
    write_all(pipe.second.get(), "x");
    elsewhere.poll();
    ASSERT_TRUE(ends(reader));
    EXPECT_FALSE(is_nonblocking(number)) << "that is how it came";
    const test_watch again(loop(), number, interest::readable, take_all);
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return again.calls == 1; }));
}

}  // namespace
}  // namespace eddy::test::rewatch_test
