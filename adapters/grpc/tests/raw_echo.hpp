// SPDX-License-Identifier: Apache-2.0

// A service whose messages are bytes, so that no protocol compiler is needed, and calls of it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace raw_echo {

using bytes = grpc::ByteBuffer;
using method = grpc::internal::RpcMethod;

inline constexpr const char* unary_name = "/eddy.Echo/Unary";
inline constexpr const char* stream_name = "/eddy.Echo/Stream";
inline constexpr const char* collect_name = "/eddy.Echo/Collect";
inline constexpr const char* repeat_name = "/eddy.Echo/Repeat";
inline constexpr const char* hang_name = "/eddy.Echo/Hang";

inline bytes to_bytes(std::string_view text) {
    const grpc::Slice slice(text.data(), text.size());
    return bytes(&slice, 1);
}

inline std::string to_string(const bytes& b) {
    std::vector<grpc::Slice> slices;
    std::string text;
    if (b.Dump(&slices).ok()) {
        for (const grpc::Slice& s : slices) {
            text.append(reinterpret_cast<const char*>(s.begin()), s.size());
        }
    }
    return text;
}

/// A synchronous service: each call has a thread of the server.
class service final : public grpc::Service {
public:
    service() {
        using namespace grpc::internal;
        add(unary_name, method::NORMAL_RPC,
            new RpcMethodHandler<service, bytes, bytes>(
                [](service*, grpc::ServerContext*, const bytes* in, bytes* out) {
                    *out = *in;
                    return grpc::Status::OK;
                },
                this));
        add(hang_name, method::NORMAL_RPC,
            new RpcMethodHandler<service, bytes, bytes>(
                [](service* self, grpc::ServerContext* context, const bytes*, bytes*) {
                    return self->hang(*context);
                },
                this));
        add(stream_name, method::BIDI_STREAMING,
            new BidiStreamingHandler<service, bytes, bytes>(
                [](service*, grpc::ServerContext*, grpc::ServerReaderWriter<bytes, bytes>* both) {
                    for (bytes b; both->Read(&b);) both->Write(b);
                    return grpc::Status::OK;
                },
                this));
        add(collect_name, method::CLIENT_STREAMING,
            new ClientStreamingHandler<service, bytes, bytes>(
                [](service*, grpc::ServerContext*, grpc::ServerReader<bytes>* in, bytes* out) {
                    std::string all;
                    for (bytes b; in->Read(&b);) all += to_string(b);
                    *out = to_bytes(all);
                    return grpc::Status::OK;
                },
                this));
        add(repeat_name, method::SERVER_STREAMING,
            new ServerStreamingHandler<service, bytes, bytes>(
                [](service*, grpc::ServerContext*, const bytes* in,
                   grpc::ServerWriter<bytes>* out) {
                    for (int i = 0; i < repetitions; ++i) out->Write(*in);
                    return grpc::Status::OK;
                },
                this));
    }

    static constexpr int repetitions = 100;

    std::atomic<int> hanging = 0;
    std::atomic<int> seen_cancelled = 0;

private:
    void add(const char* name, method::RpcType type, grpc::internal::MethodHandler* handler) {
        AddMethod(new grpc::internal::RpcServiceMethod(name, type, handler));
    }

    grpc::Status hang(grpc::ServerContext& context) {
        hanging.fetch_add(1);
        hanging.notify_all();
        const gpr_timespec moment = gpr_time_from_millis(1, GPR_TIMESPAN);
        for (int ms = 0; ms < 30'000 && !context.IsCancelled(); ++ms) {
            gpr_sleep_until(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), moment));
        }
        seen_cancelled.fetch_add(context.IsCancelled() ? 1 : 0);
        seen_cancelled.notify_all();
        return grpc::Status::CANCELLED;
    }
};

/// Makes a unary call and waits for its answer.
inline grpc::Status call(grpc::Channel& channel, const char* name, grpc::ClientContext& context,
                         const bytes& in, bytes& out) {
    return grpc::internal::BlockingUnaryCall(&channel, method(name, method::NORMAL_RPC), &context,
                                             in, &out);
}

inline std::unique_ptr<grpc::ClientReaderWriter<bytes, bytes>> open_stream(
    grpc::Channel& channel, grpc::ClientContext& context) {
    using factory = grpc::internal::ClientReaderWriterFactory<bytes, bytes>;
    return std::unique_ptr<grpc::ClientReaderWriter<bytes, bytes>>(
        factory::Create(&channel, method(stream_name, method::BIDI_STREAMING), &context));
}

/// Opens a separate connection, not one that channels of the same address share.
inline std::shared_ptr<grpc::Channel> connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

/// A server with one thread per call.
class sync_server final {
public:
    explicit sync_server(const std::string& address = "127.0.0.1:0") {
        grpc::ServerBuilder builder;
        builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(&echo);
        server_ = builder.BuildAndStart();
    }

    int port() const { return port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::shared_ptr<grpc::Channel> connect() const { return raw_echo::connect(address()); }
    bool runs() const { return server_ != nullptr; }
    void shut_down(std::chrono::milliseconds wait) {
        server_->Shutdown(std::chrono::system_clock::now() + wait);
    }

    service echo;

private:
    int port_ = 0;
    std::unique_ptr<grpc::Server> server_;
};

}  // namespace raw_echo
