// The twin of pollset_deputy.pml that does not note that a wake was taken while another is in the kernel: the
// next one is not sent.

#define A_WAKE_STAYS_SENT
#include "pollset_deputy.pml"
