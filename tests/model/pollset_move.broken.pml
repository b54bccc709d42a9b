// The twin of pollset_move.pml whose pollsets move without a word to those inside: one waits in an
// epoll set that has nothing in it any more.
// cc: -O2

#define MOVES_WITHOUT_A_WORD
#include "pollset_move.pml"
