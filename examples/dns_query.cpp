// SPDX-License-Identifier: Apache-2.0

// Asks a DNS server for IPv4 addresses, in three tries of 0.5 s:  dns_query SERVER:PORT NAME
#include "support/arguments.hpp"

#include <eddy/async/retry.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/udp/socket.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <resolv.h>

namespace {

using namespace std::chrono_literals;
using message = std::vector<unsigned char>;

message make_query(const char* name) {
    message query(NS_PACKETSZ);
    const int size = ::res_mkquery(ns_o_query, name, ns_c_in, ns_t_a, nullptr, 0, nullptr,
                                   query.data(), NS_PACKETSZ);
    if (size < 0) {
        throw std::invalid_argument("this is not a host name");
    }
    query.resize(static_cast<std::size_t>(size));
    return query;
}

/// True if number and question match: not for a late answer to another query, or a forged one.
bool answers(const message& answer, const message& query) {
    const auto same = [&](std::size_t begin, std::size_t end) {
        return std::memcmp(&answer[begin], &query[begin], end - begin) == 0;
    };
    return answer.size() >= query.size() && (answer[2] & 0x80U) != 0 && same(0, 2) && same(4, 6) &&
           same(NS_HFIXEDSZ, query.size());  // number, count of questions, question
}

void print_addresses(const message& answer) {
    ns_msg parsed;
    if (::ns_initparse(answer.data(), static_cast<int>(answer.size()), &parsed) != 0) {
        throw std::runtime_error("the answer is malformed");
    }
    if (const int code = ns_msg_getflag(parsed, ns_f_rcode); code != ns_r_noerror) {
        throw std::runtime_error(code == ns_r_nxdomain ? "there is no such name"
                                                       : "the server refuses to answer that");
    }
    for (int i = 0; i != ns_msg_count(parsed, ns_s_an); ++i) {
        ns_rr record;
        if (::ns_parserr(&parsed, ns_s_an, i, &record) != 0) {
            throw std::runtime_error("the answer is malformed");
        }
        std::array<char, INET_ADDRSTRLEN> text;
        if (ns_rr_type(record) == ns_t_a && ns_rr_rdlen(record) == NS_INADDRSZ) {
            std::puts(::inet_ntop(AF_INET, ns_rr_rdata(record), text.data(), text.size()));
        }
    }
}

eddy::task<message> ask(const eddy::udp::socket& server, const message& query) {
    co_await server.send(eddy::bytes(query));
    message answer;
    do {
        answer.resize(NS_PACKETSZ);
        const eddy::datagram got = co_await server.recv(eddy::bytes(answer));
        answer.resize(got.size);
    } while (!answers(answer, query));
    co_return answer;
}

eddy::task<> look_up(eddy::loop& loop, const eddy::address& where, const message& query) {
    const eddy::udp::socket server(
        loop, where.family() == AF_INET6 ? eddy::address::any_v6(0) : eddy::address::any_v4(0));
    co_await server.connect(where);
    const auto ask_once = [&] { return eddy::timeout(ask(server, query), 500ms); };
    print_addresses(co_await eddy::retry(ask_once, {.tries_max = 3}));
}

}  // namespace

int main(int argc, char** argv) try {
    eddy::address server;
    if (argc != 3 || eddy::address::parse(argv[1], server) || server.is_unix() || *argv[2] == 0) {
        example::exit_with_usage(argv, "SERVER:PORT NAME   (such as 127.0.0.1:53 example.org)");
    }
    eddy::loop loop;
    loop.run(look_up(loop, server, make_query(argv[2])));
} catch (const std::exception& e) {
    std::fprintf(stderr, "dns_query: %s %s: %s\n", argv[1], argv[2], e.what());
    return 1;
}
