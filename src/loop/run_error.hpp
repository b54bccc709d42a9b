// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

namespace eddy {

/// Throws a std::system_error that says why a loop cannot be run: "the loop 'NAME' WHAT: CALL: "
/// and the words for the error. `call` may be null. After prepare_run_errors() the text is complete
/// even without memory for an exception; the code may then be `not_enough_memory`, also true.
[[noreturn]] void raise_run_error(std::error_code error, const char* name, const char* what,
                                  const char* call);

/// Makes what raise_run_error() needs when there is no memory. Throws std::bad_alloc.
void prepare_run_errors();

}  // namespace eddy
