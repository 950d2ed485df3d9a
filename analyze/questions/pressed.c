#include "pressed.h"

#include "queue_times.h"

#include <stdlib.h>
#include <string.h>

// What a node's links did, over the run.
struct pressed_node {
	double busy_ps, stall_ps;
	double share; // of the time in which messages of the path stood in it
	bool is_asked;
};

// look_by_bin stores for how much of the time in which messages of the path stood in a
// node its links were stalled, of that in which they were busy or stalled.
static int look_by_bin(struct tb_run *run, const struct tb_critical_path *path,
	uint32_t node, struct tb_link_bin *bins, double *share, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(run);
	const struct tb_run_info *info = tb_run_info(run);
	double sum_ps = 0, pressed_ps = 0;
	int status = TB_OK;
	memset(bins, 0, info->n_bins * sizeof *bins);
	for (uint32_t i = 0; !status && i < info->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION && links[i].at.from == node)
			status = tb_link_bins_add(bins, run, (struct tb_link){i}, error);
	for (size_t i = 0; !status && i < path->n_steps; i++) {
		const struct tb_rank_span *span = &path->steps[i].span;
		double busy_ps = 0, stall_ps = 0;
		if (span->what != TB_PATH_QUEUE || path->steps[i].source.id != node)
			continue;
		for (uint64_t bin = (uint64_t)(span->from_ps / info->bin_ps);
			bin < info->n_bins &&
			(tb_time_ps)bin * info->bin_ps < span->to_ps;
			bin++) {
			busy_ps += (double)bins[bin].busy_ps;
			stall_ps += (double)bins[bin].stall_ps;
		}
		sum_ps += (double)(span->to_ps - span->from_ps);
		if (stall_ps > 0)
			pressed_ps += (double)(span->to_ps - span->from_ps) * stall_ps /
				      (busy_ps + stall_ps);
	}
	if (sum_ps > 0)
		*share = pressed_ps / sum_ps;
	return status;
}

int tb_pressed_find(tb_time_ps *pressed_ps, struct tb_run *run,
	const struct tb_critical_path *path, struct tb_error *error)
{
	enum { CLOSELY = 16 };
	const struct tb_run_link *links = tb_run_links(run);
	const struct tb_run_info *info = tb_run_info(run);
	const struct tb_link_sample *samples;
	struct pressed_node *nodes = calloc(info->n_nodes + 1u, sizeof *nodes);
	struct tb_link_bin *bins = calloc(info->n_bins + 1, sizeof *bins);
	double sum_ps = 0;
	int status = nodes && bins
			     ? tb_run_look(run, (struct tb_window){0, 0}, &samples, error)
			     : tb_fail_memory(error, "what the network held up");
	for (uint32_t i = 0; !status && i < info->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from < info->n_nodes) {
			struct pressed_node *node = &nodes[links[i].at.from];
			node->busy_ps += (double)samples[i].busy_ps;
			node->stall_ps += (double)samples[i].stall_ps;
		}
	for (size_t i = 0, n_closely = 0; !status && i < path->n_totals; i++) {
		uint32_t id = path->totals[i].source.id;
		if (path->totals[i].cause != TB_PATH_QUEUE || id >= info->n_nodes ||
			nodes[id].stall_ps <= 0)
			continue;
		struct pressed_node *node = &nodes[id];
		if (!node->is_asked) {
			node->is_asked = true;
			node->share = node->stall_ps / (node->busy_ps + node->stall_ps);
			if (n_closely++ < CLOSELY && info->bin_ps > 0)
				status = look_by_bin(
					run, path, id, bins, &node->share, error);
		}
		sum_ps += (double)path->totals[i].sum_ps * node->share;
	}
	if (!status)
		*pressed_ps = (tb_time_ps)sum_ps;
	free(nodes);
	free(bins);
	return status;
}
