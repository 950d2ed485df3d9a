// tailback replay: open the trace, build the network, run the engine into the store.
#include "cmd_replay.h"

#include "cli.h"
#include "closed_loop.h"
#include "digest.h"
#include "engine_kind.h"
#include "open_loop.h"
#include "packets_text.h"
#include "progress.h"
#include "rank_map.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Between two looks at the clock and at Ctrl-C; a few milliseconds.
enum { INSTANTS_A_SLICE = 20000 };

// A long replay's bins are stored so often, so that whoever looks meanwhile sees it grow.
#define CHECKPOINT_S	   10.0
#define FIRST_CHECKPOINT_S 2.0

struct run {
	const struct replay_options *options;
	struct tb_network *network;
	struct tb_job *job;
	uint32_t *node_of_rank;
	struct tb_packets *packets;
	struct tb_closed_loop *closed;
	struct tb_open_loop open;
	struct tb_source source;
	struct tb_store *store;
	struct tb_observer observer; // of the store
	void *engine;		     // of options->engine
	char *input_name;
	const char **node_names;
	double wall_s;
	bool stopped;
	struct tb_error error;
};

static int open_network(struct run *run)
{
	struct tb_network_params params;
	int status = tb_network_preset(&params, run->options->network, &run->error);
	if (status != TB_OK)
		return status;
	return tb_network_kary_ntree(
		&run->network, &params, run->options->n_nodes, &run->error);
}

static int open_job(struct run *run)
{
	const struct replay_options *options = run->options;
	uint32_t n_nodes = tb_network_n_nodes(run->network);
	if (options->packets_options_used)
		return tb_fail(&run->error, TB_EUSAGE,
			"%s is a job: --time-scale, --squeeze-idle, --dedup and "
			"--keep-... are for "
			"packet captures",
			run->input_name);
	int status = tb_rank_map(&run->node_of_rank, run->job->n_ranks, n_nodes,
		options->map_file, &run->error);
	if (status == TB_OK)
		status = tb_closed_loop_new(
			&run->closed, run->job, run->node_of_rank, 0, &run->error);
	if (status == TB_OK)
		run->source = tb_closed_loop_source(run->closed);
	return status;
}

static int open_packets(struct run *run)
{
	const struct replay_options *options = run->options;
	struct tb_packets_options packets = options->packets;
	packets.n_nodes_max = tb_network_n_nodes(run->network);
	packets.map_file = options->map_file;
	int status = tb_packets_open(
		&run->packets, options->traces, options->n_traces, &packets, &run->error);
	if (status != TB_OK)
		return status;
	tb_open_loop_init(&run->open, run->packets);
	run->source = tb_open_loop_source(&run->open);
	return TB_OK;
}

// open_trace finds out by content whether the trace is a job or packets.
static int open_trace(struct run *run)
{
	const struct replay_options *options = run->options;
	bool from_stdin = strcmp(options->traces[0], "-") == 0;
	int status = TB_EFOREIGN;
	struct stat file;
	if (!from_stdin && stat(options->traces[0], &file) == 0 &&
		S_ISREG(file.st_mode) && file.st_size == 0)
		return tb_fail_in(&run->error, TB_EFORMAT, options->traces[0],
			"is empty: expected a packet capture (pcap, pcapng) or a job "
			"(GOAL)");
	if (!from_stdin || options->stdin_is_job)
		status = tb_job_read(&run->job, options->traces[0], &run->error);
	if (status == TB_OK && options->n_traces > 1)
		return tb_fail(&run->error, TB_EUSAGE,
			"%s is a job: only packet captures can be merged with others",
			options->traces[0]);
	if (status == TB_OK)
		return open_job(run);
	if (status != TB_EFOREIGN || options->stdin_is_job)
		return status;
	status = open_packets(run);
	if (status != TB_EFOREIGN)
		return status;
	// Which one of several it is stands in the error of the reader.
	char name[sizeof run->error.file];
	memcpy(name, run->error.file, sizeof name);
	if (options->n_traces > 1)
		return tb_fail_in(&run->error, TB_EFOREIGN, name,
			"no packet capture (pcap, pcapng): only those can be merged");
	return tb_fail_in(&run->error, TB_EFOREIGN, name,
		"neither a packet capture (pcap, pcapng) nor a job (GOAL)");
}

static char *join_names(const char *const *names, size_t n)
{
	size_t size = 1;
	for (size_t i = 0; i < n; i++)
		size += strlen(names[i]) + 2;
	char *joined = calloc(size, 1);
	for (size_t i = 0; joined && i < n; i++) {
		strcat(joined, names[i]);
		if (i + 1 < n)
			strcat(joined, ", ");
	}
	return joined;
}

static int begin_store(struct run *run)
{
	const struct replay_options *options = run->options;
	char digest[TB_DIGEST_SIZE] = "";
	uint64_t bytes = 0;
	int status = tb_digest_files(
		options->traces, options->n_traces, digest, &bytes, &run->error);
	if (status != TB_OK)
		return status;
	uint32_t n_jobs = run->packets ? tb_packets_n_jobs(run->packets) : 1;
	struct tb_run_job *jobs = calloc(n_jobs + 1u, sizeof *jobs);
	if (!jobs)
		return tb_fail(&run->error, TB_ENOMEM, "no memory");
	for (uint32_t i = 0; i < n_jobs; i++)
		jobs[i] = (struct tb_run_job){
			.name = run->packets ? tb_packets_job_name(run->packets, i)
					     : run->input_name,
			.input = run->input_name};
	struct tb_run_config config = {.input_name = run->input_name,
		.input_kind = run->packets ? "packets" : "job",
		.input_digest = digest,
		.input_bytes = bytes,
		.seed = options->seed,
		.time_scale =
			options->packets.time_scale > 0 ? options->packets.time_scale : 1,
		.options = options->described,
		.jobs = jobs,
		.n_jobs = n_jobs};
	status = tb_store_begin_run(run->store, run->network, &config, &run->error);
	free(jobs);
	return status;
}

static void show_progress(const struct run *run, struct tb_progress *progress)
{
	struct tb_engine_stats stats = run->options->engine->stats(run->engine);
	char text[160], simulated[24], delivered[32];
	double fraction = -1;
	if (run->packets)
		fraction = tb_packets_fraction(run->packets);
	else if (run->job->n_ops)
		fraction = (double)tb_closed_loop_n_done(run->closed) / run->job->n_ops;
	double wall = tb_clock_s() - progress->started_s;
	snprintf(text, sizeof text, "%s simulated, %s messages, %.2f M packets/s",
		tb_format_time(stats.now_ps, simulated, sizeof simulated),
		tb_format_count(stats.n_delivered, delivered, sizeof delivered),
		(double)stats.n_packets / wall / 1e6);
	tb_progress_show(progress, fraction, text);
}

// run_engine runs to the end, to Ctrl-C or to an error; what there is stays to be kept.
static int run_engine(struct run *run)
{
	struct tb_progress progress;
	tb_progress_init(&progress, run->options->quiet ? NULL : stderr);
	double checkpoint_s = progress.started_s + FIRST_CHECKPOINT_S;
	int status;
	while ((status = run->options->engine->run(
			run->engine, INSTANTS_A_SLICE, &run->error)) > 0) {
		if (*run->options->stop) {
			run->stopped = true;
			status = TB_OK;
			break;
		}
		if (tb_progress_due(&progress))
			show_progress(run, &progress);
		if (tb_clock_s() < checkpoint_s)
			continue;
		status = run->options->engine->checkpoint(run->engine, &run->error);
		if (status != TB_OK)
			break;
		checkpoint_s = tb_clock_s() + CHECKPOINT_S;
	}
	run->wall_s = tb_clock_s() - progress.started_s;
	tb_progress_done(&progress);
	return status;
}

// peak_rate is the most payload that a node can send: full packets, one behind the other.
static double peak_rate(const struct run *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	double wire =
		(double)params->packet_payload_bytes + params->packet_overhead_bytes;
	return (double)params->link_bytes_per_s * params->packet_payload_bytes / wire;
}

static int name_nodes(struct run *run)
{
	uint32_t n = tb_network_n_nodes(run->network);
	run->node_names = calloc(n + 1u, sizeof *run->node_names);
	if (!run->node_names)
		return tb_fail(&run->error, TB_ENOMEM, "no memory");
	for (uint32_t i = 0; i < n; i++)
		run->node_names[i] =
			tb_packets_node_name(run->packets, (struct tb_node){i});
	return TB_OK;
}

// end_store keeps what was simulated, whole or not.
static int end_store(struct run *run, bool complete)
{
	struct tb_engine_stats stats = run->options->engine->stats(run->engine);
	int status = run->options->engine->finish(run->engine, &run->error);
	char *notes = NULL;
	if (status == TB_OK && run->packets) {
		status = name_nodes(run);
		notes = tb_packets_summary_json(run->packets, peak_rate(run));
	}
	struct tb_run_result result = {.complete = complete,
		.simulated_ps = stats.now_ps,
		.n_messages = stats.n_delivered,
		.n_packets = stats.n_packets,
		.payload_bytes = stats.payload_bytes,
		.wall_s = run->wall_s,
		.notes = notes,
		.node_names = run->node_names,
		.n_named = run->node_names ? tb_network_n_nodes(run->network) : 0};
	if (status == TB_OK)
		status = tb_store_end_run(run->store, &result, &run->error);
	free(notes);
	return status;
}

// The sentence of a store that could not be written is better than the engine's.
static void prefer_store_error(struct run *run)
{
	const struct tb_error *error = run->store ? tb_store_error(run->store) : NULL;
	if (error && error->code != TB_OK)
		run->error = *error;
}

static void print_job(const struct run *run)
{
	struct tb_job_summary summary;
	char sends[32], calcs[32], size[24];
	tb_job_summarize(run->job, &summary);
	fprintf(stderr, "%" PRIu32 " ranks, %s sends of %s in all, %s calcs\n",
		run->job->n_ranks, tb_format_count(summary.n_sends, sends, sizeof sends),
		tb_format_size(summary.send_bytes, size, sizeof size),
		tb_format_count(summary.n_calcs, calcs, sizeof calcs));
	if (run->job->n_nics > 1)
		fprintf(stderr,
			"the job names %u network interfaces a rank; here they share "
			"one\n",
			(unsigned)run->job->n_nics);
}

static int print_summary(struct run *run)
{
	struct tb_engine_stats stats = run->options->engine->stats(run->engine);
	const struct tb_network_params *params = tb_network_params(run->network);
	char time[24], size[24], packets[32], messages[32], wait[24];
	fprintf(stderr, "%s on %s (%u-ary %u-tree, %u nodes)\n", run->input_name,
		params->name, params->arity, params->levels,
		tb_network_n_nodes(run->network));
	if (run->packets &&
		tb_packets_write_summary(stderr, run->packets, peak_rate(run)) != TB_OK)
		return tb_fail(&run->error, TB_EIO, "the summary cannot be written");
	if (run->job)
		print_job(run);
	fprintf(stderr, "simulated %s: %s messages, %s packets, %s delivered\n",
		tb_format_time(stats.now_ps, time, sizeof time),
		tb_format_count(stats.n_delivered, messages, sizeof messages),
		tb_format_count(stats.n_packets, packets, sizeof packets),
		tb_format_size(stats.payload_bytes, size, sizeof size));
	double per_packet =
		stats.n_packets ? (double)stats.wait_ps / (double)stats.n_packets : 0;
	fprintf(stderr,
		"headers waited %s a packet; replayed in %.2f s (%.2f M packets/s)\n",
		tb_format_time((tb_time_ps)per_packet, wait, sizeof wait), run->wall_s,
		run->wall_s > 0 ? (double)stats.n_packets / run->wall_s / 1e6 : 0);
	return TB_OK;
}

static int make_engine(struct run *run)
{
	const struct replay_options *options = run->options;
	struct tb_engine_options engine = {.seed = options->seed,
		.bin_ps = options->bin_ps,
		.without_blame = options->without_blame};
	run->observer = tb_store_observer(run->store);
	return options->engine->make(&run->engine, run->network, &run->source,
		&run->observer, &engine, &run->error);
}

// replay keeps what there is also when source or engine failed on the way: a store that
// cannot be written says so once more.
// warn says what nobody may overlook, even when no summary is wanted.
static void warn(const struct run *run)
{
	const struct tb_packets_summary *seen =
		run->packets ? tb_packets_summary(run->packets) : NULL;
	char records[32];
	if (seen && seen->n_endpoints_unplaced)
		fprintf(stderr,
			"tailback: warning: %" PRIu32
			" endpoints found no node: %s records are left out (--nodes N "
			"raises the "
			"tree)\n",
			seen->n_endpoints_unplaced,
			tb_format_count(seen->n_unplaced, records, sizeof records));
	if (seen && !run->stopped && seen->n_packets == 0)
		fprintf(stderr, "tailback: warning: nothing in %s was replayed\n",
			run->input_name);
}

static int replay(struct run *run)
{
	int outcome = run_engine(run);
	struct tb_error cause = run->error;
	int status = end_store(run, outcome == TB_OK && !run->stopped);
	if (status != TB_OK) {
		prefer_store_error(run);
		return status;
	}
	run->error = cause;
	if (!run->options->quiet && print_summary(run) != TB_OK)
		return TB_EIO;
	warn(run);
	return outcome;
}

// prepare begins the run in the store last: what cannot be replayed leaves no trace.
static int prepare(struct run *run)
{
	run->input_name = join_names(run->options->traces, run->options->n_traces);
	if (!run->input_name)
		return tb_fail(&run->error, TB_ENOMEM, "no memory");
	int status = open_network(run);
	if (status == TB_OK)
		status = open_trace(run);
	if (status == TB_OK)
		status = tb_store_create(&run->store, run->options->output, &run->error);
	if (status == TB_OK)
		status = make_engine(run);
	return status == TB_OK ? begin_store(run) : status;
}

int replay_run(const struct replay_options *options)
{
	struct run run = {.options = options};
	int status = prepare(&run);
	if (status == TB_OK)
		status = replay(&run);
	int code = TB_EXIT_OK;
	if (status < 0)
		code = tb_cli_fail(&run.error);
	if (status == TB_OK && run.stopped) {
		fprintf(stderr,
			"tailback: stopped early: what was simulated so far is in %s\n",
			options->output);
		code = TB_EXIT_FAILURE;
	}
	options->engine->free(run.engine);
	tb_store_free(run.store);
	tb_closed_loop_free(run.closed);
	tb_packets_free(run.packets);
	tb_job_free(run.job);
	tb_network_free(run.network);
	free(run.node_of_rank);
	free(run.input_name);
	free(run.node_names);
	return code;
}
