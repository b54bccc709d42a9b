// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The place that this header had in 0.1. It goes away in 0.2.
#include <eddy/loop/detail/brief_memory.hpp>
