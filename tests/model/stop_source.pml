// inplace_stop_source (src/ex/inplace_stop_token.cpp), used as when_all uses it.
//
// CHILDREN threads register a callback each, complete, and take it away again; the callback completes
// its child instead, if it comes first. Who completes the last child destroys the source: maybe inside
// a callback, that is inside request_stop(). A stop is requested from outside (OUTER), and may be
// requested by child 0 as well. The source outlives requests of other threads: who destroys it on
// another thread waits for OUTER, as the destructor of the outer callback would.
//
// Shown:
//   - a callback is called at most once, and only one request is told that it made it;
//   - when deregister() returns on another thread, the callback is not running any more;
//   - deregister() inside the callback returns (else nothing could happen any more);
//   - nobody touches a callback that was taken away, or the source after it was destroyed;
//   - the list is changed by one thread at a time;
//   - all children complete, and the source is destroyed once.
//
// The list is a set here: which callback is called first does not matter. Not shown: memory orders,
// and that running_.wait() is woken up, which is the standard library's matter.

#define CHILDREN 3
#define OUTER CHILDREN                 // its thread
#define THREADS (CHILDREN + 1)
#define NOBODY 255

bool requested = false;                // inplace_stop_source::state_
bool locked = false;
bool linked[CHILDREN];                 // link_ != nullptr
byte running = NOBODY;                 // running_
byte requester = NOBODY;               // requester_
byte gone_of = NOBODY;                 // gone_: whose `gone` it points to
bool gone[THREADS];                    // the local of request_stop()

bool claimed[CHILDREN];                // the child: who completes it was decided
byte incomplete = CHILDREN;            // when_all's count

// What only the properties need.
bool alive = true;                     // the source
bool callback_alive[CHILDREN];
bool inside[CHILDREN];                 // the callback's function is being run
bool called[CHILDREN];
byte in_list = 0;                      // threads that change the list
byte made = 0;                         // requests that returned true
bool outer_requests = false;           // between begin and end of request_stop()
bool outer_too_late = false;
byte finished = 0;

// Every thread has a `me`, its number.

#define TOUCH assert(alive)

// lock_unless_requested(): `ok` says whether the lock is held, with `requested` if it is `wanted`.
inline lock_unless_requested(wanted) {
    atomic {
        requested || !locked || !alive ->
        TOUCH;
        ok = !requested;
        if
        ::  ok -> locked = true; requested = wanted
        ::  else
        fi
    }
}

inline lock() {
    atomic { !locked || !alive -> TOUCH; locked = true; before = requested }
}

inline unlock(state) {
    d_step { TOUCH; assert(locked); locked = false; requested = state }
}

inline change_list(entry, into) {
    d_step { TOUCH; assert(callback_alive[entry] && in_list == 0); in_list++ };
    d_step { TOUCH; linked[entry] = into; in_list-- }
}

inline deregister(n) {
    lock();
    if
    ::  linked[n] -> change_list(n, false); unlock(before)
    ::  else ->
        in_callback = running == n && requester == me;
        unlock(before);
        if
#ifndef DEREGISTER_WAITS_INSIDE
        ::  in_callback
#endif
#ifdef DEREGISTER_DOES_NOT_WAIT
        ::  else
#else
        ::  else -> atomic { running != n || !alive -> TOUCH }
#endif
        fi
    fi;
    in_callback = false;
    before = false
}

// The child is complete; the last one ends the whole, and that destroys the source.
inline arrive() {
    d_step { incomplete--; last = incomplete == 0 };
    if
    ::  last ->
        atomic { me == OUTER || !outer_requests -> outer_too_late = true };
        d_step {
            last = false;
            TOUCH;
            for (k : 0 .. CHILDREN - 1) {
                assert(!callback_alive[k])
            }
            k = 0;
            alive = false;
            if
            ::  gone_of != NOBODY -> gone[gone_of] = true
            ::  else
            fi
        }
    ::  else
    fi
}

// The callback of child `which`, called inside request_stop().
inline call(which) {
    d_step {
        assert(callback_alive[which] && !called[which]);
        called[which] = true;
        inside[which] = true
    };
    d_step { mine = !claimed[which]; claimed[which] = true };
    if
    ::  mine ->
        mine = false;
        deregister(which);             // it destroys itself
        callback_alive[which] = false;
        inside[which] = false;             // from here it is as good as over
        arrive()
    ::  else ->
        d_step { assert(callback_alive[which]); inside[which] = false }
    fi
}

inline request_stop() {
    lock_unless_requested(true);
    if
    ::  ok ->
        ok = false;
        d_step { made++; assert(made == 1); requester = me; gone_of = me };
        do
        ::  atomic {
                TOUCH;
                if                     // any of them
                ::  linked[0] -> node = 0
                ::  linked[1] -> node = 1
                ::  linked[2] -> node = 2
                ::  else -> node = NOBODY
                fi
            };
            if
            ::  node == NOBODY -> break
            ::  else
            fi;
            change_list(node, false);
            running = node;
            unlock(true);
            call(node);
#ifndef GONE_IS_IGNORED
            if
            ::  gone[me] -> break
            ::  else
            fi;
#endif
            d_step { TOUCH; running = NOBODY };
            lock()
        od;
        if
        ::  gone[me]
        ::  else ->
            d_step { TOUCH; gone_of = NOBODY };
            unlock(true)
        fi
    ::  else
    fi;
    d_step { node = 0; before = false; ok = false }
}

proctype child(byte me) {
    byte node, k;
    bool ok, before, in_callback, mine, last;
    callback_alive[me] = true;
    lock_unless_requested(false);      // enlist()
    if
    ::  ok ->
        ok = false;
        change_list(me, true);
        unlock(false);
        d_step { mine = !claimed[me]; claimed[me] = true };
        if
        ::  mine ->
            mine = false;
            deregister(me);
            d_step { assert(!inside[me]); callback_alive[me] = false };
            if
            ::  me == 0 -> request_stop()            // it failed
            ::  true
            fi;
            arrive()
        ::  else                       // the callback completes it
        fi
    ::  else ->                        // the constructor calls it, and nothing is to deregister
        d_step { called[me] = true; claimed[me] = true; callback_alive[me] = false };
        arrive()
    fi;
    finished++
}

active proctype outer() {
    byte me = OUTER, node, k, i;
    bool ok, before, in_callback, mine, last;
    atomic {
        for (i : 0 .. CHILDREN - 1) {
            run child(i)
        }
        i = 0
    };
    atomic { outer_requests = !outer_too_late };
    if
    ::  outer_requests ->
        request_stop();
        outer_requests = false
    ::  else
    fi;
    finished == CHILDREN;
    assert(!alive && incomplete == 0)
}
