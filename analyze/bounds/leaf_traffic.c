#include "array.h"
#include "run_impl.h"
#include "split_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tb_leaf_traffic_fini(struct tb_leaf_traffic *traffic)
{
	free(traffic->leaf_of_node);
	free(traffic->switch_of_leaf);
	free(traffic->bytes);
	free(traffic->pairs);
	*traffic = (struct tb_leaf_traffic){0};
}

// find_leaf_switches numbers the switches that nodes are joined to.
static bool find_leaf_switches(struct tb_leaf_traffic *traffic, const struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t *number = malloc((info->n_switches + UINT64_C(1)) * sizeof *number);
	traffic->leaf_of_node =
		malloc((info->n_nodes + UINT64_C(1)) * sizeof *traffic->leaf_of_node);
	traffic->switch_of_leaf = malloc(
		(info->n_switches + UINT64_C(1)) * sizeof *traffic->switch_of_leaf);
	bool fine = number && traffic->leaf_of_node && traffic->switch_of_leaf;
	for (uint32_t i = 0; fine && i < info->n_switches; i++)
		number[i] = TB_ID_NONE;
	for (uint32_t i = 0; fine && i < info->n_nodes; i++)
		traffic->leaf_of_node[i] = TB_ID_NONE;
	for (uint32_t i = 0; fine && i < info->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if (at->kind != TB_LINK_INJECTION)
			continue;
		if (number[at->to] == TB_ID_NONE) {
			number[at->to] = traffic->n_leaves;
			traffic->switch_of_leaf[traffic->n_leaves++] = at->to;
		}
		traffic->leaf_of_node[at->from] = number[at->to];
	}
	free(number);
	return fine;
}

// add_leaf_pair adds a flow, and a pair for it while there is room for these.
static int add_leaf_pair(struct tb_leaf_traffic *traffic, struct tb_node_pair pair,
	double payload, struct tb_error *error)
{
	uint32_t from = traffic->leaf_of_node[pair.source];
	uint32_t to = traffic->leaf_of_node[pair.destination];
	if (from == to || from == TB_ID_NONE || to == TB_ID_NONE)
		return TB_OK;
	traffic->bytes[(size_t)to * traffic->n_leaves + from] += pair.bytes;
	if (pair.bytes > payload * traffic->overhead)
		traffic->overhead = payload > 0 ? pair.bytes / payload : INFINITY;
	if (traffic->n_flows > TB_STATIC_PAIRS_MOST || pair.bytes <= 0)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&traffic->pairs, &traffic->pairs_room, traffic->n_pairs + 1))
		return tb_fail_memory(error, "the traffic of nodes");
	pair.from = traffic->switch_of_leaf[from];
	pair.to = traffic->switch_of_leaf[to];
	traffic->pairs[traffic->n_pairs++] = pair;
	return TB_OK;
}

static int read_leaf_flows(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	bool frames = strcmp(info->input_kind, "job") != 0; // bytes are on the wire
	double overhead = frames ? 0 : info->network.packet_overhead_bytes;
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT source, destination, bytes, packets FROM unpacked_flow WHERE run "
		"= ?1",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		struct tb_node_pair pair = {
			.source = tb_run_get_id(&row, 0, info->n_nodes),
			.destination = tb_run_get_id(&row, 1, info->n_nodes)};
		double payload = (double)tb_run_get(&row, 2, INT64_MAX);
		pair.bytes = payload + overhead * (double)tb_run_get(&row, 3, INT64_MAX);
		if (++traffic->n_flows > TB_SPLIT_FLOWS_MOST)
			break;
		if (!row.bad &&
			(status = add_leaf_pair(traffic, pair, payload, error)) != TB_OK)
			break;
	}
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

static int by_nodes(const void *a, const void *b)
{
	const struct tb_node_pair *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->destination > y->destination) - (x->destination < y->destination);
}

static int by_bytes(const void *a, const void *b)
{
	const struct tb_node_pair *x = a, *y = b;
	if (x->bytes < y->bytes || x->bytes > y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_nodes(a, b);
}

// sort_pairs makes one pair of the flows that jobs have between the same nodes.
static void sort_pairs(struct tb_leaf_traffic *traffic)
{
	struct tb_node_pair *pairs = traffic->pairs;
	size_t n = 0;
	traffic->has_pairs = traffic->n_flows <= TB_STATIC_PAIRS_MOST;
	if (traffic->n_pairs == 0)
		return;
	qsort(pairs, traffic->n_pairs, sizeof *pairs, by_nodes);
	for (size_t i = 0; i < traffic->n_pairs; i++) {
		if (n > 0 && by_nodes(&pairs[n - 1], &pairs[i]) == 0)
			pairs[n - 1].bytes += pairs[i].bytes;
		else
			pairs[n++] = pairs[i];
	}
	traffic->n_pairs = n;
	qsort(pairs, n, sizeof *pairs, by_bytes);
}

int tb_leaf_traffic_init(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	*traffic = (struct tb_leaf_traffic){.overhead = 1};
	bool fine = find_leaf_switches(traffic, run);
	size_t n = (size_t)traffic->n_leaves * traffic->n_leaves;
	if (fine)
		traffic->bytes = calloc(n + 1, sizeof *traffic->bytes);
	int status = traffic->bytes ? read_leaf_flows(traffic, run, error)
				    : tb_fail_memory(error, "the traffic of leaves");
	if (status)
		tb_leaf_traffic_fini(traffic);
	else
		sort_pairs(traffic);
	return status;
}
