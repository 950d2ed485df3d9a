// From a description to a network: the one place where presets, and fabrics in files,
// become graphs.
#ifndef TB_NETWORK_OPEN_H
#define TB_NETWORK_OPEN_H

#include "network.h"

#include <signal.h>

// What a network is opened from. Pointers are borrowed for the call.
struct tb_network_description {
	// As tb_network_preset or tb_fabric_file_open (fabric_file.h) reads it.
	const char *name;
	// Instead of a name: parameters that were read before, or measured out by an
	// experiment. Those of a fabric have no cables: the name opens it all the same.
	const struct tb_network_params *params;
	uint32_t n_nodes; // raise the levels until so many fit; 0: leave them
	const volatile sig_atomic_t *stop; // set by another: give up; NULL: never
	// Of a fabric, its cables alone: for what looks at them or writes them, and asks
	// for no route (network_builder.h).
	bool leaves_out_routes;
};

// tb_network_open builds the k-ary n-tree of the description, the regular tree of its
// shape (shape.h), or the fabric of the file that its name begins with. `n_nodes` does
// not change a fabric; a shape must have so many. Level 0 joins the nodes. What is odd
// about a fabric and was passed over is remarked upon (tb_network_remark). TB_EUSAGE and
// TB_EFORMAT as tb_network_preset and tb_fabric_file_open, TB_ECAPACITY beyond 2^24
// nodes, TB_ESTOPPED within milliseconds of `stop`. Cost: 60 bytes and a tenth of a
// microsecond a link; of what is no k-ary n-tree also 6 bytes a switch and node, for
// routes.
int tb_network_open(struct tb_network **network,
	const struct tb_network_description *description,
	struct tb_error *error) TB_MUST_USE;

// tb_network_open_params reads the parameters of a network by name, and builds it only
// where that is how they are found: of a fabric. `n_hosts`, which may be NULL, gets how
// many nodes a rail of it has, or 0 when it grows to as many as are asked for. Errors as
// tb_network_open.
int tb_network_open_params(struct tb_network_params *params, uint32_t *n_hosts,
	const char *name, struct tb_error *error) TB_MUST_USE;

#endif
