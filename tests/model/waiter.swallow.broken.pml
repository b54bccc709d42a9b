// The twin of waiter.pml whose operation keeps what it was granted when it is destroyed: the permit is
// lost.

#define SWALLOW
#include "waiter.pml"
