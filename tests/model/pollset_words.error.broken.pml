// The twin of pollset_words.pml that tells an error of the descriptor to those who wait for errors alone: a reader
// waits for ever.

#define ERRORS_ARE_FOR_ONE_WORD
#include "pollset_words.pml"
