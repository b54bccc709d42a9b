// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/refused_waits.hpp"
#include "support/signals.hpp"
#include "support/with_every_allocation_failing.hpp"

#include <eddy/async/async.hpp>
#include <eddy/base/report.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/io.hpp>
#include <eddy/io/read_until.hpp>
#include <eddy/watch/watches.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace eddy::test::memory_loop {

namespace {

class MemoryOfLoops : public EngineTest {};

struct quiet {
    void operator()(const std::exception_ptr&) const noexcept {}
};

constexpr std::string_view hello = "hello\n";

task<> echo(tcp::socket peer) {
    std::array<std::byte, 64> data;
    while (const std::size_t count = co_await peer.read_some(data)) {
        co_await peer.write(std::span(data).first(count));
    }
}

/// Says hello and is answered. False: the connection was ended before.
task<bool> greet(eddy::loop& loop, address where) {
    const tcp::socket server = co_await tcp::connect(loop, where);
    co_await server.write(bytes(hello));
    std::string answer;
    const auto size = co_await as_result(read_until(server, answer, "\n", 64));
    co_return size&& answer == hello;
}

/// A service for ever, and a client that decides when it is over.
template <class Service>
bool serves(eddy::loop& loop, Service service, address where) {
    auto end = std::move(service) | ex::then([] { return false; });
    const auto answered = loop.run(when_any(std::move(end), greet(loop, where)));
    return answered && std::get<0>(*answered);
}

address where_is(const tcp::acceptor& acceptor) {
    address where;
    if (auto error = acceptor.local_address(where)) {
        throw std::system_error(error);
    }
    return where;
}

TEST_P(MemoryOfLoops, ALoopIsMadeAndEndedOrNot) {
    with_every_allocation_failing([] {
        eddy::loop loop({.engine = GetParam()});
        bool ran = false;
        loop.post([&] { ran = true; });
        loop.run(run_mode::empty);
        return ran;
    });
}

/// An attempt that has failed leaves nothing half done: the next one fails in the same way.
TEST_P(MemoryOfLoops, AnFdIsAttachedOrNotHoweverOftenThatIsTried) {
    with_every_allocation_failing([] {
        eddy::loop loop({.engine = GetParam()});
        unique_fd fd = [] {
            const allocations_of_test exempt;
            return make_eventfd();
        }();
        descriptor attached;
        std::error_code error;
        for (int attempts = 0; attempts != 3; ++attempts) {
            error = descriptor::attach(loop, fd, attached);
            if (!error) {
                break;
            }
        }
        if (error) {
            return false;
        }
        io_operation readable([](io_operation&) noexcept {});
        loop.start(readable, wait(attached, interest::readable));
        loop.poll();  // nothing is there: it joins those that the kernel is asked about
        ::eventfd_write(attached.native_handle(), 1);
        loop.run(run_mode::empty);
        return readable.result().ok();
    });
}

TEST_P(MemoryOfLoops, AServerOfTasksIsMadeAndServes) {
    with_every_allocation_failing([] {
        eddy::loop loop({.engine = GetParam()});
        tcp::acceptor acceptor(loop, address::loopback_v4(0));
        const address where = where_is(acceptor);
        return serves(loop, serve_each(std::move(acceptor), echo, quiet()), where);
    });
}

/// Nobody hears what is reported while it lives.
class unheard_reports {
public:
    unheard_reports() : before_(set_report_handler([](std::string_view) noexcept {})) {}
    ~unheard_reports() { set_report_handler(before_); }
    unheard_reports(const unheard_reports&) = delete;
    unheard_reports& operator=(const unheard_reports&) = delete;

private:
    report_handler before_;
};

/// The server of chapter 4 of the guide.
task<> serve_in_a_nursery(const tcp::acceptor& acceptor) {
    co_await with_nursery([&](nursery& children) -> task<> {
        for (;;) {
            auto peer = co_await acceptor.accept();
            try {
                children.start(echo(std::move(peer)), report_exception());
            } catch (const std::bad_alloc&) {
                report_exception()(std::current_exception());
            }
        }
    });
}

TEST_P(MemoryOfLoops, ATaskOfANurseryEndsAloneOrIsNotStarted) {
    const unheard_reports quiet_reports;
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address where = where_is(acceptor);
    with_every_allocation_failing(
        [&] { return serves(loop(), serve_in_a_nursery(acceptor), where); });
}

TEST_P(MemoryOfLoops, ANurserysConnectionWithoutMemoryIsClosedAndTheNextIsServed) {
    const unheard_reports quiet_reports;
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address where = where_is(acceptor);
    // A test that fails is over before its server.
    const auto ended = std::make_shared<bool>(false);
    spawn(loop(), serve_in_a_nursery(acceptor),
          [ended](const std::exception_ptr&) { *ended = true; });
    settle();  // it accepts
    for (int round = 0; round != 3; ++round) {
        const unique_fd client = tcp_connect(where.port());
        own_memory_faults().begin(1, memory_faults::how::from_then_on);
        EXPECT_TRUE(until_driven([] { return own_memory_faults().failed.load() != 0; }));
        own_memory_faults().stop_failing();
        ASSERT_FALSE(*ended);
        ASSERT_TRUE(until([&] { return becomes_ready(client.get(), POLLIN, 0); }));
        EXPECT_EQ(read_to_end(client.get()), "");
        EXPECT_TRUE(std::get<0>(*loop().run(greet(loop(), where))));
    }
    acceptor = tcp::acceptor();
    EXPECT_TRUE(until([&] { return *ended; }));
}

TEST_P(MemoryOfLoops, ASpawnedTaskEndsAloneOrIsNotStarted) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address where = where_is(acceptor);
    const auto serve = [&]() -> task<> {
        for (;;) {
            auto peer = co_await acceptor.accept();
            try {
                spawn(loop(), echo(std::move(peer)), quiet());
            } catch (const std::bad_alloc&) {}
        }
    };
    with_every_allocation_failing([&] {
        const bool answered = serves(loop(), serve(), where);
        settle();
        return answered;
    });
}

TEST_P(MemoryOfLoops, ASessionOfSendersEndsAloneOrIsNotStarted) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address where = where_is(acceptor);
    const auto session = [](tcp::socket peer) {
        return ex::just(std::move(peer)) | ex::let_value([](const tcp::socket& s) {
                   return repeat_until([&s] {
                       return timeout(s.receive(), 1h) | ex::let_value([&s](const lease& got) {
                                  return s.write(got.data());
                              }) |
                              ex::then([](std::size_t count) { return count == 0; });
                   });
               }) |
               ex::upon_error([](auto&&) noexcept {});
    };
    with_every_allocation_failing([&] {
        ex::counting_scope sessions;
        const auto start = [&](tcp::socket peer) noexcept {
            try {
                ex::spawn(session(std::move(peer)), sessions.get_token());
            } catch (const std::bad_alloc&) {}
        };
        auto serve = repeat([&] { return acceptor.accept() | ex::then(start); });
        auto end = ex::just() | ex::let_value([&] {
                       sessions.request_stop();
                       return sessions.join();
                   });
        return serves(loop(), finally(std::move(serve), std::move(end)), where);
    });
}

TEST_P(MemoryOfLoops, ConnectionsThatWereAcceptedAheadAreServedOrClosed) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address where = where_is(acceptor);
    with_every_allocation_failing([&] {
        incoming<tcp::socket> connections(acceptor, 4);
        auto serve = with_nursery([&](nursery& children) -> task<> {
            for (;;) {
                auto peer = co_await as_result(connections.next());
                try {
                    if (peer) {
                        children.start(echo(std::move(*peer)), quiet());
                    }
                } catch (const std::bad_alloc&) {}
            }
        });
        return serves(loop(), std::move(serve), where);
    });
}

/// The peer resets: an error that is thrown.
TEST_P(MemoryOfLoops, AnErrorIsThrownWithoutMemoryForIt) {
    with_every_allocation_failing([&] {
        fd_pair pair = [] {
            const allocations_of_test exempt;
            return tcp_pair();
        }();
        tcp::socket socket(loop(), std::move(pair.first));
        reset_on_close(pair.second.get());
        pair.second.reset();
        std::array<std::byte, 8> data;
        bool thrown = false;
        const auto read = [&]() -> task<> {
            try {
                static_cast<void>(co_await socket.read_some(data));
            } catch (const std::system_error& e) {
                thrown = e.code() == std::errc::connection_reset;
            }
        };
        loop().run(read());
        return thrown;
    });
}

TEST_P(MemoryOfLoops, FilesTimersAndChannelsWorkOrFail) {
    const scratch_directory scratch;
    static_cast<void>(scratch.file("name", hello));
    with_every_allocation_failing([&] {
        channel<std::string> lines(4);
        const auto read = [&]() -> task<> {
            const auto file = co_await file::open(loop(), scratch.path("name"), O_RDONLY);
            std::array<std::byte, 64> data;
            const auto count = co_await timeout(file.read_some(data), 1h);
            co_await loop().get_scheduler().schedule_after(1us);
            co_await lines.send(std::string(reinterpret_cast<const char*>(data.data()), count));
        };
        const auto both = [&]() -> task<std::string> {
            co_await ex::when_all(read(), retry([] { return ex::just(); }));
            co_return co_await lines.receive();
        };
        const auto got = loop().run(both());
        return got && std::get<0>(*got) == hello;
    });
}

/// Stops its loop when it expires.
struct stopper : timer_watch {
    explicit stopper(eddy::loop& home) : timer_watch(home, &expired, nullptr), loop(home) {}
    static reaction expired(timer_watch& w) noexcept {
        static_cast<stopper&>(w).loop.stop();
        return reaction::disarm;
    }
    eddy::loop& loop;
};

TEST_P(MemoryOfLoops, WatchesAreCalledOrNotMade) {
    with_every_allocation_failing([&] {
        fd_pair pair = [] {
            const allocations_of_test exempt;
            fd_pair made = make_pipe();
            write_all(made.second.get(), "x");
            return made;
        }();
        int calls = 0;
        const auto handle = loop().on_readable(pair.first.get(), [&](fd_watch&) {
            ++calls;
            return reaction::disarm;
        });
        stopper timer(loop());
        timer.set_after(1us);
        loop().run();
        while (calls == 0 && loop().poll() != 0) {}
        return calls == 1;
    });
}

TEST_P(MemoryOfLoops, WatchesOfChildrenAreCalledOrNotMade) {
    with_every_allocation_failing([&] {
        bool ended = false;
        const auto handle = loop().on_exit(process_options{.program = "/bin/true"},
                                           [&](child_watch&, const exit_status& status) {
                                               ended = status.success();
                                               loop().stop();
                                           });
        loop().run();
        return ended;
    });
}

TEST_P(MemoryOfLoops, WatchesOfSignalsAreCalledOrNotMade) {
    const blocked_signals blocked(signal_set{SIGUSR1});
    with_every_allocation_failing([&] {
        settle();  // the watch of the time before lets go of the signal
        bool told = false;
        const auto handle =
            loop().on_signal(signal_set{SIGUSR1}, [&](signal_watch&, const signal_info&) {
                told = true;
                loop().stop();
            });
        send_to_this_thread(SIGUSR1);
        loop().run();
        return told;
    });
}

TEST_P(MemoryOfLoops, AProcessRunsOrIsNotMade) {
    with_every_allocation_failing([&] {
        const auto run = [&]() -> task<bool> {
            process child(loop(), {.program = "/bin/true"});
            const exit_status status = co_await child.wait();
            co_return status.success();
        };
        const auto ended = loop().run(run());
        return ended && std::get<0>(*ended);
    });
}

/// Where memory is so short that the kernel cannot wait, there is none for an exception either.
TEST_P(MemoryOfLoops, AnErrorOfAWaitSaysWhatItIsWithoutMemory) {
    const std::string call = on(engine_kind::epoll)  ? "epoll_wait"
                             : on(engine_kind::poll) ? "ppoll"
                                                     : "io_uring_enter";
    for (const int error : {ENOMEM, EFAULT}) {
        end_loop();
        make_loop({.name = "mine", .wait_retry = duration::zero()});
        loop().poll();
        timer far(loop(), [](timer&) noexcept {});
        loop().post_after(std::chrono::hours(1), far);
        refuse_waits(GetParam(), error, 1000);
        char words[256] = "nothing";
        std::error_code code;
        own_memory_faults().begin(1, memory_faults::how::from_then_on);
        try {
            loop().run();
        } catch (const std::system_error& thrown) {
            code = thrown.code();
            std::snprintf(words, sizeof words, "%s", thrown.what());
        } catch (const std::exception& thrown) {
            std::snprintf(words, sizeof words, "%s", thrown.what());
        }
        own_memory_faults().end();
        kernel::fail_nothing();
        EXPECT_EQ(code, std::errc::not_enough_memory);  // which is true of both
        const std::string text = words;
        EXPECT_NE(text.find("mine"), std::string::npos) << text;
        EXPECT_NE(text.find(call), std::string::npos) << text;
        EXPECT_NE(text.find(::strerrordesc_np(error)), std::string::npos) << text;
    }
}

EDDY_ON_EVERY_ENGINE(MemoryOfLoops);

}  // namespace

}  // namespace eddy::test::memory_loop
