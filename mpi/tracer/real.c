#include "real.h"

#include <dlfcn.h>
#include <string.h>

struct tb_real tb_real;

static void real_find(void *function, size_t size, const char *name)
{
	void *there = dlsym(RTLD_NEXT, name);
	memcpy(function, &there, size);
}

// A function that an older MPI does not have stays NULL: then nobody can call it either.
static void __attribute__((constructor)) real_find_all(void)
{
#define FIND(name) real_find(&tb_real.name, sizeof tb_real.name, "PMPI_" #name);
	TB_WRAPPED(FIND)
}
