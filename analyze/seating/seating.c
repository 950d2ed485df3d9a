// What all weights come to at most: METIS adds them up in 32 bits.
#include "seating.h"
#include "flow_table.h"
#include "order.h"
#include "rank_seats.h"
#include "run_impl.h"
#include "seating_impl.h"

#include <metis.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS_MOST (1 << 29)

int tb_partition_init(struct tb_partition *cut, uint32_t most)
{
	*cut = (struct tb_partition){
		.node = malloc((most + 1u) * sizeof *cut->node),
		.vertex = malloc((most + 1u) * sizeof *cut->vertex),
		.places = malloc((most + 1u) * sizeof *cut->places),
		.place = malloc((most + 1u) * sizeof *cut->place),
	};
	return cut->node && cut->vertex && cut->places && cut->place ? TB_OK : TB_ENOMEM;
}

void tb_partition_fini(struct tb_partition *cut)
{
	free(cut->node);
	free(cut->vertex);
	free(cut->edges);
	free(cut->places);
	free(cut->place);
	*cut = (struct tb_partition){0};
}

TB_ORDER_BY(by_leaf, struct tb_partition_place, TB_UP(leaf) TB_UP(node))

TB_ORDER_BY(by_edge_ends, struct tb_partition_edge, TB_UP(a) TB_UP(b))

// METIS's form of a graph, and its parts: one per leaf in use.
struct graph {
	const struct tb_partition *cut;
	idx_t n_parts;
	idx_t *first; // by vertex, of its entries in the two below
	idx_t *to, *weight;
	idx_t *part;	 // by vertex
	uint32_t *size;	 // by part: places
	uint32_t *taken; // by part: vertices
	uint32_t *begin; // by part, of its places
	double *pull;	 // by part: what a vertex has with it
	real_t *share;	 // by part
};

static int graph_init(struct graph *graph, const struct tb_partition *cut)
{
	size_t n = cut->n + 2u, n_ends = 2 * cut->n_edges + 1;
	*graph = (struct graph){
		.cut = cut,
		.first = calloc(n, sizeof *graph->first),
		.to = malloc(n_ends * sizeof *graph->to),
		.weight = malloc(n_ends * sizeof *graph->weight),
		.part = calloc(n, sizeof *graph->part),
		.size = calloc(n, sizeof *graph->size),
		.taken = calloc(n, sizeof *graph->taken),
		.begin = calloc(n, sizeof *graph->begin),
		.pull = calloc(n, sizeof *graph->pull),
		.share = calloc(n, sizeof *graph->share),
	};
	return graph->first && graph->to && graph->weight && graph->part && graph->size &&
			       graph->taken && graph->begin && graph->pull && graph->share
		       ? TB_OK
		       : TB_ENOMEM;
}

static void fill_edges(struct graph *graph)
{
	const struct tb_partition *cut = graph->cut;
	double sum = 0;
	for (size_t i = 0; i < cut->n_edges; i++)
		sum += cut->edges[i].bytes;
	double scale = sum > 0 ? WEIGHTS_MOST / sum : 0;
	for (size_t i = 0; i < cut->n_edges; i++) {
		graph->first[cut->edges[i].a + 2]++;
		graph->first[cut->edges[i].b + 2]++;
	}
	for (uint32_t v = 0; v < cut->n; v++)
		graph->first[v + 2] += graph->first[v + 1];
	// While they are filled, the first entry of v is at v + 1.
	for (size_t i = 0; i < cut->n_edges; i++) {
		const struct tb_partition_edge *edge = &cut->edges[i];
		idx_t weight = (idx_t)(edge->bytes * scale) + 1;
		idx_t there = graph->first[edge->a + 1]++;
		idx_t back = graph->first[edge->b + 1]++;
		graph->to[there] = (idx_t)edge->b;
		graph->to[back] = (idx_t)edge->a;
		graph->weight[there] = graph->weight[back] = weight;
	}
}

static void fill_parts(struct graph *graph)
{
	const struct tb_partition *cut = graph->cut;
	for (uint32_t i = 0; i < cut->n; i++) {
		if (i == 0 || cut->places[i].leaf != cut->places[i - 1].leaf)
			graph->begin[graph->n_parts++] = i;
		graph->size[graph->n_parts - 1]++;
	}
	for (idx_t p = 0; p < graph->n_parts; p++)
		graph->share[p] = (real_t)graph->size[p] / (real_t)cut->n;
}

static int partition(struct graph *graph)
{
	idx_t n = (idx_t)graph->cut->n, n_constraints = 1, cut_weight;
	idx_t options[METIS_NOPTIONS];
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = 1;
	options[METIS_OPTION_UFACTOR] = 1;
	int result = METIS_PartGraphRecursive(&n, &n_constraints, graph->first, graph->to,
		NULL, NULL, graph->weight, &graph->n_parts, graph->share, NULL, options,
		&cut_weight, graph->part);
	return result == METIS_OK ? TB_OK : TB_ENOMEM;
}

// best_move finds the part with room into which a vertex goes at least loss.
static double best_move(struct graph *graph, uint32_t v, idx_t *into)
{
	double best = 0;
	*into = -1;
	for (idx_t i = graph->first[v]; i < graph->first[v + 1]; i++)
		graph->pull[graph->part[graph->to[i]]] += (double)graph->weight[i];
	for (idx_t p = 0; p < graph->n_parts; p++) {
		double gain = graph->pull[p] - graph->pull[graph->part[v]];
		if (graph->taken[p] < graph->size[p] && (*into < 0 || gain > best)) {
			best = gain;
			*into = p;
		}
	}
	for (idx_t i = graph->first[v]; i < graph->first[v + 1]; i++)
		graph->pull[graph->part[graph->to[i]]] = 0;
	return best;
}

int tb_partition_make(struct tb_partition *cut)
{
	struct graph graph;
	// Sum what two vertices sent each other, either way.
	size_t n = 0;
	for (size_t i = 0; i < cut->n_edges; i++) {
		struct tb_partition_edge *edge = &cut->edges[i];
		if (edge->a > edge->b)
			*edge = (struct tb_partition_edge){edge->b, edge->a, edge->bytes};
	}
	qsort(cut->edges, cut->n_edges, sizeof *cut->edges, by_edge_ends);
	for (size_t i = 0; i < cut->n_edges; i++) {
		if (n && by_edge_ends(&cut->edges[n - 1], &cut->edges[i]) == 0)
			cut->edges[n - 1].bytes += cut->edges[i].bytes;
		else
			cut->edges[n++] = cut->edges[i];
	}
	cut->n_edges = n;
	int status = graph_init(&graph, cut);
	if (status == TB_OK) {
		fill_edges(&graph);
		fill_parts(&graph);
		if (graph.n_parts > 1)
			status = partition(&graph);
	}
	if (status == TB_OK) {
		for (uint32_t v = 0; v < graph.cut->n; v++)
			graph.taken[graph.part[v]]++;
		for (idx_t p = 0; p < graph.n_parts; p++) {
			// Move vertices out of a part that has more than its places.
			while (graph.taken[p] > graph.size[p]) {
				uint32_t moved = 0;
				idx_t into = -1, at;
				double best = 0;
				for (uint32_t v = 0; v < graph.cut->n; v++) {
					if (graph.part[v] != p)
						continue;
					double gain = best_move(&graph, v, &at);
					if (into < 0 || gain > best) {
						best = gain;
						into = at;
						moved = v;
					}
				}
				graph.part[moved] = into;
				graph.taken[into]++;
				graph.taken[p]--;
			}
		}
		for (uint32_t v = 0; v < cut->n; v++)
			cut->place[v] = graph.begin[graph.part[v]]++;
	}
	free(graph.first);
	free(graph.to);
	free(graph.weight);
	free(graph.part);
	free(graph.size);
	free(graph.taken);
	free(graph.begin);
	free(graph.pull);
	free(graph.share);
	return status;
}

void tb_seating_fini(struct tb_seating *seating)
{
	free(seating->node);
	*seating = (struct tb_seating){0};
}

// read_seats reads where ranks run, which must be a node that the seating has.
static int read_seats(const struct tb_seating *seating, struct tb_rank_seats *seats,
	struct tb_error *error)
{
	int status = tb_rank_seats_init(seats, seating->run, error);
	for (size_t i = 0; i < seats->n && !status; i++)
		if (seats->seats[i].node.id >= seating->n_nodes)
			status = tb_run_damaged(seating->run->path, "job_node", error);
	return status;
}

// edge takes what a flow carried between two nodes with ranks.
static void edge(struct tb_partition *cut, const struct tb_flow_sample *flow)
{
	uint32_t a = flow->source.id, b = flow->destination.id;
	if (a == b || cut->vertex[a] == TB_ID_NONE || cut->vertex[b] == TB_ID_NONE)
		return;
	cut->edges[cut->n_edges++] = (struct tb_partition_edge){
		cut->vertex[a], cut->vertex[b], (double)flow->bytes};
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

static int seat_job(struct tb_seating *seating, struct tb_partition *cut, uint32_t *leaf,
	enum tb_seating_places places, struct tb_error *error)
{
	// Fill which switch each node is joined to.
	const struct tb_run_link *links = tb_run_links(seating->run);
	for (uint32_t i = 0; i < seating->n_nodes; i++)
		leaf[i] = TB_ID_NONE;
	for (uint32_t i = 0; i < tb_run_info(seating->run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from < seating->n_nodes)
			leaf[links[i].at.from] = links[i].at.to;
	for (uint32_t i = 0; i < seating->n_nodes; i++) {
		cut->vertex[i] = seating->node[i] == TB_ID_NONE ? TB_ID_NONE : cut->n;
		if (seating->node[i] != TB_ID_NONE)
			cut->node[cut->n++] = i;
	}
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
		edge(cut, &flows.rows[i]);
	tb_flow_table_fini(&flows);
	if (status)
		return status;
	for (size_t i = 0; i < cut->n_edges; i++)
		seating->bytes += cut->edges[i].bytes;
	seating->crossing = crossing(cut, leaf, seating->node);
	seating->crossing_after = seating->crossing;
	// List the places in the order of leaves: of the nodes in use, or the
	// first of the network.
	for (uint32_t i = 0; i < seating->n_nodes; i++) {
		if (leaf[i] == TB_ID_NONE)
			continue; // it has failed, say
		if (places == TB_SEATING_ANYWHERE || seating->node[i] != TB_ID_NONE)
			cut->places[cut->n_places++] =
				(struct tb_partition_place){leaf[i], i};
	}
	// Put those of a leaf together, leaves in the order of their
	// numbers.
	qsort(cut->places, cut->n_places, sizeof *cut->places, by_leaf);
	if (cut->n_places > cut->n)
		cut->n_places = cut->n;
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
	*seating = (struct tb_seating){.run = run, .n_nodes = info->n_nodes};
	uint32_t *leaf = malloc((seating->n_nodes + 1u) * sizeof *leaf);
	seating->node = malloc((seating->n_nodes + 1u) * sizeof *seating->node);
	int status = leaf && seating->node &&
				     tb_partition_init(&cut, seating->n_nodes) == TB_OK
			     ? TB_OK
			     : tb_fail_memory(error, "the places of ranks");
	for (uint32_t i = 0; i < seating->n_nodes && status == TB_OK; i++)
		seating->node[i] = TB_ID_NONE;
	if (status == TB_OK) {
		// Mark the nodes on which ranks run.
		struct tb_rank_seats seats = {0};
		status = read_seats(seating, &seats, error);
		for (size_t i = 0; i < seats.n && !status; i++) {
			uint32_t node = seats.seats[i].node.id;
			seating->n_used += seating->node[node] == TB_ID_NONE;
			seating->node[node] = node;
		}
		tb_rank_seats_fini(&seats);
	}
	if (status == TB_OK)
		status = seat_job(seating, &cut, leaf, places, error);
	tb_partition_fini(&cut);
	free(leaf);
	if (status)
		tb_seating_fini(seating);
	return status;
}

int tb_seating_write_map(const struct tb_seating *seating, uint32_t job, FILE *stream,
	struct tb_error *error)
{
	struct tb_rank_seats seats = {0};
	uint32_t *slots = calloc(seating->n_nodes + 1u, sizeof *slots);
	if (!slots)
		return tb_fail_memory(error, "a map");
	int status = read_seats(seating, &seats, error);
	for (size_t i = 0; i < seats.n && !status; i++)
		if (seats.seats[i].job == job) {
			// Write a line; names of network interfaces have a blank, as rank
			// files have between their words.
			uint32_t rank = seats.seats[i].rank;
			uint32_t node = seating->node[seats.seats[i].node.id];
			const char *name =
				tb_run_node_name(seating->run, (struct tb_node){node});
			if (name[0] && !strpbrk(name, " \t#="))
				fprintf(stream, "rank %u=%s slot=%u\n", rank, name,
					slots[node]++);
			else if (name[0])
				fprintf(stream, "%u %u # %s\n", rank, node, name);
			else
				fprintf(stream, "%u %u\n", rank, node);
		}
	tb_rank_seats_fini(&seats);
	free(slots);
	return status;
}
