// SPDX-License-Identifier: Apache-2.0
// In steady state a loop takes no memory.
#include "engine/allocation_counter.hpp"
#include "support/engine_fixture.hpp"

#include <array>

#include <fcntl.h>
#include <sys/socket.h>

namespace eddy::test::allocation_test {
namespace {

class Allocation : public EngineTest {
protected:
    /// How much memory is taken while `count` is counted up by `step`.
    template <class Step>
    std::uint64_t allocations_of(Step&& step) {
        const std::uint64_t before = allocations();
        step();
        return allocations() - before;
    }
};
EDDY_ON_EVERY_ENGINE(Allocation);

/// Sends back and forth what it gets.
struct player {
    eddy::loop* home;
    descriptor socket;
    timed_io_operation io{};
    int left = 0;
    bool timed = false;
    std::array<std::byte, 64> buffer{};

    void receive() noexcept {
        home->start<&player::io, &player::on_received>(
            *this, recv(socket, buffer), timed ? clock::now() + std::chrono::hours(1) : never);
    }
    void on_received(io_result result) noexcept {
        if (result.count() != 0) {
            home->start<&player::io, &player::on_sent>(
                *this, send(socket, std::span(buffer).first(result.count())), never);
        }
    }
    void on_sent(io_result) noexcept {
        if (--left <= 0) {
            home->stop();
        }
        receive();
    }
};

TEST_P(Allocation, IsNotNeededToPlayPingPong) {
    for (const bool timed : {false, true}) {
        fd_pair pair = tcp_pair();
        player one{&loop(), attach(std::move(pair.first))};
        player two{&loop(), attach(std::move(pair.second))};
        one.timed = two.timed = timed;
        ASSERT_EQ(::send(two.socket.native_handle(), "ball", 4, 0), 4);
        one.receive();
        two.receive();
        one.left = 10;
        two.left = 1'000'000;
        loop().run();
        one.left = 1000;
        EXPECT_EQ(allocations_of([&] { loop().run(); }), 0U);
        EXPECT_LE(one.left, 0);
        one.socket.close();
        two.socket.close();
        loop().run(run_mode::empty);
    }
}

/// Takes what comes in a buffer of the loop and sends that back.
struct borrower {
    eddy::loop* home;
    descriptor socket;
    io_operation io{};
    lease data{};
    int left = 0;

    void receive_next() noexcept {
        home->start<&borrower::io, &borrower::on_received>(*this, receive(socket));
    }
    void on_received(io_result result) noexcept {
        data = home->take_lease(io);
        if (result.count() != 0) {
            home->start<&borrower::io, &borrower::on_sent>(*this, send(socket, data.data()));
        }
    }
    void on_sent(io_result) noexcept {
        data.reset();
        if (--left <= 0) {
            home->stop();
        }
        receive_next();
    }
};

TEST_P(Allocation, IsNotNeededToPlayPingPongWithLentBuffers) {
    fd_pair pair = tcp_pair();
    borrower one{&loop(), attach(std::move(pair.first))};
    borrower two{&loop(), attach(std::move(pair.second))};
    ASSERT_EQ(::send(two.socket.native_handle(), "ball", 4, 0), 4);
    one.receive_next();
    two.receive_next();
    one.left = 10;
    two.left = 1'000'000;
    loop().run();
    one.left = 1000;
    EXPECT_EQ(allocations_of([&] { loop().run(); }), 0U);
    EXPECT_LE(one.left, 0);
    one.socket.close();
    two.socket.close();
    loop().run(run_mode::empty);
}

TEST_P(Allocation, IsNotNeededForTimersAndPosts) {
    struct ticker {
        eddy::loop* home;
        eddy::timer far;
        eddy::timer near;
        entry node{};
        int left;

        void run() noexcept {
            home->post_after(std::chrono::hours(1), far);  // pushed back on activity
            if (--left % 2 == 0) {
                home->post_after(duration(1), near);
            } else {
                home->post<ticker, &ticker::node, &ticker::run>(*this);
            }
            if (left == 0) {
                home->stop();
            }
        }
        static ticker*& current() {
            static ticker* instance = nullptr;
            return instance;
        }
    };
    const auto ignore = [](timer&) noexcept {};
    const auto tick = [](timer&) noexcept { ticker::current()->run(); };
    ticker t{&loop(), eddy::timer(loop(), ignore), eddy::timer(loop(), tick), {}, 100};
    ticker::current() = &t;
    loop().post<ticker, &ticker::node, &ticker::run>(t);
    loop().run();
    t.left = 2000;
    EXPECT_EQ(allocations_of([&] { loop().run(); }), 0U);
    loop().disarm(t.far);
    loop().disarm(t.near);
    if (t.node.posted()) {
        loop().cancel(t.node);
        loop().run(run_mode::empty);
    }
}

TEST_P(Allocation, IsNotNeededForFilesAndReadiness) {
    struct reader {
        eddy::loop* home;
        descriptor file;
        io_operation io{};
        int left = 0;
        std::array<std::byte, 16> buffer{};

        void go() noexcept {
            home->start<&reader::io, &reader::on_read>(*this, eddy::read(file, buffer, 0));
        }
        void on_read(io_result) noexcept {
            home->start<&reader::io, &reader::on_ready>(*this,
                                                        eddy::wait(file, interest::readable));
        }
        void on_ready(io_result) noexcept {
            if (--left <= 0) {
                home->stop();
            } else {
                go();
            }
        }
    };
    const scratch_directory directory;
    reader r{&loop(), attach(directory.file("f", "content"))};
    r.left = 10;
    r.go();
    loop().run();
    r.left = 1000;
    r.go();
    EXPECT_EQ(allocations_of([&] { loop().run(); }), 0U);
}

TEST_P(Allocation, IsCounted) {
    const std::uint64_t before = allocations();
    auto* const memory = new std::array<char, 4096>;
    *static_cast<volatile char*>(memory->data()) = 1;
    delete memory;
    EXPECT_GT(allocations(), before);
}

}  // namespace
}  // namespace eddy::test::allocation_test
