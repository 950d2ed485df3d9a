#include "findings_impl.h"

#include <stdlib.h>

void tb_evidence_fini(struct tb_evidence *evidence)
{
	free(evidence->roots);
	free(evidence->pairs);
	free(evidence->times);
	free(evidence->seats);
	tb_jobs_fini(&evidence->jobs);
	tb_regions_fini(&evidence->regions);
	tb_run_tries_fini(&evidence->tries);
	tb_recorded_captures_fini(&evidence->recorded);
	tb_bounds_fini(&evidence->bounds);
	*evidence = (struct tb_evidence){0};
}

static int by_link_wait(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;
	return (*a < *b) - (*a > *b);
}

// count_waiting_links counts those that waited, were used, and carry most of the wait.
static int count_waiting_links(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	uint32_t n_links = evidence->info->n_links;
	const struct tb_run_link *links = tb_run_links(evidence->run);
	uint64_t *waits = calloc(n_links + 1u, sizeof *waits);
	double held = 0;
	if (!waits)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < n_links; i++) {
		evidence->wait_ps += (double)samples[i].wait_ps;
		evidence->n_used += samples[i].n_packets > 0;
		evidence->n_senders +=
			samples[i].n_packets > 0 && links[i].at.kind == TB_LINK_INJECTION;
		if (samples[i].wait_ps > 0)
			waits[evidence->n_waiting++] = samples[i].wait_ps;
	}
	qsort(waits, evidence->n_waiting, sizeof *waits, by_link_wait);
	while (evidence->n_carrying < evidence->n_waiting &&
		held * 100 < evidence->wait_ps * TB_EVIDENCE_CARRIED)
		held += (double)waits[evidence->n_carrying++];
	free(waits);
	return TB_OK;
}

// find_choices sets whether packets could have gone other ways than they did.
static int find_choices(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	uint32_t *n_up = calloc(evidence->info->n_switches + 1u, sizeof *n_up);
	if (!n_up)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < evidence->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_UP && links[i].dead_at_ps > 0)
			n_up[links[i].at.from]++;
	for (uint32_t i = 0; i < evidence->info->n_links; i++) {
		bool is_up = links[i].at.kind == TB_LINK_UP;
		if (samples[i].n_packets == 0 ||
			(!is_up && links[i].at.kind != TB_LINK_DOWN))
			continue;
		evidence->n_inside++;
		evidence->has_ways |= n_up[is_up ? links[i].at.from : links[i].at.to] > 1;
	}
	free(n_up);
	return TB_OK;
}

static int gather_waiting_links(struct tb_evidence *evidence, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	const struct tb_link_sample *samples;
	struct tb_hot_link *hottest = NULL;
	int status = tb_run_look(evidence->run, whole, &samples, error);
	if (!status)
		status = count_waiting_links(evidence, samples, error);
	if (!status)
		status = find_choices(evidence, samples, error);
	if (!status)
		status = tb_hot_links(evidence->run, whole, TB_EVIDENCE_NAMED, &hottest,
			&evidence->n_hottest, error);
	for (uint32_t i = 0; !status && i < evidence->n_hottest; i++)
		evidence->hottest[i] = hottest[i];
	free(hottest);
	if (!status)
		status = tb_run_look(evidence->run, whole, &samples, error);
	if (!status)
		tb_evidence_held(evidence, samples);
	return status;
}

// load_of_bins sets how busy and how stalled the used links were in the windows.
static void load_of_bins(struct tb_evidence *evidence, const struct tb_bin_total *totals)
{
	double busy_ps = 0, stall_ps = 0, time_ps = 0;
	for (uint32_t i = 0; i < evidence->windows.n; i++) {
		struct tb_window window = evidence->windows.at[i];
		time_ps += (double)tb_run_window_ps(evidence->run, window);
		for (uint64_t bin = window.first_bin; bin < window.end_bin; bin++) {
			busy_ps += (double)totals[bin].busy_ps;
			stall_ps += (double)totals[bin].stall_ps;
		}
	}
	if (time_ps > 0 && evidence->n_used) {
		evidence->busy_percent = 100 * busy_ps / time_ps / evidence->n_used;
		evidence->stall_percent = 100 * stall_ps / time_ps / evidence->n_used;
	}
}

static int gather_time_totals(struct tb_evidence *evidence, struct tb_error *error)
{
	uint64_t n_bins = evidence->info->n_bins;
	struct tb_bin_total *totals = calloc(n_bins + 1, sizeof *totals);
	uint64_t *waits = calloc(n_bins + 1, sizeof *waits);
	int status = totals && waits ? TB_OK : tb_fail_memory(error, "the findings");
	if (!status)
		status = tb_bin_totals(evidence->run, totals, error);
	for (uint64_t i = 0; !status && i < n_bins; i++)
		waits[i] = totals[i].wait_ps;
	if (!status && tb_wait_windows_find(&evidence->windows, waits, n_bins))
		status = tb_fail_memory(error, "the findings");
	if (!status)
		load_of_bins(evidence, totals);
	free(totals);
	free(waits);
	return status;
}

static int gather_seats(struct tb_evidence *evidence, struct tb_error *error)
{
	int status = TB_OK;
	evidence->seats = calloc(evidence->jobs.n + UINT64_C(1), sizeof *evidence->seats);
	if (!evidence->seats)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; !status && i < evidence->jobs.n; i++)
		if (tb_placement_may_decide(evidence, i))
			status = tb_job_seat_find(
				&evidence->seats[i], evidence->run, i, error);
	return status;
}

int tb_evidence_init(
	struct tb_evidence *evidence, struct tb_run *run, struct tb_error *error)
{
	struct tb_evidence made = {.run = run, .info = tb_run_info(run)};
	made.has_capture = tb_run_capture(made.info, &made.capture);
	int status = gather_waiting_links(&made, error);
	if (!status)
		status = gather_time_totals(&made, error);
	if (!status)
		status = tb_jobs_init(&made.jobs, run, error);
	if (!status)
		status = tb_job_times_init(&made.times, &made.jobs, run, error);
	if (!status)
		status = gather_seats(&made, error);
	if (!status)
		status = tb_bounds_init(&made.bounds, run, error);
	if (!status)
		status = tb_backlog_find(&made.backlog, run, error);
	if (!status)
		status = tb_evidence_blame(&made, error);
	if (!status)
		status = tb_evidence_traffic(&made, error);
	if (!status)
		status = tb_regions_init(
			&made.regions, run, (struct tb_window){0, 0}, error);
	if (!status)
		status = tb_run_tries_init(&made.tries, run, error);
	if (!status)
		status = tb_recorded_captures_init(&made.recorded, run, error);
	if (!status && tb_run_is_measured(made.info))
		status = tb_link_counts_sum(&made.counts, run, error);
	if (status) {
		tb_evidence_fini(&made);
		return status;
	}
	*evidence = made;
	return TB_OK;
}
