// tailback replay: what it says at the end.
#include "cmd_replay.h"
#include "packets_text.h"

#include <inttypes.h>
#include <stdio.h>

bool replay_has_packets(const struct run *run)
{
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		if (tb_workload_input(run->workload, i).packets)
			return true;
	return false;
}

double replay_peak_rate(const struct run *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	double wire =
		(double)params->packet_payload_bytes + params->packet_overhead_bytes;
	return (double)params->link_bytes_per_s * params->packet_payload_bytes / wire *
	       params->n_rails;
}

static void print_job(const struct run *run, const struct tb_job *job)
{
	struct tb_job_summary summary;
	char ranks[48], sends[48], calcs[48], size[24];
	tb_job_summarize(job, &summary);
	fprintf(stderr, "%s, %s of %s in all, %s\n",
		tb_format_counted(job->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_counted(summary.n_sends, "send", sends, sizeof sends),
		tb_format_size(summary.send_bytes, size, sizeof size),
		tb_format_counted(summary.n_calcs, "calc", calcs, sizeof calcs));
	if (job->n_nics > 1)
		fprintf(stderr,
			"the job names %u network interfaces a rank; here there %s %u\n",
			(unsigned)job->n_nics,
			tb_network_n_rails(run->network) > 1 ? "are" : "is",
			tb_network_n_rails(run->network));
}

// print_input says whose the next lines are, where there are several.
static int print_input(const struct run *run, uint32_t i)
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
	const struct tb_packets_against against = {
		tb_network_params(run->network)->name, replay_peak_rate(run)};
	return tb_packets_write_summary(stderr, input.packets, "", &against);
}

static void print_jobs_found(const struct run *run)
{
	char count[48];
	uint32_t n = tb_workload_n_jobs(run->workload);
	if (run->wanted.split)
		fprintf(stderr, "%s: nodes that talk to each other are one\n",
			tb_format_counted(n, "job", count, sizeof count));
}

static void print_network(const struct run *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	char rails[32] = "", library[64] = "", nodes[48];
	if (params->n_rails > 1)
		snprintf(rails, sizeof rails, " on %u rails", params->n_rails);
	if (!tb_host_does_nothing(&params->host))
		snprintf(library, sizeof library, ", by %s", params->host.name);
	fprintf(stderr, "%s on %s (%u-ary %u-tree, %s%s%s)\n", run->input_name,
		params->name, params->arity, params->levels,
		tb_format_counted(
			tb_network_n_hosts(run->network), "node", nodes, sizeof nodes),
		rails, library);
}

int replay_print_summary(struct run *run)
{
	struct tb_engine_stats stats = replay_stats(run);
	char time[24], size[24], packets[48], messages[48], wait[24];
	print_network(run);
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++)
		if (print_input(run, i) != TB_OK)
			return tb_fail(
				&run->error, TB_EIO, "the summary cannot be written");
	print_jobs_found(run);
	fprintf(stderr, "simulated %s: %s, %s, %s delivered\n",
		tb_format_time(stats.now_ps, time, sizeof time),
		tb_format_counted(
			stats.n_delivered, "message", messages, sizeof messages),
		tb_format_counted(stats.n_packets, "packet", packets, sizeof packets),
		tb_format_size(stats.payload_bytes, size, sizeof size));
	double per_packet =
		stats.n_packets ? (double)stats.wait_ps / (double)stats.n_packets : 0;
	fprintf(stderr,
		"headers waited %s a packet; replayed in %.2f s (%.2f M packets/s)\n",
		tb_format_time((tb_time_ps)per_packet, wait, sizeof wait), run->wall_s,
		run->wall_s > 0 ? (double)stats.n_packets / run->wall_s / 1e6 : 0);
	return TB_OK;
}

static void warn_of_captures(const struct run *run, struct tb_workload_input input)
{
	const struct tb_packets_summary *seen = tb_packets_summary(input.packets);
	char endpoints[48], records[48];
	if (seen->n_endpoints_unplaced)
		fprintf(stderr, "tailback: warning: %s found no node: %s left out (%s)\n",
			tb_format_counted(seen->n_endpoints_unplaced, "endpoint",
				endpoints, sizeof endpoints),
			tb_format_counted(seen->n_unplaced, "record is|records are",
				records, sizeof records),
			input.has_map ? "the map does not name them, or --nodes N raises "
					"the tree"
				      : "--nodes N raises the tree");
	if (!run->stopped && seen->n_packets == 0)
		fprintf(stderr, "tailback: warning: nothing in %s was replayed\n",
			input.name);
}

void replay_warn(const struct run *run)
{
	const struct tb_network_params *params = tb_network_params(run->network);
	if (run->raised_for)
		fprintf(stderr,
			"tailback: note: %s asks for %" PRIu32
			" nodes: the tree was raised to %u levels, %u nodes\n",
			run->input_name, run->raised_for, params->levels,
			tb_network_n_hosts(run->network));
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		struct tb_workload_input input = tb_workload_input(run->workload, i);
		if (input.packets)
			warn_of_captures(run, input);
	}
	replay_warn_of_faults(run);
}
