// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"
#include "support/signals.hpp"

#include <eddy/os/stop_on_signals.hpp>

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

#include <unistd.h>

namespace eddy::test::stop_on_signals_test {
namespace {

class StopOnSignals : public EngineTest {
protected:
    /// A shell ignores SIGINT for what it starts in the background.
    void SetUp() override {
        EngineTest::SetUp();
        interrupt_before_ = ::signal(SIGINT, SIG_DFL);
    }
    void TearDown() override {
        ::signal(SIGINT, interrupt_before_);
        EngineTest::TearDown();
    }
    loop_options options() const { return {.engine = GetParam()}; }

private:
    sighandler_t interrupt_before_ = SIG_DFL;
};
EDDY_ON_EVERY_ENGINE(StopOnSignals);

constexpr int killed = 1000;

TEST_P(StopOnSignals, TheFirstOneEndsTheLoopGracefully) {
    for (const int signum : {SIGINT, SIGTERM}) {
        EXPECT_EQ(in_child([&] {
                      eddy::loop home(options());
                      stop_on_signals stopper(home);
                      EXPECT_EQ(stopper.info().signum, 0);
                      bool ran = false;
                      home.post([&] { send_signal(signum); });
                      home.post([&] { ran = true; });
                      home.run(run_mode::drained, {.until = clock::now() + patience});
                      EXPECT_TRUE(ran);
                      EXPECT_EQ(stopper.info().signum, signum);
                      EXPECT_EQ(stopper.info().pid, ::getpid());
                      return 7;
                  }),
                  7);
    }
}

TEST_P(StopOnSignals, TheSecondOneEndsTheProcessEvenIfACallbackHangs) {
    static int told;  // whoever reads from it sends the second one
    EXPECT_EQ(
        in_child([&] {
            eddy::loop home(options());
            stop_on_signals stopper(home);
            fd_pair quiet = make_pipe();
            fd_pair hanging = make_pipe();
            const pid_t process = ::getpid();
            if (::fork() == 0) {
                hanging.second.reset();
                char byte = 0;
                ::_exit(::read(hanging.first.get(), &byte, 1) == 1 ? ::kill(process, SIGINT) : 1);
            }
            told = hanging.second.get();
            io_operation canceled_by_the_stop([](io_operation&) noexcept {
                static_cast<void>(::write(told, "x", 1));
                for (;;) {
                    ::pause();
                }
            });
            const descriptor waited(home, std::move(quiet.first));
            home.start(canceled_by_the_stop, wait(waited, interest::readable));
            home.post([] { send_signal(SIGTERM); });
            home.run(run_mode::drained);
            return 0;
        }),
        killed + SIGINT);
}

TEST_P(StopOnSignals, TheSecondOneEndsTheProcessAlsoAfterTheRun) {
    EXPECT_EQ(in_child([&] {
                  eddy::loop home(options());
                  stop_on_signals stopper(home);
                  home.post([] { send_signal(SIGTERM); });
                  home.run();
                  send_signal(SIGINT);
                  return 0;
              }),
              killed + SIGINT);
}

TEST_P(StopOnSignals, OneThatWasPendingWithTheFirstForcesItToo) {
    EXPECT_EQ(in_child([&] {
                  eddy::loop home(options());
                  stop_on_signals stopper(home);
                  send_signal(SIGTERM);
                  send_signal(SIGINT);
                  home.run();
                  return 0;
              }),
              killed + SIGTERM);
}

TEST_P(StopOnSignals, AHandlerOfTheUserDoesNotKeepTheSecondFromForcing) {
    EXPECT_EQ(in_child([&] {
                  struct sigaction action{};
                  action.sa_handler = [](int) {};
                  ::sigaction(SIGTERM, &action, nullptr);
                  eddy::loop home(options());
                  stop_on_signals stopper(home);
                  send_signal(SIGTERM);
                  home.run();
                  send_signal(SIGTERM);
                  return 0;
              }),
              killed + SIGTERM);
}

TEST_P(StopOnSignals, StopsAllLoopsOfAGroup) {
    EXPECT_EQ(in_child([&] {
                  loop_group group({.size = 3, .loop = options()});
                  stop_on_signals stopper(group);
                  group.start();
                  send_signal(SIGTERM);
                  group.join();
                  EXPECT_EQ(stopper.info().signum, SIGTERM);
                  return 7;
              }),
              7);
}

TEST_P(StopOnSignals, TheSecondOneForcesAGroupWhileAnyOfItsThreadsIsLeft) {
    EXPECT_EQ(in_child([&] {
                  loop_group group({.size = 2, .loop = options()});
                  stop_on_signals stopper(group);
                  fd_pair stuck = unix_stream_pair();
                  group.start();
                  // Loop 1 cannot drain: a write that nobody reads.
                  descriptor writer;
                  const std::string much(1 << 22, 'x');
                  io_operation write;
                  std::atomic<bool> started{false};
                  group.at(1).post([&] {
                      writer = descriptor(group.at(1), std::move(stuck.first));
                      group.at(1).start(write, write_all(writer, bytes(std::string_view(much))));
                      started = true;
                  });
                  while (!started) {
                      std::this_thread::yield();
                  }
                  send_signal(SIGTERM);
                  while (is_pending(SIGTERM)) {
                      std::this_thread::yield();  // until it is taken, a second one is the same
                  }
                  send_signal(SIGTERM);
                  group.join();
                  return 0;
              }),
              killed + SIGTERM);
}

TEST_P(StopOnSignals, ALoopOfTheGroupThatDoesNotRunWhenItComesIsPassedOver) {
    EXPECT_EQ(in_child([&] {
                  loop_group group({.size = 2, .loop = options()});
                  stop_on_signals stopper(group);
                  send_signal(SIGTERM);
                  group.at(0).run(run_mode::drained, {.until = clock::now() + patience});
                  EXPECT_EQ(stopper.info().signum, SIGTERM);
                  return 7;
              }),
              7);
}

TEST_P(StopOnSignals, RequestsAStop) {
    EXPECT_EQ(in_child([&] {
                  eddy::loop home(options());
                  std::stop_source source;
                  stop_on_signals stopper(home, source, {SIGHUP});
                  send_signal(SIGHUP);
                  const time_point limit = clock::now() + patience;
                  while (!source.stop_requested() && clock::now() < limit) {
                      home.run_for(1ms);
                  }
                  EXPECT_TRUE(source.stop_requested());
                  return 7;
              }),
              7);
}

TEST_P(StopOnSignals, LeavesIgnoredSignalsAlone) {
    EXPECT_EQ(in_child([&] {
                  struct sigaction ignore{};
                  ignore.sa_handler = SIG_IGN;
                  ::sigaction(SIGINT, &ignore, nullptr);
                  eddy::loop home(options());
                  stop_on_signals stopper(home);
                  EXPECT_FALSE(is_blocked(SIGINT));
                  send_signal(SIGINT);
                  home.run_for(5ms);
                  EXPECT_EQ(stopper.info().signum, 0);
                  send_signal(SIGTERM);
                  home.run();
                  EXPECT_EQ(stopper.info().signum, SIGTERM);
                  return 7;
              }),
              7);
}

TEST_P(StopOnSignals, DoesNotKeepALoopGoingThatHasNothingToDo) {
    EXPECT_EQ(in_child([&] {
                  eddy::loop home(options());
                  stop_on_signals stopper(home);
                  const time_point limit = clock::now() + patience;
                  home.run(run_mode::empty, {.until = limit});
                  EXPECT_LT(clock::now(), limit);
                  return 7;
              }),
              7);
}

}  // namespace
}  // namespace eddy::test::stop_on_signals_test
