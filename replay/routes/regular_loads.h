// Loads of all-to-all traffic on regular trees, by their symmetry. Private to replay/.
//
// A part of level l is what lies below a switch of that level; M nodes of the N of a rail
// do, and other switches have the same part below them. Where headers choose by load, all
// cables up from a part carry the same share of what its nodes send to the others. Where
// digits of the destination decide (regular_tree.c), all traffic to a node from outside a
// part that holds it enters that part by one cable, and leaves any other part by the
// cable in the same place. So the cables by which nodes are entered give the loads of
// all.
#ifndef TB_REGULAR_LOADS_H
#define TB_REGULAR_LOADS_H

#include "network_impl.h"

// tb_regular_loads_fit returns whether a network is such a tree, with such routes.
bool tb_regular_loads_fit(const struct tb_network *net);

// tb_regular_loads_add adds the loads of links between switches, by link: each node sends
// 1 to every other one of its rail. TB_ENOMEM, TB_ESTOPPED once `stop` is set. Cost: the
// links of a path per node, and all links.
int tb_regular_loads_add(const struct tb_network *net, double *of,
	const volatile sig_atomic_t *stop) TB_MUST_USE;

#endif
