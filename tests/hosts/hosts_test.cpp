// SPDX-License-Identifier: Apache-2.0
#include "hosts/foreign_host.hpp"
#include "loop/work.hpp"
#include "support/fds.hpp"
#include "support/recorder.hpp"

#include <eddy/loop/embedding.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace eddy::test::hosts_test {
namespace {

using namespace std::chrono_literals;

struct host_kind {
    const char* name;
    std::unique_ptr<foreign_host> (*make)();
};

/// An eddy loop inside a real loop of another project, which knows nothing but an fd of it.
class HostsNoTsan : public ::testing::TestWithParam<std::tuple<host_kind, engine_kind>> {
protected:
    void SetUp() override {
        const engine_kind kind = std::get<engine_kind>(GetParam());
        try {
            loop_.emplace(loop_options{.engine = kind});
        } catch (const std::system_error& error) {
            GTEST_SKIP() << error.what();
        }
        inner_.emplace(*loop_);
        host_ = std::get<host_kind>(GetParam()).make();
        host_->watch(inner_->handle(), [this] { inner_->run_ready(); });
    }
    void TearDown() override {
        host_.reset();
        inner_.reset();
        loop_.reset();
    }

    foreign_host& host() { return *host_; }
    eddy::loop& loop() { return *loop_; }
    void run() {
        host().after(30s, [this] {
            ADD_FAILURE() << "it has not happened within the time";
            host().stop();
        });
        host().run();
    }

private:
    std::optional<eddy::loop> loop_;
    std::optional<embedding> inner_;
    std::unique_ptr<foreign_host> host_;
};

constexpr host_kind kinds[] = {{"glib", &make_glib_host}, {"uv", &make_uv_host}};

INSTANTIATE_TEST_SUITE_P(Host, HostsNoTsan,
                         ::testing::Combine(::testing::ValuesIn(kinds),
                                            ::testing::Values(engine_kind::epoll,
                                                              engine_kind::io_uring)),
                         [](const auto& test) {
                             return std::string(std::get<host_kind>(test.param).name) + "_" +
                                    to_string(std::get<engine_kind>(test.param));
                         });

TEST_P(HostsNoTsan, EddysTimersNeedNoTimerOfTheHost) {
    std::optional<alarm> ring;
    ring.emplace(loop(), [&] {
        if (ring->runs == 500) {
            host().stop();
        } else {
            loop().post_after(100us, *ring);
        }
    });
    loop().post_after(1ms, *ring);
    run();
    EXPECT_EQ(ring->runs, 500);
}

TEST_P(HostsNoTsan, EachSideDrivesTheOther) {
    constexpr int rounds = 5000;
    int host_calls = 0;
    std::optional<job> work;
    // A callback of the host posts to eddy; the entry asks the host for the next callback.
    const std::function<void()> on_host = [&] {
        ++host_calls;
        loop().post(*work);
    };
    work.emplace([&] {
        if (work->runs == rounds) {
            host().stop();
        } else {
            host().after(0ms, on_host);
        }
    });
    host().after(0ms, on_host);
    run();
    EXPECT_EQ(host_calls, rounds);
    EXPECT_EQ(work->runs, rounds);
}

TEST_P(HostsNoTsan, BytesGoBetweenASocketOfEddyAndOneOfTheHost) {
    constexpr int messages = 10'000;
    auto [near, far] = unix_stream_pair();
    const descriptor socket(loop(), std::move(near));
    std::string buffer(16, '\0');
    recorder receiving;
    recorder sending;
    receiving.then([&](recorder& r) {
        const auto got = std::string_view(buffer).substr(0, r.count());
        sending.start(loop(), eddy::send_all(socket, bytes(got)));
    });
    sending.then([&](recorder&) { receiving.start(loop(), recv(socket, bytes(buffer))); });
    receiving.start(loop(), recv(socket, bytes(buffer)));

    int echoed = 0;
    host().watch(far.get(), [&] {
        char back[16];
        const auto size = ::read(far.get(), back, sizeof back);
        EXPECT_EQ(std::string_view(back, static_cast<std::size_t>(size)),
                  "ball " + std::to_string(echoed));
        if (++echoed == messages) {
            host().stop();
        } else {
            send_all(far.get(), "ball " + std::to_string(echoed));
        }
    });
    host().after(1ms, [&] { send_all(far.get(), "ball 0"); });
    run();
    EXPECT_EQ(echoed, messages);
}

TEST_P(HostsNoTsan, PostsOfOtherThreadsAllArrive) {
    constexpr int threads = 2;
    constexpr int posts = 5000;
    int done = 0;
    std::vector<std::thread> others;
    for (int t = 0; t != threads; ++t) {
        others.emplace_back([&] {
            std::atomic<int> ran = 0;
            job one([&] {
                if (++done == threads * posts) {
                    host().stop();
                }
                ++ran;
                ran.notify_one();
            });
            for (int i = 0; i != posts; ++i) {
                loop().post(one);
                ran.wait(i);
            }
        });
    }
    run();
    for (std::thread& other : others) {
        other.join();
    }
    EXPECT_EQ(done, threads * posts);
}

TEST_P(HostsNoTsan, ABusyEddyLetsTheHostRun) {
    bool over = false;
    std::optional<job> busy;
    busy.emplace([&] {
        if (!over) {
            loop().post(*busy);
        }
    });
    loop().post(*busy);
    host().after(5ms, [&] {
        over = true;
        host().after(1ms, [&] { host().stop(); });
    });
    run();
    EXPECT_FALSE(busy->posted());
    EXPECT_GT(busy->runs, 1000);
}

}  // namespace
}  // namespace eddy::test::hosts_test
