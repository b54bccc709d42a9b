// SPDX-License-Identifier: Apache-2.0

// Compiles the type-independent part of I/O waits for the built-in vocabulary.
#include <eddy/async/detail/await/io_wait_core_body.hpp>
