#include "ethernet_params.h"
#include "split_impl.h"

// has_best_routes returns whether a run is one whose flows are all of its traffic, on
// links that carry what their rates say.
static bool has_best_routes(
	const struct tb_bounds *bounds, const struct tb_run_info *info)
{
	return bounds->whole.cut_ps > 0 && info->network.n_rails <= 1 && info->complete &&
	       info->n_levels >= 2 &&
	       tb_ethernet_params(&info->network)->burst_bytes == 0;
}

// is_static returns whether all packets between two nodes took one path.
static bool is_static(const struct tb_run *run)
{
	const struct tb_run_link *links = tb_run_links(run);
	enum tb_ascent ascent = tb_run_info(run)->network.ascent;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].dead_at_ps > 0 && links[i].dead_at_ps < TB_TIME_NEVER)
			return false;
	return ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_SOURCE ||
	       ascent == TB_ASCENT_ECMP || ascent == TB_ASCENT_TABLE;
}

// compare_own takes the run's own routes when they are better than those that were found.
static void compare_own(struct tb_bounds *bounds, const struct tb_run *run)
{
	struct tb_static_routes *fixed = &bounds->fixed;
	tb_time_ps own_ps = bounds->whole.routes_ps;
	if (fixed->least_ps <= 0 || (fixed->known && fixed->found_ps <= own_ps) ||
		!is_static(run))
		return;
	fixed->found_ps = own_ps > fixed->least_ps ? own_ps : fixed->least_ps;
	fixed->known = true;
}

static int find(struct tb_bounds *bounds, const struct tb_leaf_traffic *traffic,
	const struct tb_run *run, struct tb_error *error)
{
	struct tb_switch_graph graph;
	int status = tb_switch_graph_init(&graph, run, error);
	if (status)
		return status;
	status = tb_split_find(
		&bounds->split, &graph, traffic, bounds->whole.cut_ps, error);
	if (!status && bounds->split.known)
		status = tb_static_find(&bounds->fixed, &graph, traffic, &bounds->cuts,
			&bounds->split, error);
	tb_switch_graph_fini(&graph);
	return status;
}

int tb_bounds_routes(struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	struct tb_leaf_traffic traffic;
	bounds->split = (struct tb_split){0};
	bounds->fixed = (struct tb_static_routes){0};
	if (!has_best_routes(bounds, tb_run_info(run)))
		return TB_OK;
	int status = tb_leaf_traffic_init(&traffic, run, error);
	if (status)
		return status;
	if (traffic.n_flows <= TB_SPLIT_FLOWS_MOST)
		status = find(bounds, &traffic, run, error);
	tb_leaf_traffic_fini(&traffic);
	compare_own(bounds, run);
	// Static routes are some that might split flows.
	if (bounds->fixed.known && bounds->fixed.found_ps < bounds->split.found_ps)
		bounds->split.found_ps = bounds->fixed.found_ps;
	return status;
}
