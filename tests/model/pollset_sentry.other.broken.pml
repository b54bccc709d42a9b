// The twin of pollset_sentry.pml whose sentry is relied on for pollsets that it is not of: it finds nothing due in its
// own one, and theirs stays.

#define WATCHES_OVER_OTHERS
#include "pollset_sentry.pml"
