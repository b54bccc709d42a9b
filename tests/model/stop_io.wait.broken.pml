// The twin of stop_io.pml whose completion does not wait for the thread that is about to push the
// stop.

#define DISARM_DOES_NOT_WAIT
#include "stop_io.pml"
