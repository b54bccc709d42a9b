// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/function_ref.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace demo {

/// The load: connections that each send 64 bytes, wait for the answer, and send again.
class client {
public:
    client(int port, std::size_t connections);
    ~client();

    /// Opens the connections, and calls `progress` now and then. Throws std::system_error.
    void connect(eddy::function_ref<void()> progress);
    void run(std::chrono::duration<double> time, eddy::function_ref<void()> progress);
    /// Discards the measurements so far.
    void forget();

    std::size_t connected() const noexcept { return connected_; }
    std::uint64_t replies() const noexcept { return latencies_ns_.size(); }
    double seconds() const noexcept { return seconds_; }
    /// Returns the latency that `share` of the replies have not exceeded.
    double latency_us(double share);

private:
    class connection;

    eddy::loop loop_;
    int port_;
    std::size_t wanted_;
    std::size_t connected_ = 0;
    bool sending_ = false;
    double seconds_ = 0;
    std::error_code failure_;
    std::vector<std::uint32_t> latencies_ns_;
    std::vector<std::unique_ptr<connection>> connections_;
};

}  // namespace demo
