#include "peers.h"

#include "units.h"

#include <dlfcn.h>
#include <stdlib.h>

#define MODULE "tailback-mpi.so"

uint32_t tb_peers_launched(void)
{
	const char *text = getenv("OMPI_COMM_WORLD_SIZE");
	uint64_t n = 1;
	if (!text || tb_parse_count(text, 1, UINT32_MAX, &n) != TB_OK)
		return 1;
	return (uint32_t)n;
}

int tb_peers_open(struct tb_peers *peers, struct tb_error *error)
{
	// The module is found by the program's run path. Open MPI's own modules want its
	// symbols for everybody. It is never closed: MPI ends with the process only.
	void *module = dlopen(MODULE, RTLD_NOW | RTLD_GLOBAL);
	if (!module)
		return tb_fail(error, TB_EUSAGE,
			"mpirun started %u of these, but what lets them work together is "
			"not there (package tailback-mpi): %s",
			tb_peers_launched(), dlerror());
	// ISO C has no cast from an object's address to a function's.
	tb_peers_join_function *join = NULL;
	*(void **)&join = dlsym(module, TB_PEERS_JOIN);
	char text[256] = "its module is of another version";
	if (join && join(peers, text, sizeof text) == 0)
		return TB_OK;
	return tb_fail(error, TB_EIO, "MPI cannot be used: %s", text);
}
