// What MPICH composes by host: version 4.0.2, device ch4. Which composition:
// maint/tuning/coll/ch4/generic.json; of which parts: src/mpid/ch4/src/ch4_coll_impl.h;
// within a host: posix_generic.json and posix_coll_release_gather.h, from the fifth call
// on a communicator. Operations are taken to commute.
#include "composing.h"

// Within a host a broadcast is read from the leader's buffer by up to 64 at once
// (MPIR_CVAR_BCAST_INTRANODE_TREE_KVAL), and a reduction goes up a tree of 4 children
// (MPIR_CVAR_REDUCE_INTRANODE_TREE_KVAL).
static const struct tb_part_way share = {.op = TB_COLL_BROADCAST, .algorithm = "linear"};
static const struct tb_part_way add_up = {
	.op = TB_COLL_REDUCE, .algorithm = "tree", .radix = 4};
static const struct tb_part_way meet = {.op = TB_COLL_BARRIER, .algorithm = "linear"};

#define MPICH "MPICH 4.0, composition "

static void mpich_barrier(struct tb_composing *c)
{
	c->made->name = MPICH "alpha";
	tb_compose_hosts(c, meet, c->n_hosts);
	tb_compose_leaders(c, TB_COLL_BARRIER, 0);
	c->bytes = 1;
	tb_compose_hosts(c, share, c->n_hosts);
}

static void mpich_broadcast(struct tb_composing *c)
{
	uint32_t n = c->call->n, root = c->call->root, host = c->host_of[root];
	bool leads = c->leaders[host] == root;
	bool is_alpha = n < 8 || c->bytes < 12288;
	if (!is_alpha && !(((n & (n - 1)) == 0) && c->bytes < 524288))
		return; // gamma: as if there were no hosts
	c->made->name = is_alpha ? MPICH "alpha" : MPICH "beta";
	if (is_alpha)
		tb_compose_message(c, root, c->leaders[host]);
	else if (!leads)
		tb_compose_host(c, share, host, tb_composing_place(c, root));
	tb_compose_leaders(c, TB_COLL_BROADCAST, host);
	tb_compose_hosts(c, share, is_alpha || leads ? c->n_hosts : host);
}

static void mpich_reduce(struct tb_composing *c)
{
	uint32_t root = c->call->root, host = c->host_of[root];
	if (c->bytes > 2048) {
		c->made->name = MPICH "alpha";
		tb_compose_hosts(c, add_up, c->n_hosts);
		tb_compose_leaders(c, TB_COLL_REDUCE, 0);
		tb_compose_message(c, 0, root);
		return;
	}
	c->made->name = MPICH "beta";
	tb_compose_hosts(c, add_up, host);
	tb_compose_leaders(c, TB_COLL_REDUCE, host);
	tb_compose_host(c, add_up, host, tb_composing_place(c, root));
}

static void mpich_allreduce(struct tb_composing *c)
{
	c->made->name = c->n_hosts > 1 ? MPICH "alpha" : MPICH "gamma";
	tb_compose_hosts(c, add_up, c->n_hosts);
	tb_compose_leaders(c, TB_COLL_ALLREDUCE, 0);
	tb_compose_hosts(c, share, c->n_hosts);
}

// The last member of each host has the host's sum, and leaders pass on what came before.
static void mpich_scan(struct tb_composing *c)
{
	static const struct tb_part_way within = {.op = TB_COLL_SCAN};
	if (!c->is_consecutive)
		return; // beta: as if there were no hosts
	c->made->name = MPICH "alpha";
	tb_compose_hosts(c, within, c->n_hosts);
	for (uint32_t host = 0; host < c->n_hosts; host++)
		tb_compose_message(
			c, c->leaders[host] + c->sizes[host] - 1, c->leaders[host]);
	tb_compose_leaders(c, TB_COLL_SCAN, 0);
	for (uint32_t host = c->n_hosts - 1; host > 0; host--)
		tb_compose_message(c, c->leaders[host - 1], c->leaders[host]);
	tb_compose_hosts(c, share, c->n_hosts);
}

void tb_compose_mpich(struct tb_composing *c)
{
	switch (c->call->op) {
	case TB_COLL_BARRIER:
		mpich_barrier(c);
		return;
	case TB_COLL_BROADCAST:
		mpich_broadcast(c);
		return;
	case TB_COLL_REDUCE:
		mpich_reduce(c);
		return;
	case TB_COLL_ALLREDUCE:
		mpich_allreduce(c);
		return;
	case TB_COLL_SCAN:
		mpich_scan(c);
		return;
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
	case TB_COLL_ALLGATHER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		return; // as if there were no hosts
	}
}
