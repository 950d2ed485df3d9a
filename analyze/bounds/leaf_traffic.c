#include "run_impl.h"
#include "split_impl.h"

#include <stdlib.h>
#include <string.h>

void tb_leaf_traffic_fini(struct tb_leaf_traffic *traffic)
{
	free(traffic->leaf_of_node);
	free(traffic->switch_of_leaf);
	free(traffic->bytes);
	*traffic = (struct tb_leaf_traffic){0};
}

// find_leaves numbers the switches that nodes are joined to.
static bool find_leaves(struct tb_leaf_traffic *traffic, const struct tb_run *run)
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

static int read_flows(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	bool frames = strcmp(info->input_kind, "job") != 0; // bytes are on the wire
	double overhead = frames ? 0 : info->network.packet_overhead_bytes;
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT source, destination, bytes, packets FROM flow WHERE run = ?1",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow", &row, error)) > 0) {
		uint32_t from =
			traffic->leaf_of_node[tb_run_get_id(&row, 0, info->n_nodes)];
		uint32_t to =
			traffic->leaf_of_node[tb_run_get_id(&row, 1, info->n_nodes)];
		double bytes = (double)tb_run_get(&row, 2, INT64_MAX) +
			       overhead * (double)tb_run_get(&row, 3, INT64_MAX);
		if (++traffic->n_flows > TB_SPLIT_FLOWS_MOST)
			break;
		if (!row.bad && from != to && from != TB_ID_NONE && to != TB_ID_NONE)
			traffic->bytes[(size_t)to * traffic->n_leaves + from] += bytes;
	}
	sqlite3_finalize(row.query);
	return status < 0 ? status : TB_OK;
}

int tb_leaf_traffic_init(
	struct tb_leaf_traffic *traffic, struct tb_run *run, struct tb_error *error)
{
	*traffic = (struct tb_leaf_traffic){0};
	bool fine = find_leaves(traffic, run);
	size_t n = (size_t)traffic->n_leaves * traffic->n_leaves;
	if (fine)
		traffic->bytes = calloc(n + 1, sizeof *traffic->bytes);
	int status = traffic->bytes ? read_flows(traffic, run, error)
				    : tb_fail_memory(error, "the traffic of leaves");
	if (status)
		tb_leaf_traffic_fini(traffic);
	return status;
}
