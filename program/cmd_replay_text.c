// tailback replay: the summary and the warnings that it prints at the end.
#include "cmd_replay.h"
#include "names.h"
#include "packets_text.h"
#include "range_text.h"
#include "reading_args.h"
#include "run_capture.h"
#include "switchings.h"
#include "underload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The most flows that a warning lists.
enum { NAMED_MOST = 4 };

// The most lines of notes on how a trace was read.
enum { NOTES_MOST = 12 };

static void print_job(const struct tb_recording_summary *run, const struct tb_job *job)
{
	struct tb_job_summary summary;
	char ranks[48], sends[48], calcs[48], size[24];
	tb_job_summarize(job, &summary);
	fprintf(stderr, "%s, %s of %s in all, %s\n",
		tb_format_counted(job->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_counted(summary.n_sends, "send", sends, sizeof sends),
		tb_format_size(summary.send_bytes, size, sizeof size),
		tb_format_counted(summary.n_calcs, "calc", calcs, sizeof calcs));
	tb_cmd_put_notes(stderr, job->notes, "  ", NOTES_MOST);
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
	struct tb_workload_input input = tb_workload_input(run->workload, i);
	struct tb_workload_job job = tb_workload_job(run->workload, input.first_job);
	char start[24];
	if (tb_workload_n_inputs(run->workload) > 1)
		fprintf(stderr,
			"%s%s%s, from %s: ", input.n_jobs > 1 ? input.name : job.name,
			*job.placement ? ", " : "", job.placement,
			tb_format_time(job.start_ps, start, sizeof start));
	if (input.job) {
		print_job(run, input.job);
		return TB_OK;
	}
	if (tb_workload_n_inputs(run->workload) > 1)
		fputc('\n', stderr);
	const struct tb_packets_against against = {tb_network_params(run->network)->name,
		tb_recording_peak_rate(run->network)};
	return tb_packets_write_summary(stderr, input.packets, "", &against);
}

static void print_jobs_found(const struct tb_recording_summary *run, bool split)
{
	char count[48];
	uint32_t n = tb_workload_n_jobs(run->workload);
	if (split)
		fprintf(stderr, "%s: nodes that talk to each other are one\n",
			tb_format_counted(n, "job", count, sizeof count));
}

static const char *shape_of(const struct tb_network *network, char *buffer, size_t size)
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

static void print_network(const struct tb_recording_summary *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	char caution[TB_CAUTION_SIZE];
	char rails[32] = "", library[64] = "", nodes[48], shape[48];
	if (params->n_rails > 1)
		snprintf(rails, sizeof rails, " on %u rails", params->n_rails);
	// Without a library, a policy for rails may need the hosts, too.
	if (!tb_host_does_nothing(&params->host) &&
		strcmp(params->host.name, "none") != 0)
		snprintf(library, sizeof library, ", by %s", params->host.name);
	fprintf(stderr, "%s on %s (%s, %s%s%s)%s\n", run->input_name, params->name,
		shape_of(run->network, shape, sizeof shape),
		tb_format_counted(
			tb_network_n_hosts(run->network), "node", nodes, sizeof nodes),
		rails, library, tb_switching_caution(params, caution, sizeof caution));
}

static double wait_per_packet(const struct tb_engine_stats *stats)
{
	return stats->n_packets ? (double)stats->wait_ps / (double)stats->n_packets : 0;
}

// load_of returns the load of a run of captures alone; without a share when there are
// jobs, which load the network too.
static struct tb_underload load_of(const struct tb_recording_summary *run)
{
	struct tb_underload load = {.network = tb_network_params(run->network),
		.wait_ps = (double)run->stats.wait_ps,
		.n_packets = run->stats.n_packets,
		.input_name = run->input_name,
		.options = run->options};
	struct tb_underload none = load;
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input(run->workload, i);
		if (!input.packets)
			return none;
		struct tb_packets_load one = tb_packets_load(
			input.packets, tb_recording_peak_rate(run->network));
		if (one.busiest_share > load.busiest_share) {
			load.busiest_share = one.busiest_share;
			load.half_scale = one.half_scale;
		}
	}
	return load;
}

static void print_underload(const struct tb_recording_summary *run)
{
	const struct tb_underload load = load_of(run);
	if (run->stopped || !tb_underload_shows_nothing(&load))
		return;
	tb_underload_write(stderr, &load);
	fputc('\n', stderr);
}

static void print_processes(const struct tb_engine_stats *stats)
{
	char size[24];
	if (stats->n_processes == 0)
		return;
	uint64_t n_windows = stats->n_windows ? stats->n_windows : 1;
	fprintf(stderr, "%" PRIu32 " processes: %" PRIu64 " windows, %s told in each\n",
		stats->n_processes, stats->n_windows,
		tb_format_size(stats->exchanged_bytes / n_windows, size, sizeof size));
}

int replay_print_summary(const struct tb_recording_summary *run, bool split)
{
	const struct tb_engine_stats *stats = &run->stats;
	char time[24], size[24], packets[48], messages[48], wait[24];
	print_network(run);
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		if (print_input(run, i) != TB_OK)
			return TB_EIO;
	print_jobs_found(run, split);
	fprintf(stderr, "simulated %s: %s, %s, %s %s delivered\n",
		tb_format_time(stats->now_ps, time, sizeof time),
		tb_format_counted(
			stats->n_delivered, "message", messages, sizeof messages),
		tb_format_counted(stats->n_packets, "packet", packets, sizeof packets),
		tb_format_size(stats->payload_bytes, size, sizeof size),
		tb_run_carried_by(run->input_kind));
	fprintf(stderr,
		"headers waited %s per packet; replayed in %.2f s (%.2f M packets/s)\n",
		tb_format_time((tb_time_ps)wait_per_packet(stats), wait, sizeof wait),
		run->wall_s,
		run->wall_s > 0 ? (double)stats->n_packets / run->wall_s / 1e6 : 0);
	print_processes(stats);
	print_underload(run);
	return TB_OK;
}

void replay_print_range(const struct tb_recording_summary *run,
	const struct tb_recording_range_outcome *outcome)
{
	char text[TB_RANGE_TEXT];
	const struct tb_range range = {outcome->least_ps, run->stats.now_ps,
		outcome->most_ps, outcome->n_calls, outcome->n_hidden, outcome->n_untold};
	if (outcome->n > 0 && !outcome->stopped)
		fprintf(stderr, "it takes %s\n",
			tb_range_text(&range, text, sizeof text));
	if (outcome->n > 0 && !outcome->stopped && run->also)
		fprintf(stderr, "also: %s\n", run->also);
	if (tb_recording_lacks_range(run->workload))
		fprintf(stderr, TB_RECORDING_NO_RANGE "\n");
}

void replay_print_line(const struct tb_recording_summary *run, uint64_t seed)
{
	const struct tb_engine_stats *stats = &run->stats;
	char time[24], packets[48], wait[24];
	fprintf(stderr,
		"run %" PRId64 ": %s, seed %" PRIu64
		": simulated %s, %s; headers waited %s per packet\n",
		run->run, run->input_name, seed,
		tb_format_time(stats->now_ps, time, sizeof time),
		tb_format_counted(stats->n_packets, "packet", packets, sizeof packets),
		tb_format_time((tb_time_ps)wait_per_packet(stats), wait, sizeof wait));
	print_underload(run);
}

static void warn_of_captures(
	const struct tb_recording_summary *run, struct tb_workload_input input)
{
	const struct tb_packets_summary *seen = tb_packets_summary(input.packets);
	char endpoints[48], records[48];
	if (seen->n_endpoints_unplaced)
		fprintf(stderr, "tailback: warning: no node for %s: %s left out (%s)\n",
			tb_format_counted(seen->n_endpoints_unplaced, "endpoint",
				endpoints, sizeof endpoints),
			tb_format_counted(seen->n_unplaced, "record is|records are",
				records, sizeof records),
			input.has_map ? "list them in the map, or raise the tree with "
					"--nodes N"
				      : "raise the tree with --nodes N");
	if (seen->n_untimed)
		fprintf(stderr,
			"tailback: warning: %s: %s: they are replayed at once, and their "
			"waits mean nothing\n",
			input.name,
			tb_format_counted(seen->n_untimed,
				"record has no time|records have no time", records,
				sizeof records));
	if (!run->stopped && seen->n_packets == 0)
		fprintf(stderr, "tailback: warning: nothing in %s was replayed\n",
			input.name);
}

static void print_flow(
	const struct tb_recording_summary *run, const struct tb_undelivered_sample *at)
{
	char dead[TB_LINK_NAME_SIZE], source[TB_NAME_SIZE], destination[TB_NAME_SIZE];
	fprintf(stderr, "  %s > %s: %" PRIu64 ", ",
		tb_names_node(run->network, at->source, source, sizeof source),
		tb_names_node(
			run->network, at->destination, destination, sizeof destination),
		at->n_messages);
	if (at->dead.id == TB_ID_NONE)
		fputs("no route is left\n", stderr);
	else
		fprintf(stderr, "%s is dead\n",
			tb_names_link(run->network, at->dead, dead, sizeof dead));
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
				tb_workload_input(run->workload, i).name,
				tb_format_counted(n, "operation", count, sizeof count));
	}
}

static void warn_of_faults(const struct tb_recording_summary *run)
{
	char count[48];
	if (run->stats.n_undelivered == 0)
		return;
	fprintf(stderr, "tailback: warning: %s not delivered, source and destination:\n",
		tb_format_counted(run->stats.n_undelivered, "message was|messages were",
			count, sizeof count));
	for (size_t i = 0; i < run->n_undelivered && i < NAMED_MOST; i++)
		print_flow(run, &run->undelivered[i]);
	if (run->n_undelivered > NAMED_MOST)
		fprintf(stderr, "  and %s: see the view 'undelivered' of the store\n",
			tb_format_counted(run->n_undelivered - NAMED_MOST,
				"more flow|more flows", count, sizeof count));
	if (!run->stopped)
		print_waiting(run);
}

void replay_note_network(const struct tb_network *network)
{
	for (uint32_t i = 0; i < tb_network_n_remarks(network); i++)
		fprintf(stderr, "tailback: note: %s: %s\n",
			tb_network_params(network)->name, tb_network_remark(network, i));
}

void replay_warn(const struct tb_recording_summary *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	if (run->raised_for)
		fprintf(stderr,
			"tailback: note: %s needs %" PRIu32
			" nodes: the tree was raised to %u levels, %u nodes\n",
			run->input_name, run->raised_for, params->levels,
			tb_network_n_hosts(run->network));
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input(run->workload, i);
		if (input.packets)
			warn_of_captures(run, input);
	}
	warn_of_faults(run);
}
