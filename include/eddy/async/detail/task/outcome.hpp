// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/vocabulary.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The result of a task or of an awaited sender: nothing yet, a value, or an error.
template <class T>
class outcome {
public:
    outcome() noexcept {}
    outcome(const outcome&) = delete;
    outcome& operator=(const outcome&) = delete;
    ~outcome() { clear(); }

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        if constexpr (std::is_nothrow_constructible_v<T, Values...>) {
            store_value(static_cast<Values&&>(values)...);
        } else {
            try {
                store_value(static_cast<Values&&>(values)...);
            } catch (...) {
                set_error(std::current_exception());
            }
        }
    }
    /// Stores an error, in place of a value if there is one.
    void set_error(std::exception_ptr error) noexcept {
        clear();
        std::construct_at(&error_, std::move(error));
        holds_ = content::error;
    }
    /// Returns the error, or null if there is none.
    std::exception_ptr error() const noexcept {
        return holds_ == content::error ? error_ : nullptr;
    }
    /// Precondition: there is a value.
    T& value() noexcept { return value_; }
    /// Returns the value or throws the error. Precondition: there is one of them.
    T take() {
        if (holds_ == content::error) {
            throw_error();
        }
        return std::move(value_);
    }

private:
    enum class content : std::uint8_t { nothing, value, error };

    [[noreturn]] EDDY_COLD void throw_error() { std::rethrow_exception(std::move(error_)); }
    template <class... Values>
    void store_value(Values&&... values) {
        std::construct_at(std::addressof(value_), static_cast<Values&&>(values)...);
        holds_ = content::value;
    }
    void clear() noexcept {
        if (holds_ == content::value) {
            std::destroy_at(std::addressof(value_));
        } else if (holds_ == content::error) {
            std::destroy_at(&error_);
        }
        holds_ = content::nothing;
    }

    union {
        T value_;
        std::exception_ptr error_;
    };
    content holds_ = content::nothing;
};

/// The result of a void task: an error, or nothing to keep.
template <>
class outcome<void> {
public:
    outcome() noexcept = default;
    outcome(const outcome&) = delete;
    outcome& operator=(const outcome&) = delete;

    void set_value() noexcept {}
    void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }
    std::exception_ptr error() const noexcept { return error_; }
    void take() {
        if (error_) {
            throw_error();
        }
    }

private:
    [[noreturn]] EDDY_COLD void throw_error() { std::rethrow_exception(std::move(error_)); }

    std::exception_ptr error_;
};

EDDY_EX_END

}  // namespace eddy::detail
