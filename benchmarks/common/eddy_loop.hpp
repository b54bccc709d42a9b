// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/version.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_group.hpp>
#include <eddy/loop/requests.hpp>
#include <eddy/os/block_signals.hpp>
#include <eddy/os/child_source.hpp>
#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/os/signal_source.hpp>
#include <eddy/os/stop_on_signals.hpp>
#include <eddy/watch/watches.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "common/die.hpp"
#include "common/spin.hpp"

namespace bench {

/// A loop on the engine that EDDY_ENGINE names, which spins for as long as BENCH_SPIN_US says.
/// Where that is denied, the program ends in the way that the driver shows as n/a.
class eddy_loop {
public:
    explicit eddy_loop(const eddy::loop_options& options = {}) try : loop_(with_spin(options)) {
    } catch (const std::system_error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        std::exit(exit_unavailable);
    }

    eddy::loop& get() noexcept { return loop_; }
    eddy::loop* operator->() noexcept { return &loop_; }

private:
    static eddy::loop_options with_spin(eddy::loop_options options) {
        options.spin = std::chrono::microseconds(spin_us());
        return options;
    }

    eddy::loop loop_;
};

}  // namespace bench
