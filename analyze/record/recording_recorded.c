// Keeps what traces recorded beside what the replay came to.
#include "recording_impl.h"

#include "store_added.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

// recorded_keep_calls keeps the times of the calls, or captured messages, of an input's
// job.
static int recorded_keep_calls(
	struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	const struct tb_workload *workload = recording->workload;
	struct tb_workload_input input = tb_workload_input_at(workload, i);
	const struct tb_recorded_calls *recorded = input.job->recorded;
	struct tb_call_times simulated = {.n_ranks = 0};
	uint64_t uncompared[TB_UNCOMPARED_N];
	for (int k = 0; k < TB_UNCOMPARED_N; k++)
		uncompared[k] = recorded->n_uncompared[k];
	int status = tb_workload_times(
		workload, i, &simulated, &uncompared[TB_UNCOMPARED_UNREACHED]);
	if (status != TB_OK) {
		status = tb_fail_memory(error, "the times of calls");
	} else {
		const struct tb_recorded_sample sample = {.job = input.first_job,
			.unit = recorded->on_wire ? "message" : "call",
			.n = simulated.n,
			.recorded_ps = recorded->times.run_ps,
			.simulated_ps = simulated.run_ps,
			.bytes_per_s = recorded->bytes_per_s,
			.recorded = &recorded->times,
			.simulated = &simulated,
			.n_uncompared = uncompared};
		status = tb_store_put_recorded(recording->store, &sample, error);
	}
	tb_call_times_fini(&simulated);
	return status;
}

// capture_span_ps returns how long a capture was, whatever its replay made of its time.
static uint64_t capture_span_ps(const struct tb_packets_summary *summary)
{
	int64_t ns = summary->last_at_ns - summary->first_at_ns;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	return ns <= 0 ? 0 : (uint64_t)(ns < most ? ns : most) * TB_PS_PER_NS;
}

// keep_span keeps how long a capture was, beside how long its replay took.
static int keep_span(struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(recording->workload, i);
	const struct tb_packets_summary *summary = tb_packets_summary(input.packets);
	const struct tb_recorded_sample sample = {.job = input.first_job,
		.unit = "packet",
		.n = summary->n_packets,
		.recorded_ps = capture_span_ps(summary),
		.simulated_ps = (uint64_t)tb_recording_summary(recording).stats.now_ps};
	return tb_store_put_recorded(recording->store, &sample, error);
}

// place_pairs puts the nodes of the run in place of those of the capture, which are the
// ranks of a job that was inferred from it.
static void place_pairs(
	const struct tb_workload *workload, uint32_t i, struct tb_congestion *congestion)
{
	struct tb_workload_input input = tb_workload_input_at(workload, i);
	struct tb_workload_job job = tb_workload_job_at(workload, input.first_job);
	for (size_t k = 0; k < congestion->n_pairs; k++) {
		struct tb_congestion_pair *pair = &congestion->pairs[k];
		uint32_t *const ends[] = {&pair->source_node, &pair->destination_node};
		for (int end = 0; end < 2; end++)
			if (*ends[end] == TB_ID_NONE)
				continue;
			else if (input.packets)
				*ends[end] = tb_workload_node(
					workload, i, (struct tb_node){*ends[end]})
						     .id;
			else
				*ends[end] = *ends[end] < job.n_ranks
						     ? job.node_of_rank[*ends[end]]
						     : TB_ID_NONE;
	}
}

// recorded_keep_congestion keeps what an input's captures recorded of congestion.
static int recorded_keep_congestion(
	struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input_at(recording->workload, i);
	struct tb_congestion *made = NULL;
	int status = TB_OK;
	if (input.packets)
		status = tb_packets_congestion(input.packets, &made, error);
	if (status != TB_OK)
		return status;
	const struct tb_congestion *from = made ? made : input.job->congestion;
	if (!from)
		return TB_OK;
	// A job may be replayed again, on other nodes: its pairs stay as they are.
	struct tb_congestion placed = *from;
	placed.pairs = malloc((from->n_pairs + 1) * sizeof *placed.pairs);
	if (placed.pairs) {
		memcpy(placed.pairs, from->pairs, from->n_pairs * sizeof *placed.pairs);
		place_pairs(recording->workload, i, &placed);
		status = tb_store_put_congestion(
			recording->store, input.first_job, &placed, error);
	} else {
		status = tb_fail_memory(error, "what was recorded");
	}
	free(placed.pairs);
	tb_congestion_free(made);
	return status;
}

int tb_recording_keep_recorded(struct tb_recording *recording, struct tb_error *error)
{
	int status = TB_OK;
	if (tb_store_error(recording->store)->code != TB_OK)
		return TB_OK; // there is nothing to add to
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (status == TB_OK && input.packets)
			status = keep_span(recording, i, error);
		else if (status == TB_OK && input.job->recorded)
			status = recorded_keep_calls(recording, i, error);
		if (status == TB_OK)
			status = recorded_keep_congestion(recording, i, error);
	}
	return status;
}
