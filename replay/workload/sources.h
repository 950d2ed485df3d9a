// Several sources as one: jobs that share a network, each with its own start.
//
// Each part's time counts from its start; its nodes and jobs are renumbered to those of
// the whole. Within an instant the parts are asked in their order.
#ifndef TB_SOURCES_H
#define TB_SOURCES_H

#include "source.h"

struct tb_source_part {
	struct tb_source source; // its cookies must be below 2^48
	tb_time_ps start_ps;
	uint32_t first_job;	 // added to the jobs of its messages
	const uint32_t *node_of; // its node to the network's; NULL: the same
};

struct tb_sources; // opaque

// tb_sources_new copies the parts, at most 65,535, and borrows what they point to.
int tb_sources_new(struct tb_sources **sources, const struct tb_source_part *parts,
	uint32_t n, struct tb_error *error) TB_MUST_USE;
void tb_sources_free(struct tb_sources *sources);

struct tb_source tb_sources_source(struct tb_sources *sources);

#endif
