// SPDX-License-Identifier: Apache-2.0
// Posting on that queue with items as large as the entries of eddy.

#include "post/bare_queue.hpp"

namespace {

template <class Handler>
using queue = bench::bare_queue<Handler, bench::library_item<Handler>>;

}  // namespace

int main(int argc, char** argv) { return bench::post_main<queue>(argc, argv); }
