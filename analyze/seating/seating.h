// Where the ranks of a run would sit so that least of its traffic crosses leaf switches.
//
// Model: the nodes on which ranks run are a graph, whose edges weigh the bytes that two
// nodes sent each other. It is cut into as many parts as there are leaves (switches of
// level 0), each as large as its leaf has places, so that the edges between parts weigh
// little: METIS's recursive bisection (G. Karypis, V. Kumar, "A fast and high quality
// multilevel scheme for partitioning irregular graphs", 1998). Its halves are neighbours
// in the tree, so little crosses the levels above, too. METIS keeps the sizes of parts
// only nearly; what is too much in one goes, vertex by vertex, where it costs least.
// Ranks that share a node stay together.
//
// The same run gives the same places.
#ifndef TB_SEATING_H
#define TB_SEATING_H

#include "run.h"

#include <stdio.h>

enum tb_seating_places {
	TB_SEATING_SAME,     // the nodes that the run had
	TB_SEATING_ANYWHERE, // the first leaves of the network, whole
};

struct tb_seating {
	struct tb_run *run; // borrowed
	uint32_t *node; // by node of the run: where its ranks go; TB_ID_NONE: it has none
	uint32_t n_nodes; // of one rail
	uint32_t n_used;
	// Between nodes of different leaves, as it was and as it would be; of `bytes` in
	// all.
	double bytes, crossing, crossing_after;
};

// tb_seating_init finds the places. Without traffic between nodes, or with all of it on
// one leaf, they stay as they are. TB_ECAPACITY for runs of more flows than are read one
// by one (flow_table.h), TB_EFORMAT when the file is damaged, TB_ENOMEM. Cost: the flows
// of the run, sorted, and their partition: 4096 nodes and 200,000 flows take a second.
int tb_seating_init(struct tb_seating *seating, struct tb_run *run,
	enum tb_seating_places places, struct tb_error *error) TB_MUST_USE;
void tb_seating_fini(struct tb_seating *seating);

// tb_seating_write_map writes the map of a job: Open MPI's rank file where nodes have the
// names of hosts, else lines "RANK NODE" (placement.h). TB_EFORMAT, TB_ENOMEM.
int tb_seating_write_map(const struct tb_seating *seating, uint32_t job, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

#endif
