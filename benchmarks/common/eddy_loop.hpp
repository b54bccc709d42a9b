#pragma once

#include <eddy/eddy.hpp>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "common/die.hpp"

namespace bench {

/// A loop on the engine that EDDY_ENGINE names. Where that is denied, the program ends in the way
/// that the driver shows as n/a.
class eddy_loop {
public:
    explicit eddy_loop(const eddy::loop_options& options = {}) try : loop_(options) {
    } catch (const std::system_error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        std::exit(exit_unavailable);
    }

    eddy::loop& get() noexcept { return loop_; }
    eddy::loop* operator->() noexcept { return &loop_; }

private:
    eddy::loop loop_;
};

}  // namespace bench
