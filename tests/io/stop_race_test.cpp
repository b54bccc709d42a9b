// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "io/send_one_fd.hpp"
#include "support/random.hpp"

#include <eddy/io/io.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace eddy::test::stop_race_test {
namespace {

enum class outcome { pending, value, error, stopped };

/// An operation that this thread starts and stops while the loop's thread completes it.
template <class Sender>
class raced {
    struct environment {
        ex::inplace_stop_token token;
        ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
    };
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        raced* self;

        template <class... Values>
        void set_value(Values&&...) noexcept {
            self->end(outcome::value);
        }
        template <class Error>
        void set_error(Error&&) noexcept {
            self->end(outcome::error);
        }
        void set_stopped() noexcept { self->end(outcome::stopped); }
        environment get_env() const noexcept { return {self->source.get_token()}; }
    };

public:
    explicit raced(Sender sender) : operation_(ex::connect(std::move(sender), receiver{this})) {}
    void start() { ex::start(operation_); }
    outcome wait() {
        outcome_.wait(outcome::pending, std::memory_order_acquire);
        return outcome_.load(std::memory_order_acquire);
    }

    ex::inplace_stop_source source;

private:
    /// notify_all() may touch the word after wait() has returned: the last one is told by a flag.
    void end(outcome how) {
        EXPECT_EQ(outcome_.load(), outcome::pending) << "it has completed twice";
        outcome_.store(how, std::memory_order_release);
        outcome_.notify_all();
        told_.store(true, std::memory_order_release);
    }

    std::atomic<outcome> outcome_{outcome::pending};
    std::atomic<bool> told_{false};
    ex::connect_result_t<Sender, receiver> operation_;

public:
    ~raced() {
        while (!told_.load(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
    }
};

/// The loop runs on a thread of its own meanwhile.
class StopRace : public IoTest {
protected:
#ifdef __SANITIZE_THREAD__
    int tries = 500;
#else
    int tries = 10'000;
#endif

    void read_until_loses_no_line();
    void reads_lose_no_byte();
    void receives_lose_no_byte_and_no_buffer();
    void closes_close();
    void next_loses_no_connection();
    void connects_leak_nothing();
    void races_of_addresses_leak_nothing();
    void races_that_are_won_leak_nothing();
    void received_descriptors_do_not_leak();

    /// What may wait in a socket that nobody reads or accepts from; more would block the test.
    static constexpr int unread_max = 20;

    /// How the tries have ended.
    struct tally {
        int values = 0;
        int stopped = 0;
    };

    /// Each try makes an operation, lets it happen, and stops it a little later; sometimes before
    /// it starts, and sometimes after it has ended, so that neither always wins. `let_happen`
    /// returns whether the operation is sure to end without a stop. `finish` runs on the loop's
    /// thread when all is over.
    template <class Make, class LetHappen, class Finish>
    tally race(Make make, LetHappen let_happen, Finish finish) {
        static_cast<void>(loop());
        std::thread runner([&] {
            loop().run();
            finish();
        });
        tally seen;
        for (int i = 0; i != tries; ++i) {
            const outcome how = one_race(raced(make()), [&] { return let_happen(i); });
            EXPECT_NE(how, outcome::error);
            seen.values += how == outcome::value ? 1 : 0;
            seen.stopped += how == outcome::stopped ? 1 : 0;
        }
        loop().stop();
        runner.join();
        EXPECT_GT(seen.values, 0) << "the stop always came first: that was no race";
        EXPECT_GT(seen.stopped, 0) << "the stop never came first: that was no race";
        return seen;
    }
    template <class Make, class LetHappen>
    tally race(Make make, LetHappen let_happen) {
        return race(make, let_happen, [] {});
    }
    template <class Raced, class LetHappen>
    outcome one_race(Raced&& operation, LetHappen let_happen) {
        const std::uint64_t when = random_.below(8);
        if (when == 0) {
            operation.source.request_stop();
        }
        operation.start();
        if (let_happen() && when == 1) {
            static_cast<void>(operation.wait());
        }
        for (std::uint64_t spin = random_.below(2000); spin != 0; --spin) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        operation.source.request_stop();
        return operation.wait();
    }

    random_numbers random_;
};

void StopRace::read_until_loses_no_line() {
    fd_pair pair = unix_stream_pair();
    stream reader(loop(), std::move(pair.first));
    std::string buffer;
    std::atomic<int> lines = 0;
    int sent = 0;
    bool half = false;
    race(
        [&] {
            return read_until(reader, buffer, "\n", 1'000'000) | ex::then([&](std::size_t n) {
                       buffer.erase(0, n);
                       ++lines;
                   }) |
                   ex::upon_error([](auto&&) noexcept { ADD_FAILURE(); });
        },
        [&](int) {
            if (sent - lines < unread_max) {
                // In halves, so that what is stopped has got something, but not enough.
                send_all(pair.second.get(), half ? "ne\n" : "li");
                sent += half ? 1 : 0;
                half = !half;
            }
            return sent > lines;
        });
    if (half) {
        send_all(pair.second.get(), "ne\n");
        ++sent;
    }
    for (; lines != sent; ++lines) {
        const std::size_t n = run(read_until(reader, buffer, "\n", 1'000'000));
        ASSERT_EQ(buffer.substr(0, n), "line\n");
        buffer.erase(0, n);
    }
    EXPECT_EQ(buffer, "");
    EXPECT_EQ(bytes_waiting(reader.native_handle()), 0U);
}

void StopRace::reads_lose_no_byte() {
    fd_pair pair = unix_stream_pair();
    stream reader(loop(), std::move(pair.first));
    char byte[1];
    std::atomic<int> received = 0;
    int sent = 0;
    race(
        [&] {
            return reader.read_some(bytes(byte)) |
                   ex::then([&](std::size_t) noexcept { ++received; });
        },
        [&](int) {
            if (sent - received < unread_max) {
                send_all(pair.second.get(), "x");
                ++sent;
            }
            return sent > received;
        });
    EXPECT_EQ(bytes_waiting(reader.native_handle()), static_cast<std::size_t>(sent - received));
}

void StopRace::receives_lose_no_byte_and_no_buffer() {
    make_loop({.lease_size = 64, .lease_count = 1, .lease_max = 2});
    fd_pair pair = unix_stream_pair();
    stream reader(loop(), std::move(pair.first));
    std::mutex mutex;
    std::vector<lease> lent;
    std::atomic<std::size_t> received = 0;
    std::size_t sent = 0;
    race(
        [&] {
            return reader.receive() | ex::then([&](lease got) noexcept {
                       const std::lock_guard lock(mutex);
                       received += got.size();
                       lent.push_back(std::move(got));
                   });
        },
        [&](int i) {
            if (sent - received < unread_max) {
                send_all(pair.second.get(), "x");
                ++sent;
            }
            // With two out a receive starves, and is stopped while it does.
            const std::lock_guard lock(mutex);
            if (i % 3 == 0 && !lent.empty()) {
                lent.pop_back();
            }
            return sent > received && lent.size() < 2;
        },
        [&] { settle(); });
    EXPECT_EQ(bytes_waiting(reader.native_handle()), sent - received);
    lent.clear();
    EXPECT_EQ(loop().counters().leases_out, 0U);
}

/// Whether it completes or is stopped, the fd is closed; the fixture counts them.
void StopRace::closes_close() {
    // Handles are made and emptied on the loop's thread only.
    const auto make_and_close = [this] {
        unique_fd fd = std::move(unix_stream_pair().first);
        return stream(loop(), std::move(fd)).close();
    };
    race([&] { return loop().get_scheduler().schedule() | ex::let_value(make_and_close); },
         [](int) { return true; }, [&] { settle(); });
}

void StopRace::next_loses_no_connection() {
    scratch_directory directory;
    const address at = address::from("unix:" + directory.path("s"));
    local::acceptor acceptor(loop(), at);
    std::optional<incoming<local::stream>> connections(std::in_place, acceptor, 4);
    int made = 0;
    std::atomic<int> taken = 0;
    race([&] { return connections->next_fd() | ex::then([&](unique_fd) noexcept { ++taken; }); },
         [&](int i) {
             if (i % 3 == 0 && made - taken < unread_max) {
                 unique_fd peer;
                 EXPECT_FALSE(detail::open_socket(AF_UNIX, SOCK_STREAM, peer));
                 EXPECT_EQ(::connect(peer.get(), at.native(), at.native_length()), 0);
                 ++made;
             }
             return made > taken;
         },
         [&] {
             for (; taken != made; ++taken) {
                 EXPECT_TRUE(run(connections->next_fd()));
             }
             EXPECT_EQ(connections->stored(), 0U);
             EXPECT_FALSE(becomes_ready(acceptor.native_handle(), 1 /* POLLIN */, 0));
             connections.reset();
             settle();
         });
}

void StopRace::connects_leak_nothing() {
    scratch_directory directory;
    const address at = address::from("unix:" + directory.path("s"));
    unique_fd listener;
    ASSERT_FALSE(detail::open_socket(AF_UNIX, SOCK_STREAM, listener));
    ASSERT_FALSE(detail::bind_socket(listener.get(), at));
    ASSERT_FALSE(detail::listen_on(listener.get(), 4096));
    // The sockets are closed where they arrive: on the loop's thread.
    race(
        [&] {
            return local::connect(loop(), at) |
                   ex::then([](local::stream made) noexcept { EXPECT_TRUE(made); });
        },
        [&](int i) {
            if (i % 1000 == 999) {
                for (int n = 0; n != 1000 && becomes_ready(listener.get(), 1 /* POLLIN */, 0);
                     ++n) {
                    const unique_fd accepted(::accept(listener.get(), nullptr, nullptr));
                }
            }
            return true;
        });
}

void StopRace::races_of_addresses_leak_nothing() {
    const address nobody[] = {address(), address::from("unix:@x")};
    int failed = 0;
    const tally seen = race(
        [&] {
            return tcp::connect_any(loop(), nobody) |
                   ex::then([](tcp::socket) noexcept { ADD_FAILURE(); }) |
                   ex::upon_error([&](auto&&) noexcept { ++failed; });
        },
        [](int) { return true; });
    EXPECT_EQ(failed, seen.values);
    EXPECT_EQ(seen.values + seen.stopped, tries);
}

/// A connection that nobody wants any more is closed; the fixture counts them.
void StopRace::races_that_are_won_leak_nothing() {
    const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address any = address::any_v4(0);
    ASSERT_FALSE(detail::bind_socket(listener.get(), any));
    ASSERT_FALSE(detail::listen_on(listener.get(), 4096));
    ASSERT_FALSE(detail::local_address_of(listener.get(), any));
    const auto take_all = [&] {
        for (int fd = 0; (fd = ::accept(listener.get(), nullptr, nullptr)) >= 0;) {
            reset_on_close(fd);
            unique_fd(fd).reset();
        }
    };
    std::uint32_t host = 0;
    race(
        [&] {
            // Many hosts, because each has only so many ports, which closed connections keep.
            host = (host + 1) % 250;
            if (host % 100 == 0) {
                take_all();  // now that no connect is under way, which a reset would fail
            }
            const address to[] = {address::v4(INADDR_LOOPBACK + host, any.port()), address()};
            return tcp::connect_any(loop(), to, 0s) | ex::then([](tcp::socket made) noexcept {
                       EXPECT_FALSE(made.set_option(option::reset_on_close));
                   });
        },
        [](int) { return true; }, [&] { settle(); });
    take_all();
}

void StopRace::received_descriptors_do_not_leak() {
    auto pair = local::make_pair(loop());
    const unique_fd event = make_eventfd();
    std::byte byte[1];
    std::atomic<int> received = 0;
    int sent = 0;
    race(
        [&] {
            return pair.first.receive_fds<1>(byte) | ex::then([&](const auto& got) noexcept {
                       EXPECT_EQ(got.fd_count, 1U);
                       ++received;
                   });
        },
        [&](int) {
            if (sent - received < unread_max) {
                send_one_fd(pair.second.native_handle(), event.get());
                ++sent;
            }
            return sent > received;
        });
    EXPECT_EQ(bytes_waiting(pair.first.native_handle()), static_cast<std::size_t>(sent - received));
}

class IoStopRace : public StopRace {};
TEST_P(IoStopRace, ReadUntilLosesNoLine) { read_until_loses_no_line(); }
TEST_P(IoStopRace, ReadsLoseNoByte) { reads_lose_no_byte(); }
TEST_P(IoStopRace, ReceivesLoseNoByteAndNoBuffer) { receives_lose_no_byte_and_no_buffer(); }
TEST_P(IoStopRace, ClosesClose) { closes_close(); }
TEST_P(IoStopRace, NextLosesNoConnection) { next_loses_no_connection(); }
TEST_P(IoStopRace, ConnectsLeakNothing) { connects_leak_nothing(); }
TEST_P(IoStopRace, RacesOfAddressesLeakNothing) { races_of_addresses_leak_nothing(); }
TEST_P(IoStopRace, RacesThatAreWonLeakNothing) { races_that_are_won_leak_nothing(); }
TEST_P(IoStopRace, ReceivedDescriptorsDoNotLeak) { received_descriptors_do_not_leak(); }
EDDY_ON_EVERY_ENGINE(IoStopRace);

class LongIoStopRace : public StopRace {
protected:
    LongIoStopRace() { tries = static_cast<int>(scaled(10'000)); }
};
TEST_P(LongIoStopRace, ReadUntilLosesNoLine) { read_until_loses_no_line(); }
TEST_P(LongIoStopRace, ReadsLoseNoByte) { reads_lose_no_byte(); }
TEST_P(LongIoStopRace, ReceivesLoseNoByteAndNoBuffer) { receives_lose_no_byte_and_no_buffer(); }
TEST_P(LongIoStopRace, ClosesClose) { closes_close(); }
TEST_P(LongIoStopRace, NextLosesNoConnection) { next_loses_no_connection(); }
TEST_P(LongIoStopRace, ConnectsLeakNothing) { connects_leak_nothing(); }
TEST_P(LongIoStopRace, RacesOfAddressesLeakNothing) { races_of_addresses_leak_nothing(); }
TEST_P(LongIoStopRace, RacesThatAreWonLeakNothing) { races_that_are_won_leak_nothing(); }
TEST_P(LongIoStopRace, ReceivedDescriptorsDoNotLeak) { received_descriptors_do_not_leak(); }
EDDY_ON_EVERY_ENGINE(LongIoStopRace);

}  // namespace
}  // namespace eddy::test::stop_race_test
