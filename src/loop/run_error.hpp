// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

namespace eddy {

/// Throws a std::system_error that says why a loop cannot be run: "the loop 'NAME' WHAT: CALL: "
/// and the words for the error. `call` may be null. It says so also where there is no memory for an
/// exception, if prepare_run_errors() was called; the code may be `not_enough_memory` then, which
/// is true as well.
[[noreturn]] void raise_run_error(std::error_code error, const char* name, const char* what,
                                  const char* call);

/// Throws std::bad_alloc.
void prepare_run_errors();

}  // namespace eddy
