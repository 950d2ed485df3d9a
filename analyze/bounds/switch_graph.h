// The switches of a run's network and the links between them that lived from the start.
// Private to analyze/bounds/.
#ifndef TB_SWITCH_GRAPH_H
#define TB_SWITCH_GRAPH_H

#include "run.h"

struct tb_switch_graph {
	uint32_t n_switches, n_edges;
	uint32_t *from, *to; // by edge: switches
	bool *is_up;	     // likewise
	double *bytes_per_s; // likewise, above 0
	// Edges into switch v are in[first_in[v]] up to in[first_in[v + 1]], ascending;
	// those out of it likewise.
	uint32_t *first_in, *in;
	uint32_t *first_out, *out;
};

#endif
