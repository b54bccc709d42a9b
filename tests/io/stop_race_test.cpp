#include "io/io_fixture.hpp"
#include "support/random.hpp"

#include <eddy/io/io.hpp>

#include <atomic>
#include <optional>
#include <thread>

namespace eddy::test {
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
        void set_error(std::error_code) noexcept { self->end(outcome::error); }
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
class IoStopRaceTest : public IoTest {
protected:
#ifdef __SANITIZE_THREAD__
    static constexpr int tries = 500;
#else
    static constexpr int tries = 3000;
#endif

    /// What may wait in a socket that nobody reads from; more would block the test.
    static constexpr int unread_max = 20;

    /// Each try makes an operation, lets it happen, and stops it a little later. `finish` runs on
    /// the loop's thread when all is over.
    template <class Make, class LetHappen, class Finish>
    void race(Make make, LetHappen let_happen, Finish finish) {
        static_cast<void>(loop());
        std::thread runner([&] {
            loop().run();
            finish();
        });
        for (int i = 0; i != tries; ++i) {
            raced operation(make());
            operation.start();
            let_happen(i);
            for (std::uint64_t spin = random_.below(2000); spin != 0; --spin) {
                std::atomic_signal_fence(std::memory_order_seq_cst);
            }
            operation.source.request_stop();
            EXPECT_NE(operation.wait(), outcome::error);
        }
        loop().stop();
        runner.join();
    }
    template <class Make, class LetHappen>
    void race(Make make, LetHappen let_happen) {
        race(make, let_happen, [] {});
    }

    random_numbers random_;
};

TEST_P(IoStopRaceTest, ReadUntilLosesNoLine) {
    fd_pair pair = unix_stream_pair();
    stream reader(loop(), std::move(pair.first));
    std::string buffer;
    std::atomic<int> lines = 0;
    int sent = 0;
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
                send_all(pair.second.get(), "line\n");
                ++sent;
            }
        });
    for (; lines != sent; ++lines) {
        const std::size_t n = run(read_until(reader, buffer, "\n", 1'000'000));
        ASSERT_EQ(buffer.substr(0, n), "line\n");
        buffer.erase(0, n);
    }
    EXPECT_EQ(buffer, "");
    EXPECT_EQ(bytes_waiting(reader.native_handle()), 0U);
}

TEST_P(IoStopRaceTest, ReadsLoseNoByte) {
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
        });
    EXPECT_EQ(bytes_waiting(reader.native_handle()), static_cast<std::size_t>(sent - received));
}

TEST_P(IoStopRaceTest, NextLosesNoConnection) {
    scratch_directory directory;
    const address at = address::from("unix:" + directory.path("s"));
    local::acceptor acceptor(loop(), at);
    std::optional<incoming<local::stream>> connections(std::in_place, acceptor, 4);
    int made = 0;
    std::atomic<int> taken = 0;
    race([&] { return connections->next_fd() | ex::then([&](unique_fd) noexcept { ++taken; }); },
         [&](int i) {
             if (i % 3 == 0) {
                 unique_fd peer;
                 ASSERT_FALSE(detail::open_socket(AF_UNIX, SOCK_STREAM, peer));
                 ASSERT_EQ(::connect(peer.get(), at.native(), at.native_length()), 0);
                 ++made;
             }
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

TEST_P(IoStopRaceTest, ConnectsLeakNothing) {
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
        });
}

TEST_P(IoStopRaceTest, RacesOfAddressesLeakNothing) {
    const address nobody[] = {address(), address::from("unix:@x")};
    int failed = 0;
    race(
        [&] {
            return tcp::connect_any(loop(), nobody) |
                   ex::then([](tcp::socket) noexcept { ADD_FAILURE(); }) |
                   ex::upon_error([&](auto&&) noexcept { ++failed; });
        },
        [](int) {});
    EXPECT_LE(failed, tries);
}

EDDY_ON_EVERY_ENGINE(IoStopRaceTest);

}  // namespace
}  // namespace eddy::test
