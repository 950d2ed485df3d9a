#include "workload_alone.h"

#include "workload_impl.h"

#include <stdlib.h>

struct tb_workload_alone {
	struct tb_closed_loop *closed; // of a job
	struct tb_packets *packets;    // or of captures
	struct tb_open_loop open;
	struct tb_sources *sources;
};

void tb_workload_alone_free(struct tb_workload_alone *alone)
{
	if (!alone)
		return;
	tb_sources_free(alone->sources);
	tb_closed_loop_free(alone->closed);
	tb_packets_free(alone->packets);
	free(alone);
}

static int open_captures(struct tb_workload_alone *alone,
	const struct tb_workload *workload, const struct workload_input *input,
	uint32_t job, struct tb_error *error)
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
	tb_open_loop_init_job(&alone->open, alone->packets, job - input->first_job);
	return TB_OK;
}

static int open_source(struct tb_workload_alone *alone,
	const struct tb_workload *workload, const struct workload_input *input,
	uint32_t job, struct tb_error *error)
{
	struct tb_source_part part = {.start_ps = input->spec.start_ps,
		.first_job = input->first_job,
		.node_of = input->job ? NULL : input->node_of_rank};
	int status =
		input->job ? tb_closed_loop_new(&alone->closed, input->job,
				     input->node_of_rank, 0, workload->broadcasts, error)
			   : open_captures(alone, workload, input, job, error);
	if (status != TB_OK)
		return status;
	part.source = input->job ? tb_closed_loop_source(alone->closed)
				 : tb_open_loop_source(&alone->open);
	return tb_sources_new(&alone->sources, &part, 1, error);
}

int tb_workload_alone_new(struct tb_workload_alone **alone,
	const struct tb_workload *workload, uint32_t job, struct tb_error *error)
{
	struct tb_workload_alone *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a job");
	const struct workload_input *input = tb_workload_input_of(workload, job);
	int status = open_source(made, workload, input, job, error);
	if (status == TB_OK)
		*alone = made;
	else
		tb_workload_alone_free(made);
	return status;
}

struct tb_source tb_workload_alone_source(struct tb_workload_alone *alone)
{
	return tb_sources_source(alone->sources);
}

int tb_workload_alone_times(const struct tb_workload_alone *alone,
	struct tb_call_times *times, uint64_t *n_unreached)
{
	return alone->closed ? tb_closed_loop_times(alone->closed, times, n_unreached)
			     : TB_EUSAGE;
}
