// inbox.pml with a third producer, and fewer posts and stops, so that it can be searched in full.
// cc: -O2

#define PRODUCERS 3
#define POSTS 1
#define STOPS 1
#define IO 2
#include "inbox.pml"
