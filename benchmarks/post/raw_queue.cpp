// SPDX-License-Identifier: Apache-2.0
// Posting on the bare minimum: a queue.

#include "post/bare_queue.hpp"

namespace {

template <class Handler>
using queue = bench::bare_queue<Handler, bench::bare_item<Handler>>;

}  // namespace

int main(int argc, char** argv) { return bench::post_main<queue>(argc, argv); }
