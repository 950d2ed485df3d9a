// Placement: where the ranks of jobs run that share a network. A node belongs to one job.
//
// A placement gives the nodes that a job may have, in order, and how ranks are dealt to
// them. The nodes are those of a host list or host file, all of which then belong to the
// job whether ranks run there or not; else all that no other job has. Ranks are dealt
//   block    to one node after the other, filling its slots;
//   cyclic   in turn to each switch of level 0 and there to each node, as cards are
//   dealt; random   in a random order of the slots, which the seed and the job's number
//   give; stride:N to every N-th of the nodes, then again from the second on, and so on;
// or a map file names the node of each rank (rank_map.h); or the trace names the host of
// each: trace. Where the network names its hosts, these are looked up (hosts_match.h);
// else the hosts are the free nodes, in the order in which ranks name them. A node has as
// many slots as its host file gives it, else `per_node`.
#ifndef TB_PLACEMENT_H
#define TB_PLACEMENT_H

#include "network.h"

enum tb_placement_kind {
	TB_PLACE_BLOCK,
	TB_PLACE_CYCLIC,
	TB_PLACE_RANDOM,
	TB_PLACE_STRIDE,
	TB_PLACE_MAP,
	TB_PLACE_TRACE
};

struct tb_placement {
	enum tb_placement_kind kind;
	uint32_t stride;   // of TB_PLACE_STRIDE, at least 1
	uint32_t per_node; // ranks; 0 reads as 1
	const char *nodes; // a host list; NULL: none
	const char *tasks; // of its hosts, as tb_hosts_parse; NULL: per_node
	const char *hosts; // a host file; NULL: none. Not both
	const char *map;   // the file of TB_PLACE_MAP; then neither of them
	// Of TB_PLACE_TRACE: the hosts by rank, and whether the network must have them if
	// it names hosts; else hosts that it lacks make all of them free nodes.
	const char *const *trace_hosts;
	bool must_match;
};

// tb_placement_parse reads "block", "cyclic", "random", "stride:N" or "trace" into `kind`
// and `stride`. TB_EUSAGE names those that there are.
int tb_placement_parse(struct tb_placement *placement, const char *text,
	struct tb_error *error) TB_MUST_USE;

// tb_placement_names_nodes returns whether the nodes are given, as opposed to any that
// are free. Place jobs with given nodes first.
bool tb_placement_names_nodes(const struct tb_placement *placement);

// Which job has which node.
struct tb_places; // opaque

// tb_places_note returns how the hosts of the job that was put last were found, a
// sentence without full stop; "" for other placements than that of the trace.
const char *tb_places_note(const struct tb_places *places);

// tb_places_new borrows the network.
int tb_places_new(struct tb_places **places, const struct tb_network *network,
	uint64_t seed, struct tb_error *error) TB_MUST_USE;
void tb_places_free(struct tb_places *places);

// tb_places_put places the `n_ranks` ranks of job number `job`, called `name` in
// messages (borrowed, for later ones too), and stores their nodes in a malloc'ed array.
// TB_ECAPACITY when they do not fit, TB_EUSAGE when another job has a node that this one
// asks for: the sentence names both jobs and the node.
int tb_places_put(struct tb_places *places, uint32_t job, const char *name,
	uint32_t n_ranks, const struct tb_placement *placement, uint32_t **node_of_rank,
	struct tb_error *error) TB_MUST_USE;

// tb_places_take gives a node to a job that chooses its nodes itself, which may take the
// same one several times. Errors as of tb_places_put.
int tb_places_take(struct tb_places *places, uint32_t job, const char *name,
	struct tb_node node, struct tb_error *error) TB_MUST_USE;

#endif
