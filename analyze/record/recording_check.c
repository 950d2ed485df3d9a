// Replays inferred jobs at the rates at which they were captured.
#include "recording_check.h"

#include "network_open.h"
#include "recording_impl.h"
#include "store_added.h"
#include "store_impl.h"
#include "switchings.h"
#include "workload_alone.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where messages take less, queues may have been it, and the latency is the network's
// own.
#define LONG_PATH_NS INT64_C(10000000)

static int ignore_flows(void *context, const struct tb_flow_sample *flows, size_t n)
{
	(void)context, (void)flows, (void)n;
	return TB_OK;
}

// captured_network_name writes the network of the run with the captured rate, or the
// preset's, in `name`.
static void captured_network_name(const struct tb_recording *recording,
	const struct tb_recorded_calls *recorded, bool is_own, char *name, size_t size)
{
	int n = snprintf(name, size, "%s,rate=%" PRIu64 "B/s",
		is_own ? recording->options->network : "ethernet", recorded->bytes_per_s);
	if (recorded->bucket_bytes && n > 0 && (size_t)n < size)
		snprintf(name + n, size - (size_t)n, ",burst=%" PRIu64,
			recorded->bucket_bytes);
	// Half of a long path on either side of a switch.
	size_t used = strlen(name);
	if (recorded->path_ns >= LONG_PATH_NS)
		snprintf(name + used, size - used, ",hop_latency=%" PRId64 "ns",
			recorded->path_ns / 2);
}

// has_rate returns whether all links have that rate: cables of files may have their own.
static bool has_rate(const struct tb_network *network, uint64_t bytes_per_s)
{
	uint32_t link = 0, n = tb_network_n_links(network);
	while (link < n && tb_network_link(network, (struct tb_link){link}).bytes_per_s ==
				   bytes_per_s)
		link++;
	return link == n;
}

// open_captured makes the network on which the input was captured, as far as is known.
static int open_captured(struct tb_network **network,
	const struct tb_recording *recording, const struct tb_recorded_calls *recorded,
	struct tb_error *error)
{
	char name[1024];
	const struct tb_network_description description = {.name = name,
		.n_nodes = tb_network_n_hosts(recording->network),
		.stop = recording->options->stop};
	if (recorded->path_ns < LONG_PATH_NS &&
		strcmp(tb_network_params(recording->network)->switching, "ethernet") ==
			0) {
		captured_network_name(recording, recorded, true, name, sizeof name);
		int status = tb_network_open(network, &description, error);
		if (status != TB_OK || has_rate(*network, recorded->bytes_per_s))
			return status;
		tb_network_free(*network);
		*network = NULL;
	}
	captured_network_name(recording, recorded, false, name, sizeof name);
	return tb_network_open(network, &description, error);
}

static double error_percent(uint64_t recorded_ps, uint64_t simulated_ps)
{
	double was = (double)recorded_ps, is = (double)simulated_ps;
	return recorded_ps ? 100 * (is / was - 1) : 0;
}

static uint64_t mean_ps(const struct tb_kind_times *kind)
{
	return kind->n ? kind->sum_ps / kind->n : 0;
}

// check_compare fills the errors in.
static void check_compare(struct tb_capture_check *check, const struct tb_call_times *was,
	const struct tb_call_times *is)
{
	uint32_t n = 0;
	double sum = 0;
	for (uint32_t rank = 0; rank < was->n_ranks; rank++) {
		if (was->ranks[rank].n == 0 || is->ranks[rank].n == 0)
			continue;
		n++;
		sum += fabs(
			error_percent(was->ranks[rank].end_ps, is->ranks[rank].end_ps));
	}
	check->recorded_ps = was->run_ps;
	check->simulated_ps = is->run_ps;
	check->node_percent = n ? sum / n : 0;
	check->recorded_message_ps = mean_ps(&was->kinds[TB_TIMED_MESSAGE]);
	check->simulated_message_ps = mean_ps(&is->kinds[TB_TIMED_MESSAGE]);
}

// check_replay replays an input's job on a network, and compares; 1 when it was stopped.
static int check_replay(struct tb_capture_check *check,
	const struct tb_recording *recording, const struct tb_network *network,
	const struct tb_call_times *was, struct tb_error *error)
{
	struct tb_workload_alone *alone = NULL;
	struct tb_call_times times = {.n_ranks = 0};
	uint64_t n_unreached;
	tb_time_ps took_ps;
	int status =
		tb_workload_alone_new(&alone, recording->workload, check->job, error);
	if (status != TB_OK)
		return status;
	const struct tb_again again = {.recording = recording,
		.network = network,
		.source = tb_workload_alone_source(alone),
		.observer = {.flows = ignore_flows}};
	status = tb_recording_again(&again, &took_ps, error);
	if (status == TB_OK &&
		tb_workload_alone_times(alone, &times, &n_unreached) != TB_OK)
		status = tb_fail_memory(error, "the times of messages");
	if (status == TB_OK)
		check_compare(check, was, &times);
	tb_call_times_fini(&times);
	tb_workload_alone_free(alone);
	return status;
}

static int check_inferred_job(struct tb_capture_check *check,
	const struct tb_recording *recording, const struct tb_workload_input *input,
	struct tb_error *error)
{
	const struct tb_recorded_calls *recorded = input->job->recorded;
	struct tb_network *network = NULL;
	*check = (struct tb_capture_check){
		.job = input->first_job, .bytes_per_s = recorded->bytes_per_s};
	int status = open_captured(&network, recording, recorded, error);
	if (status == TB_OK)
		status = check_replay(check, recording, network, &recorded->times, error);
	tb_network_free(network);
	return status;
}

struct tb_check_parts tb_capture_checks_parts(const struct tb_capture_checks *checks)
{
	struct tb_check_parts parts = {0, 0};
	for (size_t i = 0; i < checks->n; i++) {
		const struct tb_capture_check *check = &checks->list[i];
		if (!check->recorded_ps || !check->simulated_ps)
			continue;
		double part =
			(double)check->simulated_ps / (double)check->recorded_ps - 1;
		parts.slow = fmax(parts.slow, part);
		parts.quick = fmin(parts.quick, part);
	}
	return parts;
}

static bool is_checkable(const struct tb_workload_input *input)
{
	const struct tb_recorded_calls *recorded =
		input->job ? input->job->recorded : NULL;
	return recorded && recorded->on_wire && recorded->bytes_per_s > 0;
}

int tb_recording_replay_checks(struct tb_capture_checks *checks,
	const struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n = tb_workload_n_inputs(recording->workload);
	int status = TB_OK;
	*checks = (struct tb_capture_checks){
		.list = calloc(n + UINT64_C(1), sizeof *checks->list)};
	if (!checks->list)
		return tb_fail_memory(error, "the check");
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!is_checkable(&input))
			continue;
		status = check_inferred_job(
			&checks->list[checks->n], recording, &input, error);
		checks->n += status == TB_OK;
	}
	return status < 0 ? status : TB_OK;
}

int tb_recording_keep_checks(struct tb_recording *recording,
	const struct tb_capture_checks *checks, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < checks->n && status == TB_OK; i++)
		status = tb_store_put_check(recording->store, &checks->list[i], error);
	return status;
}

int tb_recording_check(struct tb_capture_checks *checks, struct tb_recording *recording,
	struct tb_error *error)
{
	int status = tb_recording_replay_checks(checks, recording, error);
	if (status == TB_OK)
		status = tb_recording_keep_checks(recording, checks, error);
	if (status == TB_OK && checks->n)
		status = tb_store_commit(recording->store, error);
	return status;
}
