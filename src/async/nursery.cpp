// SPDX-License-Identifier: Apache-2.0

// Compiles nurseries and their awaiters for the built-in vocabulary.
#include <eddy/async/detail/nursery/nursery_body.hpp>
#include <eddy/async/detail/nursery/nursery_waits_body.hpp>
