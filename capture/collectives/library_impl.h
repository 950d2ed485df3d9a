// What a library is. Only for capture/collectives.
#ifndef TB_LIBRARY_IMPL_H
#define TB_LIBRARY_IMPL_H

#include "algorithms.h"
#include "composing.h"

struct tb_library {
	const char *name;
	tb_chooser *choose;
	tb_composer *compose; // calls of several members a host; NULL: it does not
	uint64_t eager_bytes;
	const char *flat; // what is not modelled of several members a host; NULL: nothing
};

#endif
