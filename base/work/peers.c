#include "peers.h"

#include "module.h"
#include "units.h"

#include <stdlib.h>

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
	static const char *const names[] = {TB_PEERS_JOIN};
	tb_peers_join_function *join = NULL;
	struct tb_error cause;
	if (tb_module_load(&join, "mpi", names, 1, &cause) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"mpirun started %u of these, but what lets them work together is "
			"not there (package tailback-mpi): %s",
			tb_peers_launched(), cause.text);
	char text[256];
	if (join(peers, text, sizeof text) == 0)
		return TB_OK;
	return tb_fail(error, TB_EIO, "MPI cannot be used: %s", text);
}
