#include "bounds.h"
#include "during.h"
#include "order.h"
#include "run_impl.h"
#include "store_added.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the files of bounds share. Private to analyze/bounds/.

// tb_time_parts_make makes the parts of a run whose bounds are known.
int tb_time_parts_make(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// join_closest makes one of the two phases with the least between them, of equal ones the
// first.
static void join_closest(struct tb_window *phases, uint32_t n)
{
	uint32_t closest = 1;
	for (uint32_t i = 2; i < n; i++)
		if (phases[i].first_bin - phases[i - 1].end_bin <
			phases[closest].first_bin - phases[closest - 1].end_bin)
			closest = i;
	phases[closest - 1].end_bin = phases[closest].end_bin;
	for (uint32_t i = closest + 1; i < n; i++)
		phases[i - 1] = phases[i];
}

// last_post finds when the last packet was posted; 0 when the run did not end.
static int last_post(struct tb_run *run, tb_time_ps *last_ps, struct tb_error *error)
{
	int status = tb_sql_number(run->db, run->path,
		"SELECT max(last_post_ps) FROM sender_total WHERE run = ?1",
		run->record.info.id, last_ps, error);
	return !status && *last_ps < 0 ? tb_sql_damaged(run->path, "sender_total", error)
				       : status;
}

// find_compute finds the first of the times.
static int find_compute(
	struct tb_time_parts *parts, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	int status = TB_OK;
	parts->has_compute = info->has_bound;
	parts->compute_ps = info->compute_ps;
	parts->closed_ps = info->closed_ps;
	if (info->has_bound || strcmp(info->input_kind, "packets") != 0)
		return TB_OK;
	status = last_post(run, &parts->compute_ps, error);
	parts->compute_ps = tb_min_i64(parts->compute_ps, parts->run_ps);
	parts->is_capture = parts->has_compute = !status && parts->compute_ps > 0;
	return status;
}

int tb_time_parts_make(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_time_parts *parts = &bounds->parts;
	*parts = (struct tb_time_parts){.run_ps = info->simulated_ps};
	int status = find_compute(parts, run, error);
	tb_time_ps run_ps = parts->run_ps;
	tb_time_ps compute = parts->compute_ps + parts->closed_ps;
	struct tb_bound sum = {0}; // over the phases
	for (uint32_t i = 0; i < bounds->n_phases; i++) {
		sum.host_ps += bounds->phases[i].host_ps;
		sum.cut_ps += bounds->phases[i].cut_ps;
		sum.routes_ps += bounds->phases[i].routes_ps;
	}
	// The same node links that need less on the ideal network do there in one phase
	// what was apart in this run, as when time-outs part it.
	tb_time_ps quiet_ps = bounds->quiet_ps;
	if (info->has_ideal &&
		sum.host_ps - info->ideal_ps > info->ideal_ps / TB_IDEAL_PART) {
		sum = bounds->whole;
		quiet_ps = 0;
	}
	tb_time_ps hosts =
		tb_max_i64(compute, info->has_ideal ? info->ideal_ps : sum.host_ps);
	// What nodes send twice, their links carry, and no cut is to blame for it.
	tb_time_ps least = tb_max_i64(hosts, sum.host_ps);
	tb_time_ps quiet = tb_min_i64(quiet_ps, least - sum.host_ps);
	tb_time_ps capacity = tb_max_i64(least, quiet + sum.cut_ps);
	tb_time_ps routes = tb_max_i64(capacity, quiet + sum.routes_ps);
	parts->hosts_ps = hosts - compute;
	parts->capacity_ps = capacity - least;
	parts->routes_ps = routes - capacity;
	// Packets that are sent at captured times are sent then on any network.
	bool is_known = info->has_ideal || strcmp(info->input_kind, "packets") == 0;
	*(is_known ? &parts->waiting_ps : &parts->unknown_ps) =
		run_ps - hosts - parts->capacity_ps - parts->routes_ps;
	return status;
}

char *tb_time_parts_text(const struct tb_time_parts *parts, char *buffer, size_t size)
{
	const struct {
		tb_time_ps ps;
		const char *what;
	} each[] = {{parts->compute_ps, "are computation"},
		{parts->closed_ps, "passed while receivers kept their windows closed"},
		{parts->hosts_ps, "an ideal network takes too"},
		{parts->capacity_ps, "are owed to this one's capacity"},
		{parts->routes_ps, "are owed to its routes"},
		{parts->waiting_ps, "were held up or waiting for others"},
		{parts->unknown_ps, "may be an ideal network's too: that is not known"}};
	char time[32], last[32];
	if (parts->is_capture) {
		snprintf(buffer, size,
			parts->run_ps > parts->compute_ps
				? "Packets were sent when they were captured, over %s; "
				  "the last arrived %s after it was sent."
				: "Packets were sent when they were captured, over %s.",
			tb_format_time(parts->compute_ps, time, sizeof time),
			tb_format_time(
				parts->run_ps - parts->compute_ps, last, sizeof last));
		return buffer;
	}
	size_t used = (size_t)snprintf(
		buffer, size, "Of %s", tb_format_time(parts->run_ps, time, sizeof time));
	for (size_t i = 0; i < sizeof each / sizeof *each && used < size; i++)
		if (each[i].ps > 0)
			used += (size_t)snprintf(buffer + used, size - used, ", %s %s",
				tb_format_time_as(
					each[i].ps, parts->run_ps, time, sizeof time),
				each[i].what);
	if (used < size)
		snprintf(buffer + used, size - used, ".");
	return buffer;
}

void tb_bounds_fini(struct tb_bounds *bounds)
{
	tb_cuts_fini(&bounds->cuts);
	*bounds = (struct tb_bounds){0};
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
	// Find the link that takes longest, and what all between switches take.
	const struct tb_run *run = cuts->run;
	const struct tb_run_link *links = tb_run_links(run);
	double bytes = 0, bytes_per_s = 0;
	uint32_t n = 0;
	bound->link.id = TB_ID_NONE;
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		double rate = tb_cuts_rate(cuts, i);
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

int tb_bounds_at(struct tb_bound *bound, struct tb_run *run, const uint64_t *rates,
	struct tb_error *error)
{
	struct tb_cuts cuts = {0};
	int status = tb_cuts_init(&cuts, run, rates, error);
	if (!status)
		status = bound_window(bound, &cuts, run, (struct tb_window){0, 0}, error);
	tb_cuts_fini(&cuts);
	return status;
}

int tb_bounds_init(struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	struct tb_bounds made = {0};
	int status = tb_cuts_init(&made.cuts, run, NULL, error);
	if (!status)
		status = bound_window(&made.whole, &made.cuts, run, whole, error);
	if (!status) {
		struct tb_window windows[TB_PHASES_MOST];
		// Store the windows of a run's phases, and how many.
		uint32_t *n = &made.n_phases;
		const struct tb_run_info *info = tb_run_info(run);
		uint64_t n_bins = info->n_bins;
		struct tb_bin_total *totals = calloc(n_bins + 1, sizeof *totals);
		struct tb_window found[TB_PHASES_MOST + 1];
		status = totals ? tb_bin_totals(run, totals, error)
				: tb_fail_memory(error, "the phases");
		*n = 0;
		for (uint64_t bin = 0; !status && bin < n_bins; bin++) {
			// What crosses after the end of the run is of no phase.
			if ((tb_time_ps)bin * info->bin_ps >= info->simulated_ps)
				break;
			if (totals[bin].busy_ps == 0 && totals[bin].stall_ps == 0 &&
				totals[bin].wait_ps == 0)
				continue;
			if (*n && found[*n - 1].end_bin == bin) {
				found[*n - 1].end_bin++;
			} else {
				found[(*n)++] = (struct tb_window){bin, bin + 1};
				made.n_stretches++;
			}
			if (*n > TB_PHASES_MOST)
				join_closest(found, (*n)--);
		}
		for (uint32_t i = 0; i < *n; i++)
			windows[i] = found[i];
		free(totals);
		made.quiet_ps = tb_run_info(run)->simulated_ps;
		for (uint32_t i = 0; !status && i < made.n_phases; i++) {
			struct tb_bound *phase = &made.phases[i];
			if (made.n_phases == 1) { // its bins need not be read
				*phase = made.whole;
				phase->window = windows[i];
				phase->begin_ps = (tb_time_ps)windows[i].first_bin *
						  tb_run_info(run)->bin_ps;
				phase->span_ps = tb_run_window_ps(run, windows[i]);
			} else {
				status = bound_window(
					phase, &made.cuts, run, windows[i], error);
			}
			// Cut bounds at the phase: what crosses in its last bin is
			// counted there when it begins to, also behind the end of the
			// run, as acknowledgements do.
			phase->host_ps = tb_min_i64(phase->host_ps, phase->span_ps);
			phase->cables_ps = tb_min_i64(phase->cables_ps, phase->span_ps);
			phase->cut_ps = tb_min_i64(phase->cut_ps, phase->span_ps);
			phase->routes_ps = tb_min_i64(phase->routes_ps, phase->span_ps);
			made.quiet_ps -= phase->span_ps;
		}
	}
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
