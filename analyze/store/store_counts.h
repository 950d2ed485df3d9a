// Writes what the counters of a live fabric counted at the ends of links, beside the
// figures: errors, pauses, marks. Private to analyze/.
#ifndef TB_STORE_COUNTS_H
#define TB_STORE_COUNTS_H

#include "link_figures.h"
#include "store.h"

struct tb_link_count {
	struct tb_link link;
	const char *counter; // its key
	uint64_t count;
	bool at_least; // the counter stood at its end
};

// tb_store_write_counts writes rows of the begun run, each link and counter once at most.
int tb_store_write_counts(struct tb_store *store, const struct tb_link_count *counts,
	size_t n, struct tb_error *error) TB_MUST_USE;

// tb_store_write_known writes, by link, how well the begun run's figures are known;
// `samples` are these, and `tick_bytes` the ticks of PortXmitWait, by link.
int tb_store_write_known(struct tb_store *store, const struct tb_link_known *known,
	const struct tb_link_sample *samples, const uint32_t *tick_bytes,
	uint32_t n_links, struct tb_error *error) TB_MUST_USE;

#endif
