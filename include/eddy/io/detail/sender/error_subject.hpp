// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/io/address.hpp>

#include <exception>
#include <string>
#include <system_error>

namespace eddy::detail {

/// Names what an operation is about, so that the exception that its error becomes can say
/// `tcp::connect 10.0.0.7:5432: Connection refused`. Made only when the operation has failed.
struct error_subject {
    const char* operation = nullptr;  ///< null: there is nothing to name
    address where = {};
    std::string path = {};
};

/// A std::system_error that names the subject; one with the bare code if there is none, or if there
/// is no memory for the words.
EDDY_API std::exception_ptr system_error_of(const std::error_code& code,
                                            const error_subject& subject) noexcept;

/// Senders complete with a std::error_code, which has no room for a subject. So while an operation
/// completes with an error it keeps one of these: the first exception that this thread makes of an
/// error meanwhile names the subject, if the error is `code`.
class EDDY_API error_naming {
public:
    error_naming(const std::error_code& code, error_subject subject) noexcept;
    ~error_naming();
    error_naming(const error_naming&) = delete;
    error_naming& operator=(const error_naming&) = delete;

    /// The subject of the error that is being delivered on this thread, which has it no longer.
    static error_subject take(const std::error_code& code) noexcept;
    /// The error that is being delivered becomes no exception.
    static void forget() noexcept;

private:
    std::error_code code_;
    error_subject subject_;
    error_naming* outer_;
};

}  // namespace eddy::detail
