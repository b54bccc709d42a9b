// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which library the names in eddy::ex come from. The build says so by one definition, which the
/// CMake target `eddy` carries to its users; without any the built-in vocabulary is meant.
///
///     EDDY_EXECUTION_BUILTIN    eddy's own, for compilers without one
///     EDDY_EXECUTION_STDEXEC    NVIDIA/stdexec
///     EDDY_EXECUTION_STD        the standard library's
///
/// docs/ex.md says how to write senders that work with all three.
#if defined(EDDY_EXECUTION_STDEXEC) + defined(EDDY_EXECUTION_STD) + \
        defined(EDDY_EXECUTION_BUILTIN) >                           \
    1
#error "eddy: more than one of EDDY_EXECUTION_BUILTIN, _STDEXEC and _STD is defined"
#endif

/// EDDY_EX_BUILTIN: 1 if the entities' headers hold the built-in vocabulary, 0 if all names come
/// from a bridge. EDDY_EX_NAME, with a bridge: an identifier of the vocabulary, for names of
/// symbols.
#if defined(EDDY_EXECUTION_STDEXEC)
#define EDDY_EX_BUILTIN 0
#define EDDY_EX_NAME with_stdexec
#elif defined(EDDY_EXECUTION_STD)
#define EDDY_EX_BUILTIN 0
#define EDDY_EX_NAME with_std
#else
#define EDDY_EX_BUILTIN 1
#endif

/// Around all of eddy that depends on the vocabulary. Its symbols then differ from those of the
/// same with another vocabulary, and the two may meet in one program. With the built-in vocabulary
/// it adds nothing: compilers would show a name in their messages that users do not write.
///
///     namespace eddy {
///     EDDY_EX_BEGIN
///     template <class Sender> auto timeout(Sender sender, duration limit);
///     EDDY_EX_END
///     }
#if EDDY_EX_BUILTIN
#define EDDY_EX_BEGIN
#define EDDY_EX_END
#else
#define EDDY_EX_BEGIN inline namespace EDDY_EX_NAME {
#define EDDY_EX_END }
#endif

/// Before the body of what depends on the vocabulary and is no template. Bodies have a header of
/// their own, NAME_body.hpp. With the built-in vocabulary the library has compiled it, and nobody
/// else need; with another one NAME.hpp includes it.
#if EDDY_EX_BUILTIN
#define EDDY_EX_INLINE
#else
#define EDDY_EX_INLINE inline
#endif

#if defined(EDDY_EXECUTION_STDEXEC)
#include <eddy/ex/bridge/stdexec.hpp>
#elif defined(EDDY_EXECUTION_STD)
#include <eddy/ex/bridge/std.hpp>
#endif
