// tailback replay: records one run or several, shows progress, and prints the summary and
// the warnings at the end.
#include "cmd_replay.h"

#include "child.h"
#include "cli.h"
#include "credit_params.h"
#include "ethernet_params.h"
#include "names.h"
#include "output_args.h"
#include "packets_text.h"
#include "progress.h"
#include "range_text.h"
#include "recorded.h"
#include "recording_beside.h"
#include "recording_many.h"
#include "run_capture.h"
#include "run_table.h"
#include "stop.h"
#include "switchings.h"
#include "trace_args.h"
#include "underload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// After a run that took longer, what the others will take is foreseen.
#define ESTIMATED_S 5

// The most flows that a warning lists.
enum { NAMED_MOST = 4 };

// The most lines of notes on how a trace was read.
enum { NOTES_MOST = 12 };

static void print_job(
	const struct tb_recording_summary *run, const struct tb_workload_input *input)
{
	const struct tb_job *job = input->job;
	struct tb_job_summary summary;
	char ranks[48], sends[48], calcs[48], size[24];
	tb_job_summarize(job, &summary);
	fprintf(stderr, "%s, %s of %s in all, %s\n",
		tb_format_counted(job->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_counted(summary.n_sends, "send", sends, sizeof sends),
		tb_format_size(summary.send_bytes, size, sizeof size),
		tb_format_counted(summary.n_calcs, "calc", calcs, sizeof calcs));
	tb_cmd_put_notes(stderr, job->notes, "  ", NOTES_MOST);
	char *hosts = tb_recording_note_of_hosts(run->network, run->workload, input);
	tb_cmd_put_notes(stderr, hosts, "  ", NOTES_MOST);
	free(hosts);
	if (job->n_nics > 1)
		fprintf(stderr,
			"the job names %u network interfaces per rank; here there %s "
			"%u\n",
			(unsigned)job->n_nics,
			tb_network_n_rails(run->network) > 1 ? "are" : "is",
			tb_network_n_rails(run->network));
}

// print_input prints the summary of an input, below its name if there are several.
static int print_input(const struct tb_recording_summary *run, uint32_t i)
{
	struct tb_workload_input input = tb_workload_input_at(run->workload, i);
	struct tb_workload_job job = tb_workload_job_at(run->workload, input.first_job);
	char start[24];
	if (tb_workload_n_inputs(run->workload) > 1)
		fprintf(stderr,
			"%s%s%s, from %s: ", input.n_jobs > 1 ? input.name : job.name,
			*job.placement ? ", " : "", job.placement,
			tb_format_time(job.start_ps, start, sizeof start));
	if (input.job) {
		print_job(run, &input);
		return TB_OK;
	}
	if (tb_workload_n_inputs(run->workload) > 1)
		fputc('\n', stderr);
	char name[120];
	snprintf(name, sizeof name, "%s%s", tb_network_params(run->network)->name,
		*run->on_default ? ", the default" : "");
	const struct tb_packets_against against = {
		name, tb_recording_node_rate(tb_network_params(run->network))};
	return tb_packets_write_summary(stderr, input.packets, "", &against);
}

static const char *network_shape(
	const struct tb_network *network, char *buffer, size_t size)
{
	const struct tb_network_params *params = tb_network_params(network);
	if (strcmp(params->shape, TB_SHAPE_FABRIC) == 0)
		return tb_format_counted(
			tb_network_n_switches(network), "switch|switches", buffer, size);
	if (params->shape[0])
		return params->shape;
	snprintf(buffer, size, "%u-ary %u-tree", params->arity, params->levels);
	return buffer;
}

static double wait_per_packet(const struct tb_engine_stats *stats)
{
	return stats->n_packets ? (double)stats->wait_ps / (double)stats->n_packets : 0;
}

// captures_load returns the load of a run of captures alone; without a share when there
// are jobs, which load the network too.
static struct tb_underload captures_load(const struct tb_recording_summary *run)
{
	struct tb_underload load = {.network = tb_network_params(run->network),
		.wait_ps = (double)run->stats.wait_ps,
		.n_packets = run->stats.n_packets,
		.input_name = run->input_name,
		.options = run->options};
	struct tb_underload none = load;
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input_at(run->workload, i);
		if (!input.packets)
			return none;
		load.n_inputs++;
		load.recorded = tb_recorded_on_of(tb_recording_endpoint(input.packets));
		struct tb_packets_load one = tb_packets_load(
			input.packets, tb_recording_node_rate(load.network));
		if (one.busiest_share > load.busiest_share) {
			load.busiest_share = one.busiest_share;
			load.half_scale = one.half_scale;
		}
	}
	return load;
}

static void print_underload(const struct tb_recording_summary *run)
{
	const struct tb_underload load = captures_load(run);
	if (run->stopped || !tb_underload_shows_nothing(&load))
		return;
	tb_underload_write(stderr, &load);
	fputc('\n', stderr);
}

static void print_processes(const struct tb_engine_exchange *exchange)
{
	char size[24];
	if (exchange->n_processes == 0)
		return;
	uint64_t n_windows = exchange->n_windows ? exchange->n_windows : 1;
	fprintf(stderr,
		"%" PRIu32 " processes: %" PRIu64 " windows, %s exchanged in each\n",
		exchange->n_processes, exchange->n_windows,
		tb_format_size(exchange->bytes / n_windows, size, sizeof size));
}

// recorded_on writes on what the first input was recorded, if it is a capture.
static const char *recorded_on(
	const struct tb_recording_summary *run, char *buffer, size_t size)
{
	struct tb_workload_input input = tb_workload_input_at(run->workload, 0);
	const struct tb_recorded_calls *recorded = input.job ? input.job->recorded : NULL;
	if (input.packets)
		return tb_recorded_on_text(
			tb_recorded_on_of(tb_recording_endpoint(input.packets)), 0,
			buffer, size);
	bool on_wire = recorded && recorded->on_wire;
	return tb_recorded_on_text(on_wire ? TB_RECORDED_ETHERNET : TB_RECORDED_UNKNOWN,
		on_wire ? recorded->bytes_per_s : 0, buffer, size);
}

// replay_print_summary prints the summary of a run; TB_EIO when that fails.
static int replay_print_summary(const struct tb_recording_summary *run, bool split)
{
	const struct tb_engine_stats *stats = &run->stats;
	char time[24], size[24], packets[48], messages[48], wait[24];
	const struct tb_network_params *params = tb_network_params(run->network);
	char caution[TB_CAUTION_SIZE];
	char rails[32] = "", library[64] = "", nodes[48], shape[48], recorded[80];
	if (params->n_rails > 1)
		snprintf(rails, sizeof rails, " on %u rails", params->n_rails);
	// Without a library, a policy for rails may need the hosts, too.
	if (!tb_host_does_nothing(&params->host) &&
		strcmp(params->host.name, "none") != 0)
		snprintf(library, sizeof library, ", by %s", params->host.name);
	fprintf(stderr, "%s on %s%s%s (%s, %s%s%s)%s\n", run->input_name, params->name,
		*run->on_default ? ", the default" : "",
		recorded_on(run, recorded, sizeof recorded),
		network_shape(run->network, shape, sizeof shape),
		tb_format_counted(
			tb_network_n_hosts(run->network), "node", nodes, sizeof nodes),
		rails, library, tb_switching_caution(params, caution, sizeof caution));
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		if (print_input(run, i) != TB_OK)
			return TB_EIO;
	char count[48];
	uint32_t n = tb_workload_n_jobs(run->workload);
	if (split)
		fprintf(stderr, "%s: nodes that talk to each other are one\n",
			tb_format_counted(n, "job", count, sizeof count));
	if (stats->n_packets == 0 && stats->now_ps == 0) {
		fputs("simulated nothing: no message is sent, and nothing computed\n",
			stderr);
		return TB_OK;
	}
	fprintf(stderr, "simulated %s: %s, %s, %s %s delivered\n",
		tb_format_time(stats->now_ps, time, sizeof time),
		tb_format_counted(
			stats->n_delivered, "message", messages, sizeof messages),
		tb_format_counted(stats->n_packets, "packet", packets, sizeof packets),
		tb_format_size(stats->payload_bytes, size, sizeof size),
		tb_run_carried_by(run->input_kind));
	fprintf(stderr, "packets waited %s each; replayed in %.2f s (%.2f M packets/s)\n",
		tb_format_time((tb_time_ps)wait_per_packet(stats), wait, sizeof wait),
		run->wall_s,
		run->wall_s > 0 ? (double)stats->n_packets / run->wall_s / 1e6 : 0);
	print_processes(&run->exchange);
	print_underload(run);
	return TB_OK;
}

// note_bucket says if ports of the captured network passed a bucket of bytes at once, and
// those of this one do not.
static void note_bucket(const struct tb_recording_summary *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		const struct tb_job *job = tb_workload_input_at(run->workload, i).job;
		char size[24];
		if (!job || !job->recorded || !job->recorded->bucket_bytes ||
			strcmp(params->switching, "ethernet") != 0 ||
			tb_ethernet_params(params)->burst_bytes)
			continue;
		fprintf(stderr,
			"tailback: note: ports of the captured network let %s pass at "
			"once after a pause, as shaped ones do; those of %s are cables: "
			"burst=%" PRIu64 ", or the preset ethernet-shaped, has such "
			"ports\n",
			tb_format_size(job->recorded->bucket_bytes, size, sizeof size),
			params->name, job->recorded->bucket_bytes);
	}
}

// replay_print_range prints the least and the most that an inferred job can take.
static void replay_print_range(const struct tb_recording_summary *run,
	const struct tb_recording_range_outcome *outcome,
	const struct tb_capture_checks *checks)
{
	char text[TB_RANGE_TEXT];
	struct tb_range range = {outcome->least_ps, outcome->most_ps, run->stats.now_ps,
		outcome->n_calls, outcome->n_hidden, outcome->n_untold,
		.check_percent = NAN, .of_calls = true};
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		const struct tb_job *job = tb_workload_input_at(run->workload, i).job;
		range.of_calls &= !job || !job->recorded || !job->recorded->on_wire;
	}
	for (size_t i = 0; i < checks->n; i++) {
		const struct tb_capture_check *check = &checks->list[i];
		double percent = 0;
		if (tb_recorded_percent((int64_t)check->recorded_ps,
			    (int64_t)check->simulated_ps, &percent) &&
			!(fabs(percent) <= fabs(range.check_percent))) {
			range.check_percent = percent;
			range.node_percent = check->node_percent;
			range.messages =
				check->recorded_message_ps
					? (double)check->simulated_message_ps /
						  (double)check->recorded_message_ps
					: 0;
		}
	}
	if (outcome->n > 0 && !outcome->stopped)
		fprintf(stderr, "the run takes %s\n",
			tb_range_text(&range, text, sizeof text));
	if (outcome->n > 0 && !outcome->stopped && run->also)
		fprintf(stderr, "also: %s\n", run->also);
	if (tb_recording_lacks_range(run->workload))
		fprintf(stderr, TB_RECORDING_NO_RANGE "\n");
}

static void print_waiting(const struct tb_recording_summary *run)
{
	char count[48];
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		uint64_t n = tb_workload_n_waiting(run->workload, i);
		if (n)
			fprintf(stderr,
				"tailback: warning: %s: %s never ran, waiting for "
				"messages that were not delivered\n",
				tb_workload_input_at(run->workload, i).name,
				tb_format_counted(n, "operation", count, sizeof count));
	}
}

// note_lanes tells when service levels or virtual lanes change nothing, as all jobs share
// a lane.
static void note_lanes(const struct tb_recording_summary *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	struct tb_workload_job asks = {0};
	uint8_t vls[TB_SLS], lane = 0;
	if (!tb_switching_of(params)->has_service_levels ||
		tb_sl_to_vl_read(
			vls, tb_credit_params(params)->sl_to_vl, params->n_vcs) != TB_OK)
		return;
	for (uint32_t i = 0; i < tb_workload_n_jobs(run->workload); i++) {
		struct tb_workload_job job = tb_workload_job_at(run->workload, i);
		if (i > 0 && vls[job.service_level] != lane)
			return;
		lane = vls[job.service_level];
		if (job.service_level)
			asks = job;
	}
	if (asks.service_level == 0 && params->n_vcs > 1 &&
		tb_workload_n_jobs(run->workload) > 1)
		fprintf(stderr,
			"tailback: note: all jobs are on one of %u virtual lanes: a "
			"job's sl= and sl_to_vl give it another\n",
			params->n_vcs);
	if (asks.service_level)
		fprintf(stderr, "tailback: note: job '%s': sl=%u changes nothing: %s\n",
			asks.name, asks.service_level,
			params->n_vcs == 1 ? "the network has one virtual lane (vls=2: "
					     "two)"
					   : "all jobs are on one virtual lane "
					     "(sl_to_vl)");
}

// replay_note_network prints what the reader of a fabric remarked, and note_lanes.
static void replay_note_network(const struct tb_recording_summary *run)
{
	const struct tb_network *network = run->network;
	for (uint32_t i = 0; i < tb_network_n_remarks(network); i++)
		fprintf(stderr, "tailback: note: %s: %s\n",
			tb_network_params(network)->name, tb_network_remark(network, i));
	note_lanes(run);
}

// replay_warn prints what a user must not miss, with --quiet too.
static void replay_warn(const struct tb_recording_summary *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	char smaller[80] = "";
	// The least tree of two levels of the same switches, whose spines have all ports
	// down.
	uint32_t n_leaves =
		run->raised_for ? (run->raised_for - 1) / params->arity + 1 : 0;
	if (run->raised_for && params->levels > 2 && n_leaves <= 2 * params->arity)
		snprintf(smaller, sizeof smaller,
			"; shape='xgft(2; %u,%u; 1,%u)' has %u on two", params->arity,
			n_leaves, params->arity, n_leaves * params->arity);
	if (run->raised_for)
		fprintf(stderr,
			"tailback: note: %s needs %" PRIu32
			" nodes: the tree was raised to %u levels, %u nodes%s\n",
			run->raised_by, run->raised_for, params->levels,
			tb_network_n_hosts(run->network), smaller);
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input_at(run->workload, i);
		if (input.packets) {
			const struct tb_packets_summary *seen =
				tb_packets_summary(input.packets);
			char endpoints[48], records[48];
			if (seen->n_endpoints_unplaced)
				fprintf(stderr,
					"tailback: warning: no node for %s: %s left out "
					"(%s)\n",
					tb_format_counted(seen->n_endpoints_unplaced,
						"endpoint", endpoints, sizeof endpoints),
					tb_format_counted(seen->n_unplaced,
						"record is|records are", records,
						sizeof records),
					input.has_map ? "list them in the map, or raise "
							"the tree with "
							"--nodes N"
						      : "raise the tree with --nodes N");
			if (seen->is_cut)
				fprintf(stderr,
					"tailback: note: %s: the capture breaks off: the "
					"%s before that count\n",
					input.name,
					tb_format_counted(seen->n_records, "record",
						records, sizeof records));
			if (seen->n_untimed)
				fprintf(stderr,
					"tailback: warning: %s: %s: they are replayed at "
					"once, and their waits mean nothing\n",
					input.name,
					tb_format_counted(seen->n_untimed,
						"record has no time|records have no time",
						records, sizeof records));
			if (!run->stopped && seen->n_packets == 0)
				fprintf(stderr,
					"tailback: warning: nothing in %s was replayed\n",
					input.name);
		}
	}
	char count[48];
	if (run->stats.n_undelivered == 0)
		return;
	fprintf(stderr, "tailback: warning: %s not delivered, source and destination:\n",
		tb_format_counted(run->stats.n_undelivered, "message was|messages were",
			count, sizeof count));
	for (size_t i = 0; i < run->n_undelivered && i < NAMED_MOST; i++) {
		const struct tb_undelivered_sample *at = &run->undelivered[i];
		char dead[TB_LINK_NAME_SIZE], source[TB_NAME_SIZE],
			destination[TB_NAME_SIZE];
		fprintf(stderr, "  %s > %s: %" PRIu64 ", ",
			tb_names_node(run->network, at->source, source, sizeof source),
			tb_names_node(run->network, at->destination, destination,
				sizeof destination),
			at->n_messages);
		if (at->dead.id == TB_ID_NONE)
			fputs("no route is left\n", stderr);
		else
			fprintf(stderr, "%s is dead\n",
				tb_names_link(run->network, at->dead, dead, sizeof dead));
	}
	if (run->n_undelivered > NAMED_MOST)
		fprintf(stderr, "  and %s: see the view 'undelivered' of the store\n",
			tb_format_counted(run->n_undelivered - NAMED_MOST,
				"more flow|more flows", count, sizeof count));
	if (!run->stopped)
		print_waiting(run);
}

static bool has_display(void)
{
	static const char *const names[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && value[0])
			return true;
	}
	return false;
}

static bool shows_in_terminal(const struct replay_options *options)
{
	return options->watch && !has_display();
}

// start_watcher starts a process that shows the store. On failure it prints a warning,
// and the replay goes on unwatched.
static void start_watcher(const struct replay_options *options, struct tb_child *watcher)
{
	struct tb_error error;
	char text[1024];
	const char *const arguments[] = {
		has_display() ? "view" : "top", "--", options->record.output, NULL};
	// Ctrl-C ends the replay, not the window, which still shows its results. In the
	// terminal `top` gets Ctrl-C too.
	const struct tb_child_options child = {
		.arguments = arguments, .input = -1, .apart = has_display()};
	if (tb_child_start(watcher, &child, &error) != TB_OK)
		fprintf(stderr, "tailback: warning: %s\n",
			tb_error_format(&error, text, sizeof text));
}

static void show_range(void *line, size_t n_done, size_t n)
{
	tb_cli_show_count(line, n_done, n, "replays for the range");
}

// check_capture replays inferred jobs at the captured rate too. Where it cannot be done
// the run stands all the same.
static void check_capture(const struct replay_options *options,
	struct tb_recording *recording, struct tb_capture_checks *checks)
{
	struct tb_error error;
	char why[512];
	if (options->record.no_check)
		return;
	if (tb_recording_check(checks, recording, &error) != TB_OK)
		fprintf(stderr,
			"tailback: warning: not checked at the captured rate: %s\n",
			tb_error_format(&error, why, sizeof why));
}

// print_recorded_times prints what the traces of calls recorded beside what was replayed.
static void print_recorded_times(const struct tb_recording_summary *run)
{
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		const struct tb_job *job = tb_workload_input_at(run->workload, i).job;
		struct tb_call_times times = {0};
		uint64_t n_unreached = 0;
		char was[24], is[24];
		double percent;
		if (!job || !job->recorded || job->recorded->on_wire)
			continue;
		if (tb_workload_times(run->workload, i, &times, &n_unreached) == TB_OK &&
			tb_recorded_percent((int64_t)job->recorded->times.run_ps,
				(int64_t)times.run_ps, &percent))
			fprintf(stderr,
				"recorded: %s until the last call returned, in the "
				"replay "
				"%s (%+.1f %%)\n",
				tb_format_time((tb_time_ps)job->recorded->times.run_ps,
					was, sizeof was),
				tb_format_time((tb_time_ps)times.run_ps, is, sizeof is),
				percent);
		tb_call_times_fini(&times);
	}
}

static int print_replayed(const struct replay_options *options,
	const struct tb_recording_summary *run,
	const struct tb_recording_range_outcome *range,
	const struct tb_capture_checks *checks, struct tb_error *error)
{
	if (!options->quiet)
		replay_print_range(run, range, checks);
	if (!options->quiet && !run->stopped)
		print_recorded_times(run);
	if (!options->quiet) {
		char text[512];
		for (size_t i = 0; i < checks->n; i++) {
			const struct tb_capture_check *check = &checks->list[i];
			const struct tb_recorded_row row = {.job = check->job,
				.recorded_ps = (int64_t)check->recorded_ps,
				.simulated_ps = (int64_t)check->simulated_ps,
				.bytes_per_s = check->bytes_per_s,
				.node_percent = check->node_percent,
				.recorded_at_ps = (int64_t)check->recorded_message_ps,
				.simulated_at_ps = (int64_t)check->simulated_message_ps};
			tb_recorded_check_sentence(&row, text, sizeof text);
			if (checks->n > 1)
				fprintf(stderr, "check of %s: %s\n",
					tb_workload_job_at(run->workload, check->job)
						.name,
					text);
			else
				fprintf(stderr, "check: %s\n", text);
		}
	}
	if (!options->quiet &&
		replay_print_summary(run, options->record.workload.split) != TB_OK)
		return tb_fail(error, TB_EIO, "the summary cannot be written");
	replay_note_network(run);
	if (!options->quiet)
		note_bucket(run);
	replay_warn(run);
	return TB_OK;
}

// answer_run checks what was inferred, finds the range of its run time, and prints the
// run.
static int answer_run(const struct replay_options *options,
	struct tb_recording *recording, struct tb_recording_summary *run,
	struct tb_error *error)
{
	struct tb_recording_range_outcome range = {0};
	struct tb_recording_bound_outcome bound = {0};
	struct tb_capture_checks checks = {0};
	int status = TB_OK;
	if (!run->stopped) {
		check_capture(options, recording, &checks);
		// Replay the bounds of inferred jobs.
		struct tb_progress progress;
		const struct tb_recording_range asked = {.recording = recording,
			.n_workers = options->n_workers,
			.context = &progress,
			.watch = show_range};
		bool silent = options->quiet || shows_in_terminal(options);
		tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
		status = tb_recording_range(&range, &asked, error);
		tb_progress_done(&progress);
	}
	if (status == TB_OK && !run->stopped)
		status = tb_recording_bound(&bound, recording, error);
	run->stopped |= range.stopped || bound.stopped;
	if (status == TB_OK)
		status = print_replayed(options, run, &range, &checks, error);
	free(checks.list);
	return status;
}

// finish_run ends the run in the store, which keeps none if source or engine failed, and
// returns the exit code.
static int finish_run(const struct replay_options *options,
	struct tb_recording *recording, struct tb_child *watcher,
	const struct tb_error *cause)
{
	struct tb_error error;
	if (tb_recording_finish(recording, &error) != TB_OK)
		return tb_cli_fail(&error);
	if (shows_in_terminal(options))
		tb_child_wait(watcher); // it owns the screen until it ends
	struct tb_recording_summary run = tb_recording_summary(recording);
	if (cause) {
		replay_note_network(&run);
		return tb_cli_fail(cause);
	}
	if (answer_run(options, recording, &run, &error) != TB_OK)
		return tb_cli_fail(&error);
	// A window that was asked for is whole where nobody interrupted it.
	if (!run.stopped ||
		(options->record.to_ps && !tb_stop_asked(options->record.stop)))
		return TB_EXIT_OK;
	fprintf(stderr, "tailback: stopped early: %swhat was simulated so far is in %s\n",
		run.cut ? "the beginning of " : "", options->record.output);
	return TB_EXIT_FAILURE;
}

static void show_alone(void *line, size_t n_done, size_t n)
{
	tb_cli_show_count(line, n_done, n, "replays of jobs alone");
}

// replay_jobs_alone replays the jobs of a finished run by themselves, and returns the
// exit code.
static int replay_jobs_alone(
	const struct replay_options *options, struct tb_recording *recording)
{
	struct tb_progress progress;
	struct tb_recording_alone_outcome outcome;
	struct tb_error error;
	const struct tb_recording_alone asked = {.recording = recording,
		.n_workers = options->n_workers,
		.context = &progress,
		.watch = show_alone};
	bool silent = options->quiet || shows_in_terminal(options);
	tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
	int status = tb_recording_alone(&outcome, &asked, &error);
	tb_progress_done(&progress);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	if (outcome.stopped) {
		fprintf(stderr,
			"tailback: stopped early: %zu of %zu replays of jobs alone are "
			"in %s\n",
			outcome.n_done, outcome.n, options->record.output);
		return TB_EXIT_FAILURE;
	}
	if (!options->quiet)
		fprintf(stderr,
			"%zu replay%s of jobs alone and on an ideal network in %.2f s\n",
			outcome.n, outcome.n == 1 ? "" : "s",
			tb_clock_s() - progress.started_s);
	return TB_EXIT_OK;
}

int replay_run(const struct replay_options *options)
{
	struct tb_recording *recording = NULL;
	struct tb_child watcher = {0};
	struct tb_error error;
	int status = tb_recording_new(&recording, &options->record, &error);
	if (status == TB_ESTOPPED) {
		fputs("tailback: stopped before anything was simulated\n", stderr);
		return TB_EXIT_FAILURE;
	}
	if (status != TB_OK)
		return tb_cli_fail(&error);
	// Before the time that it takes.
	const struct tb_recording_summary begun = tb_recording_summary(recording);
	if (*begun.on_default && !options->quiet)
		fprintf(stderr, "tailback: note: %s\n", begun.on_default);
	if (options->watch)
		start_watcher(options, &watcher);
	// Advance to the end, to Ctrl-C or to an error.
	struct tb_progress progress;
	bool silent = options->quiet || shows_in_terminal(options);

	if (options->numbers)
		tb_progress_init_numbers(&progress, STDERR_FILENO);
	else
		tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
	while ((status = tb_recording_advance(recording, &error)) > 0)
		if (tb_progress_due(&progress)) {
			const struct tb_recording_summary run =
				tb_recording_summary(recording);
			char text[160], simulated[24], delivered[48];
			double wall = tb_clock_s() - progress.started_s;
			snprintf(text, sizeof text, "%s simulated, %s, %.2f M packets/s",
				tb_format_time(
					run.stats.now_ps, simulated, sizeof simulated),
				tb_format_counted(run.stats.n_delivered, "message",
					delivered, sizeof delivered),
				(double)run.stats.n_packets / wall / 1e6);
			tb_progress_show(&progress,
				tb_workload_fraction(run.workload, run.stats.n_packets),
				text);
		}
	tb_progress_done(&progress);
	int code = finish_run(options, recording, &watcher, status < 0 ? &error : NULL);
	if (code == TB_EXIT_OK && options->record.alone)
		code = replay_jobs_alone(options, recording);
	tb_recording_free(recording);
	tb_child_wait(&watcher);
	return code;
}

struct many {
	const struct replay_options *options;
	const struct tb_recording_options *runs;
	size_t n; // of the shard
	size_t n_kept;
	const struct tb_sweep *sweep;
	struct tb_progress progress;
};

static void on_kept(void *context, size_t index, const struct tb_recording_summary *run)
{
	struct many *many = context;
	tb_progress_done(&many->progress);
	if (!many->options->quiet) {
		// Print one line, for one run of several.
		uint64_t seed = many->runs[index].seed;
		const struct tb_engine_stats *stats = &run->stats;
		char time[24], packets[48], wait[24];
		fprintf(stderr,
			"run %" PRId64 ": %s%s%s, seed %" PRIu64
			": simulated %s, %s; packets waited %s each\n",
			run->run, run->input_name, many->sweep ? " on " : "",
			many->sweep ? many->runs[index].network : "", seed,
			tb_format_time(stats->now_ps, time, sizeof time),
			tb_format_counted(
				stats->n_packets, "packet", packets, sizeof packets),
			tb_format_time(
				(tb_time_ps)wait_per_packet(stats), wait, sizeof wait));
		print_underload(run);
	}
	if (index == 0)
		replay_note_network(run);
	replay_warn(run);
	double each_s = tb_clock_s() - many->progress.started_s;
	unsigned n_at_once =
		many->options->n_workers ? many->options->n_workers : tb_cli_n_cores();
	if (many->n_kept++ == 0 && many->n > n_at_once && each_s > ESTIMATED_S &&
		!many->options->quiet)
		fprintf(stderr, "%zu runs will take about %.0f s more\n", many->n - 1,
			each_s * ceil((double)many->n / n_at_once) - each_s);
}

static void on_watch(void *context, size_t n_done)
{
	struct many *many = context;
	tb_cli_show_count(&many->progress, n_done, many->n, "replays");
}

int replay_many(const struct replay_options *options,
	const struct tb_recording_options *runs, size_t n, const struct tb_sweep *sweep)
{
	struct many many = {.options = options, .runs = runs, .sweep = sweep};
	for (size_t i = 0; i < n; i++)
		many.n += tb_shard_has(options->shard, i);
	const struct tb_recording_many recorded = {.runs = runs,
		.n = n,
		.n_workers = options->n_workers,
		.shard = options->shard,
		.sweep = sweep,
		.context = &many,
		.kept = on_kept,
		.watch = on_watch};
	struct tb_recording_many_outcome outcome;
	struct tb_error error;
	tb_progress_init(&many.progress, options->quiet ? -1 : STDERR_FILENO);
	int status = tb_recording_many(&outcome, &recorded, &error);
	tb_progress_done(&many.progress);
	if (status < 0)
		return tb_cli_fail(&error);
	if (!outcome.stopped && options->shard.n > 0 && !options->quiet) {
		fprintf(stderr, "%zu run%s in %s (shard %" PRIu32 "/%" PRIu32 ")",
			outcome.n, outcome.n == 1 ? "" : "s", options->record.output,
			options->shard.number, options->shard.n);
		if (outcome.n_before > 0)
			fprintf(stderr, ": %zu were recorded before", outcome.n_before);
		fputc('\n', stderr);
	}
	if (sweep && !outcome.stopped && !options->quiet &&
		tb_run_table_write(options->record.output,
			tb_cmd_text_width(0, stdout, 0), stdout, &error) != TB_OK)
		return tb_cli_fail(&error);
	if (!outcome.stopped)
		return TB_EXIT_OK;
	fprintf(stderr, "tailback: stopped early: %zu of %zu runs are in %s, %s\n",
		outcome.n_before + outcome.n_kept, outcome.n, options->record.output,
		options->shard.n > 0 || sweep ? "the same command resumes there"
					      : "the last ones incomplete");
	return TB_EXIT_FAILURE;
}
