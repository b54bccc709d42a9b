// The twin of pollset_words.pml whose shutdown ends two of the three waits.

#define SHUTDOWN_FORGETS_A_WORD
#include "pollset_words.pml"
