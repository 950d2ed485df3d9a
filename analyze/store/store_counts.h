// Writes what the counters of a live fabric counted at the ends of links, beside the
// figures: errors, pauses, marks. Private to analyze/.
#ifndef TB_STORE_COUNTS_H
#define TB_STORE_COUNTS_H

#include "store.h"

// The key that marks a link of which no port counted anything: its figures are 0, but
// that is not known.
#define TB_LINK_NOT_MEASURED "not_measured"
// And one of which a port counted, but none how long its sender could not send.
#define TB_LINK_STALL_NOT_MEASURED "stall_not_measured"

struct tb_link_count {
	struct tb_link link;
	const char *counter; // its key
	uint64_t count;
};

// tb_store_write_counts writes rows of the begun run, each link and counter once at most.
int tb_store_write_counts(struct tb_store *store, const struct tb_link_count *counts,
	size_t n, struct tb_error *error) TB_MUST_USE;

#endif
