// SPDX-License-Identifier: Apache-2.0
// What gRPC tests its polling engines with, over every strategy.
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::ported_test {
namespace {

class Ported : public PollsetTest {
protected:
    /// Threads that work on a pollset until the condition holds.
    template <class Condition>
    static bool threads_until(std::size_t count, pollset& set, Condition holds) {
        std::atomic<bool> over{false};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i != count; ++i) {
            threads.emplace_back([&] {
                while (!over) {
                    EXPECT_TRUE(set.work(soon(20s)));
                }
            });
        }
        const bool held = comes(holds, 20s);
        over = true;
        noted all_left;
        set.shutdown(all_left);
        for (std::thread& thread : threads) {
            thread.join();
        }
        return held;
    }
};

/// One who sends, and one who accepts and receives: each step by a closure, and the end travels
/// from the client to the session to the listener.
TEST_P(Ported, UploadsOverASmallSocketBuffer) {
    constexpr std::size_t upload = 256 * 1024;
    tcp_listener accepting;
    unique_fd client_fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int small = 1024;
    ASSERT_EQ(::setsockopt(client_fd.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(accepting.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    pollset set(domain());
    held_handle listener(domain(), accepting.take());
    held_handle client(domain(), std::move(client_fd));
    std::optional<held_handle> session;
    std::atomic<std::size_t> received{0};
    std::size_t sent = 0;
    noted listener_ended;

    closure* read_again = nullptr;
    callback on_session([&](std::error_code) {
        std::vector<char> buffer(4096);
        for (;;) {
            const ssize_t n = ::recv((*session)->fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (n > 0) {
                received += static_cast<std::size_t>(n);
            } else if (n == 0) {
                listener->shutdown(std::make_error_code(std::errc::connection_aborted));
                return;
            } else {
                EXPECT_EQ(errno, EAGAIN);
                EXPECT_FALSE((*session)->notify_on_read(*read_again));
                return;
            }
        }
    });
    read_again = &on_session;
    callback on_accept([&](std::error_code) {
        session.emplace(domain(), unique_fd(::accept4(listener->fd(), nullptr, nullptr,
                                                      SOCK_NONBLOCK | SOCK_CLOEXEC)));
        EXPECT_FALSE(set.add(**session));
        EXPECT_FALSE((*session)->notify_on_read(on_session));
        EXPECT_FALSE(listener->notify_on_read(listener_ended));
    });
    closure* write_again = nullptr;
    callback on_writable([&](std::error_code) {
        const std::string block(4096, 'x');
        while (sent != upload) {
            const ssize_t n =
                ::send(client->fd(), block.data(), std::min(block.size(), upload - sent),
                       MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0) {
                EXPECT_EQ(errno, EAGAIN);
                EXPECT_FALSE(client->notify_on_write(*write_again));
                return;
            }
            sent += static_cast<std::size_t>(n);
        }
        client.orphan();
    });
    write_again = &on_writable;
    ASSERT_FALSE(set.add(*listener));
    ASSERT_FALSE(listener->notify_on_read(on_accept));
    ASSERT_EQ(::connect(client->fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), -1);
    ASSERT_EQ(errno, EINPROGRESS);
    ASSERT_FALSE(set.add(*client));
    ASSERT_FALSE(client->notify_on_write(on_writable));
    EXPECT_TRUE(threads_until(2, set, [&] { return listener_ended.calls() == 1; }));
    EXPECT_EQ(listener_ended.error(), std::errc::connection_aborted);
    EXPECT_EQ(received, upload);
    EXPECT_TRUE(client.done());
}

/// An eventfd that counts what it is told, and arms itself again.
class counting {
public:
    counting(poll_domain& domain, std::atomic<std::size_t>& total)
        : total_(total), handle_(domain, make_eventfd()), told_([this](std::error_code error) {
              eventfd_t value = 0;
              if (!error && ::eventfd_read(handle_->fd(), &value) == 0) {
                  total_ += value;
              }
              if (!error) {
                  EXPECT_FALSE(handle_->notify_on_read(told_));
              }
          }) {}

    poll_handle& handle() { return *handle_; }
    // A wake-up may be spurious, and the next read must not wait then.
    void arm() {
        set_nonblocking(handle_->fd(), true);
        ASSERT_FALSE(handle_->notify_on_read(told_));
    }
    void wake() { ASSERT_EQ(::eventfd_write(handle_->fd(), 1), 0); }

private:
    struct self_arming final : closure {
        explicit self_arming(std::function<void(std::error_code)> f)
            : closure([](closure& self, std::error_code error) {
                  static_cast<self_arming&>(self).call(error);
              }),
              call(std::move(f)) {}
        std::function<void(std::error_code)> call;
    };

    std::atomic<std::size_t>& total_;
    held_handle handle_;
    self_arming told_;
};

TEST_P(Ported, AHundredFdsAndAHundredWakeUpsOfEach) {
    std::atomic<std::size_t> total{0};
    pollset set(domain());
    std::deque<counting> all;
    for (int i = 0; i != 100; ++i) {
        all.emplace_back(domain(), total);
        ASSERT_FALSE(set.add(all.back().handle()));
        all.back().arm();
    }
    std::thread waking([&] {
        for (int round = 0; round != 100; ++round) {
            for (counting& each : all) {
                each.wake();
            }
        }
    });
    EXPECT_TRUE(threads_until(4, set, [&] { return total == 100U * 100U; }));
    waking.join();
    EXPECT_EQ(total, 100U * 100U);
}

TEST_P(Ported, OfTenThreadsOnOneFdNoneStarves) {
    constexpr std::size_t count = 10;
    pollset set(domain());
    held_handle handle(domain(), make_eventfd(1));
    std::mutex mutex;
    std::set<std::thread::id> ran;
    closure* again = nullptr;
    callback told([&](std::error_code error) {
        if (error) {
            return;
        }
        {
            const std::lock_guard lock(mutex);
            ran.insert(std::this_thread::get_id());
        }
        EXPECT_FALSE(handle->notify_on_read(*again));
        EXPECT_EQ(::eventfd_write(handle->fd(), 1), 0);
    });
    again = &told;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(told));
    EXPECT_TRUE(threads_until(count, set, [&] {
        const std::lock_guard lock(mutex);
        return ran.size() == count;
    }));
}

TEST_P(Ported, ThreeThreadsOnThreePollsetsAreFreedByAKickEach) {
    std::deque<pollset> sets;
    std::deque<inside> threads;
    for (int i = 0; i != 3; ++i) {
        threads.emplace_back(sets.emplace_back(domain()));
    }
    for (pollset& set : sets) {
        set.kick_any();
    }
    for (inside& each : threads) {
        EXPECT_EQ(each.join(), work_end::kicked);
    }
}

/// A pair whose two ends play with each other on one pollset.
class pinging {
public:
    explicit pinging(poll_domain& domain) : set_(domain) {
        auto [near, far] = unix_stream_pair();
        near_.emplace(domain, std::move(near));
        far_.emplace(domain, std::move(far));
        EXPECT_FALSE(set_.add(**near_));
        EXPECT_FALSE(set_.add(**far_));
    }
    pollset& set() { return set_; }
    bool play(std::size_t rounds) {
        for (std::size_t round = 0; round != rounds; ++round) {
            if (!passes(**near_, **far_) || !passes(**far_, **near_)) {
                return false;
            }
        }
        return true;
    }

private:
    bool passes(poll_handle& from, poll_handle& to) {
        noted readable;
        EXPECT_FALSE(to.notify_on_read(readable));
        send_all(from.fd(), "x");
        const time_point end = clock::now() + 20s;
        while (readable.calls() == 0 && clock::now() < end) {
            EXPECT_TRUE(set_.work(end));
        }
        if (readable.calls() == 0) {
            return false;
        }
        char byte = 0;
        return ::recv(to.fd(), &byte, 1, MSG_DONTWAIT) == 1 || errno == EAGAIN;
    }

    pollset set_;
    std::optional<held_handle> near_;
    std::optional<held_handle> far_;
};

/// A handle that comes and goes in a bag of busy pollsets may change where their workers poll. No
/// event of a pollset may be stranded at a poller that its workers have left.
TEST_P(Ported, ThirtyTwoPollsetsPlayWhileAllShareAnAddressThatRefuses) {
    const std::size_t rounds = scaled(50);
    unsigned short nobody_there = 0;
    {
        const tcp_listener gone;
        nobody_there = gone.port();
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(nobody_there);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    pollset_set all(domain());
    std::deque<pinging> players;
    for (int i = 0; i != 32; ++i) {
        ASSERT_FALSE(all.add(players.emplace_back(domain()).set()));
    }
    std::atomic<int> playing{32};
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (pinging& each : players) {
        threads.emplace_back([&] {
            bool whole = each.play(rounds);
            while (whole && refused < 3) {
                whole = each.play(1);
            }
            EXPECT_TRUE(whole) << "an event was stranded";
            --playing;
        });
    }
    while (playing != 0) {
        noted connected;
        held_handle trying(
            domain(), unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
        static_cast<void>(
            ::connect(trying->fd(), reinterpret_cast<sockaddr*>(&address), sizeof address));
        ASSERT_FALSE(trying->notify_on_write(connected));
        ASSERT_FALSE(all.add(*trying));
        EXPECT_TRUE(comes([&] { return connected.calls() == 1 || playing == 0; }));
        ++refused;
        static_cast<void>(trying->cancel(connected));
        trying.orphan();
        EXPECT_TRUE(comes([&] { return trying.done(); }));
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// As many descriptors, if the hard limit allows it.
class more_files {
public:
    explicit more_files(rlim_t wanted) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit more = before_;
        more.rlim_cur = std::max(wanted, before_.rlim_cur);
        allowed_ = ::setrlimit(RLIMIT_NOFILE, &more) == 0;
    }
    more_files(const more_files&) = delete;
    more_files& operator=(const more_files&) = delete;
    ~more_files() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
    explicit operator bool() const { return allowed_; }

private:
    rlimit before_{};
    bool allowed_ = false;
};

TEST_P(Ported, TenThousandPollsetsShareOneFd) {
    constexpr std::size_t count = 10'000;
    const more_files allowed(count + 100);
    if (GetParam() == poll_strategy::poll && !allowed) {
        GTEST_SKIP() << "each has a descriptor, and there may not be as many";
    }
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    const std::size_t before = open_fds();
    std::deque<pollset> sets;
    for (std::size_t i = 0; i != count; ++i) {
        ASSERT_FALSE(sets.emplace_back(domain()).add(*handle)) << i;
    }
    if (GetParam() != poll_strategy::poll) {
        EXPECT_LE(open_fds() - before, 2U) << "an epoll set for all of them, at most";
    }
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
        noted readable;
        ASSERT_FALSE(handle->notify_on_read(readable));
        write_all(write.get(), "x");
        EXPECT_TRUE(until(sets[i], [&] { return readable.calls() == 1; })) << i;
        recv_exactly(fd, 1);
    }
}

EDDY_WITH_EVERY_STRATEGY(Ported);

}  // namespace
}  // namespace eddy::test::ported_test
