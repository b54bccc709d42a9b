// SPDX-License-Identifier: Apache-2.0
// The same operator new as the tests of the loop have, which counts.
#include "loop/allocations.cpp"
