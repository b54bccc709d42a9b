// SPDX-License-Identifier: Apache-2.0

// Selects the library from which the names in eddy::ex come. The build makes one definition, which
// the CMake target `eddy` passes to its users. The built-in vocabulary is the default.
//
//     EDDY_EXECUTION_BUILTIN    eddy's own, for compilers without one
//     EDDY_EXECUTION_STDEXEC    NVIDIA/stdexec
//     EDDY_EXECUTION_STD        the standard library's
//
// docs/ex.md describes how to write senders that work with all three.
#pragma once

#if defined(EDDY_EXECUTION_STDEXEC) + defined(EDDY_EXECUTION_STD) + \
        defined(EDDY_EXECUTION_BUILTIN) >                           \
    1
#error "eddy: more than one of EDDY_EXECUTION_BUILTIN, _STDEXEC and _STD is defined"
#endif

/// EDDY_EX_BUILTIN is 1 if the entities' headers hold the built-in vocabulary, and 0 if all names
/// come from a bridge. EDDY_EX_NAME is defined with a bridge: it identifies the vocabulary in
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

/// Encloses everything in eddy that depends on the vocabulary. The symbols then differ from those
/// for another vocabulary, and both may meet in one program. Empty with the built-in vocabulary:
/// compiler messages would show a name that users do not write.
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

/// Stands before a function body that depends on the vocabulary and is not a template. These bodies
/// have headers of their own, NAME_body.hpp. With the built-in vocabulary only the library compiles
/// them; with another one NAME.hpp includes them.
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
