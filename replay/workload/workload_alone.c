#include "workload_alone.h"

#include "workload_impl.h"

#include <stdlib.h>

#define NO_BOUND SIZE_MAX

struct tb_workload_alone {
	struct alone_job {
		struct tb_closed_loop *loop;
		tb_time_ps start_ps;
	} * closed;
	uint32_t n_closed;
	struct tb_packets *packets; // or of captures
	struct tb_open_loop open;
	struct tb_sources *sources;
};

void tb_workload_alone_free(struct tb_workload_alone *alone)
{
	if (!alone)
		return;
	tb_sources_free(alone->sources);
	for (uint32_t i = 0; i < alone->n_closed; i++)
		tb_closed_loop_free(alone->closed[i].loop);
	free(alone->closed);
	tb_packets_free(alone->packets);
	free(alone);
}

static int open_captures(struct tb_workload_alone *alone,
	const struct tb_workload *workload, const struct workload_input *input,
	uint32_t job, struct tb_source *source, struct tb_error *error)
{
	struct tb_packets_options packets = tb_workload_packets(workload, input);
	packets.stop = workload->options->stop;
	int status = tb_packets_open(
		&alone->packets, input->files, input->n_files, &packets, error);
	if (status == TB_OK)
		status = tb_packets_look_ahead(alone->packets, error);
	if (status != TB_OK)
		return status;
	if (input->keeps_nodes)
		tb_packets_limit_nodes(alone->packets, workload->n_hosts);
	tb_open_loop_init(&alone->open, alone->packets, job - input->first_job);
	*source = tb_open_loop_source(&alone->open);
	return TB_OK;
}

// open_job makes the source of an input's job, or of a bound of it.
static int open_job(struct tb_workload_alone *alone, const struct tb_workload *workload,
	const struct workload_input *input, const struct tb_job *job,
	struct tb_source *source, struct tb_error *error)
{
	struct alone_job *made = &alone->closed[alone->n_closed];
	int status = tb_closed_loop_new(
		&made->loop, job, input->node_of_rank, 0, workload->broadcasts, error);
	if (status == TB_OK) {
		made->start_ps = input->spec.start_ps;
		*source = tb_closed_loop_source(made->loop);
		alone->n_closed++;
	}
	return status;
}

static int workload_alone_open_source(struct tb_workload_alone *alone,
	const struct tb_workload *workload, const struct workload_input *input,
	uint32_t job, struct tb_error *error)
{
	struct tb_source_part part = {.start_ps = input->spec.start_ps,
		.first_job = input->first_job,
		.node_of = input->job ? NULL : input->node_of_rank};
	int status = input->job ? open_job(alone, workload, input, input->job,
					  &part.source, error)
				: open_captures(alone, workload, input, job, &part.source,
					  error);
	return status == TB_OK ? tb_sources_new(&alone->sources, &part, 1, error)
			       : status;
}

// workload_alone_allocate makes one with room for `n` jobs.
static int workload_alone_allocate(
	struct tb_workload_alone **alone, uint32_t n, struct tb_error *error)
{
	struct tb_workload_alone *made = calloc(1, sizeof *made);
	if (made && (made->closed = calloc(n, sizeof *made->closed))) {
		*alone = made;
		return TB_OK;
	}
	free(made);
	return tb_fail_memory(error, "a job");
}

// workload_alone_hand_out stores the result if it is complete, else frees it.
static int workload_alone_hand_out(
	struct tb_workload_alone **alone, struct tb_workload_alone *made, int status)
{
	if (status == TB_OK)
		*alone = made;
	else
		tb_workload_alone_free(made);
	return status;
}

int tb_workload_alone_new(struct tb_workload_alone **alone,
	const struct tb_workload *workload, uint32_t job, struct tb_error *error)
{
	struct tb_workload_alone *made = NULL;
	const struct workload_input *input = tb_workload_input_of(workload, job);
	int status = workload_alone_allocate(&made, 1, error);
	if (status == TB_OK)
		status = workload_alone_open_source(made, workload, input, job, error);
	return workload_alone_hand_out(alone, made, status);
}

struct tb_workload_bounds tb_workload_bounds_of(const struct tb_workload *workload)
{
	struct tb_workload_bounds all = {0};
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct tb_job *job = workload->inputs[i].job;
		if (!job)
			return (struct tb_workload_bounds){0};
		if (!job->bounds)
			continue;
		all.n = job->bounds->n;
		all.own = job->bounds->own;
		all.are_hypotheses = job->bounds->are_hypotheses;
		all.n_calls += job->bounds->n_calls;
		all.n_hidden += job->bounds->n_hidden;
		all.n_untold += job->bounds->n_untold;
	}
	return all;
}

int tb_workload_bound_new(struct tb_workload_alone **bound,
	const struct tb_workload *workload, size_t i, struct tb_error *error)
{
	struct tb_workload_alone *made = NULL;
	int status = workload_alone_allocate(&made, workload->n_inputs, error);
	if (status == TB_OK) {
		struct tb_source_part *parts = calloc(workload->n_inputs, sizeof *parts);
		status = parts ? TB_OK : tb_fail_memory(error, "the jobs");
		for (uint32_t k = 0; status == TB_OK && k < workload->n_inputs; k++) {
			const struct workload_input *input = &workload->inputs[k];
			const struct tb_job *job = input->job;
			if (i != NO_BOUND && job->bounds)
				job = job->bounds->jobs[i];
			parts[k] =
				(struct tb_source_part){.start_ps = input->spec.start_ps,
					.first_job = input->first_job};
			status = open_job(
				made, workload, input, job, &parts[k].source, error);
		}
		if (status == TB_OK)
			status = tb_sources_new(
				&made->sources, parts, workload->n_inputs, error);
		free(parts);
	}
	return workload_alone_hand_out(bound, made, status);
}

bool tb_workload_has_jobs_only(const struct tb_workload *workload)
{
	for (uint32_t i = 0; i < workload->n_inputs; i++)
		if (!workload->inputs[i].job)
			return false;
	return workload->n_inputs > 0;
}

int tb_workload_jobs_new(struct tb_workload_alone **jobs,
	const struct tb_workload *workload, struct tb_error *error)
{
	return tb_workload_bound_new(jobs, workload, NO_BOUND, error);
}

bool tb_workload_alone_open_windows(struct tb_workload_alone *alone)
{
	bool any = false;
	for (uint32_t i = 0; i < alone->n_closed; i++)
		any |= tb_closed_loop_open_windows(alone->closed[i].loop);
	return any;
}

struct tb_source tb_workload_alone_source(struct tb_workload_alone *alone)
{
	return tb_sources_source(alone->sources);
}

tb_time_ps tb_workload_alone_worked_until(const struct tb_workload_alone *alone)
{
	tb_time_ps last = 0;
	for (uint32_t i = 0; i < alone->n_closed; i++) {
		tb_time_ps until = tb_closed_loop_worked_until(alone->closed[i].loop);
		if (until > 0 && until + alone->closed[i].start_ps > last)
			last = until + alone->closed[i].start_ps;
	}
	return last;
}

int tb_workload_alone_times(const struct tb_workload_alone *alone,
	struct tb_call_times *times, uint64_t *n_unreached)
{
	return alone->n_closed
		       ? tb_closed_loop_times(alone->closed[0].loop, times, n_unreached)
		       : TB_EUSAGE;
}
