// SPDX-License-Identifier: Apache-2.0

// Tests gRPC over eddy's polling engine. libgrpc is not built for TSan, which cannot see its locks.
#include "async_echo.hpp"
#include "raw_echo.hpp"

#include <eddy/adapters/grpc.hpp>

#include <gtest/gtest.h>

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

const char* grpc_get_poll_strategy_name();  // gRPC's own, not in its installed headers

struct grpc_iomgr_object;

namespace {

std::atomic<unsigned> spoilt{0};
std::atomic<bool> spoils{false};

}  // namespace

/// Wraps gRPC's own function, which takes a lock. In Abseil, the first thread that has to wait for
/// a lock looks for a file that few systems have, and leaves errno set; `spoils` does the same.
void grpc_iomgr_register_object(grpc_iomgr_object* object, const char* name) {
    using function = void(grpc_iomgr_object*, const char*);
    static auto* const real = reinterpret_cast<function*>(
        ::dlsym(RTLD_NEXT, "_Z26grpc_iomgr_register_objectP17grpc_iomgr_objectPKc"));
    real(object, name);
    if (spoils) {
        errno = ENOENT;
        ++spoilt;
    }
}

namespace {

using namespace raw_echo;
using namespace std::chrono_literals;

/// Registers the engine before gRPC is first used, which is when gRPC chooses one.
class chosen_engine final : public testing::Environment {
public:
    void SetUp() override {
        try {
            const eddy::poll_domain like_the_one_that_grpc_will_make;
        } catch (const std::system_error& e) {
            GTEST_SKIP() << e.what();
        }
        ::setenv("GRPC_POLL_STRATEGY", "eddy", 1);
        eddy::register_grpc_engine();
    }
};

const testing::Environment* const engine = testing::AddGlobalTestEnvironment(new chosen_engine);

auto in_a_moment(std::chrono::milliseconds wait) { return std::chrono::system_clock::now() + wait; }

std::size_t open_fds() {
    std::size_t count = 0;
    DIR* const all = ::opendir("/proc/self/fd");
    while (::readdir(all) != nullptr) ++count;
    ::closedir(all);
    return count;
}

grpc::Status echo(grpc::Channel& channel, const std::string& text, std::string* back = nullptr,
                  bool patient = false) {
    grpc::ClientContext context;
    context.set_deadline(in_a_moment(20s));
    context.set_wait_for_ready(patient);
    bytes out;
    const grpc::Status status = call(channel, unary_name, context, to_bytes(text), out);
    if (back != nullptr) *back = to_string(out);
    return status;
}

void expect_echo(grpc::Channel& channel, const std::string& text) {
    std::string back;
    const grpc::Status status = echo(channel, text, &back);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(back, text);
}

TEST(GrpcEngineNoTsan, ItIsEddyThatPolls) {
    sync_server server;
    const auto channel = server.connect();
    EXPECT_STREQ(grpc_get_poll_strategy_name(), "eddy");
    ASSERT_NE(eddy::grpc_engine_domain(), nullptr);
    const eddy::poll_counters before = eddy::grpc_engine_domain()->counters();
    for (int i = 0; i < 100; ++i) expect_echo(*channel, "ping");
    const eddy::poll_counters after = eddy::grpc_engine_domain()->counters();
    // A request and its answer each make a socket readable, and only the engine can report that.
    EXPECT_GE(after.events - before.events, 200U);
    EXPECT_GT(after.waits, before.waits);
}

TEST(GrpcEngineNoTsan, UnaryCallsBringBackWhatWasSent) {
    sync_server server;
    const auto channel = server.connect();
    for (const std::size_t size : {0UL, 1UL, 1000UL, 100'000UL, 4'000'000UL}) {
        expect_echo(*channel, std::string(size, 'x'));
    }
}

TEST(GrpcEngineNoTsan, AStreamKeepsItsOrderBothWays) {
    sync_server server;
    const auto channel = server.connect();
    grpc::ClientContext context;
    const auto stream = open_stream(*channel, context);
    std::thread writer([&] {
        for (int i = 0; i < 2000; ++i) stream->Write(to_bytes(std::to_string(i)));
        stream->WritesDone();
    });
    int received = 0;
    for (bytes b; stream->Read(&b); ++received) EXPECT_EQ(to_string(b), std::to_string(received));
    writer.join();
    EXPECT_EQ(received, 2000);
    EXPECT_TRUE(stream->Finish().ok());
}

TEST(GrpcEngineNoTsan, AStreamFromTheClientIsCollected) {
    sync_server server;
    const auto channel = server.connect();
    grpc::ClientContext context;
    bytes out;
    const std::unique_ptr<grpc::ClientWriter<bytes>> stream(
        grpc::internal::ClientWriterFactory<bytes>::Create(
            channel.get(), method(collect_name, method::CLIENT_STREAMING), &context, &out));
    std::string sent;
    for (int i = 0; i < 500; ++i) {
        sent += std::to_string(i);
        ASSERT_TRUE(stream->Write(to_bytes(std::to_string(i))));
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(to_string(out), sent);
}

TEST(GrpcEngineNoTsan, AStreamFromTheServerArrives) {
    sync_server server;
    const auto channel = server.connect();
    grpc::ClientContext context;
    const std::string text(50'000, 'r');
    const std::unique_ptr<grpc::ClientReader<bytes>> stream(
        grpc::internal::ClientReaderFactory<bytes>::Create(
            channel.get(), method(repeat_name, method::SERVER_STREAMING), &context,
            to_bytes(text)));
    int received = 0;
    for (bytes b; stream->Read(&b); ++received) EXPECT_EQ(to_string(b), text);
    EXPECT_EQ(received, service::repetitions);
    EXPECT_TRUE(stream->Finish().ok());
}

TEST(GrpcEngineNoTsan, ADeadlineEndsACallOnBothSides) {
    sync_server server;
    const auto channel = server.connect();
    // On a busy machine, a deadline may pass before the server has seen the call. The time until
    // then is not tested: gRPC reads two clocks to convert it, and may be interrupted in between.
    for (auto wait = 100ms; server.echo.hanging == 0 && wait < 20s; wait *= 2) {
        grpc::ClientContext context;
        bytes out;
        context.set_deadline(in_a_moment(wait));
        const grpc::Status status = call(*channel, hang_name, context, to_bytes(""), out);
        EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED) << status.error_message();
    }
    ASSERT_NE(server.echo.hanging, 0);
    server.echo.seen_cancelled.wait(0);
    EXPECT_GE(server.echo.seen_cancelled, 1);
}

TEST(GrpcEngineNoTsan, CancellingEndsACallOnBothSides) {
    sync_server server;
    const auto channel = server.connect();
    grpc::ClientContext context;
    context.set_deadline(in_a_moment(20s));
    std::thread canceller([&] {
        server.echo.hanging.wait(0);
        context.TryCancel();
    });
    bytes out;
    const grpc::Status status = call(*channel, hang_name, context, to_bytes(""), out);
    canceller.join();
    EXPECT_EQ(status.error_code(), grpc::CANCELLED) << status.error_message();
    server.echo.seen_cancelled.wait(0);
    EXPECT_EQ(server.echo.seen_cancelled, 1);
}

TEST(GrpcEngineNoTsan, AStreamCanBeCancelledInTheMiddle) {
    sync_server server;
    const auto channel = server.connect();
    grpc::ClientContext context;
    const auto stream = open_stream(*channel, context);
    bytes b = to_bytes("one");
    ASSERT_TRUE(stream->Write(b));
    ASSERT_TRUE(stream->Read(&b));
    context.TryCancel();
    EXPECT_FALSE(stream->Read(&b));
    EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
    expect_echo(*channel, "the connection goes on");
}

TEST(GrpcEngineNoTsan, AShutdownEndsTheCallsThatAreUnderWay) {
    sync_server server;
    const auto channel = server.connect();
    auto hanging = std::async(std::launch::async, [&] {
        grpc::ClientContext context;
        context.set_deadline(in_a_moment(20s));
        bytes out;
        return call(*channel, hang_name, context, to_bytes(""), out);
    });
    server.echo.hanging.wait(0);
    server.shut_down(50ms);
    EXPECT_FALSE(hanging.get().ok());
    EXPECT_EQ(server.echo.seen_cancelled, 1);
    EXPECT_EQ(echo(*channel, "nobody").error_code(), grpc::UNAVAILABLE);
}

TEST(GrpcEngineNoTsan, NobodyListensIsAnError) {
    std::string address;
    {
        sync_server gone;
        address = gone.address();
    }
    const auto channel = connect(address);
    EXPECT_EQ(echo(*channel, "hello").error_code(), grpc::UNAVAILABLE);
}

TEST(GrpcEngineNoTsan, AHandleIsMadeWithoutLosingTheErrorOfConnect) {
    sync_server server;
    spoils = true;
    const unsigned before = spoilt;
    const auto channel = server.connect();
    expect_echo(*channel, "ping");
    spoils = false;
    EXPECT_GT(spoilt, before);
}

TEST(GrpcEngineNoTsan, APatientCallWaitsUntilTheServerIsBack) {
    auto server = std::make_unique<sync_server>();
    const std::string address = server->address();
    const auto channel = connect(address);
    expect_echo(*channel, "first");
    server.reset();
    auto patient =
        std::async(std::launch::async, [&] { return echo(*channel, "again", nullptr, true); });
    server = std::make_unique<sync_server>(address);
    ASSERT_TRUE(server->runs());
    EXPECT_TRUE(patient.get().ok());
}

TEST(GrpcEngineNoTsan, LocalSocketsWork) {
    const std::string path = testing::TempDir() + "eddy_grpc_" + std::to_string(::getpid());
    sync_server server("unix:" + path);
    ASSERT_TRUE(server.runs());
    expect_echo(*connect("unix:" + path), "local");
    ::unlink(path.c_str());
}

TEST(GrpcEngineNoTsan, ManyThreadsCallAtOnce) {
    sync_server server;
    const auto shared = server.connect();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            const auto own = server.connect();
            for (int i = 0; i < 150; ++i) {
                expect_echo(i % 2 == 0 ? *shared : *own, std::to_string(t * 1000 + i));
            }
        });
    }
}

TEST(GrpcEngineNoTsan, AnAsyncServerEndsEachOfManyCallsOnce) {
    async_server server("127.0.0.1:0", 2, 2);
    constexpr int total = 5000;
    constexpr int at_once = 64;
    std::vector<grpc::GenericStub> stubs;
    for (int i = 0; i < 4; ++i) {
        stubs.emplace_back(connect("127.0.0.1:" + std::to_string(server.port())));
    }
    grpc::CompletionQueue queue;
    std::vector<int> ended(total, 0);
    int started = 0;
    std::unordered_map<void*, int> number;
    const auto start = [&] {
        auto* const c = new async_call(stubs[static_cast<std::size_t>(started) % stubs.size()],
                                       queue, to_bytes(std::to_string(started)));
        number[c] = started++;
    };
    while (started < at_once) start();
    for (int done = 0; done < total; ++done) {
        void* tag = nullptr;
        bool ok = false;
        ASSERT_EQ(queue.AsyncNext(&tag, &ok, in_a_moment(20s)), grpc::CompletionQueue::GOT_EVENT);
        const std::unique_ptr<async_call> c(static_cast<async_call*>(tag));
        const int n = number[tag];
        number.erase(tag);
        EXPECT_TRUE(c->status.ok()) << c->status.error_message();
        EXPECT_EQ(to_string(c->out), std::to_string(n));
        ++ended[static_cast<std::size_t>(n)];
        if (started < total) start();
    }
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    EXPECT_FALSE(queue.Next(&tag, &ok));
    EXPECT_EQ(ended, std::vector<int>(total, 1));
}

TEST(GrpcEngineNoTsan, CallbacksWork) {
    sync_server server;
    grpc::GenericStub stub(server.connect());
    constexpr int total = 200;
    struct one {
        grpc::ClientContext context;
        bytes in;
        bytes out;
        std::promise<grpc::Status> status;
    };
    std::vector<std::unique_ptr<one>> calls;
    for (int i = 0; i < total; ++i) {
        one& c = *calls.emplace_back(std::make_unique<one>());
        c.in = to_bytes(std::to_string(i));
        stub.UnaryCall(&c.context, unary_name, {}, &c.in, &c.out,
                       [&c](const grpc::Status& status) { c.status.set_value(status); });
    }
    for (int i = 0; i < total; ++i) {
        one& c = *calls[static_cast<std::size_t>(i)];
        EXPECT_TRUE(c.status.get_future().get().ok());
        EXPECT_EQ(to_string(c.out), std::to_string(i));
    }
}

TEST(GrpcEngineNoTsan, NoDescriptorIsLeftBehind) {
    const auto round = [] {
        sync_server server;
        std::vector<std::shared_ptr<grpc::Channel>> channels;
        for (int i = 0; i < 10; ++i) {
            channels.push_back(server.connect());
            expect_echo(*channels.back(), "x");
        }
    };
    round();  // makes what gRPC keeps
    const std::size_t before = open_fds();
    for (int i = 0; i < 5; ++i) round();
    // gRPC's own threads may close the last connections a little later.
    for (int ms = 0; ms < 10'000 && open_fds() > before; ++ms) std::this_thread::sleep_for(1ms);
    EXPECT_LE(open_fds(), before);
}

}  // namespace
