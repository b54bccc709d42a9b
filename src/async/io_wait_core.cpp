// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/detail/await/io_wait_core_body.hpp>
