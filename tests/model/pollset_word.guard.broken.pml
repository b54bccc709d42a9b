// The twin of pollset_word.pml whose shutdown leaves the word quiet: who arms it later does not ask, and waits for
// ever.

#define SHUTDOWN_LEAVES_THE_WORD_QUIET
#include "pollset_word.pml"
