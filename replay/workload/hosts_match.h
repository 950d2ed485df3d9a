// Finds the hosts of a trace in a fabric that names its hosts.
//
// Rules, in this order; the first by which a name of the trace meets one of the fabric
// decides:
//   exactly       as they are written
//   short         without domain ("n01.cluster.org"), in any case
//   without rail  and without what names a rail or interface at the end: "-ib0", "_hca1",
//                 "-mlx5_0", "-eth2", "-hsn0", "-opa", "-rail3"
// A name that by a rule meets several hosts of the fabric is ambiguous, except by the
// last one: there they are network interfaces of the host.
#ifndef TB_HOSTS_MATCH_H
#define TB_HOSTS_MATCH_H

#include "network.h"
#include "status.h"

struct tb_hosts_match {
	// By rank: its node, TB_ID_NONE where its host was not found. The ranks of a host
	// with several network interfaces are dealt to them in turn.
	uint32_t *node_of_rank;
	uint32_t n_hosts; // that differ
	uint32_t n_unmatched, n_ambiguous;
	char text[320]; // names those, as far as it holds them; "" if there are none
};

// tb_hosts_match matches hosts by rank, of which any may be NULL: such a rank counts as a
// host that was not found. Cost: O(n log n) in ranks and nodes. TB_ENOMEM.
int tb_hosts_match(struct tb_hosts_match *match, const struct tb_network *network,
	const char *const *hosts, uint32_t n_ranks, struct tb_error *error) TB_MUST_USE;
void tb_hosts_match_fini(struct tb_hosts_match *match);

// tb_hosts_number stores for each rank the number of its host, in the order in which they
// first appear, and how many there are; a rank whose host is NULL has one of its own.
int tb_hosts_number(const char *const *hosts, uint32_t n_ranks, uint32_t *number,
	uint32_t *n_hosts, struct tb_error *error) TB_MUST_USE;

#endif
