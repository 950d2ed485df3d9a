// Reads the figures of pairs of runs that differ by their seed.
#include "chance_impl.h"
#include "compare_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A run being read, and where its figures go.
struct figures_reading {
	struct tb_chance_figures *figures;
	const struct tb_compare *compare;
	struct tb_run *run;
	const struct tb_run_info *info;
	const char *store;
	int which;
	size_t pair;
};

static void put_chance_value(
	const struct figures_reading *r, enum tb_chance_kind kind, size_t i, double value)
{
	r->figures->of[kind][r->which][i * r->figures->n_pairs + r->pair] = value;
}

static void put_chance_links(const struct figures_reading *r, enum tb_chance_kind kind,
	const struct tb_link_sample *samples)
{
	const struct tb_link_pairs *pairs = &r->compare->pairs;
	for (uint32_t i = 0; i < pairs->n; i++) {
		struct tb_link link = r->which ? pairs->pairs[i].b : pairs->pairs[i].a;
		if (link.id != TB_ID_NONE)
			put_chance_value(r, kind, i, (double)samples[link.id].wait_ps);
	}
}

static int read_links(const struct figures_reading *r, struct tb_error *error)
{
	const struct tb_link_sample *samples = NULL;
	double wait_ps = 0;
	if (r->info->n_links != r->compare->info[r->which]->n_links)
		return tb_fail_in(error, TB_EUSAGE, r->store,
			"its run %" PRId64 " has other links than its run %" PRId64,
			r->info->id, r->compare->info[r->which]->id);
	int status = tb_run_look(r->run, (struct tb_window){0, 0}, &samples, error);
	if (status != TB_OK)
		return status;
	put_chance_links(r, TB_CHANCE_LINK, samples);
	for (uint32_t i = 0; i < r->info->n_links; i++)
		wait_ps += (double)samples[i].wait_ps;
	put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_WAIT, wait_ps);
	put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_TIME, (double)r->info->simulated_ps);
	return TB_OK;
}

// read_chance_jobs reads what jobs took with the computation before their first message,
// and of captures, whose messages are posted when they were captured, their messages'
// latency.
static int read_chance_jobs(const struct figures_reading *r, struct tb_error *error)
{
	struct tb_jobs jobs = {0};
	bool captured = strcmp(r->info->input_kind, "packets") == 0;
	int status = tb_jobs_init(&jobs, r->run, error);
	for (uint32_t i = 0; status == TB_OK && i < r->compare->n_jobs_matched; i++) {
		uint32_t at = r->compare->jobs[i].at[r->which];
		if (at >= jobs.n)
			continue;
		const struct tb_job_figures *job = &jobs.jobs[at];
		double lead_ps = (double)tb_compare_lead(job, r->info);
		put_chance_value(r, TB_CHANCE_JOB, i,
			captured ? job->mean_latency_ps
				 : (double)(job->last_ps - job->first_ps) + lead_ps);
	}
	tb_jobs_fini(&jobs);
	return status;
}

static int read_run(struct figures_reading *r, int64_t id, struct tb_error *error)
{
	int status = tb_run_open(&r->run, r->store, id, error);
	if (status != TB_OK)
		return status;
	r->info = tb_run_info(r->run);
	status = read_links(r, error);
	if (status == TB_OK) {
		struct tb_link_sample *samples = NULL;
		status = tb_compare_read_roots(r->run, &samples, error);
		if (status == TB_OK)
			put_chance_links(r, TB_CHANCE_ROOT, samples);
		free(samples);
	}
	if (status == TB_OK) {
		const struct tb_flow_table *known = &r->figures->flows;
		struct tb_flow_table flows = {0};
		double latency_ps = 0, n_messages = 0;
		status = tb_flow_table_init(&flows, r->run, error);
		if (status == TB_OK && flows.group != known->group)
			status = tb_fail_in(error, TB_EUSAGE, r->store,
				"its run %" PRId64
				" has other groups of flows than the first",
				r->info->id);
		for (uint32_t i = 0, at = 0; status == TB_OK && i < flows.n; i++) {
			const struct tb_flow_sample *flow = &flows.rows[i];
			if (flow->n_messages == 0)
				continue;
			double mean_ps =
				(double)flow->latency_ps / (double)flow->n_messages;
			latency_ps += (double)flow->latency_ps;
			n_messages += (double)flow->n_messages;
			while (at < known->n &&
				tb_compare_flow_order(&known->rows[at], flow) < 0)
				at++;
			if (at == known->n ||
				tb_compare_flow_order(&known->rows[at], flow) != 0)
				continue;
			put_chance_value(r, TB_CHANCE_FLOW, at, mean_ps);
			r->figures->n_seen[at]++;
		}
		put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_LATENCY,
			n_messages > 0 ? latency_ps / n_messages : 0);
		tb_flow_table_fini(&flows);
	}
	if (status == TB_OK)
		status = read_chance_jobs(r, error);
	tb_run_free(r->run);
	return status;
}

void tb_chance_figures_fini(struct tb_chance_figures *figures)
{
	for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
		for (int which = 0; which < 2; which++)
			free(figures->of[kind][which]);
	for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
		free(figures->at[kind]);
	free(figures->n_seen);
	tb_flow_table_fini(&figures->flows);
}

int tb_chance_read(struct tb_chance_figures *figures, const struct tb_compare *compare,
	const struct tb_seeds seeds[2], struct tb_error *error)
{
	int status = tb_flow_table_init(&figures->flows, compare->runs[0].run, error);
	figures->n_pairs = seeds[0].n;
	figures->n[TB_CHANCE_RUN] = TB_CHANCE_TOTALS;
	figures->n[TB_CHANCE_JOB] = compare->n_jobs_matched;
	figures->n[TB_CHANCE_LINK] = figures->n[TB_CHANCE_ROOT] = compare->pairs.n;
	figures->n[TB_CHANCE_FLOW] = figures->flows.n;
	if (status == TB_OK) {
		bool made = true;
		for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
			for (int which = 0; which < 2; which++) {
				double **of = &figures->of[kind][which];
				*of = calloc(figures->n[kind] * figures->n_pairs + 1,
					sizeof **of);
				made &= *of != NULL;
			}
		figures->n_seen =
			calloc(figures->n[TB_CHANCE_FLOW] + 1, sizeof(uint32_t));
		made &= figures->n_seen != NULL;
		for (int kind = TB_CHANCE_LINK; kind < TB_CHANCE_KINDS; kind++) {
			figures->at[kind] =
				calloc(figures->n[kind] + 1, sizeof(uint32_t));
			made &= figures->at[kind] != NULL;
		}
		status = made ? TB_OK : tb_fail_memory(error, "a comparison");
	}
	for (size_t i = 0; status == TB_OK && i < 2 * figures->n_pairs; i++) {
		struct figures_reading reading = {.figures = figures,
			.compare = compare,
			.store = seeds[i % 2].store,
			.which = (int)(i % 2),
			.pair = i / 2};
		status = read_run(&reading, seeds[i % 2].of[i / 2].run, error);
	}
	return status;
}
