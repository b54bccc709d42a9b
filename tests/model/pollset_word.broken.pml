// The twin of pollset_word.pml whose arming waits although an event came before: it is not told again.

#define FORGETS_THE_LATCH
#include "pollset_word.pml"
