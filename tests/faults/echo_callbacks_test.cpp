// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/received.hpp"
#include "faults/with_every_fault.hpp"

#include <string>
#include <string_view>

namespace eddy::test::echo_callbacks {

namespace {

constexpr std::string_view hello = "hello, whoever you are";

/// Reads and answers by turns until its peer has ended, or a call has failed.
class connection {
public:
    connection(eddy::loop& loop, attempt& a, unique_fd fd)
        : loop_(loop), attempt_(a), socket_(loop, std::move(fd)) {
        read();
    }
    bool ended() const { return ended_; }
    bool saw_the_end() const { return saw_end_; }
    /// Every operation has completed once.
    bool is_consistent() const {
        return reading_.endings() <= 1 && writing_.endings() <= 1 && !reading_.results().empty();
    }
    void cancel() {
        loop_.cancel(reading_.operation());
        loop_.cancel(writing_.operation());
    }

private:
    void read() { reading_.start(loop_, recv(socket_, bytes(buffer_))); }
    void on_read() {
        const io_result result = reading_.result();
        if (!result || result.count() == 0) {
            saw_end_ = result.ok();
            end(result);
            return;
        }
        const std::string_view got(buffer_.data(), result.count());
        writing_.start(loop_, send_all(socket_, bytes(got)));
    }
    void on_written() {
        if (writing_.result()) {
            read();
        } else {
            end(writing_.result());
        }
    }
    void end(io_result why) {
        attempt_.told(why.error());
        ended_ = true;
    }

    eddy::loop& loop_;
    attempt& attempt_;
    descriptor socket_;
    std::string buffer_ = std::string(64, '\0');
    recorder reading_{[this](recorder&) { on_read(); }};
    recorder writing_{[this](recorder&) { on_written(); }};
    bool ended_ = false;
    bool saw_end_ = false;
};

void echo(eddy::loop& loop, attempt& a) {
    auto [server, client] = tcp_pair();
    send_all(client.get(), hello);
    ::shutdown(client.get(), SHUT_WR);
    a.guard([&, fd = &server] {
        connection served(loop, a, std::move(*fd));
        drive(loop, a, [&] { return served.ended(); }, [&] { served.cancel(); });
        EXPECT_TRUE(served.ended());
        EXPECT_TRUE(served.is_consistent());
        a.succeed(served.saw_the_end() && received_by(client.get()) == hello);
    });
}

constexpr loop_scenario tried{&echo};
EDDY_SCENARIO(EchoCallbacks, tried);

}  // namespace

}  // namespace eddy::test::echo_callbacks
