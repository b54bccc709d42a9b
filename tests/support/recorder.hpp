// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eddy::test {

/// An operation that writes down how it completed.
class recorder {
public:
    recorder() = default;
    explicit recorder(std::function<void(recorder&)> then) : then_(std::move(then)) {}
    /// A test that has failed leaves operations behind; the next ones are to run all the same.
    ~recorder() {
        if (operation_.pending()) {
            then_ = nullptr;
            loop_->cancel(operation_);
            loop_->run(run_mode::empty, {.until = clock::now() + std::chrono::seconds(1)});
        }
    }
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    void start(loop& l, const io_request& request, time_point deadline = never) {
        loop_ = &l;
        results_.clear();
        endings_ = 0;
        l.start<&recorder::operation_, &recorder::on_result>(*this, request, deadline);
    }
    /// Called after each result.
    void then(std::function<void(recorder&)> function) { then_ = std::move(function); }

    /// Results, in the order in which they came.
    const std::vector<io_result>& results() const noexcept { return results_; }
    io_result result() const { return results_.empty() ? io_result() : results_.back(); }
    std::error_code error() const { return result().error(); }
    std::size_t count() const { return result().count(); }
    /// How often it has completed without more().
    std::size_t endings() const noexcept { return endings_; }
    bool ended() const noexcept { return endings_ != 0; }
    timed_io_operation& operation() noexcept { return operation_; }

private:
    void on_result(io_result result) {
        results_.push_back(result);
        endings_ += operation_.more() ? 0U : 1U;
        if (then_) {
            then_(*this);
        }
    }

    loop* loop_ = nullptr;
    timed_io_operation operation_;
    std::vector<io_result> results_;
    std::size_t endings_ = 0;
    std::function<void(recorder&)> then_;
};

inline std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}
/// A temporary, for a call that is over before it is gone. eddy::bytes() refuses it.
inline std::span<const std::byte> bytes(std::string&& text) {
    return std::as_bytes(std::span(text));
}
inline std::span<const std::byte> bytes(const char* text) { return bytes(std::string_view(text)); }
inline std::span<std::byte> bytes(std::string& text) {
    return std::as_writable_bytes(std::span(text));
}

}  // namespace eddy::test
