#include "seating.h"

#include "flow_table.h"
#include "run_impl.h"
#include "seating_impl.h"

#include <stdlib.h>
#include <string.h>

void tb_seating_fini(struct tb_seating *seating)
{
	free(seating->node);
	*seating = (struct tb_seating){0};
}

// read_used marks the nodes on which ranks run.
static int read_used(struct tb_seating *seating, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(seating->run,
		"SELECT DISTINCT node FROM job_node WHERE run = ?1", &row, error);
	if (status)
		return status;
	while ((status = tb_run_next(seating->run, "job_node", &row, error)) > 0) {
		uint32_t node = tb_run_get_id(&row, 0, seating->n_nodes);
		if (!row.bad)
			seating->node[node] = node;
	}
	sqlite3_finalize(row.query);
	for (uint32_t i = 0; i < seating->n_nodes; i++)
		seating->n_used += seating->node[i] != TB_ID_NONE;
	return status;
}

// read_leaves fills which switch each node is joined to.
static void read_leaves(const struct tb_seating *seating, uint32_t *leaf)
{
	const struct tb_run_link *links = tb_run_links(seating->run);
	for (uint32_t i = 0; i < seating->n_nodes; i++)
		leaf[i] = TB_ID_NONE;
	for (uint32_t i = 0; i < tb_run_info(seating->run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from < seating->n_nodes)
			leaf[links[i].at.from] = links[i].at.to;
}

// edge takes what a flow carried between two nodes with ranks.
static void edge(struct tb_partition *cut, const struct tb_seating *seating,
	const struct tb_flow_sample *flow)
{
	uint32_t n = seating->n_nodes;
	uint32_t a = flow->source.id % n, b = flow->destination.id % n;
	if (a == b || cut->vertex[a] == TB_ID_NONE || cut->vertex[b] == TB_ID_NONE)
		return;
	cut->edges[cut->n_edges++] = (struct tb_partition_edge){
		cut->vertex[a], cut->vertex[b], (double)flow->bytes};
}

static int read_edges(struct tb_partition *cut, const struct tb_seating *seating,
	struct tb_error *error)
{
	struct tb_flow_table flows = {0};
	int status = tb_flow_table_init(&flows, seating->run, error);
	if (status == TB_OK && flows.group > 1)
		status = tb_fail(error, TB_ECAPACITY,
			"the run has more than %d flows, too many for a partition",
			TB_FLOW_TABLE_MOST);
	if (status == TB_OK) {
		cut->edges = malloc((flows.n + 1u) * sizeof *cut->edges);
		if (!cut->edges)
			status = tb_fail_memory(error, "the traffic");
	}
	for (uint32_t i = 0; i < flows.n && status == TB_OK; i++)
		edge(cut, seating, &flows.rows[i]);
	tb_flow_table_fini(&flows);
	return status;
}

// crossing returns the bytes between nodes of different leaves, with the nodes where
// `node` has them.
static double crossing(
	const struct tb_partition *cut, const uint32_t *leaf, const uint32_t *node)
{
	double bytes = 0;
	for (size_t i = 0; i < cut->n_edges; i++) {
		const struct tb_partition_edge *at = &cut->edges[i];
		if (leaf[node[cut->node[at->a]]] != leaf[node[cut->node[at->b]]])
			bytes += at->bytes;
	}
	return bytes;
}

// choose_places lists the places in the order of leaves: of the nodes in use, or the
// first of the network.
static void choose_places(struct tb_partition *cut, const struct tb_seating *seating,
	const uint32_t *leaf, enum tb_seating_places places)
{
	for (uint32_t i = 0; i < seating->n_nodes; i++) {
		if (leaf[i] == TB_ID_NONE)
			continue; // it has failed, say
		if (places == TB_SEATING_ANYWHERE || seating->node[i] != TB_ID_NONE)
			cut->places[cut->n_places++] =
				(struct tb_partition_place){leaf[i], i};
	}
	tb_partition_sort_places(cut);
	if (cut->n_places > cut->n)
		cut->n_places = cut->n;
}

static int seat_job(struct tb_seating *seating, struct tb_partition *cut, uint32_t *leaf,
	enum tb_seating_places places, struct tb_error *error)
{
	read_leaves(seating, leaf);
	for (uint32_t i = 0; i < seating->n_nodes; i++) {
		cut->vertex[i] = seating->node[i] == TB_ID_NONE ? TB_ID_NONE : cut->n;
		if (seating->node[i] != TB_ID_NONE)
			cut->node[cut->n++] = i;
	}
	int status = read_edges(cut, seating, error);
	if (status)
		return status;
	for (size_t i = 0; i < cut->n_edges; i++)
		seating->bytes += cut->edges[i].bytes;
	seating->crossing = crossing(cut, leaf, seating->node);
	seating->crossing_after = seating->crossing;
	choose_places(cut, seating, leaf, places);
	if (seating->crossing <= 0 || cut->n_places < cut->n)
		return TB_OK;
	status = tb_partition_make(cut);
	if (status)
		return tb_fail_memory(error, "the partition of the nodes");
	for (uint32_t v = 0; v < cut->n; v++)
		seating->node[cut->node[v]] = cut->places[cut->place[v]].node;
	seating->crossing_after = crossing(cut, leaf, seating->node);
	return TB_OK;
}

int tb_seating_init(struct tb_seating *seating, struct tb_run *run,
	enum tb_seating_places places, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_partition cut = {0};
	*seating = (struct tb_seating){.run = run,
		.n_nodes = info->n_nodes /
			   (info->network.n_rails ? info->network.n_rails : 1)};
	uint32_t *leaf = malloc((seating->n_nodes + 1u) * sizeof *leaf);
	seating->node = malloc((seating->n_nodes + 1u) * sizeof *seating->node);
	int status = leaf && seating->node &&
				     tb_partition_init(&cut, seating->n_nodes) == TB_OK
			     ? TB_OK
			     : tb_fail_memory(error, "the places of ranks");
	for (uint32_t i = 0; i < seating->n_nodes && status == TB_OK; i++)
		seating->node[i] = TB_ID_NONE;
	if (status == TB_OK)
		status = read_used(seating, error);
	if (status == TB_OK)
		status = seat_job(seating, &cut, leaf, places, error);
	tb_partition_fini(&cut);
	free(leaf);
	if (status)
		tb_seating_fini(seating);
	return status;
}

// write_rank writes a line; names of network interfaces have a blank, as rank files have
// between their words.
static void write_rank(const struct tb_seating *seating, uint32_t rank, uint32_t node,
	uint32_t *slots, FILE *stream)
{
	const char *name = tb_run_node_name(seating->run, (struct tb_node){node});
	if (name[0] && !strpbrk(name, " \t#="))
		fprintf(stream, "rank %u=%s slot=%u\n", rank, name, slots[node]++);
	else if (name[0])
		fprintf(stream, "%u %u # %s\n", rank, node, name);
	else
		fprintf(stream, "%u %u\n", rank, node);
}

int tb_seating_write_map(const struct tb_seating *seating, uint32_t job, FILE *stream,
	struct tb_error *error)
{
	struct tb_run_row row;
	uint32_t *slots = calloc(seating->n_nodes + 1u, sizeof *slots);
	if (!slots)
		return tb_fail_memory(error, "a map");
	int status = tb_run_query(seating->run,
		"SELECT rank, node FROM job_node WHERE run = ?1 AND job = ?2 ORDER BY "
		"rank",
		&row, error);
	if (status == TB_OK) {
		sqlite3_bind_int64(row.query, 2, job);
		while ((status = tb_run_next(seating->run, "job_node", &row, error)) >
			0) {
			uint32_t rank = tb_run_get32(&row, 0, UINT32_MAX);
			uint32_t node = tb_run_get_id(&row, 1, seating->n_nodes);
			if (!row.bad)
				write_rank(seating, rank, seating->node[node], slots,
					stream);
		}
		sqlite3_finalize(row.query);
	}
	free(slots);
	return status;
}
