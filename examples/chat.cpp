// SPDX-License-Identifier: Apache-2.0

// A chat room:  chat PORT     and then, in several terminals:  nc 127.0.0.1 PORT
// Each line of a guest goes to all others. A guest that does not read is disconnected.
#include "support/arguments.hpp"
#include "support/run.hpp"
#include "support/server.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/read_until.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

using text = std::shared_ptr<const std::string>;  // one copy for all readers

struct guest {
    std::string name;
    eddy::channel<text> unread{256};
    eddy::event shown_out{};
};

class room {
public:
    void enter(guest& g) { guests_.push_back(&g), say(g, "is here"); }
    void leave(guest& g) noexcept try {
        std::erase(guests_, &g), say(g, "has left");
    } catch (const std::bad_alloc&) {}  // without memory, nobody hears of it
    void say(const guest& from, const std::string& what) {
        const auto said = std::make_shared<const std::string>(from.name + " " + what + "\n");
        for (guest* to : guests_) {
            if (to != &from && !to->unread.try_send(text(said))) {
                to->shown_out.set();
            }
        }
    }

private:
    std::vector<guest*> guests_;
};

/// Returns the next line, without control characters, which could play tricks on terminals.
eddy::task<std::string> next_line(const eddy::tcp::socket& socket, std::string& buffer) {
    const auto size = co_await eddy::read_until(socket, buffer, "\n", 1024);
    std::string line = buffer.substr(0, size);
    buffer.erase(0, size);
    std::erase_if(line, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
    co_return line;
}

eddy::task<> hear(const eddy::tcp::socket& socket, std::string& buffer, guest& self, room& in) {
    for (;;) {
        in.say(self, "says: " + co_await next_line(socket, buffer));
    }
}

eddy::task<> tell(const eddy::tcp::socket& socket, guest& self) {
    for (;;) {
        const text said = co_await self.unread.receive();
        co_await socket.write(eddy::bytes(*said));
    }
}

/// Serves a guest until one of the three tasks ends, for example because a line is too long.
eddy::task<> visit(eddy::tcp::socket socket, room& in) try {
    std::string buffer;
    guest self;
    co_await socket.write(eddy::bytes("Your name?\n"));
    self.name = co_await next_line(socket, buffer);
    const auto talk = [&] {
        in.enter(self);
        return eddy::when_any(hear(socket, buffer, self, in), tell(socket, self),
                              self.shown_out.wait());
    };
    co_await eddy::finally(eddy::ex::just() | eddy::ex::let_value(talk),
                           eddy::ex::just() | eddy::ex::then([&]() noexcept { in.leave(self); }));
} catch (const std::exception&) {}

}  // namespace

int main(int argc, char** argv) try {
    eddy::loop loop;
    room lobby;
    const auto session = [&](eddy::tcp::socket s) { return visit(std::move(s), lobby); };
    auto acceptor = example::listen(loop, example::port_argument(argc, argv));
    example::run_until_input_ends(loop, eddy::serve_each(std::move(acceptor), session));
} catch (const std::exception& e) {
    std::fprintf(stderr, "chat: %s\n", e.what());
    return 1;
}
