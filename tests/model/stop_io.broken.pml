// The twin of stop_io.pml whose completion does not care for a stop that is on its way: it leaves
// the node in the inbox.

#define STOP_IS_NOT_OVER
#include "stop_io.pml"
