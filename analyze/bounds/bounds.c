#include "bounds_impl.h"
#include "order.h"

#include <stdio.h>
#include <stdlib.h>

void tb_bounds_fini(struct tb_bounds *bounds)
{
	tb_cuts_fini(&bounds->cuts);
	*bounds = (struct tb_bounds){0};
}

// bound_links finds the link that takes longest, and what all between switches take.
static void bound_links(struct tb_bound *bound, const struct tb_run *run,
	const struct tb_link_sample *samples)
{
	const struct tb_run_link *links = tb_run_links(run);
	double bytes = 0, bytes_per_s = 0;
	uint32_t n = 0;
	bound->link.id = TB_ID_NONE;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		double rate = (double)links[i].at.bytes_per_s;
		tb_time_ps ps = tb_links_ps(run, (double)samples[i].bytes, rate, 1);
		if (ps > bound->routes_ps) {
			bound->routes_ps = ps;
			bound->link.id = i;
		}
		if (links[i].at.kind != TB_LINK_UP && links[i].at.kind != TB_LINK_DOWN)
			continue;
		bytes += (double)samples[i].bytes;
		bytes_per_s += links[i].dead_at_ps == 0 ? 0 : rate;
		n += links[i].dead_at_ps != 0;
	}
	bound->cables_ps = tb_links_ps(run, bytes, bytes_per_s, n);
}

static void bound_by(struct tb_bound *bound, struct tb_cuts *cuts,
	const struct tb_link_sample *samples)
{
	for (uint32_t level = 0; level < cuts->n_levels; level++) {
		const struct tb_cut_load load = tb_cuts_worst(cuts, level, samples);
		if (level == 0)
			bound->host = load;
		if (load.ps > bound->cut.ps)
			bound->cut = load;
	}
	bound_links(bound, cuts->run, samples);
	bound->host_ps = bound->host.ps;
	bound->cut_ps = tb_max_i64(bound->cut.ps, bound->cables_ps);
	bound->routes_ps = tb_max_i64(bound->routes_ps, bound->cut_ps);
}

static int bound_window(struct tb_bound *bound, struct tb_cuts *cuts, struct tb_run *run,
	struct tb_window window, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_link_sample *samples =
		calloc(info->n_links + UINT64_C(1), sizeof *samples);
	int status = samples ? tb_run_samples(run, window, samples, error)
			     : tb_fail_memory(error, "the bounds");
	*bound = (struct tb_bound){.window = window,
		.begin_ps = (tb_time_ps)window.first_bin * info->bin_ps,
		.span_ps = window.end_bin ? tb_run_window_ps(run, window)
					  : info->simulated_ps};
	if (!status)
		bound_by(bound, cuts, samples);
	free(samples);
	return status;
}

// cut_phase cuts bounds at the phase: what crosses in its last bin is counted there when
// it begins to, also behind the end of the run, as acknowledgements do.
static void cut_phase(struct tb_bound *phase)
{
	phase->host_ps = tb_min_i64(phase->host_ps, phase->span_ps);
	phase->cables_ps = tb_min_i64(phase->cables_ps, phase->span_ps);
	phase->cut_ps = tb_min_i64(phase->cut_ps, phase->span_ps);
	phase->routes_ps = tb_min_i64(phase->routes_ps, phase->span_ps);
}

static int bound_phases(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	struct tb_window windows[TB_PHASES_MOST];
	int status = tb_phases_find(windows, &bounds->n_phases, run, error);
	bounds->quiet_ps = tb_run_info(run)->simulated_ps;
	for (uint32_t i = 0; !status && i < bounds->n_phases; i++) {
		struct tb_bound *phase = &bounds->phases[i];
		if (bounds->n_phases == 1) { // its bins need not be read
			*phase = bounds->whole;
			phase->window = windows[i];
			phase->begin_ps = (tb_time_ps)windows[i].first_bin *
					  tb_run_info(run)->bin_ps;
			phase->span_ps = tb_run_window_ps(run, windows[i]);
		} else {
			status = bound_window(
				phase, &bounds->cuts, run, windows[i], error);
		}
		cut_phase(phase);
		bounds->quiet_ps -= phase->span_ps;
	}
	return status;
}

int tb_bounds_init(struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	struct tb_bounds made = {0};
	int status = tb_cuts_init(&made.cuts, run, error);
	if (!status)
		status = bound_window(&made.whole, &made.cuts, run, whole, error);
	if (!status)
		status = bound_phases(&made, run, error);
	if (!status)
		status = tb_time_parts_make(&made, run, error);
	if (status)
		tb_bounds_fini(&made);
	else
		*bounds = made;
	return status;
}

char *tb_cut_text(const struct tb_cuts *cuts, const struct tb_cut_load *load,
	char *buffer, size_t size)
{
	const char *way = load->into ? "into" : "out of";
	uint32_t first = cuts->levels[load->level].first_switch[load->part];
	if (load->level == 0) {
		const struct tb_node node = {load->part};
		const char *name = tb_run_node_name(cuts->run, node);
		snprintf(buffer, size, *name ? "%s node %u (%s)" : "%s node %u", way,
			node.id, name);
		return buffer;
	}
	const char *name =
		first == TB_ID_NONE ? "" : tb_run_switches(cuts->run)[first].name;
	snprintf(buffer, size,
		load->level == 1 ? "%s switch %s" : "%s the part with switch %s", way,
		name);
	return buffer;
}
