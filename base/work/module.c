#include "module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int tb_module_load(void *functions, const char *module, const char *const *names,
	size_t n, struct tb_error *error)
{
	char file[64];
	snprintf(file, sizeof file, "tailback-%s.so", module);
	// Open MPI loads modules of its own, which look up its symbols.
	void *opened = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	for (size_t i = 0; i < n; i++) {
		void *address = opened ? dlsym(opened, names[i]) : NULL;
		if (!address)
			return tb_fail(error, TB_EIO, "a module cannot be loaded: %s",
				dlerror());
		// ISO C has no cast from an object's address to a function's.
		memcpy((char *)functions + i * sizeof address, &address, sizeof address);
	}
	return TB_OK;
}
