// The nodes of a fabric in their order: the ports of its adapters and routers; and which
// rail each is of.
//
// A fabric is one part that hangs together, or several: planes, or rails without a spine
// between them. Hosts that have adapters in several parts make one cluster of these, in
// which adapters of different parts do not reach each other; so they become rails. Parts
// without a host in common are two fabrics, and refused.
//
// Every rail has an adapter of each host, all of one part. Within a host rails go by
// part, then by the adapter's name and the port. Set aside before
// are hosts of another kind than those that have most adapters together (their names
// differ in more than digits), and kinds of adapter, by part and rate, that lead to such
// hosts, as of storage. A host of this kind with more or fewer adapters than most is
// refused, and left out where nobody asked for rails.
#ifndef TB_CABLING_NODES_H
#define TB_CABLING_NODES_H

#include "cabling.h"

enum tb_cabling_nics {
	TB_NICS_AS_FITS, // ports, but rails in a fabric of several parts
	TB_NICS_PORT,	 // every port of an adapter is a node
	TB_NICS_HOST,	 // the ports of a host are its rails
};

struct tb_cabling_node {
	uint32_t device, port;
	uint32_t host;	     // from 0, in order
	uint32_t part;	     // of its switch, from 0 in the order of the nodes
	size_t n_host_bytes; // of the device's name
	bool is_one_of_many; // of its device's ports
};

struct tb_cabling_nodes {
	struct tb_cabling_node *nodes; // by rail, then by host
	uint32_t n, n_hosts, n_rails;
};

// tb_cabling_nodes_init lists the nodes of a fabric whose devices have names of their own
// and parts (tb_cabling_find_parts), which it numbers anew and leaves out where no node
// is left in them. `adapters` names those that count, "mlx5_[0-7]"; NULL: all. TB_EFORMAT
// names parts without a common host, hosts with more or fewer adapters on rails than
// most; TB_EUSAGE adapters that there are not, and TB_NICS_PORT for several parts;
// TB_ENOMEM. Cost: n log n in nodes.
int tb_cabling_nodes_init(struct tb_cabling_nodes *nodes, struct tb_cabling *cabling,
	enum tb_cabling_nics nics, const char *adapters) TB_MUST_USE;
void tb_cabling_nodes_fini(struct tb_cabling_nodes *nodes);

#endif
