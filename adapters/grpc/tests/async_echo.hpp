// SPDX-License-Identifier: Apache-2.0

// An echo server and calls without a thread per call: completion queues on both sides.
#pragma once

#include "raw_echo.hpp"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace raw_echo {

/// Echoes every message of every call, whatever its method.
class async_server final {
public:
    async_server(const std::string& address, int queues, int threads_a_queue) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port_);
        builder.RegisterAsyncGenericService(&service_);
        for (int i = 0; i < queues; ++i) queues_.push_back(builder.AddCompletionQueue());
        server_ = builder.BuildAndStart();
        for (const auto& q : queues_) {
            for (int i = 0; i < threads_a_queue; ++i) {
                new session(service_, *q);
                threads_.emplace_back([&q] { serve(*q); });
            }
        }
    }

    ~async_server() {
        server_->Shutdown(std::chrono::system_clock::now());
        for (const auto& q : queues_) q->Shutdown();
        threads_.clear();
    }

    int port() const { return port_; }

private:
    /// One call: reads and writes in turn until the client has no more messages.
    class session final {
    public:
        session(grpc::AsyncGenericService& from, grpc::ServerCompletionQueue& queue)
            : from_(from), queue_(queue) {
            from_.RequestCall(&context_, &stream_, &queue_, &queue_, this);
        }

        void proceed(bool ok) {
            switch (doing_) {
                case doing::arriving:
                    if (!ok) return delete this;
                    new session(from_, queue_);
                    return read();
                case doing::reading:
                    if (!ok) return finish();
                    doing_ = doing::writing;
                    return stream_.Write(message_, this);
                case doing::writing:
                    return ok ? read() : finish();
                case doing::finishing:
                    return delete this;
            }
        }

    private:
        enum class doing { arriving, reading, writing, finishing };

        void read() {
            doing_ = doing::reading;
            stream_.Read(&message_, this);
        }
        void finish() {
            doing_ = doing::finishing;
            stream_.Finish(grpc::Status::OK, this);
        }

        grpc::AsyncGenericService& from_;
        grpc::ServerCompletionQueue& queue_;
        grpc::GenericServerContext context_;
        grpc::GenericServerAsyncReaderWriter stream_{&context_};
        bytes message_;
        doing doing_ = doing::arriving;
    };

    static void serve(grpc::ServerCompletionQueue& queue) {
        void* tag = nullptr;
        for (bool ok = false; queue.Next(&tag, &ok);) static_cast<session*>(tag)->proceed(ok);
    }

    int port_ = 0;
    grpc::AsyncGenericService service_;
    std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
    std::unique_ptr<grpc::Server> server_;
    std::vector<std::jthread> threads_;
};

/// A unary call whose end arrives in a completion queue, with this object as its tag.
struct async_call {
    async_call(grpc::GenericStub& stub, grpc::CompletionQueue& queue, const bytes& in)
        : reader(stub.PrepareUnaryCall(&context, unary_name, in, &queue)) {
        reader->StartCall();
        reader->Finish(&out, &status, this);
    }

    grpc::ClientContext context;
    bytes out;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

}  // namespace raw_echo
