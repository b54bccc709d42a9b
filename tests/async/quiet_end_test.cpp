// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/signals.hpp"

#include <eddy/async/nursery.hpp>
#include <eddy/async/sleep.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/io.hpp>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace eddy::test::quiet_end_test {
namespace {

class QuietEnd : public TaskTest {
protected:
    blocked_signals blocked_{{SIGUSR1}};
};
EDDY_ON_EVERY_ENGINE(QuietEnd);

/// Everything that a server has tasks waiting for.
struct handles {
    explicit handles(loop& home)
        : acceptor(home, address::loopback_v4(0)),
          talk(local::make_pair(home)),
          datagrams(home, address::loopback_v4(0)),
          signals(home, {SIGUSR1}) {}

    tcp::acceptor acceptor;
    std::pair<local::stream, local::stream> talk;
    udp::socket datagrams;
    signal_source signals;
};

task<> accept_all(handles& h) {
    for (;;) {
        co_await h.acceptor.accept();
    }
}
task<> read(handles& h) {
    std::array<std::byte, 16> buffer;
    co_await h.talk.first.read_some(buffer);
}
task<> read_line(handles& h) {
    std::string line;
    co_await read_until(h.talk.second, line, "\n", 100);
}
task<> receive(handles& h) {
    std::array<std::byte, 16> buffer;
    co_await timeout(h.datagrams.recv(buffer), 1h);
}
task<> wait_for_signal(handles& h) { co_await wait_signal(h.signals, SIGUSR1); }
task<> sleep_long() { co_await sleep_for(1h); }

void spawn_all(loop& home, handles& h) {
    spawn(home, accept_all(h));
    spawn(home, read(h));
    spawn(home, read_line(h));
    spawn(home, receive(h));
    spawn(home, wait_for_signal(h));
    spawn(home, sleep_long());
    spawn(home, [&h]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(read(h));
            co_await children.join();
        });
    });
}

TEST_P(QuietEnd, TasksWhoseHandlesAreClosedSayNothing) {
    const heard_reports heard;
    std::optional<handles> h(std::in_place, loop());
    spawn_all(loop(), *h);
    settle();
    h.reset();
    settle();
    end_loop();
    EXPECT_EQ(heard.lines(), std::vector<std::string>());
}

TEST_P(QuietEnd, TasksWhoseLoopEndsSayNothing) {
    const heard_reports heard;
    auto own = std::make_unique<eddy::loop>(loop_options{.engine = GetParam()});
    auto h = std::make_unique<handles>(*own);
    spawn_all(*own, *h);
    own->poll();
    h.reset();  // as at the end of main(): what was made last goes first
    own.reset();
    EXPECT_EQ(heard.lines(), std::vector<std::string>());
}

TEST_P(QuietEnd, ADrainSaysNothing) {
    const heard_reports heard;
    handles h(loop());
    spawn_all(loop(), h);
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(heard.lines(), std::vector<std::string>());
}

TEST_P(QuietEnd, AnyOtherErrorIsReportedWithItsSubject) {
    const heard_reports heard;
    spawn(loop(), file::open(loop(), "/no/such/file", O_RDONLY));
    EXPECT_TRUE(until([&] { return !heard.lines().empty(); }));
    EXPECT_EQ(heard.lines(), std::vector<std::string>{"a task ended with an exception: file::open "
                                                      "/no/such/file: No such file or directory"});
}

}  // namespace
}  // namespace eddy::test::quiet_end_test
