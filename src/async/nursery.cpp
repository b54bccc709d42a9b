// SPDX-License-Identifier: Apache-2.0
#include <eddy/async/detail/nursery/nursery_body.hpp>
#include <eddy/async/detail/nursery/nursery_waits_body.hpp>
