#pragma once

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace eddy {

/// Makes a `Made` from `args`, opens it, and hands it over if both worked.
template <class Made, class Base, class Open, class... Args>
std::error_code make_opened(std::unique_ptr<Base>& out, Open&& open, Args&&... args) noexcept {
    std::unique_ptr<Made> made(new (std::nothrow) Made(std::forward<Args>(args)...));
    if (made == nullptr) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    const std::error_code error = open(*made);
    if (!error) {
        out = std::move(made);
    }
    return error;
}

}  // namespace eddy
