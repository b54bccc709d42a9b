// SPDX-License-Identifier: Apache-2.0
// Connections that came ahead and that nobody can take.
#include "io/io_fixture.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/io/detail/ahead/ahead_queue.hpp>

#include <set>

namespace eddy::test::refused_ahead_test {
namespace {

using connections = detail::ahead_queue<detail::connections_ahead>;

/// Refuses the first connections, and notes how deep in the stack it is called.
class picky {
public:
    explicit picky(int refusals) : waiter_(&on_result), refusals_(refusals) {}
    connections::waiter& waiter() { return waiter_; }
    int offered() const { return offered_; }
    bool content() const { return content_; }
    std::size_t depths() const { return depths_.size(); }

private:
    static bool on_result(connections::waiter& w, unique_fd, io_result result, bool) noexcept {
        auto& self = detail::owner_of<&picky::waiter_>(w);
        self.depths_.insert(__builtin_frame_address(0));
        self.offered_ += result ? 1 : 0;
        self.content_ = !result || self.offered_ > self.refusals_;
        return self.content_;
    }

    connections::waiter waiter_;
    int refusals_;
    int offered_ = 0;
    bool content_ = false;
    std::set<void*> depths_;
};

class RefusedAhead : public IoTest {};
EDDY_ON_EVERY_ENGINE(RefusedAhead);

/// A server that cannot attach a connection wants the next one, however many there are: that must
/// take no more of the stack with each of them.
TEST_P(RefusedAhead, IsNoDeeperForEachConnectionThatIsStored) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    descriptor listening(loop(), listener.take());
    {
        const auto queue = connections::make(loop(), accept_multishot(listening), 8);
        picky first(0);
        queue->take(first.waiter());
        std::vector<unique_fd> clients;
        for (int i = 0; i != 7; ++i) {
            clients.push_back(tcp_connect(port));
        }
        ASSERT_TRUE(until([&] { return queue->stored() == 6; }));
        picky second(5);
        queue->take(second.waiter());
        EXPECT_TRUE(second.content());
        EXPECT_EQ(second.offered(), 6);
        EXPECT_EQ(second.depths(), 1U);
    }
    settle();
}

TEST_P(RefusedAhead, WaitsForTheNextOneBehindThoseThatAreRefused) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    descriptor listening(loop(), listener.take());
    {
        const auto queue = connections::make(loop(), accept_multishot(listening), 8);
        picky only(3);
        queue->take(only.waiter());
        for (int i = 1; i != 5; ++i) {
            const unique_fd client = tcp_connect(port);
            ASSERT_TRUE(until([&] { return only.offered() == i; }));
            EXPECT_EQ(only.content(), i == 4);
        }
    }
    settle();
}

}  // namespace
}  // namespace eddy::test::refused_ahead_test
