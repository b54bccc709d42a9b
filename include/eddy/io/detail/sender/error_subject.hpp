// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/io/address.hpp>

#include <exception>
#include <string>
#include <system_error>

namespace eddy::detail {

/// Names the subject of an operation, so that the exception for its error can say
/// `tcp::connect 10.0.0.7:5432: Connection refused`. Made only when the operation has failed.
struct error_subject {
    const char* operation = nullptr;  ///< null if there is no subject
    address where = {};
    std::string path = {};
};

/// Makes a std::system_error that names the subject. The exception has the bare code if there is no
/// subject, or no memory for the text.
EDDY_API std::exception_ptr system_error_of(const std::error_code& code,
                                            const error_subject& subject) noexcept;

/// Carries a subject past set_error(), whose std::error_code has no room for it. An operation keeps
/// an error_naming while it completes with an error. The first exception that this thread makes of
/// an error meanwhile names the subject, if that error is `code`.
class EDDY_API error_naming {
public:
    error_naming(const std::error_code& code, error_subject subject) noexcept;
    ~error_naming();
    error_naming(const error_naming&) = delete;
    error_naming& operator=(const error_naming&) = delete;

    /// Takes the subject of the error that this thread is delivering; empty if that is not `code`.
    static error_subject take(const std::error_code& code) noexcept;
    /// Drops the subject of the error that this thread is delivering: no exception names it.
    static void forget() noexcept;

private:
    std::error_code code_;
    error_subject subject_;
    error_naming* outer_;
};

}  // namespace eddy::detail
