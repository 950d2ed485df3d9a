// Records a job, written as GOAL, and reads the timeline of its run; checks what holds of
// all of them.
#ifndef TB_TIMELINE_MADE_TEST_H
#define TB_TIMELINE_MADE_TEST_H

#include "critical_path.h"
#include "rank_spans.h"
#include "recording.h"
#include "run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

struct made {
	struct tb_run *run;
	struct tb_rank_spans times;
	struct tb_critical_path path;
};

static inline void made_drop(struct made *made)
{
	tb_rank_spans_fini(&made->times);
	tb_critical_path_fini(&made->path);
	tb_run_free(made->run);
}

// made_record records what the options say; false where the network refuses the job, or
// it deadlocks there.
static inline bool made_record(
	struct made *made, const struct tb_recording_options *options)
{
	struct tb_recording *recording = NULL;
	struct tb_error error = {0};
	int status;
	*made = (struct made){0};
	unlink(options->output);
	if (tb_recording_new(&recording, options, &error) != TB_OK)
		return false;
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	tb_recording_free(recording);
	if (status != TB_OK)
		return false;
	if (tb_run_open(&made->run, options->output, 0, &error) != TB_OK ||
		tb_rank_spans_init(&made->times, made->run, 0, TB_TIME_NEVER, &error) !=
			TB_OK ||
		tb_critical_path_init(&made->path, made->run, &error) != TB_OK)
		fail_msg("%s", error.text);
	return true;
}

// made_path_adds_up checks that steps follow each other from 0 to the end of the run, and
// that all sums are what the steps come to.
static inline void made_path_adds_up(const struct made *made)
{
	const struct tb_critical_path *path = &made->path;
	tb_time_ps at = 0, sums[TB_PATH_CAUSES] = {0}, totals = 0, held = 0;
	for (size_t i = 0; i < path->n_steps; i++) {
		const struct tb_rank_span *span = &path->steps[i].span;
		assert_int_equal(span->from_ps, at);
		assert_true(span->to_ps > at);
		assert_int_equal(span->n, 1);
		at = span->to_ps;
		sums[span->what] += span->to_ps - span->from_ps;
	}
	assert_int_equal(at, tb_run_info(made->run)->simulated_ps);
	for (int i = 0; i < TB_PATH_CAUSES; i++) {
		assert_int_equal(sums[i], path->causes[i]);
		totals += path->causes[i];
	}
	assert_int_equal(totals, at);
	for (size_t i = 0; i < path->n_links; i++)
		held += path->links[i].sum_ps;
	assert_int_equal(held, path->causes[TB_PATH_HELD_UP]);
}

// made_ranks_follow checks that the spans of each rank follow each other from its job's
// start.
static inline void made_ranks_follow(const struct made *made, tb_time_ps start_ps)
{
	const struct tb_rank_span *before = NULL;
	for (size_t i = 0; i < made->times.n; i++) {
		const struct tb_rank_span *span = &made->times.spans[i];
		bool same =
			before && before->rank == span->rank && before->job == span->job;
		assert_int_equal(span->from_ps, same ? before->to_ps : start_ps);
		assert_true(span->to_ps > span->from_ps);
		before = span;
	}
}

// made_time returns how long a rank did something.
static inline tb_time_ps made_time(
	const struct made *made, uint32_t rank, enum tb_span_kind kind)
{
	tb_time_ps sum = 0;
	for (size_t i = 0; i < made->times.n; i++) {
		const struct tb_rank_span *span = &made->times.spans[i];
		if (span->rank == rank && span->what == (uint32_t)kind)
			sum += span->to_ps - span->from_ps;
	}
	return sum;
}

#endif
