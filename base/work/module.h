// Modules: shared libraries that are loaded when they are first needed. What they depend
// on would cost every start of the program more than most commands do.
//
// The module NAME is the file tailback-NAME.so, which the program's run path finds. A
// loaded module stays until the process ends.
#ifndef TB_MODULE_H
#define TB_MODULE_H

#include "status.h"

#include <stddef.h>

// Functions of a module are a list of names in a macro such as
//     #define CAIRO(X) X(cairo_fill) X(cairo_paint)
// from which the struct for their addresses and the list of their names are made:
//     struct cairo { CAIRO(TB_MODULE_POINTER) };
//     static const char *const cairo_names[] = {CAIRO(TB_MODULE_NAME)};
#define TB_MODULE_POINTER(function) __typeof__(function) *function;
#define TB_MODULE_NAME(function)    #function,

// tb_module_load loads the module and stores the addresses of n functions in `functions`,
// a struct of as many pointers, in the order of their names. TB_EIO when the module is
// not installed, or has not all of them.
int tb_module_load(void *functions, const char *module, const char *const *names,
	size_t n, struct tb_error *error) TB_MUST_USE;

#endif
