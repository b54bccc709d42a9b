// The twin of pollset_deputy.pml in which the one of two in the kernel that a wake brings out keeps it to
// itself: the other one, for whom it was, stays.

#define A_WAKE_IS_NOT_PASSED_ON
#include "pollset_deputy.pml"
