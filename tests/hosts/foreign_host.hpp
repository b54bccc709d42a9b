// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace eddy::test {

/// An event loop of another project, as far as the tests need one. Everything that was asked for
/// ends with it.
class foreign_host {
public:
    virtual ~foreign_host() = default;
    foreign_host(const foreign_host&) = delete;
    foreign_host& operator=(const foreign_host&) = delete;

    /// Calls back whenever the fd is readable (level-triggered).
    virtual void watch(int fd, std::function<void()> on_readable) = 0;
    /// Calls back once, after that time.
    virtual void after(std::chrono::milliseconds time, std::function<void()> on_time) = 0;
    /// Until stop() is called from a callback.
    virtual void run() = 0;
    virtual void stop() = 0;

protected:
    foreign_host() = default;
};

std::unique_ptr<foreign_host> make_glib_host();
std::unique_ptr<foreign_host> make_uv_host();

}  // namespace eddy::test
