#pragma once

#include <eddy/base/assert.hpp>

#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace eddy {

/// A value, or the error code that took its place.
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

    result(T value) noexcept(std::is_nothrow_move_constructible_v<T>)
        : state_(std::in_place_index<0>, std::move(value)) {}
    /// Precondition: `error` is one.
    result(std::error_code error) noexcept : state_(std::in_place_index<1>, error) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    /// No error if there is a value.
    std::error_code error() const noexcept {
        const std::error_code* const error = std::get_if<1>(&state_);
        return error != nullptr ? *error : std::error_code();
    }
    /// Throws std::system_error if there is none.
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
        return *std::get_if<0>(&state_);
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

    std::variant<T, std::error_code> state_;
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
