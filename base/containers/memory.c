#include "memory.h"

#include "units.h"

#include <unistd.h>

int tb_memory_check(uint64_t bytes, const char *what, struct tb_error *error)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	if (pages <= 0 || page <= 0)
		return TB_OK; // not known
	uint64_t most = (uint64_t)pages * (uint64_t)page;
	char needed[32], there[32];
	if (bytes <= most)
		return TB_OK;
	return tb_fail(error, TB_ECAPACITY, "%s take %s of memory: this computer has %s",
		what, tb_format_size(bytes, needed, sizeof needed),
		tb_format_size(most, there, sizeof there));
}
