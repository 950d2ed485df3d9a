// The notes of a job that was made from calls: what its reader left out, what did not
// match, and the rules by which calls became messages.
#include "calls_job_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_uses(const struct tb_lowering *l, FILE *out)
{
	for (size_t i = 0; i < l->n_uses; i++) {
		const struct tb_rule_use *use = &l->uses[i];
		char text[4][48];
		fprintf(out, "%s", tb_collective_op_name(use->op));
		if (use->op != TB_COLL_BARRIER &&
			(use->op != TB_COLL_EXCHANGE || use->by_sizes))
			fprintf(out, " of %s",
				tb_format_size(
					use->least_bytes, text[0], sizeof text[0]));
		if (use->least_bytes != use->most_bytes)
			fprintf(out, " to %s",
				tb_format_size(use->most_bytes, text[1], sizeof text[1]));
		fprintf(out, "%s in %s, %s: %s (%s)\n", use->by_sizes ? " a rank" : "",
			tb_format_counted(use->n, "rank", text[2], sizeof text[2]),
			tb_format_counted(use->n_calls, "call", text[3], sizeof text[3]),
			use->rule.algorithm, use->rule.reason);
	}
}

static void put_dropped(const struct tb_lowering *l, FILE *out)
{
	char text[2][48];
	if (l->n_dropped_sends || l->n_dropped_recvs)
		fprintf(out, "%s and %s without a counterpart are left out\n",
			tb_format_counted(
				l->n_dropped_sends, "send", text[0], sizeof text[0]),
			tb_format_counted(
				l->n_dropped_recvs, "receive", text[1], sizeof text[1]));
	if (l->n_dropped_collectives)
		fprintf(out,
			"%s left out, because not every member of the group made the "
			"same\n",
			tb_format_counted(l->n_dropped_collectives,
				"collective call is|collective calls are", text[0],
				sizeof text[0]));
	if (l->n_resized)
		fprintf(out, "%s another size than was sent: what was sent counts\n",
			tb_format_counted(l->n_resized,
				"receive expected|receives expected", text[0],
				sizeof text[0]));
	if (l->most_lanes > UINT8_MAX + 1)
		fprintf(out,
			"a rank has up to %" PRIu32
			" lanes, but 256 processors in a job: those whose numbers differ "
			"by a multiple of 256 compute one after another\n",
			l->most_lanes);
}

static void put_eager(const struct tb_lowering *l, FILE *out)
{
	char text[48];
	if (l->is_eager)
		fprintf(out,
			"library %s: every message is sent at once, for by rendezvous "
			"the "
			"ranks would wait for each other for ever, which they did not\n",
			tb_library_name(l->library));
	else if (l->eager_bytes == UINT64_MAX)
		fprintf(out, "library %s: every message is sent at once\n",
			tb_library_name(l->library));
	else
		fprintf(out,
			"library %s: messages of more than %s between hosts are sent by "
			"rendezvous\n",
			tb_library_name(l->library),
			tb_format_size(l->eager_bytes, text, sizeof text));
}

static int note_by_number(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

// shares_hosts returns whether two ranks are on one host.
static bool shares_hosts(const struct tb_lowering *l)
{
	uint32_t *hosts = l->hosts ? malloc(l->n_ranks * sizeof *hosts) : NULL;
	bool shares = false;
	if (!hosts)
		return false;
	memcpy(hosts, l->hosts, l->n_ranks * sizeof *hosts);
	qsort(hosts, l->n_ranks, sizeof *hosts, note_by_number);
	for (uint32_t i = 1; i < l->n_ranks; i++)
		shares = shares || hosts[i] == hosts[i - 1];
	free(hosts);
	return shares;
}

// notes_put_uncompared reports which calls cannot be compared with a replay.
static void notes_put_uncompared(const struct tb_recorded_calls *timed, FILE *out)
{
	char text[48];
	for (int i = 0; i < TB_UNCOMPARED_N; i++)
		if (timed->n_uncompared[i])
			fprintf(out, "%s that no replay is compared with: %s\n",
				tb_format_counted(timed->n_uncompared[i], "call", text,
					sizeof text),
				tb_uncompared_text((enum tb_uncompared)i));
}

// Ranks of one program end together but for their last computation: where they differ by
// more than this share of the run, some were cut, or did less.
#define ENDS_APART 10

static void notes_put_ends(const struct tb_call_times *times, FILE *out)
{
	uint32_t first = TB_NO_OP, last = 0;
	char text[2][32];
	for (uint32_t r = 0; r < times->n_ranks; r++) {
		const struct tb_rank_times *rank = &times->ranks[r];
		if (rank->n == 0)
			continue;
		if (first == TB_NO_OP || rank->end_ps < times->ranks[first].end_ps)
			first = r;
		if (rank->end_ps > times->ranks[last].end_ps)
			last = r;
	}
	if (first == TB_NO_OP ||
		times->run_ps - times->ranks[first].end_ps <= times->run_ps / ENDS_APART)
		return;
	fprintf(out,
		"the ranks end at different times: rank %" PRIu32
		" after %s, rank %" PRIu32 " after %s, so compare them rank by rank\n",
		first,
		tb_format_time(
			(tb_time_ps)times->ranks[first].end_ps, text[0], sizeof text[0]),
		last,
		tb_format_time(
			(tb_time_ps)times->ranks[last].end_ps, text[1], sizeof text[1]));
}

// put_called counts the calls of the program, before collective calls became messages.
static void put_called(const struct tb_calls *calls, FILE *out)
{
	uint64_t n[TB_CALL_COLLECTIVE + 1] = {0}, sent_bytes = 0;
	char text[2][48];
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n_calls;
		const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
		for (uint32_t i = 0; i < n_calls; i++) {
			n[of[i].kind]++;
			sent_bytes += of[i].kind == TB_CALL_SEND ? of[i].bytes : 0;
		}
	}
	const struct {
		const char *word;
		uint64_t n;
	} parts[] = {{"send", n[TB_CALL_SEND]}, {"receive", n[TB_CALL_RECV]},
		{"collective operation", n[TB_CALL_COLLECTIVE]}};
	int n_left = !!parts[0].n + !!parts[1].n + !!parts[2].n;
	if (n_left)
		fputs("the ranks called ", out);
	for (int i = 0; i < 3; i++) {
		if (parts[i].n == 0)
			continue;
		fputs(tb_format_counted(parts[i].n, parts[i].word, text[0], 48), out);
		if (i == 0)
			fprintf(out, " of %s B",
				tb_format_count(sent_bytes, text[1], 48));
		n_left--;
		fputs(n_left > 1 ? ", " : n_left == 1 ? " and " : "\n", out);
	}
}

// put_told counts the calls of which the trace tells what NCCL chose.
static void put_told(const struct tb_calls *calls, FILE *out)
{
	uint64_t n_tree = 0, n_channels = 0;
	char text[2][48];
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n_calls;
		const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
		for (uint32_t i = 0; i < n_calls; i++) {
			n_tree += of[i].told.tree != TB_TREE_UNTOLD;
			n_channels += of[i].told.n_channels > 0;
		}
	}
	if (n_tree || n_channels)
		fprintf(out,
			"NCCL's kernels tell of %s whether they went by trees, of %s how "
			"many channels they had, of none the protocol\n",
			tb_format_counted(n_tree, "call", text[0], sizeof text[0]),
			tb_format_counted(n_channels, "call", text[1], sizeof text[1]));
}

// put_alone says that collective calls send nothing where all are of one rank.
static void put_alone(const struct tb_lowering *l, FILE *out)
{
	uint64_t n_calls = 0;
	char text[48];
	for (size_t i = 0; i < l->n_uses; i++) {
		if (l->uses[i].n > 1)
			return;
		n_calls += l->uses[i].n_calls;
	}
	if (n_calls > 0)
		fprintf(out,
			"%s nothing: each is of one rank; if there were more, their "
			"files "
			"are missing\n",
			tb_format_counted(n_calls,
				"collective call sends|collective calls send", text,
				sizeof text));
}

int tb_lowering_notes(
	const struct tb_lowering *l, const struct tb_recorded_calls *timed, char **notes)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return TB_ENOMEM;
	const char *note;
	put_called(l->calls, out);
	for (size_t i = 0; (note = tb_calls_note_at(l->calls, i)); i++)
		fprintf(out, "%s\n", note);
	put_alone(l, out);
	put_dropped(l, out);
	if (timed) {
		notes_put_uncompared(timed, out);
		notes_put_ends(&timed->times, out);
	}
	if (l->unknown_library)
		fprintf(out,
			"the trace is of %s, of whose choices nothing is known here\n",
			l->unknown_library);
	put_eager(l, out);
	put_told(l->calls, out);
	if (l->n_uses && tb_library_flat(l->library) && shares_hosts(l))
		fprintf(out, "%s\n", tb_library_flat(l->library));
	// Warn of --collective choices that no call of the trace uses.
	for (int op = 0; op < TB_COLL_N; op++) {
		const char *name = tb_collective_op_name((enum tb_collective_op)op);
		size_t i = 0;
		while (i < l->n_uses && l->uses[i].op != (enum tb_collective_op)op)
			i++;
		if (i == l->n_uses && l->choices.algorithms[op][0])
			fprintf(out,
				"--collective %s=%s changes nothing: the trace has no "
				"%s\n",
				name, l->choices.algorithms[op], name);
	}
	put_uses(l, out);
	if (fclose(out) != 0) {
		free(text);
		return TB_ENOMEM;
	}
	if (size > 0 && text[size - 1] == '\n')
		text[size - 1] = '\0';
	*notes = text;
	return TB_OK;
}
