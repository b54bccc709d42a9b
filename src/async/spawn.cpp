// SPDX-License-Identifier: Apache-2.0

// Compiles spawn() for the built-in vocabulary.
#include <eddy/async/detail/task/spawn_body.hpp>
