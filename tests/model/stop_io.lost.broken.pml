// The twin of stop_io.pml in which a stop that the loop takes before the start finds nothing to
// cancel, and is lost.

#define CANCEL_ONLY_WHAT_IS_PENDING
#include "stop_io.pml"
