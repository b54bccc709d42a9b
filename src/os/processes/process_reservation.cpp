// SPDX-License-Identifier: Apache-2.0

// Keeps a prepared spawn together with the options that it points to.
#include <eddy/os/process_reservation.hpp>

#include "os/processes/reserved_spawn.hpp"

#include <new>
#include <string>
#include <utility>

namespace eddy {

struct process_reservation::reserved {
    explicit reserved(const process_options& given) : options(given) {}

    process_options options;
    reserved_spawn parts;
};

process_reservation::process_reservation() noexcept = default;

process_reservation::process_reservation(loop& home, const process_options& options) {
    spawn_step failed = spawn_step::none;
    if (auto error = make(home, options, *this, &failed)) {
        throw std::system_error(
            error, "cannot reserve '" + options.program + "' (" + to_string(failed) + ")");
    }
}

process_reservation::process_reservation(process_reservation&& other) noexcept = default;
process_reservation& process_reservation::operator=(process_reservation&& other) noexcept = default;
process_reservation::~process_reservation() = default;

std::error_code process_reservation::make(loop& home, const process_options& options,
                                          process_reservation& out, spawn_step* failed) noexcept {
    spawn_step unwanted = spawn_step::none;
    spawn_step& step = failed != nullptr ? *failed : unwanted;
    step = spawn_step::prepare;
    try {
        auto made = std::make_unique<reserved>(options);
        if (auto error = made->parts.reserve(home, made->options, step)) {
            return error;
        }
        out.made_ = std::move(made);
    } catch (const std::bad_alloc&) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    step = spawn_step::none;
    return {};
}

std::error_code process_reservation::spawn(process_handle& out, spawn_step* failed) noexcept {
    spawn_step unwanted = spawn_step::none;
    spawn_step& step = failed != nullptr ? *failed : unwanted;
    const std::unique_ptr<reserved> used = std::move(made_);
    if (used == nullptr) {
        step = spawn_step::prepare;
        return std::make_error_code(std::errc::invalid_argument);
    }
    return used->parts.spawn(out, step);
}

}  // namespace eddy
