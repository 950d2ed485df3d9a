// Makes a network of a fabric that was read from a file.
//
// Each port of an adapter is a node, in the order of its host's name, of the adapter's
// and of the port (digits by their number: n2 before n10); adapters that go by their GUID
// follow, routers and gateways come last. So the ranks of a host that are placed side by
// side have a network interface each. Or the ports of a host are its rails
// (cabling_nodes.h). Switches stand in the order of cabling_levels.h,
// and their ports in that of the fabric's numbers, those down first.
#ifndef TB_CABLING_BUILD_H
#define TB_CABLING_BUILD_H

#include "cabling_nodes.h"
#include "network.h"

#include <signal.h>

struct tb_cabling_options {
	const struct tb_network_params *params; // of all that the file does not give
	enum tb_cabling_nics nics;
	const char *adapters; // of a host, those that count; NULL: all
	const char *part;     // a switch in the one part that counts; NULL: all
	const char *roots;    // the file that names the top switches; NULL: none does
	const char *names;    // the file that names devices, likewise
	const volatile sig_atomic_t *stop; // NULL: never
	bool leaves_out_routes;		   // as tb_network_builder_leave_out_routes
};

// tb_cabling_build builds the network of a fabric as its reader left it; the fabric is
// spent and must still be freed. TB_EFORMAT names what contradicts itself, hosts that do
// not reach each other and, with rails, hosts that have another number of ports than the
// others; TB_ECAPACITY, TB_ENOMEM, TB_ESTOPPED. Cost: as a network_builder.h's.
int tb_cabling_build(struct tb_network **network, struct tb_cabling *cabling,
	const struct tb_cabling_options *options, struct tb_error *error) TB_MUST_USE;

#endif
