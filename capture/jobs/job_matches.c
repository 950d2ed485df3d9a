#include "job_check.h"
#include "order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int order_ends_by_bytes(const void *left, const void *right)
{
	const struct match_end *a = left, *b = right;
	return TB_ORDER(a->bytes, b->bytes);
}

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
	return tb_job_check_fail(m->job, m->lines, odd->op, TB_EFORMAT, text, error);
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
	// on time, so only the replay can tell.
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
	return tb_job_check_fail(m->job, m->lines, send.op, TB_EFORMAT, text, error);
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
			" has %zu receives (%zu with any source or tag) for "
			"%zu messages",
			m->rank, m->n_recvs + m->n_wild, m->n_wild, m->n_sends);
	return status;
}

static void take_receives(struct match_meeting *m)
{
	const struct tb_job *job = m->job;
	m->n_recvs = m->n_wild = 0;
	for (uint32_t i = job->first_op[m->rank]; i < job->first_op[m->rank + 1]; i++) {
		const struct tb_op *op = &job->ops[i];
		if (op->kind != TB_OP_RECV)
			continue;
		if (op->peer == TB_ANY || op->tag == TB_ANY)
			m->n_wild++;
		else
			m->recvs[m->n_recvs++] = (struct match_end){
				(uint64_t)op->peer << 32 | op->tag, op->amount, i};
	}
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
		take_receives(&m);
		job->n_pairs += take_sends(&m, &inbound);
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
