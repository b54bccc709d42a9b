// SPDX-License-Identifier: Apache-2.0
#include "memory/visits.hpp"

#include "support/fds.hpp"

#include <system_error>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#ifdef EDDY_TEST_EXAMPLES

namespace eddy::test {

visitor::visitor(unsigned short port) {
    try {
        fd_ = tcp_connect(port);
    } catch (const std::system_error&) {
        over_ = true;
    }
}

void visitor::say(std::string_view text) {
    if (::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) {
        over_ = true;
    }
}

void visitor::hang_up() { ::shutdown(fd_.get(), SHUT_WR); }

void visitor::reset() {
    reset_on_close(fd_.get());
    fd_.reset();
}

bool visitor::listen(int limit_ms) {
    if (!becomes_ready(fd_.get(), POLLIN, limit_ms)) {
        return false;
    }
    char piece[4096];
    const ssize_t count = ::recv(fd_.get(), piece, sizeof piece, 0);
    over_ = count <= 0;
    heard_.append(piece, static_cast<std::size_t>(count > 0 ? count : 0));
    return true;
}

bool visitor::listen(memory_faults& of_server) {
    constexpr int soon_ms = 100;
    if (listen(soon_ms)) {
        return true;
    }
    of_server.stop_failing();
    const bool heard = listen(30000);
    EXPECT_TRUE(heard) << "the server neither answers nor ends the connection";
    over_ = over_ || !heard;
    return heard;
}

bool visitor::hears(std::string_view text, memory_faults& of_server) {
    while (heard_.find(text) == heard_.npos) {
        if (over_ || !listen(of_server)) {
            return false;
        }
    }
    return true;
}

void visitor::hears_out(memory_faults& of_server) {
    while (!over_ && listen(of_server)) {}
}

bool visit_echo(unsigned short port, memory_faults& of_server) {
    visitor client(port);
    client.say("hello");
    if (!client.hears("hello", of_server)) {
        return false;
    }
    client.hang_up();
    client.hears_out(of_server);
    return client.heard() == "hello";
}

/// Two guests, of whom the first hears the second.
bool visit_chat(unsigned short port, memory_faults& of_server) {
    visitor first(port);
    const bool asked = first.hears("Your name?\n", of_server);
    first.say("Ada\n");
    visitor second(port);
    second.hears("Your name?\n", of_server);
    second.say("Bob\nhello\n");
    second.hang_up();
    second.hears_out(of_server);
    first.hang_up();
    first.hears_out(of_server);
    return asked && first.heard().find("Bob says: hello\n") != std::string::npos;
}

bool visit_files(unsigned short port, memory_faults& of_server) {
    visitor client(port);
    client.say("GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    client.hears_out(of_server);
    return client.heard().starts_with("HTTP/1.1 200") && client.heard().ends_with("content");
}

}  // namespace eddy::test

#endif  // EDDY_TEST_EXAMPLES
