// The options of a recording, written as options of the replay command, for the store.
#include "recording_impl.h"
#include "shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void describe_put_named(FILE *stream, const char *option, const char *name)
{
	if (!name)
		return;
	fprintf(stream, " %s ", option);
	tb_shell_put(stream, name);
}

// put_instant writes an instant so that it reads back to the same one.
static void put_instant(
	FILE *stream, const char *option, const struct tb_instant *instant)
{
	if (instant->kind == TB_INSTANT_RELATIVE)
		fprintf(stream, " %s %" PRId64 "ns", option, instant->ns);
	else if (instant->kind == TB_INSTANT_ABSOLUTE)
		fprintf(stream, " %s %" PRId64 ".%09" PRId64, option,
			instant->ns / 1000000000, instant->ns % 1000000000);
}

static void put_reading(FILE *stream, const struct tb_reading *reading)
{
	if (!reading)
		return;
	describe_put_named(stream, "--library", reading->library);
	for (size_t i = 0; i < reading->n_collectives; i++)
		describe_put_named(stream, "--collective", reading->collectives[i]);
	if (reading->lenient)
		fputs(" --lenient", stream);
	if (reading->clone_ranks)
		fprintf(stream, " --clone-ranks %" PRIu32, reading->clone_ranks);
}

char *tb_recording_describe(const struct tb_recording_options *options)
{
	static const char *const dedup[] = {"", " --dedup=yes", " --dedup=no"};
	const struct tb_packets_options *packets = &options->workload.packets;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	fputs("--network ", stream);
	tb_shell_put(stream, options->network);
	fprintf(stream, " --seed %" PRIu64, options->seed);
	if (options->n_nodes)
		fprintf(stream, " --nodes %" PRIu32, options->n_nodes);
	if (options->workload.per_node)
		fprintf(stream, " --per-node %" PRIu32, options->workload.per_node);
	if (options->bin_ps)
		fprintf(stream, " --bin %" PRId64 "ps", options->bin_ps);
	if (options->to_ps)
		fprintf(stream, " --window %" PRId64 ",%" PRId64, options->from_ps,
			options->to_ps);
	describe_put_named(stream, "--map", options->workload.map);
	for (size_t i = 0; i < options->workload.n_jobs; i++)
		describe_put_named(stream, "--job", options->workload.jobs[i]);
	if (options->workload.split)
		fputs(" --split-jobs", stream);
	if (options->workload.split_names) {
		fputc('=', stream);
		tb_shell_put(stream, options->workload.split_names);
	}
	describe_put_named(stream, "--routes", options->route_file);
	for (size_t i = 0; i < options->n_faults; i++)
		describe_put_named(stream, "--fault", options->faults[i]);
	describe_put_named(stream, "--fault-file", options->fault_file);
	for (size_t i = 0; i < options->n_slow; i++)
		describe_put_named(stream, "--slow", options->slow[i]);
	if (options->without_blame)
		fprintf(stream, " --no-blame");
	if (options->alone)
		fprintf(stream, " --alone");
	if (packets->time_scale > 0)
		fprintf(stream, " --time-scale %.15g", packets->time_scale);
	if (packets->squeeze_idle)
		fprintf(stream, " --squeeze-idle %" PRId64 "ps", packets->squeeze_idle);
	if (options->workload.closed_loop)
		fputs(" --closed-loop", stream);
	if (options->workload.unbounded)
		fputs(" --no-range", stream);
	describe_put_named(stream, "--also", options->also);
	if (options->no_bounds)
		fputs(" --no-bounds", stream);
	if (options->no_check)
		fputs(" --no-check", stream);
	put_instant(stream, "--from", &packets->from);
	put_instant(stream, "--to", &packets->to);
	if (packets->sampled)
		fprintf(stream, " --sampled %" PRIu32, packets->sampled);
	put_reading(stream, options->workload.reading);
	fputs(dedup[packets->dedup], stream);
	if (packets->keep_retransmissions)
		fputs(" --keep-retransmissions", stream);
	if (packets->keep_acks)
		fputs(" --keep-acks", stream);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
