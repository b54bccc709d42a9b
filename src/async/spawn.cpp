// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/detail/task/spawn_body.hpp>
