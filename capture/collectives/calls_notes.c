// When calls are entered and left: as the trace recorded it, and at which operations of
// the job.
#include "algorithms.h"
#include "array.h"
#include "calls_lowering.h"
#include "composition.h"
#include "order.h"
#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// has_edges finds whether the trace recorded when any call was left, and returns whether
// it did or there are collective calls.
static bool has_edges(struct tb_lowering *l)
{
	bool any_collective = false;
	for (uint32_t r = 0; r < l->n_ranks && !l->has_times; r++)
		for (uint32_t i = 0; i < l->ranks[r].n && !l->has_times; i++) {
			const struct tb_call *call = &l->ranks[r].calls[i];
			l->has_times = call->leave_ns > 0;
			any_collective |= call->kind == TB_CALL_COLLECTIVE;
		}
	return l->has_times || any_collective;
}

int tb_timing_init(struct tb_lowering *l)
{
	if (!has_edges(l))
		return TB_OK;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		struct tb_lowered_rank *rank = &l->ranks[r];
		rank->timed = malloc(((size_t)rank->n + 1) * sizeof *rank->timed);
		rank->algorithms = calloc((size_t)rank->n + 1, 1);
		if (!rank->timed || !rank->algorithms)
			return TB_ENOMEM;
		for (uint32_t i = 0; i < rank->n; i++)
			rank->timed[i] =
				(struct tb_call_edges){TB_AT_NO_TIME, TB_AT_NO_TIME};
	}
	return TB_OK;
}

static bool is_timed(const struct tb_lowered_rank *rank, uint32_t call)
{
	return rank->timed && rank->calls[call].leave_ns;
}

static uint32_t front_instant(const struct tb_lowering *l)
{
	return l->n_front ? l->front[0] : TB_AT_BEGINNING;
}

void tb_timing_enter(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	if (!is_timed(rank, call))
		return;
	tb_front_join(l, r, rank->calls[call].lane, false);
	rank->timed[call].enter = front_instant(l);
	// One that only starts is left at once.
	if (rank->calls[call].starts)
		rank->timed[call].leave = front_instant(l);
}

void tb_timing_arrive(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	if (!is_timed(&l->ranks[r], call))
		l->ranks[r].timed[call].enter = front_instant(l);
}

void tb_timing_leave(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	if (is_timed(rank, call))
		rank->lanes[rank->calls[call].lane].leaves = call;
}

void tb_timing_settle(struct tb_lowering *l, uint32_t r, uint32_t number, bool computed)
{
	struct tb_call_lane *lane = &l->ranks[r].lanes[number];
	if (lane->leaves == TB_NO_OP)
		return;
	tb_front_join(l, r, number, false);
	l->ranks[r].timed[lane->leaves].leave =
		front_instant(l) | (computed ? TB_DEP_START : 0);
	lane->leaves = TB_NO_OP;
}

void tb_timing_leave_at(struct tb_lowering *l, uint32_t r, uint32_t call, uint32_t edge)
{
	if (is_timed(&l->ranks[r], call))
		l->ranks[r].timed[call].leave = edge;
}

static uint64_t in_ps(uint64_t ns)
{
	uint64_t most = (uint64_t)TB_TIME_NEVER / TB_PS_PER_NS;
	return (ns < most ? ns : most) * TB_PS_PER_NS;
}

// began_ns returns when the job begins, in the trace's time: the first call of some rank,
// less the computation before it.
static uint64_t began_ns(const struct tb_lowering *l)
{
	uint64_t began_ns = UINT64_MAX;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_call *first = l->ranks[r].calls;
		uint64_t ns = 0;
		if (l->ranks[r].n == 0)
			continue;
		if (first->enter_ns > first->calc_ns)
			ns = first->enter_ns - first->calc_ns;
		began_ns = ns < began_ns ? ns : began_ns;
	}
	return began_ns;
}

// What is being taken: the calls of a rank, and by lane when the last one was left.
struct timing_take {
	uint64_t began_ns;
	struct tb_recorded_calls *timed;
	size_t room;
	uint64_t *left_ns;
	size_t lanes_room;
};

// timed_call_judge returns why a call cannot be compared, or TB_UNCOMPARED_N if it can.
static enum tb_uncompared timed_call_judge(
	struct timing_take *take, const struct tb_lowered_rank *rank, uint32_t i)
{
	const struct tb_call *call = &rank->calls[i];
	uint64_t *left_ns = &take->left_ns[call->lane];
	bool overlaps = call->leave_ns > call->enter_ns && call->enter_ns < *left_ns;
	if (call->leave_ns > *left_ns)
		*left_ns = call->leave_ns;
	if (call->leave_ns < call->enter_ns)
		return TB_UNCOMPARED_BACKWARDS;
	if (overlaps)
		return TB_UNCOMPARED_OVERLAPS;
	if (call->enter_ns < take->began_ns || rank->timed[i].enter == TB_AT_NO_TIME ||
		rank->timed[i].leave == TB_AT_NO_TIME)
		return tb_bit(rank->any, i) ? TB_UNCOMPARED_ANY : TB_UNCOMPARED_LEFT_OUT;
	return TB_UNCOMPARED_N;
}

static int timed_call_take(struct timing_take *take, const struct tb_lowered_rank *rank,
	uint32_t r, uint32_t i)
{
	struct tb_recorded_calls *timed = take->timed;
	const struct tb_call *call = &rank->calls[i];
	size_t n = timed->first[r + 1];
	if (!call->leave_ns)
		return TB_OK;
	enum tb_uncompared reason = timed_call_judge(take, rank, i);
	if (reason != TB_UNCOMPARED_N) {
		timed->n_uncompared[reason]++;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&timed->calls, &take->room, n + 1) != TB_OK)
		return TB_ENOMEM;
	timed->calls[n] = (struct tb_timed_call){
		rank->timed[i].enter, rank->timed[i].leave, tb_timed_kind(call)};
	timed->first[r + 1]++;
	return tb_call_times_add(&timed->times, r, timed->calls[n].kind, call->bytes,
		in_ps(call->enter_ns - take->began_ns),
		in_ps(call->leave_ns - take->began_ns));
}

int tb_timing_take(const struct tb_lowering *l, struct tb_recorded_calls **timed)
{
	struct timing_take take = {.began_ns = began_ns(l)};
	if (!l->has_times)
		return TB_OK;
	take.timed = calloc(1, sizeof *take.timed);
	if (!take.timed)
		return TB_ENOMEM;
	take.timed->n_ranks = l->n_ranks;
	take.timed->first = calloc(l->n_ranks + 1u, sizeof *take.timed->first);
	int status = take.timed->first
			     ? tb_call_times_begin(&take.timed->times, l->n_ranks)
			     : TB_ENOMEM;
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		take.timed->first[r + 1] = take.timed->first[r];
		status = TB_ARRAY_RESERVE(
			&take.left_ns, &take.lanes_room, rank->n_lanes + 1);
		if (status == TB_OK)
			memset(take.left_ns, 0, rank->n_lanes * sizeof *take.left_ns);
		for (uint32_t i = 0; i < rank->n && status == TB_OK; i++)
			status = timed_call_take(&take, rank, r, i);
	}
	free(take.left_ns);
	tb_call_times_end(&take.timed->times);
	if (status == TB_OK)
		*timed = take.timed;
	else
		tb_recorded_calls_free(take.timed);
	return status;
}

static uint32_t op_number(uint32_t instant, uint32_t first_op)
{
	return instant == TB_AT_BEGINNING ? instant : instant + first_op;
}

void tb_timing_number(struct tb_recorded_calls *timed, const struct tb_job *job)
{
	for (uint32_t r = 0; r < timed->n_ranks; r++)
		for (size_t i = timed->first[r]; i < timed->first[r + 1]; i++) {
			struct tb_timed_call *call = &timed->calls[i];
			call->enter = op_number(call->enter, job->first_op[r]);
			call->leave = op_number(call->leave, job->first_op[r]);
		}
}

// The notes of a job that was made from calls: what its reader left out, what did not
// match, and the rules by which calls became messages.

// put_counted writes a note on how many there are of something, unless there is none.
static void put_counted(FILE *out, uint64_t n, const char *noun, const char *rest)
{
	char text[96];
	if (n > 0)
		fprintf(out, "%s%s\n", tb_format_counted(n, noun, text, sizeof text),
			rest);
}

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
	put_counted(out, l->n_dropped_collectives,
		"collective call is|collective calls are",
		" left out, because not every member of the group made the same");
	put_counted(out, l->n_resized, "receive expected|receives expected",
		" another size than was sent: what was sent counts");
	put_counted(out, l->n_any_guessed, "receive takes|receives take",
		" what comes first, as the order of their senders varies, and what was "
		"done for its sender goes with it");
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
			"the ranks would wait for each other for ever, which they did "
			"not\n",
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

// shares_hosts returns whether two ranks are on one host.
static bool shares_hosts(const struct tb_lowering *l)
{
	uint32_t *hosts = l->hosts ? malloc(l->n_ranks * sizeof *hosts) : NULL;
	bool shares = false;
	if (!hosts)
		return false;
	memcpy(hosts, l->hosts, l->n_ranks * sizeof *hosts);
	qsort(hosts, l->n_ranks, sizeof *hosts, tb_order_u32);
	for (uint32_t i = 1; i < l->n_ranks; i++)
		shares = shares || hosts[i] == hosts[i - 1];
	free(hosts);
	return shares;
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

// What the ranks of a program called, before collective calls became messages, and of how
// many calls the trace shows what NCCL chose.
struct called_counts {
	uint64_t n[TB_CALL_COLLECTIVE + 1], sent_bytes, n_tree, n_channels;
};

static struct called_counts count_called(const struct tb_calls *calls)
{
	struct called_counts called = {0};
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n_calls;
		const struct tb_call *of = tb_calls_of(calls, rank, &n_calls);
		for (uint32_t i = 0; i < n_calls; i++) {
			called.n[of[i].kind]++;
			called.sent_bytes += of[i].kind == TB_CALL_SEND ? of[i].bytes : 0;
			called.n_tree += of[i].observed.tree != TB_TREE_UNKNOWN;
			called.n_channels += of[i].observed.n_channels > 0;
		}
	}
	return called;
}

static void put_called(const struct called_counts *called, FILE *out)
{
	char text[2][48];
	const struct {
		const char *word;
		uint64_t n;
	} parts[] = {{"send", called->n[TB_CALL_SEND]},
		{"receive", called->n[TB_CALL_RECV]},
		{"collective operation", called->n[TB_CALL_COLLECTIVE]}};
	int n_left = !!parts[0].n + !!parts[1].n + !!parts[2].n;
	if (n_left)
		fputs("the ranks called ", out);
	for (int i = 0; i < 3; i++) {
		if (parts[i].n == 0)
			continue;
		fputs(tb_format_counted(parts[i].n, parts[i].word, text[0], 48), out);
		if (i == 0)
			fprintf(out, " of %s B",
				tb_format_count(called->sent_bytes, text[1], 48));
		n_left--;
		fputs(n_left > 1 ? ", " : n_left == 1 ? " and " : "\n", out);
	}
}

static void put_observed(const struct called_counts *called, FILE *out)
{
	char text[2][48];
	if (called->n_tree || called->n_channels)
		fprintf(out,
			"NCCL's kernels tell of %s whether they went by trees, of %s how "
			"many channels they had, of none the protocol\n",
			tb_format_counted(called->n_tree, "call", text[0], 48),
			tb_format_counted(called->n_channels, "call", text[1], 48));
}

// put_alone says that collective calls send nothing where all are of one rank.
static void put_alone(const struct tb_lowering *l, FILE *out)
{
	uint64_t n_calls = 0;
	for (size_t i = 0; i < l->n_uses; i++) {
		if (l->uses[i].n > 1)
			return;
		n_calls += l->uses[i].n_calls;
	}
	put_counted(out, n_calls, "collective call sends|collective calls send",
		" nothing: each is of one rank; if there were more, their files are "
		"missing");
}

int tb_lowering_notes(
	const struct tb_lowering *l, const struct tb_recorded_calls *timed, char **notes)
{
	char *text = NULL, number[48];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return TB_ENOMEM;
	const struct called_counts called = count_called(l->calls);
	const char *note;
	put_called(&called, out);
	for (size_t i = 0; (note = tb_calls_note_at(l->calls, i)); i++)
		fprintf(out, "%s\n", note);
	put_alone(l, out);
	put_dropped(l, out);
	for (int i = 0; timed && i < TB_UNCOMPARED_N; i++)
		if (timed->n_uncompared[i])
			fprintf(out, "%s that no replay is compared with: %s\n",
				tb_format_counted(timed->n_uncompared[i], "call", number,
					sizeof number),
				tb_uncompared_text((enum tb_uncompared)i));
	if (timed)
		notes_put_ends(&timed->times, out);
	if (l->unknown_library)
		fprintf(out,
			"the trace is of %s, of whose choices nothing is known here\n",
			l->unknown_library);
	put_eager(l, out);
	put_observed(&called, out);
	if (l->n_uses && l->library->flat && shares_hosts(l))
		fprintf(out, "%s\n", l->library->flat);
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
	if (!tb_text_written(out, &text))
		return TB_ENOMEM;
	if (size > 0 && text[size - 1] == '\n')
		text[size - 1] = '\0';
	*notes = text;
	return TB_OK;
}
