// The twin of timer_command.pml whose loop sets a timer without a look into the inbox: what another
// thread had told before comes after it.

#define SET_AT_ONCE
#include "timer_command.pml"
