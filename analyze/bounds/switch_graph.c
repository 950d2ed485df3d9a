#include "switch_graph.h"

#include <stdlib.h>

void tb_switch_graph_fini(struct tb_switch_graph *graph)
{
	void *const parts[] = {graph->from, graph->to, graph->is_up, graph->bytes_per_s,
		graph->first_in, graph->in, graph->first_out, graph->out};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		free(parts[i]);
	*graph = (struct tb_switch_graph){0};
}

static bool reserve_graph(struct tb_switch_graph *graph, const struct tb_run_info *info)
{
	size_t e = (size_t)info->n_links + 1, v = (size_t)info->n_switches + 2;
	graph->from = calloc(e, sizeof *graph->from);
	graph->to = calloc(e, sizeof *graph->to);
	graph->is_up = calloc(e, sizeof *graph->is_up);
	graph->bytes_per_s = calloc(e, sizeof *graph->bytes_per_s);
	graph->in = calloc(e, sizeof *graph->in);
	graph->out = calloc(e, sizeof *graph->out);
	graph->first_in = calloc(v, sizeof *graph->first_in);
	graph->first_out = calloc(v, sizeof *graph->first_out);
	return graph->from && graph->to && graph->is_up && graph->bytes_per_s &&
	       graph->in && graph->out && graph->first_in && graph->first_out;
}

// index_edges lists the edges of each switch: those that have it as `end`.
static void index_edges(const struct tb_switch_graph *graph, const uint32_t *end,
	uint32_t *first, uint32_t *list)
{
	for (uint32_t e = 0; e < graph->n_edges; e++)
		first[end[e]]++;
	for (uint32_t i = 1; i < graph->n_switches; i++)
		first[i] += first[i - 1];
	for (uint32_t e = graph->n_edges; e-- > 0;)
		list[--first[end[e]]] = e;
	first[graph->n_switches] = graph->n_edges;
}

int tb_switch_graph_init(
	struct tb_switch_graph *graph, const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(run);
	*graph = (struct tb_switch_graph){.n_switches = tb_run_info(run)->n_switches};
	if (!reserve_graph(graph, tb_run_info(run))) {
		tb_switch_graph_fini(graph);
		return tb_fail_memory(error, "the links between switches");
	}
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if ((at->kind != TB_LINK_UP && at->kind != TB_LINK_DOWN) ||
			links[i].dead_at_ps == 0 || at->bytes_per_s == 0)
			continue;
		graph->from[graph->n_edges] = at->from;
		graph->to[graph->n_edges] = at->to;
		graph->is_up[graph->n_edges] = at->kind == TB_LINK_UP;
		graph->bytes_per_s[graph->n_edges++] = (double)at->bytes_per_s;
	}
	index_edges(graph, graph->to, graph->first_in, graph->in);
	index_edges(graph, graph->from, graph->first_out, graph->out);
	return TB_OK;
}
