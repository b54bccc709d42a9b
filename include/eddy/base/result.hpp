// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy {

/// A value, or the error code that replaces it.
///
///     result<std::size_t> got = co_await as_result(socket.read_some(buffer));
///     if (!got) return report(got.error());
///     use(buffer.first(*got));
template <class T = void>
class [[nodiscard]] result {
    static_assert(!std::is_same_v<T, std::error_code>,
                  "result: a value that is an error code could not be told from an error");

public:
    using value_type = T;

    result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
    /// Precondition: `error` is an error.
    result(std::error_code error) noexcept : code_(error.value()), category_(&error.category()) {}

    bool has_value() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    /// The error, or a code of no error if there is a value.
    std::error_code error() const noexcept {
        return category_ != nullptr ? std::error_code(code_, *category_) : std::error_code();
    }
    /// Throws std::system_error if there is no value.
    T& value() & {
        check();
        return **this;
    }
    const T& value() const& {
        check();
        return **this;
    }
    T&& value() && {
        check();
        return std::move(**this);
    }
    T& operator*() & noexcept {
        EDDY_ASSERT(has_value(), "the value of a result was taken that holds an error");
        return *value_;
    }
    const T& operator*() const& noexcept { return *const_cast<result&>(*this); }
    T&& operator*() && noexcept { return std::move(**this); }
    T* operator->() noexcept { return &**this; }
    const T* operator->() const noexcept { return &**this; }

private:
    void check() const {
        if (!has_value()) {
            throw std::system_error(error());
        }
    }

    // Not a std::variant, which is slow to compile. Not a std::error_code, whose constructor calls
    // a function to get the default category.
    std::optional<T> value_;
    int code_ = 0;
    const std::error_category* category_ = nullptr;
};

template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() noexcept = default;
    result(std::error_code error) noexcept : error_(error) {}

    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }
    std::error_code error() const noexcept { return error_; }
    void value() const {
        if (error_) {
            throw std::system_error(error_);
        }
    }

private:
    std::error_code error_;
};

}  // namespace eddy
