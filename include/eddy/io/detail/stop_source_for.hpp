#pragma once

#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/io/detail/stop_callback.hpp>

#include <concepts>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The stop token of a receiver as an inplace_stop_token, whatever type it has.
template <class Receiver>
class stop_source_for {
public:
    ex::inplace_stop_token arm(const Receiver& receiver) noexcept {
        link_.arm(receiver, *this);
        return source_.get_token();
    }
    void disarm() noexcept { link_.disarm(); }
    void request_stop() noexcept { source_.request_stop(); }

private:
    ex::inplace_stop_source source_;
    stop_callback<Receiver, stop_source_for> link_;
};

template <class Receiver>
    requires std::same_as<ex::stop_token_of_t<ex::env_of_t<Receiver>>, ex::inplace_stop_token>
class stop_source_for<Receiver> {
public:
    ex::inplace_stop_token arm(const Receiver& receiver) noexcept {
        return ex::get_stop_token(ex::get_env(receiver));
    }
    void disarm() noexcept {}
};

template <class Receiver>
    requires(!can_be_stopped<Receiver>)
class stop_source_for<Receiver> {
public:
    ex::inplace_stop_token arm(const Receiver&) noexcept { return {}; }
    void disarm() noexcept {}
};

EDDY_EX_END

}  // namespace eddy::detail
