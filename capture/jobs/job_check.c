#include "job_check.h"

#include "order.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NAMED_MAX 4 // operations of a cycle that a message names
#define COOLED_OPS  (UINT32_C(1) << 18)

static int job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error)
{
	if (lines && lines[op] != 0)
		return tb_fail_at(
			error, code, job->name, TB_PLACE_LINE, lines[op], "%s", text);
	return tb_fail_in(error, code, job->name, "%s", text);
}

// release_successors runs every operation that can run (Kahn's algorithm) and returns how
// many cannot. In `waits` it leaves the number of dependencies of each that are never
// met.
static uint32_t release_successors(
	const struct tb_job *job, uint32_t *waits, uint32_t *ready)
{
	uint32_t n_left = job->n_ops;
	memcpy(waits, job->n_predecessors, job->n_ops * sizeof *waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		uint32_t n_ready = 0;
		if (waits[i] == 0)
			ready[n_ready++] = i;
		while (n_ready > 0) {
			uint32_t op = ready[--n_ready];
			n_left--;
			for (uint32_t k = job->first_successor[op];
				k < job->first_successor[op + 1]; k++) {
				uint32_t next = job->successors[k] & ~TB_DEP_START;
				// Later ones get their turn in the outer loop.
				if (--waits[next] == 0 && next <= i)
					ready[n_ready++] = next;
			}
		}
	}
	return n_left;
}

// first_of_cycle follows `on` from `at` into a cycle and returns the lowest operation of
// it, so that the message does not depend on where the search began.
static uint32_t first_of_cycle(const struct tb_job *job, const uint32_t *on, uint32_t at)
{
	// After n_ops steps the walk must be on a cycle.
	for (uint32_t i = 0; i < job->n_ops; i++)
		at = on[at];
	uint32_t first = at;
	for (uint32_t i = on[at]; i != at; i = on[i])
		first = i < first ? i : first;
	return first;
}

// A message under construction; what does not fit is cut off.
struct sentence {
	char text[sizeof((struct tb_error *)0)->text];
	size_t length;
};

static void sentence_add(struct sentence *sentence, const char *format, ...)
	TB_PRINTF(2, 3);

static void sentence_add(struct sentence *sentence, const char *format, ...)
{
	size_t room = sizeof sentence->text - sentence->length;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(sentence->text + sentence->length, room, format, args);
	va_end(args);
	if (n > 0)
		sentence->length += (size_t)n < room ? (size_t)n : room - 1;
}

// job_fail_cycle fills `error` with the cycle that is found by following `on` from
// operation `stuck`, where on[i] is the operation that i waits for. Returns TB_EDEADLOCK.
static int job_fail_cycle(const struct tb_job *job, const uint32_t *lines,
	const uint32_t *on, uint32_t stuck, struct tb_error *error)
{
	static const char *const joints[] = {"", " waits for ", ", which waits for "};
	struct sentence sentence = {.length = 0};
	uint32_t first = first_of_cycle(job, on, stuck), op = first, n_named = 0;
	do {
		char name[96];
		sentence_add(&sentence, "%s%s", joints[n_named < 2 ? n_named : 2],
			tb_job_describe(job, op, name, sizeof name));
		if (n_named > 0 && lines && lines[op] != 0)
			sentence_add(&sentence, " of line %" PRIu32, lines[op]);
		op = on[op];
		n_named++;
	} while (op != first && n_named < N_NAMED_MAX);
	if (op != first)
		sentence_add(&sentence, ", and so on round to the first: none can start");
	else if (n_named == 1)
		sentence_add(&sentence, " waits for itself: it cannot start");
	else
		sentence_add(&sentence, ", which waits for the first: none can start");
	return job_check_fail(job, lines, first, TB_EDEADLOCK, sentence.text, error);
}

// find_causes stores in `on`, for each stuck operation, one stuck operation that it waits
// for, and returns one of them.
static uint32_t find_causes(const struct tb_job *job, const uint32_t *waits, uint32_t *on)
{
	uint32_t stuck = 0;
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (waits[i] == 0)
			continue;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			on[job->successors[k] & ~TB_DEP_START] = i;
		stuck = i;
	}
	return stuck;
}

int tb_job_check_cycles(
	const struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	uint32_t *waits = malloc(((size_t)job->n_ops + 1) * sizeof *waits);
	uint32_t *ready = malloc(((size_t)job->n_ops + 1) * sizeof *ready);
	int status = TB_OK;
	if (!waits || !ready)
		status = tb_fail_memory_in(error, job->name, "finding cycles");
	else if (release_successors(job, waits, ready) > 0)
		status = job_fail_cycle(
			job, lines, ready, find_causes(job, waits, ready), error);
	free(waits);
	free(ready);
	return status;
}

// One send or receive, as seen by its destination.
struct match_end {
	uint64_t channel; // source in the upper half, tag in the lower
	uint64_t bytes;
	uint32_t op;
};

// The sends to one rank, and its receives.
struct match_meeting {
	const struct tb_job *job;
	const uint32_t *lines;
	struct tb_job_channels *channels; // may be NULL
	uint32_t rank;
	size_t n_sends;
	size_t n_recvs; // receives without a wildcard
	size_t n_wild;	// receives with one
	struct match_end *sends, *recvs, *spare;
};

// sort_ends is a stable radix sort by channel. It skips the digits in which all channels
// agree, which are most.
static void sort_ends(struct match_end *ends, struct match_end *spare, size_t n)
{
	uint64_t differ = 0;
	bool sorted = true;
	for (size_t i = 1; i < n; i++) {
		differ |= ends[i].channel ^ ends[0].channel;
		sorted = sorted && ends[i - 1].channel <= ends[i].channel;
	}
	for (unsigned shift = 0; shift < 64 && !sorted; shift += 8) {
		if (((differ >> shift) & 0xff) == 0)
			continue;
		size_t starts[257] = {0};
		for (size_t i = 0; i < n; i++)
			starts[((ends[i].channel >> shift) & 0xff) + 1]++;
		for (int digit = 0; digit < 256; digit++)
			starts[digit + 1] += starts[digit];
		for (size_t i = 0; i < n; i++)
			spare[starts[(ends[i].channel >> shift) & 0xff]++] = ends[i];
		memcpy(ends, spare, n * sizeof *ends);
	}
}

static size_t match_channel_end(const struct match_end *ends, size_t from, size_t n)
{
	size_t to = from;
	while (to < n && ends[to].channel == ends[from].channel)
		to++;
	return to;
}

TB_ORDER_BY(order_ends_by_bytes, struct match_end, TB_UP(bytes))

static int fail_match_count(const struct match_meeting *m, const struct match_end *odd,
	size_t n_sends, size_t n_recvs, struct tb_error *error)
{
	char text[sizeof error->text], op[96];
	tb_job_describe(m->job, odd->op, op, sizeof op);
	snprintf(text, sizeof text,
		"%s finds no partner: rank %" PRIu64 " sends %zu of tag %" PRIu64
		" to rank %" PRIu32 ", which receives %zu",
		op, odd->channel >> 32, n_sends, odd->channel & UINT32_MAX, m->rank,
		n_recvs);
	return job_check_fail(m->job, m->lines, odd->op, TB_EFORMAT, text, error);
}

// compare_channel checks the sends [s, s_end) and receives [r, r_end) of one channel. If
// the rank has receives with a wildcard, these may take sends of any channel; then only
// too many receives are an error.
static int compare_channel(const struct match_meeting *m, size_t s, size_t s_end,
	size_t r, size_t r_end, struct tb_error *error)
{
	size_t n_sends = s_end - s, n_recvs = r_end - r;
	if (n_recvs > n_sends)
		return fail_match_count(
			m, &m->recvs[r + n_sends], n_sends, n_recvs, error);
	if (m->n_wild > 0)
		return TB_OK;
	if (n_sends > n_recvs)
		return fail_match_count(
			m, &m->sends[s + n_recvs], n_sends, n_recvs, error);
	// Fail unless `n` sends and `n` receives of one channel can be paired by
	// size. It accepts them in any order: which send meets which receive may depend
	// on time, so only the replay can decide.
	size_t odd = 0;
	while (odd < n_sends && m->sends[s + odd].bytes == m->recvs[r + odd].bytes)
		odd++;
	if (odd == n_sends)
		return TB_OK;
	const struct match_end send = m->sends[s + odd], recv = m->recvs[r + odd];
	qsort(m->sends + s, n_sends, sizeof *m->sends, order_ends_by_bytes);
	qsort(m->recvs + r, n_sends, sizeof *m->recvs, order_ends_by_bytes);
	size_t same = 0;
	while (same < n_sends && m->sends[s + same].bytes == m->recvs[r + same].bytes)
		same++;
	if (same == n_sends)
		return TB_OK;
	char text[sizeof error->text], from[96], to[96];
	tb_job_describe(m->job, send.op, from, sizeof from);
	tb_job_describe(m->job, recv.op, to, sizeof to);
	snprintf(text, sizeof text, "%s meets %s: their sizes differ", from, to);
	return job_check_fail(m->job, m->lines, send.op, TB_EFORMAT, text, error);
}

// number_channel stores the channel's number for each of its sends and receives.
static void number_channel(
	const struct match_meeting *m, size_t s, size_t s_end, size_t r, size_t r_end)
{
	for (; s < s_end; s++)
		m->channels->of[m->sends[s].op] = m->channels->n;
	for (; r < r_end; r++)
		m->channels->of[m->recvs[r].op] = m->channels->n;
	m->channels->n++;
}

static int check_meeting(const struct match_meeting *m, struct tb_error *error)
{
	sort_ends(m->sends, m->spare, m->n_sends);
	sort_ends(m->recvs, m->spare, m->n_recvs);
	// Walk the sorted sends and receives together, channel by channel.
	size_t s = 0, r = 0;
	int status = TB_OK;
	while (status == TB_OK && (s < m->n_sends || r < m->n_recvs)) {
		// No channel is UINT64_MAX: that would need source TB_ANY.
		uint64_t sent = s < m->n_sends ? m->sends[s].channel : UINT64_MAX;
		uint64_t received = r < m->n_recvs ? m->recvs[r].channel : UINT64_MAX;
		size_t s_end =
			sent <= received ? match_channel_end(m->sends, s, m->n_sends) : s;
		size_t r_end =
			received <= sent ? match_channel_end(m->recvs, r, m->n_recvs) : r;
		if (m->channels)
			number_channel(m, s, s_end, r, r_end);
		status = compare_channel(m, s, s_end, r, r_end, error);
		s = s_end;
		r = r_end;
	}
	if (status == TB_OK && m->n_sends != m->n_recvs + m->n_wild)
		return tb_fail_in(error, TB_EFORMAT, m->job->name,
			"rank %" PRIu32
			" has %zu receives (%zu with any source or tag) for %zu messages",
			m->rank, m->n_recvs + m->n_wild, m->n_wild, m->n_sends);
	return status;
}

// The sends of the whole job, grouped by destination.
struct match_inbound {
	uint32_t *first; // n_ranks + 1: sends to rank r are [r] to [r + 1] - 1
	uint32_t *sends; // operations, ascending
	size_t n_most;	 // bound on the sends to a rank and on a rank's operations
};

// take_sends lists the sends to the meeting's rank, ordered by source, and returns the
// number of sources.
static uint64_t take_sends(struct match_meeting *m, const struct match_inbound *inbound)
{
	const struct tb_job *job = m->job;
	uint64_t n_sources = 0;
	uint32_t source = 0;
	m->n_sends = 0;
	for (uint32_t i = inbound->first[m->rank]; i < inbound->first[m->rank + 1]; i++) {
		uint32_t op = inbound->sends[i];
		// Operations ascend, so the source changes rarely; search only then.
		bool another = m->n_sends == 0 || op >= job->first_op[source + 1];
		if (another)
			source = tb_job_rank_of(job, op);
		n_sources += another;
		m->sends[m->n_sends++] =
			(struct match_end){(uint64_t)source << 32 | job->ops[op].tag,
				job->ops[op].amount, op};
	}
	return n_sources;
}

int tb_job_check_matches(struct tb_job *job, const uint32_t *lines,
	struct tb_job_channels *channels, struct tb_error *error)
{
	struct match_inbound inbound = {0};
	struct match_meeting m = {.job = job, .lines = lines, .channels = channels};
	int status = TB_ENOMEM;
	inbound.first = calloc((size_t)job->n_ranks + 1, sizeof *inbound.first);
	inbound.sends = malloc(((size_t)job->n_ops + 1) * sizeof *inbound.sends);
	if (!inbound.first || !inbound.sends)
		goto done;
	uint32_t *first = inbound.first;
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_SEND)
			first[job->ops[i].peer]++;
	uint32_t end = 0;
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		uint32_t n_own = job->first_op[r + 1] - job->first_op[r];
		uint32_t n_most = n_own > first[r] ? n_own : first[r];
		if (n_most > inbound.n_most)
			inbound.n_most = n_most;
		first[r] = end += first[r];
	}
	first[job->n_ranks] = end;
	for (uint32_t i = job->n_ops; i-- > 0;)
		if (job->ops[i].kind == TB_OP_SEND)
			inbound.sends[--first[job->ops[i].peer]] = i;
	m.sends = malloc((inbound.n_most + 1) * sizeof *m.sends);
	m.recvs = malloc((inbound.n_most + 1) * sizeof *m.recvs);
	m.spare = malloc((inbound.n_most + 1) * sizeof *m.spare);
	if (!m.sends || !m.recvs || !m.spare)
		goto done;
	status = TB_OK;
	job->n_pairs = 0;
	for (m.rank = 0; m.rank < job->n_ranks && status == TB_OK; m.rank++) {
		m.n_recvs = m.n_wild = 0;
		for (uint32_t i = job->first_op[m.rank]; i < job->first_op[m.rank + 1];
			i++) {
			const struct tb_op *op = &job->ops[i];
			if (op->kind != TB_OP_RECV)
				continue;
			if (op->peer == TB_ANY || op->tag == TB_ANY)
				m.n_wild++;
			else
				m.recvs[m.n_recvs++] = (struct match_end){
					(uint64_t)op->peer << 32 | op->tag, op->amount,
					i};
		}
		job->n_pairs += take_sends(&m, &inbound);
		tb_job_cool(job);
		status = check_meeting(&m, error);
		if (channels && m.n_wild > 0)
			channels->any_wildcard = true;
	}
done:
	if (status == TB_ENOMEM)
		tb_fail_memory_in(error, job->name, "pairing sends and receives");
	free(m.sends);
	free(m.recvs);
	free(m.spare);
	free(inbound.first);
	free(inbound.sends);
	return status;
}

#define DONE UINT32_MAX // instead of the number of operations waited for
#define NONE UINT32_MAX

// The state of one channel during the trial.
struct deadlock_channel {
	uint32_t n_sent;  // messages; where `ordered`, only those not received
	uint32_t waiting; // first of a list of receives that wait for a message, or NONE
	uint32_t last;	  // last receive seen; in the end, first send that is stuck
	bool ordered;	  // each receive starts after the one before it is done
};

// The job executed in no time, without a network: a send is done when it starts, a
// receive when there is a message for it. Whatever a replay can do is done here too, so
// what is stuck here is stuck there. If the receives of a channel are ordered, it is
// clear which of them gets a message. Otherwise the order of arrival decides, which is
// unknown, so one message satisfies all of them.
struct trial {
	const struct tb_job *job;
	const uint32_t *channel_of;
	struct deadlock_channel *channels;
	uint32_t *waits; // by operation: how many it still waits for, or DONE
	uint32_t *ready; // stack of operations that can start
	uint32_t *next;	 // by receive: the next one in the channel's list
	uint32_t n_ready, n_done;
};

// trial_pass counts down the dependencies of those successors that waited for the end
// (`kind` 0) or the start (TB_DEP_START) of `op`.
static void trial_pass(struct trial *trial, uint32_t op, uint32_t kind)
{
	const struct tb_job *job = trial->job;
	for (uint32_t k = job->first_successor[op]; k < job->first_successor[op + 1];
		k++) {
		uint32_t next = job->successors[k] & ~TB_DEP_START;
		if ((job->successors[k] & TB_DEP_START) == kind &&
			--trial->waits[next] == 0)
			trial->ready[trial->n_ready++] = next;
	}
}

static void trial_end(struct trial *trial, uint32_t op)
{
	trial->waits[op] = DONE;
	trial->n_done++;
	trial_pass(trial, op, 0);
}

static void trial_start(struct trial *trial, uint32_t op)
{
	trial_pass(trial, op, TB_DEP_START);
	switch ((enum tb_op_kind)trial->job->ops[op].kind) {
	case TB_OP_CALC:
		trial_end(trial, op);
		break;
	case TB_OP_SEND: {
		struct deadlock_channel *channel =
			&trial->channels[trial->channel_of[op]];
		uint32_t receive = channel->waiting;
		trial_end(trial, op);
		channel->n_sent++;
		channel->waiting = NONE;
		if (channel->ordered && receive != NONE)
			channel->n_sent--;
		while (receive != NONE) {
			uint32_t next = trial->next[receive];
			trial_end(trial, receive);
			receive = next;
		}
	} break;
	case TB_OP_RECV: {
		struct deadlock_channel *channel =
			&trial->channels[trial->channel_of[op]];
		if (channel->n_sent > 0) {
			channel->n_sent -= channel->ordered;
			trial_end(trial, op);
		} else {
			trial->next[op] = channel->waiting;
			channel->waiting = op;
		}
	} break;
	}
}

// is_next_in_order returns whether `op` requires the operation before it.
static bool is_next_in_order(const struct tb_job *job, uint32_t op)
{
	for (uint32_t k = job->first_successor[op - 1]; k < job->first_successor[op]; k++)
		if (job->successors[k] == op)
			return true;
	return false;
}

// order_channels finds the channels whose receives all lie in one chain of operations
// that each require the one before, as in a program without nonblocking calls. Finding
// other orders would take more than linear time.
static void order_channels(struct trial *trial, uint32_t n_channels)
{
	const struct tb_job *job = trial->job;
	uint32_t chain = 0; // first operation of the chain that i is in
	for (uint32_t i = 0; i < n_channels; i++)
		trial->channels[i] = (struct deadlock_channel){
			.waiting = NONE, .last = NONE, .ordered = true};
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i % COOLED_OPS == 0)
			tb_job_cool(job);
		if (i > 0 && !is_next_in_order(job, i))
			chain = i;
		if (job->ops[i].kind != TB_OP_RECV)
			continue;
		struct deadlock_channel *channel = &trial->channels[trial->channel_of[i]];
		if (channel->last != NONE && channel->last < chain)
			channel->ordered = false;
		channel->last = i;
	}
}

static void run_trial(struct trial *trial)
{
	const struct tb_job *job = trial->job;
	memcpy(trial->waits, job->n_predecessors, job->n_ops * sizeof *trial->waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i % COOLED_OPS == 0)
			tb_job_cool(job);
		if (job->n_predecessors[i] != 0)
			continue;
		trial_start(trial, i);
		while (trial->n_ready > 0)
			trial_start(trial, trial->ready[--trial->n_ready]);
	}
}

// fail_trial reports the cycle: an operation waits for a predecessor that is not done
// (for the first of several), a started receive waits for the first send that has not
// started.
static int fail_trial(struct trial *trial, const uint32_t *lines, struct tb_error *error)
{
	const struct tb_job *job = trial->job;
	uint32_t *on = trial->ready, stuck = 0;
	for (uint32_t i = job->n_ops; i-- > 0;) {
		if (trial->waits[i] == DONE)
			continue;
		stuck = i;
		if (job->ops[i].kind == TB_OP_SEND)
			trial->channels[trial->channel_of[i]].last = i;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			if (trial->waits[i] > 0 || !(job->successors[k] & TB_DEP_START))
				on[job->successors[k] & ~TB_DEP_START] = i;
	}
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (trial->waits[i] == 0)
			on[i] = trial->channels[trial->channel_of[i]].last;
	return job_fail_cycle(job, lines, on, stuck, error);
}

bool tb_job_waits_across(const struct tb_job *job)
{
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_RECV &&
			job->first_successor[i] != job->first_successor[i + 1])
			return true;
	return false;
}

int tb_job_check_deadlock(const struct tb_job *job, const uint32_t *lines,
	const struct tb_job_channels *channels, struct tb_error *error)
{
	if (channels->any_wildcard)
		return TB_OK;
	struct trial trial = {.job = job, .channel_of = channels->of};
	trial.channels = malloc(((size_t)channels->n + 1) * sizeof *trial.channels);
	trial.waits = malloc(((size_t)job->n_ops + 1) * sizeof *trial.waits);
	trial.ready = malloc(((size_t)job->n_ops + 1) * sizeof *trial.ready);
	trial.next = malloc(((size_t)job->n_ops + 1) * sizeof *trial.next);
	int status = TB_OK;
	if (trial.channels && trial.waits && trial.ready && trial.next) {
		order_channels(&trial, channels->n);
		run_trial(&trial);
		if (trial.n_done < job->n_ops)
			status = fail_trial(&trial, lines, error);
	} else {
		status = tb_fail_memory_in(error, job->name, "finding deadlocks");
	}
	free(trial.channels);
	free(trial.waits);
	free(trial.ready);
	free(trial.next);
	return status;
}
