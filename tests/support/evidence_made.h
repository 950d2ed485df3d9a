// Evidence made by hand, and what is found in it.
#ifndef EVIDENCE_MADE_H
#define EVIDENCE_MADE_H

#include "../analyze_fixture.h"

#include "findings.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WAIT_PS 1000000.0 // of all headers, in the evidence made here

static struct fixture fixture;
static struct tb_run *run;
static struct tb_findings findings;

static int set_up(void **state)
{
	(void)state;
	struct tb_error error = {0};
	fixture_init(&fixture);
	fixture_store(&fixture, 20, 7);
	return tb_run_open(&run, fixture.path, 0, &error);
}

static int tear_down(void **state)
{
	(void)state;
	tb_run_free(run);
	fixture_fini(&fixture);
	return 0;
}

// What a rule needs beside its own figures: a run that ended, of a job, with much wait.
struct made {
	struct tb_run_info info;
	struct tb_evidence_root roots[16];
	struct tb_evidence_pair pairs[4];
	struct tb_job_figures jobs[2];
	struct tb_job_times times[2];
	struct tb_region region;
	struct tb_evidence evidence;
};

static struct tb_link link_of(enum tb_link_kind kind, uint32_t nth)
{
	const struct tb_run_link *links = tb_run_links(run);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].at.kind == kind && nth-- == 0)
			return links[i].id;
	fail_msg("the network has too few links");
	return (struct tb_link){TB_ID_NONE};
}

// take_time sets how long the run took, and that a taper and its routes cost something.
static void take_time(struct made *made, tb_time_ps run_ps)
{
	made->info.simulated_ps = run_ps;
	made->evidence.bounds.whole.cut_ps = run_ps * 4 / 10;
	made->evidence.bounds.whole.routes_ps = run_ps * 6 / 10;
}

static struct tb_evidence *make(struct made *made)
{
	*made = (struct made){.info = *tb_run_info(run)};
	made->info.input_name = "a.goal";
	made->info.input_kind = "job";
	made->info.options = "--network qsnet,levels=2 --seed 1";
	made->info.n_packets = 1;
	made->info.n_jobs = 1;
	made->jobs[0] = (struct tb_job_figures){.name = "melt",
		.n_ranks = 6,
		.n_nodes = 6,
		.latency_ps = 300,
		.queue_ps = 150,
		.network_ps = 150,
		.ideal_ps = 100};
	made->jobs[1] = (struct tb_job_figures){.name = "io",
		.n_ranks = 5,
		.n_nodes = 5,
		.latency_ps = 300,
		.queue_ps = 150,
		.network_ps = 150,
		.ideal_ps = 100};
	made->evidence = (struct tb_evidence){.run = run,
		.info = &made->info,
		.wait_ps = WAIT_PS,
		.n_waiting = 20,
		.n_carrying = 10,
		.n_used = 40,
		.n_senders = 16,
		.has_ways = true,
		.roots = made->roots,
		.pairs = made->pairs,
		.times = made->times,
		.jobs = {made->jobs, 1}};
	take_time(made, made->info.simulated_ps);
	return &made->evidence;
}

static void judge(const struct made *made)
{
	tb_findings_fini(&findings);
	assert_int_equal(tb_findings_judge(&findings, &made->evidence), TB_OK);
	for (size_t i = 1; i < findings.n; i++) // all formats print them in this order
		assert_true(tb_finding_part(&findings.list[i - 1]) <=
			    tb_finding_part(&findings.list[i]));
}

static const struct tb_finding *found(const char *rule)
{
	return tb_findings_rule(&findings, rule);
}

static uint64_t count_of(const struct tb_finding *finding, const char *key)
{
	const struct tb_figure *figure = tb_finding_figure(finding, key);
	assert_non_null(figure);
	assert_true(figure->whole);
	return figure->count;
}

static void says(const char *rule, const char *words)
{
	assert_non_null(found(rule));
	if (!strstr(found(rule)->sentence, words))
		fail_msg("%s: '%s' is not in: %s", rule, words, found(rule)->sentence);
}

static void tries(const char *rule, const char *command)
{
	assert_non_null(found(rule));
	assert_true(found(rule)->remedy);
	assert_non_null(found(rule)->command);
	assert_string_equal(found(rule)->command, command);
}

static inline void reals(const char *rule, const char *key, double real)
{
	const struct tb_finding *finding = found(rule);
	assert_non_null(finding);
	const struct tb_figure *figure = tb_finding_figure(finding, key);
	assert_non_null(figure);
	assert_float_equal(figure->real, real, 1e-6);
}

static inline void root(struct made *made, struct tb_link link, double percent)
{
	made->roots[made->evidence.n_roots++] = (struct tb_evidence_root){
		link, {TB_ID_NONE}, (uint64_t)(WAIT_PS * percent / 100)};
}

static inline struct tb_evidence_end *end(
	struct made *made, uint32_t nth, double percent, uint32_t senders)
{
	struct tb_link link = link_of(TB_LINK_EJECTION, nth);
	struct tb_evidence_end *at = &made->evidence.ends[made->evidence.n_ends++];
	root(made, link, percent);
	*at = (struct tb_evidence_end){.node = {tb_run_links(run)[link.id].at.to},
		.link = link,
		.before = {TB_ID_NONE},
		.percent = percent,
		.queue = {.at = {{2000000, 5000000}},
			.n = 1,
			.senders = {.n = senders,
				.first_ps = 2000000,
				.last_ps = 5000000},
			.most_senders = senders,
			.span_ps = 3000000},
		.busy_percent = 97,
		.receives_more = true};
	return at;
}

// later moves an end behind all others: nodes hit at once are an incast.
static inline void later(struct tb_evidence_end *end)
{
	end->queue.at[0] = (struct tb_span){6000000, 8000000};
}

static inline struct tb_evidence_end *make_slow(struct made *made, uint32_t senders)
{
	make(made);
	struct tb_evidence_end *at = end(made, 5, TB_FINDING_INCAST, senders);
	snprintf(made->info.network.switching, sizeof made->info.network.switching,
		"credits");
	at->busy_percent = TB_FINDING_SLOW - 1;
	at->stall_percent = TB_FINDING_SLOW;
	at->queue.senders.first.id = 7;
	return at;
}

#endif
