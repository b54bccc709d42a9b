// The twin of pollset_words.pml whose words share a latch: who waits for writing is told of input.

#define ONE_LATCH
#include "pollset_words.pml"
