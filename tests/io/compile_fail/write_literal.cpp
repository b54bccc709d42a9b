// says: this is not a buffer of bytes: write eddy::bytes(buffer)
// SPDX-License-Identifier: Apache-2.0
#include <eddy/io/io.hpp>

void transfer(const eddy::stream& through) {
#ifdef CORRECTED
    auto sender = through.write(eddy::bytes("text"));
#else
    auto sender = through.write("text");
#endif
}
