#include "order.h"
#include "split_impl.h"

#include <math.h>

double tb_static_gap_percent(const struct tb_static_routes *routes)
{
	double least = (double)routes->least_ps;
	return least > 0 ? 100 * ((double)routes->found_ps - least) / least : 0;
}

int tb_static_find(struct tb_static_routes *routes, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts,
	const struct tb_split *split, struct tb_error *error)
{
	double least_s = 0, found_s = INFINITY, searched_s = INFINITY;
	double at_least_s = (double)split->least_ps / (double)TB_PS_PER_S;
	*routes = (struct tb_static_routes){.overhead = traffic->overhead};
	if (!traffic->has_pairs)
		return TB_OK;
	int status =
		tb_static_least(&least_s, graph, traffic, cuts, split->flows_s, error);
	least_s = fmax(least_s, at_least_s);
	if (!status)
		status = tb_static_tree(&found_s, graph, traffic, error);
	if (!status && found_s > least_s * (1 + 1e-9))
		status = tb_static_search(&searched_s, graph, traffic, least_s, error);
	if (status)
		return status;
	found_s = fmin(found_s, searched_s);
	routes->least_ps = tb_max_i64(tb_bytes_ps(least_s, 1), split->least_ps);
	routes->known = found_s < INFINITY;
	routes->found_ps = routes->known
				   ? tb_max_i64(tb_bytes_ps(found_s, 1), routes->least_ps)
				   : routes->least_ps;
	return TB_OK;
}
