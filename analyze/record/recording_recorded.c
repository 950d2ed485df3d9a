// Keeps what traces recorded beside what the replay came to.
#include "recording_impl.h"

#include "store_recorded.h"
#include "units.h"

// keep_calls keeps the times of the calls, or captured messages, of an input's job.
static int keep_calls(struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	const struct tb_workload *workload = recording->workload;
	struct tb_workload_input input = tb_workload_input(workload, i);
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

// span_ps returns how long a capture was, whatever its replay made of its time.
static uint64_t span_ps(const struct tb_packets_summary *summary)
{
	int64_t ns = summary->last_at_ns - summary->first_at_ns;
	int64_t most = TB_TIME_NEVER / TB_PS_PER_NS;
	return ns <= 0 ? 0 : (uint64_t)(ns < most ? ns : most) * TB_PS_PER_NS;
}

// keep_span keeps how long a capture was, beside how long its replay took.
static int keep_span(struct tb_recording *recording, uint32_t i, struct tb_error *error)
{
	struct tb_workload_input input = tb_workload_input(recording->workload, i);
	const struct tb_packets_summary *summary = tb_packets_summary(input.packets);
	const struct tb_recorded_sample sample = {.job = input.first_job,
		.unit = "packet",
		.n = summary->n_packets,
		.recorded_ps = span_ps(summary),
		.simulated_ps = (uint64_t)tb_recording_summary(recording).stats.now_ps};
	return tb_store_put_recorded(recording->store, &sample, error);
}

int tb_recording_keep_recorded(struct tb_recording *recording, struct tb_error *error)
{
	int status = TB_OK;
	if (tb_store_error(recording->store)->code != TB_OK)
		return TB_OK; // there is nothing to add to
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input(recording->workload, i);
		if (status == TB_OK && input.packets)
			status = keep_span(recording, i, error);
		else if (status == TB_OK && input.job->recorded)
			status = keep_calls(recording, i, error);
	}
	return status;
}
