// tailback trace: merges what the ranks of each world wrote, and says so.
#include "cmd_trace.h"

#include "cli.h"
#include "outfile.h"
#include "tbt_merge.h"
#include "tbt_records.h"
#include "units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct traces {
	const struct trace_arguments *args;
	struct tb_tbt_worlds worlds;
};

// world_output stores in `name`, which it returns, the output for a world: job.tbt,
// job-2.tbt.
static const char *world_output(const char *output, size_t at, char name[PATH_MAX])
{
	const char *folder = strrchr(output, '/');
	const char *last = folder ? folder + 1 : output, *dot = strrchr(last, '.');
	int n = (int)(dot && dot != last ? (size_t)(dot - output) : strlen(output));
	if (at == 0)
		snprintf(name, PATH_MAX, "%s", output);
	else
		snprintf(name, PATH_MAX, "%.*s-%zu%s", n, output, at + 1, output + n);
	return name;
}

// print_missing tells of ranks without a file: of which files, only where the user gave
// them, because those of a run are removed.
static void print_missing(
	const struct trace_arguments *args, const struct tb_tbt_summary *summary)
{
	char ranks[48], text[1024];
	uint32_t n = args->merge ? summary->n_missing : 0;
	for (uint32_t i = 0; i < n && i < TB_TBT_UNREAD_MAX; i++)
		fprintf(stderr, "%s\n",
			tb_error_format(&summary->unread[i], text, sizeof text));
	if (n > TB_TBT_UNREAD_MAX)
		fprintf(stderr, "and %" PRIu32 " more files\n", n - TB_TBT_UNREAD_MAX);
	fprintf(stderr, "%s left no trace%s\n",
		tb_format_counted(summary->n_missing, "rank", ranks, sizeof ranks),
		n ? ": the trace has the others"
		  : ": they ended before they returned from MPI_Init");
}

static tb_time_ps ps_between(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;
	return ns > INT64_MAX / 1000 ? INT64_MAX : (tb_time_ps)ns * 1000;
}

// print_world prints when a world was, where there are several, and what began it.
static void print_world(const struct traces *traces, size_t at)
{
	char begin[32], span[32], name[PATH_MAX];
	const struct tb_tbt_world *world = &traces->worlds.items[at];
	const struct tb_tbt_world *first = traces->worlds.items;
	if (traces->worlds.n > 1)
		fprintf(stderr, ", from %s on",
			tb_format_time(ps_between(first->begin_ns, world->begin_ns),
				begin, sizeof begin));
	if (traces->worlds.n > 1 && world->end_ns)
		fprintf(stderr, " for %s",
			tb_format_time(ps_between(world->begin_ns, world->end_ns), span,
				sizeof span));
	for (size_t i = 0; i < traces->worlds.n && world->parent_id; i++)
		if (traces->worlds.items[i].id == world->parent_id)
			fprintf(stderr, ", spawned by that of %s",
				world_output(traces->args->output, i, name));
	if (world->origin == TB_TBT_SPAWNED && !world->parent_id)
		fprintf(stderr, ", spawned by a world that is not known");
	fputc('\n', stderr);
}

static void print_early(const struct tb_tbt_summary *summary)
{
	char ranks[48], how[48];
	uint32_t rank = summary->first_early;
	const char *first = "by MPI_Abort";
	bool wordless = !summary->first_aborted && !summary->first_ending;
	tb_format_counted(summary->n_early, "rank", ranks, sizeof ranks);
	if (wordless && summary->n_unexplained > 1)
		fprintf(stderr,
			"%s ended early, which first is unknown: %" PRIu32
			" left no word of a signal, of which rank %" PRIu32
			"'s last call returned first",
			ranks, summary->n_unexplained, rank);
	else {
		if (!summary->first_aborted)
			first = tb_tbt_ending(summary->first_ending, how, sizeof how);
		if (wordless)
			first = "signal unknown, as of SIGKILL";
		fprintf(stderr, "%s ended early, rank %" PRIu32 " first, %s", ranks, rank,
			first);
	}
	fputs(": the trace has what they did until then\n", stderr);
}

static void print_world_summary(
	const struct traces *traces, size_t at, const struct tb_tbt_summary *summary)
{
	char ranks[48], records[48], clocks[48], name[PATH_MAX];
	const struct trace_arguments *args = traces->args;
	fprintf(stderr, "%s, %s in %s",
		tb_format_counted(summary->n_ranks, "rank", ranks, sizeof ranks),
		tb_format_counted(summary->n_records, "record", records, sizeof records),
		world_output(args->output, at, name));
	print_world(traces, at);
	if (summary->n_missing)
		print_missing(args, summary);
	if (summary->n_early)
		print_early(summary);
	if (summary->n_lost)
		fprintf(stderr,
			"%s found the disk full: the trace has what came before\n",
			tb_format_counted(summary->n_lost, "rank", ranks, sizeof ranks));
	if (summary->n_clocks > 1)
		fprintf(stderr, "%s, corrected by the order of messages\n",
			tb_format_counted(
				summary->n_clocks, "clock", clocks, sizeof clocks));
	if (summary->n_unlinked)
		fprintf(stderr,
			"%s keep their own time of day: no message relates them to the "
			"others\n",
			tb_format_counted(
				summary->n_unlinked, "clock", clocks, sizeof clocks));
}

static int merge_world(const struct traces *traces, size_t at, const char *folder,
	struct tb_tbt_summary *summary, struct tb_error *error)
{
	struct tb_outfile out;
	char name[PATH_MAX];
	int status = tb_outfile_open(
		&out, world_output(traces->args->output, at, name), error);
	if (status != TB_OK)
		return status;
	status = tb_tbt_merge(
		folder, &traces->worlds.items[at], out.stream, summary, error);
	if (status == TB_OK)
		return tb_outfile_commit(&out, error);
	tb_outfile_abandon(&out);
	return status;
}

int tb_trace_merge(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error)
{
	struct traces traces = {.args = args};
	uint64_t n_records = 0;
	uint32_t n_lost = 0;
	int status = tb_tbt_worlds_find(&traces.worlds, folder, error);
	for (size_t i = 0; i < traces.worlds.n; i++) {
		struct tb_tbt_summary summary = {0};
		struct tb_error own = {0};
		int merged = merge_world(&traces, i, folder, &summary, &own);
		n_records += summary.n_records;
		n_lost += summary.n_lost;
		if (merged == TB_OK && !args->quiet)
			print_world_summary(&traces, i, &summary);
		if (merged == TB_OK)
			continue;
		if (status != TB_OK)
			tb_cli_fail(&own);
		else if (error)
			*error = own;
		status = status != TB_OK ? status : merged;
	}
	if (status == TB_OK && n_lost && n_records == 0 && *code == 0)
		*code = TB_EXIT_FAILURE;
	tb_tbt_worlds_fini(&traces.worlds);
	return status;
}
