// Ranks that many send to, as I/O servers are, at other leaf switches.
#include "advice_impl.h"
#include "findings.h"
#include "seating.h"

#include <stdio.h>

// What is known of the nodes.
struct floor {
	struct tb_seating *seating; // as it was, to be changed
	uint32_t *leaf;		    // by node; TB_ID_NONE: none
	bool *is_server, *is_taken; // by node: taken by a server that moved
	uint32_t *n_used;	    // by switch: nodes with ranks
	uint32_t n_servers;
};

static void floor_fini(struct floor *floor)
{
	free(floor->leaf);
	free(floor->is_server);
	free(floor->is_taken);
	free(floor->n_used);
}

static int floor_init(struct floor *floor, const struct tb_advice *advice,
	struct tb_seating *seating, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	uint32_t n = seating->n_nodes;
	*floor = (struct floor){.seating = seating,
		.leaf = malloc((n + 1u) * sizeof *floor->leaf),
		.is_server = calloc(n + 1u, sizeof *floor->is_server),
		.is_taken = calloc(n + 1u, sizeof *floor->is_taken),
		.n_used = calloc(advice->info->n_switches + 1u, sizeof *floor->n_used)};
	if (!floor->leaf || !floor->is_server || !floor->is_taken || !floor->n_used)
		return tb_fail_memory(error, "the servers");
	for (uint32_t i = 0; i < n; i++)
		floor->leaf[i] = TB_ID_NONE;
	for (uint32_t i = 0; i < advice->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION && links[i].at.from < n)
			floor->leaf[links[i].at.from] = links[i].at.to;
	for (uint32_t i = 0; i < n; i++) {
		if (seating->node[i] != TB_ID_NONE)
			seating->node[i] = i; // as it was
		if (seating->node[i] != TB_ID_NONE && floor->leaf[i] != TB_ID_NONE)
			floor->n_used[floor->leaf[i]]++;
	}
	for (uint32_t i = 0; i < advice->evidence.n_ends; i++) {
		const struct tb_evidence_end *end = &advice->evidence.ends[i];
		if (end->queue.senders.n < TB_FINDING_SENDERS || end->node.id >= n ||
			seating->node[end->node.id] == TB_ID_NONE)
			continue;
		floor->is_server[end->node.id] = true;
		floor->n_servers++;
	}
	return TB_OK;
}

// move has a server change places with a node of a leaf: a free one, else one that is no
// server; false when there is none.
static bool move(struct floor *floor, uint32_t server, uint32_t leaf)
{
	uint32_t to = TB_ID_NONE, *node = floor->seating->node;
	if (floor->leaf[server] == leaf) {
		floor->is_taken[server] = true;
		return true;
	}
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (floor->leaf[i] != leaf || floor->is_taken[i] || floor->is_server[i])
			continue;
		if (to == TB_ID_NONE || (node[i] == TB_ID_NONE && node[to] != TB_ID_NONE))
			to = i;
	}
	if (to == TB_ID_NONE)
		return false;
	if (node[to] != TB_ID_NONE)
		node[to] = server;
	node[server] = to;
	floor->is_taken[to] = true;
	return true;
}

// leaf_at returns the k-th leaf in the order of nodes, of `n` in all.
static uint32_t leaf_at(const struct floor *floor, uint32_t k, uint32_t *n)
{
	uint32_t at = TB_ID_NONE, last = TB_ID_NONE;
	*n = 0;
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (floor->leaf[i] == last || floor->leaf[i] == TB_ID_NONE)
			continue;
		last = floor->leaf[i];
		if ((*n)++ == k)
			at = last;
	}
	return at;
}

// spread_servers deals the servers to the leaves.
static bool spread_servers(struct floor *floor)
{
	uint32_t n_leaves, k = 0;
	leaf_at(floor, 0, &n_leaves);
	if (floor->n_servers < 2 || n_leaves < 2)
		return false;
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++) {
		if (!floor->is_server[i])
			continue;
		uint32_t n, at = (uint32_t)((uint64_t)k++ * n_leaves / floor->n_servers);
		if (!move(floor, i, leaf_at(floor, at % n_leaves, &n)))
			return false;
	}
	return true;
}

// gather_servers puts the servers at the leaf that has the fewest nodes with ranks.
static bool gather_servers(struct floor *floor)
{
	uint32_t n_leaves, n, best = TB_ID_NONE;
	leaf_at(floor, 0, &n_leaves);
	if (floor->n_servers < 1 || n_leaves < 2)
		return false;
	for (uint32_t k = 0; k < n_leaves; k++) {
		uint32_t leaf = leaf_at(floor, k, &n);
		if (best == TB_ID_NONE || floor->n_used[leaf] < floor->n_used[best])
			best = leaf;
	}
	for (uint32_t i = 0; i < floor->seating->n_nodes; i++)
		if (floor->is_server[i] && !move(floor, i, best))
			return false;
	return true;
}

static bool any_moved(const struct tb_seating *seating)
{
	for (uint32_t i = 0; i < seating->n_nodes; i++)
		if (seating->node[i] != TB_ID_NONE && seating->node[i] != i)
			return true;
	return false;
}

static int search_deal(struct tb_advice *advice, bool (*deal)(struct floor *),
	const char *rule, const char *what, struct tb_error *error)
{
	struct tb_seating seating = {0};
	struct floor floor = {0};
	char title[160];
	int status = tb_seating_init(&seating, advice->run, TB_SEATING_SAME, error);
	if (status == TB_ECAPACITY)
		return TB_OK;
	if (status == TB_OK)
		status = floor_init(&floor, advice, &seating, error);
	if (status == TB_OK && deal(&floor) && any_moved(&seating)) {
		snprintf(title, sizeof title, "%u server%s %s", floor.n_servers,
			floor.n_servers == 1 ? "" : "s", what);
		status = tb_advice_add_seats(advice, &seating, rule, title, error);
	}
	floor_fini(&floor);
	tb_seating_fini(&seating);
	return status;
}

int tb_advice_search_servers(struct tb_advice *advice, struct tb_error *error)
{
	if (!advice->has_servers || advice->info->n_levels < 2)
		return TB_OK;
	int status = search_deal(advice, spread_servers, "servers-apart",
		"spread over the leaf switches", error);
	if (status == TB_OK)
		status = search_deal(advice, gather_servers, "servers-together",
			"at the leaf switch with the fewest ranks", error);
	return status;
}
