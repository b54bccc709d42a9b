// The twin of pollset_word.pml whose shutdown ends only the wait there is: the next one waits for ever.

#define SHUTDOWN_IS_NOT_REMEMBERED
#include "pollset_word.pml"
