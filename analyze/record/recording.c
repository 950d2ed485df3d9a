#include "order.h"
#include "progress.h"
#include "recording_also.h"
#include "recording_impl.h"
#include "stop.h"
#include "store_points.h"
#include "switchings.h"

#include <stdlib.h>

int tb_hosted_init(struct tb_hosted *hosted, const struct tb_network *network,
	struct tb_source source, struct tb_observer observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	*hosted = (struct tb_hosted){.source = source,
		.observer = observer,
		.nic_source = source,
		.nic_observer = observer};
	if (tb_host_is_needed(network)) {
		int status = tb_host_new(&hosted->host, network, &hosted->source,
			&hosted->observer, tb_engine_ideal_ps, error);
		if (status != TB_OK)
			return status;
		hosted->nic_source = tb_host_source(hosted->host);
		hosted->nic_observer = tb_host_observer(hosted->host);
	}
	return tb_engine_new(&hosted->engine, network, &hosted->nic_source,
		&hosted->nic_observer, options, error);
}

void tb_hosted_fini(struct tb_hosted *hosted)
{
	tb_engine_free(hosted->engine);
	tb_host_free(hosted->host);
}

// How often the bins of a long run are stored, so that a viewer sees it grow. After a
// slow checkpoint, wait 50 times as long as it took, so that checkpoints cost at most 2
// %.
#define CHECKPOINT_S	1.0
#define WATCHED_S	0.4 // when a viewer shows the run
#define CHECKPOINT_REST 50

// With a window: instants between two looks whether it is over, a fixed number, so that
// the run always ends at the same one.

bool tb_recording_has_packets(const struct tb_workload *workload)
{
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload); i++)
		if (tb_workload_input_at(workload, i).packets)
			return true;
	return false;
}

struct tb_packets_rate tb_recording_node_rate(const struct tb_network_params *params)
{
	double rate = (double)params->link_bytes_per_s * params->n_rails;
	double headers = tb_switching_frame_headers(params);
	if (headers > 0)
		return (struct tb_packets_rate){
			rate, params->packet_overhead_bytes - headers};
	return (struct tb_packets_rate){rate * tb_switching_captured_share(params), 0};
}

int tb_recording_make_engine(struct tb_recording *recording, struct tb_observer observer,
	struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	const struct tb_engine_options engine = {.seed = options->seed,
		.n_jobs = tb_workload_n_jobs(recording->workload),
		.bin_ps = options->bin_ps,
		.from_ps = options->from_ps,
		.to_ps = options->to_ps,
		.without_blame = options->without_blame,
		.n_threads = options->n_threads,
		.peers = options->peers,
		.service_levels = recording->service_levels,
		.n_service_levels = tb_workload_n_jobs(recording->workload),
		.faults = recording->faults};
	return tb_hosted_init(&recording->hosted, recording->network, recording->source,
		observer, &engine, error);
}

void tb_recording_fini(struct tb_recording *recording)
{
	tb_errands_free(recording->bound.errands);
	tb_hosted_fini(&recording->hosted);
	tb_range_work_free(recording->range);
	tb_recording_also_free(recording->also);
	tb_workload_free(recording->workload);
	free(recording->input_name);
	free(recording->described);
	free(recording->files);
	free(recording->node_names);
	free(recording->places);
	free(recording->service_levels);
	tb_faults_free(recording->faults);
	tb_network_free(recording->network);
}

void tb_recording_free(struct tb_recording *recording)
{
	if (!recording)
		return;
	tb_recording_fini(recording);
	tb_store_free(recording->store);
	free(recording);
}

int tb_recording_read(const struct tb_recording_options *options, struct tb_error *error)
{
	struct tb_recording recording = {.options = options};
	int status = tb_recording_open(&recording, error);
	tb_recording_fini(&recording);
	return status;
}

// recording_prepare begins the run in the store last, so a trace that cannot be replayed
// leaves no run, once all processes agree to it.
static int recording_prepare(struct tb_recording *recording, struct tb_error *error)
{
	int status = tb_recording_open(recording, error);
	if (status == TB_OK)
		status = tb_recording_choose(recording, error);
	if (status == TB_OK)
		status = tb_store_create(
			&recording->store, recording->options->output, error);
	if (status == TB_OK)
		status = tb_store_refuse_shard(recording->store, error);
	if (status == TB_OK)
		status = tb_recording_make_engine(
			recording, tb_store_observer(recording->store), error);
	status = tb_recording_agree(recording, status, error);
	if (status == TB_OK && recording->options->settled)
		recording->options->settled();
	return status == TB_OK ? tb_recording_begin(recording, error) : status;
}

int tb_recording_new(struct tb_recording **recording,
	const struct tb_recording_options *options, struct tb_error *error)
{
	struct tb_recording *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the recording");
	made->options = options;
	int status = recording_prepare(made, error);
	if (status == TB_OK)
		*recording = made;
	else
		tb_recording_free(made);
	return status;
}

static struct tb_engine_stats stats_of(const struct tb_recording *recording)
{
	if (!recording->hosted.engine)
		return recording->stats;
	struct tb_engine_stats stats = tb_engine_stats_of(recording->hosted.engine);
	if (recording->hosted.host)
		tb_host_stats(recording->hosted.host, &stats);
	// A job is over when its last rank is done, with computing too.
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++)
		stats.now_ps = tb_max_i64(
			stats.now_ps, tb_workload_worked_until(recording->workload, i));
	return stats;
}

void tb_recording_free_engine(struct tb_recording *recording)
{
	recording->stats = stats_of(recording);
	if (recording->hosted.engine)
		recording->exchange = tb_engine_exchange_of(recording->hosted.engine);
	tb_hosted_fini(&recording->hosted);
	recording->hosted = (struct tb_hosted){0};
}

struct tb_recording_summary tb_recording_summary(const struct tb_recording *recording)
{
	struct tb_recording_summary summary = {.run = recording->id,
		.input_name = recording->input_name,
		.input_kind = tb_recording_kind(recording->workload),
		.also = recording->also ? recording->also->note : NULL,
		.on_default = recording->on_default,
		.options = recording->described,
		.network = recording->network,
		.workload = recording->workload,
		.stats = stats_of(recording),
		.exchange = recording->hosted.engine
				    ? tb_engine_exchange_of(recording->hosted.engine)
				    : recording->exchange,
		.wall_s = recording->wall_s,
		.raised_for = recording->raised_for,
		.raised_by = recording->raised_for == recording->options->n_nodes
				     ? "--nodes"
				     : recording->input_name,
		.stopped = recording->stopped,
		.cut = recording->store && tb_store_is_cut(recording->store)};
	if (recording->store)
		summary.undelivered =
			tb_store_undelivered(recording->store, &summary.n_undelivered);
	// Parts of messages that were given up are not delivered, though they arrived.
	if (recording->store && summary.stats.n_undelivered)
		summary.stats.payload_bytes = tb_store_flow_bytes(recording->store);
	return summary;
}

int tb_recording_simulate(struct tb_recording *recording, struct tb_error *error)
{
	const volatile sig_atomic_t *stop = recording->options->stop;
	if (recording->started_s == 0)
		recording->started_s = tb_clock_s();
	if (recording->options->to_ps)
		tb_engine_pause_at(recording->hosted.engine, recording->options->to_ps);
	int status = tb_engine_run(
		recording->hosted.engine, tb_pace_next(&recording->pace), error);
	if (status == TB_ENGINE_PAUSED || (status > 0 && tb_stop_asked(stop))) {
		recording->stopped = true;
		status = TB_OK;
	}
	recording->failed = status < 0;
	recording->wall_s = tb_clock_s() - recording->started_s;
	return status;
}

// checkpoint stores the finished bins when it is due.
static int checkpoint(struct tb_recording *recording, struct tb_error *error)
{
	double pace_s = recording->options->watched ? WATCHED_S : CHECKPOINT_S;
	double now_s = tb_clock_s();
	if (recording->checkpoint_s == 0)
		recording->checkpoint_s = recording->started_s + pace_s;
	if (now_s < recording->checkpoint_s)
		return TB_OK;
	int status = tb_engine_checkpoint(recording->hosted.engine, error);
	double took_s = tb_clock_s() - now_s;
	double rest_s = took_s * CHECKPOINT_REST;
	recording->checkpoint_s = now_s + took_s + (rest_s > pace_s ? rest_s : pace_s);
	if (status == TB_ESTOPPED && tb_store_is_cut(recording->store)) {
		recording->stopped = true;
		return TB_OK;
	}
	recording->failed = status != TB_OK;
	return status;
}

// take_store_error reports the store's error, where it has one: it is more precise than
// the engine's.
static void take_store_error(const struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_error *cause = tb_store_error(recording->store);
	if (cause->code != TB_OK && error)
		*error = *cause;
}

int tb_recording_advance(struct tb_recording *recording, struct tb_error *error)
{
	int status = tb_recording_simulate(recording, error);
	if (status > 0) {
		status = checkpoint(recording, error);
		if (status == TB_OK)
			return !recording->stopped;
	}
	if (status < 0)
		take_store_error(recording, error);
	return status;
}

int tb_recording_finish(struct tb_recording *recording, struct tb_error *error)
{
	struct tb_error dropping;
	if (recording->failed)
		return tb_store_drop_run(recording->store, error);
	tb_recording_begin_bound(recording);
	int status = tb_engine_finish(recording->hosted.engine, error);
	if (status == TB_ESTOPPED && tb_store_is_cut(recording->store))
		status = TB_OK;
	if (status == TB_OK)
		status = tb_recording_end(recording, error);
	recording->stopped |= tb_store_is_cut(recording->store);
	if (status == TB_OK) {
		tb_recording_free_engine(recording);
		return TB_OK;
	}
	take_store_error(recording, error);
	recording->failed = true;
	// Where not even that can be written, the run stays as incomplete.
	(void)!tb_store_drop_run(recording->store, &dropping);
	return status;
}
