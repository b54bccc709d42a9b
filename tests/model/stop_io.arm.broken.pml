// The twin of stop_io.pml that lets itself be stopped only after it was posted: it may be gone by
// then.

#define ARM_LAST
#include "stop_io.pml"
