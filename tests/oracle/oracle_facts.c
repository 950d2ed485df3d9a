// From facts to what an observer is given. Each of its lists is made in the same steps:
// the facts cut into rows, the rows sorted by their key, rows of one key added up.
#include "oracle_facts.h"

#include <stdlib.h>

void *oracle_one_more(void *items, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return items;
	void *moved = realloc(items, (n ? 2 * n : 1) * size);
	if (!moved)
		abort();
	return moved;
}

void oracle_note(struct oracle_facts *facts, struct oracle_fact fact)
{
	facts->list = oracle_one_more(facts->list, facts->n, sizeof fact);
	facts->list[facts->n++] = fact;
}

int oracle_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int oracle_compare_flows(const struct oracle_flow *a, const struct oracle_flow *b)
{
	int by_job = oracle_compare(a->job, b->job);
	int by_source = oracle_compare(a->source, b->source);
	if (by_job || by_source)
		return by_job ? by_job : by_source;
	return oracle_compare(a->destination, b->destination);
}

tb_time_ps oracle_earlier(tb_time_ps a, tb_time_ps b)
{
	return a < b ? a : b;
}

tb_time_ps oracle_later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

// The bins of links.
//
struct piece { // of a fact, in one bin
	uint64_t bin;
	uint64_t held_ps;
	struct tb_link_sample sample; // to its stall comes what was held and not busy
};

struct pieces {
	struct piece *list;
	size_t n;
};

static void add_piece(struct pieces *pieces, const struct piece *piece)
{
	pieces->list = oracle_one_more(pieces->list, pieces->n, sizeof *piece);
	pieces->list[pieces->n++] = *piece;
}

// bytes_by is how much of a block has crossed by an instant, to the byte.
static uint64_t bytes_by(const struct oracle_fact *fact, tb_time_ps at)
{
	if (at >= fact->to)
		return fact->bytes;
	return fact->bytes * (uint64_t)(at - fact->from) /
	       (uint64_t)(fact->to - fact->from);
}

// cut_bin is the piece of a fact in the bin that begins at `begin`.
static struct piece cut_bin(
	const struct oracle_fact *fact, tb_time_ps begin, tb_time_ps bin_ps)
{
	tb_time_ps from = oracle_later(fact->from, begin);
	tb_time_ps to = oracle_earlier(fact->to, begin + bin_ps);
	struct piece piece = {
		.bin = (uint64_t)(begin / bin_ps), .sample.link.id = fact->link};
	struct tb_link_sample *sample = &piece.sample;
	switch ((int)fact->kind) {
	case ORACLE_ENTERED:
		sample->n_packets = 1;
		break;
	case ORACLE_CROSSED:
		sample->busy_ps = (uint64_t)(to - from);
		sample->bytes = bytes_by(fact, to) - bytes_by(fact, from);
		break;
	case ORACLE_HELD:
		piece.held_ps = (uint64_t)(to - from);
		break;
	case ORACLE_STALLED:
		sample->stall_ps = (uint64_t)(to - from);
		break;
	case ORACLE_BLOCKED:
		sample->n_blocked = 1;
		break;
	case ORACLE_WAITED:
		sample->came_by_ps = (uint64_t)(to - from);
		break;
	}
	return piece;
}

// cut_wanted is the piece, in that bin, of a wait for the link that it wanted.
static struct piece cut_wanted(
	const struct oracle_fact *fact, tb_time_ps begin, tb_time_ps bin_ps)
{
	tb_time_ps from = oracle_later(fact->from, begin);
	tb_time_ps to = oracle_earlier(fact->to, begin + bin_ps);
	struct piece piece = {
		.bin = (uint64_t)(begin / bin_ps), .sample.link.id = fact->wanted};
	piece.sample.wait_for_ps = (uint64_t)(to - from);
	return piece;
}

// last_instant is the last one that a fact counts in: an interval ends before its end,
// but a wait ends in the bin of that.
static tb_time_ps last_instant(const struct oracle_fact *fact)
{
	if (fact->kind == ORACLE_WAITED)
		return fact->to;
	return oracle_later(fact->from, fact->to - 1);
}

static void cut_bins(
	struct pieces *pieces, const struct oracle_fact *fact, tb_time_ps bin_ps)
{
	tb_time_ps begin = fact->from / bin_ps * bin_ps;
	for (; begin <= last_instant(fact); begin += bin_ps) {
		struct piece piece = cut_bin(fact, begin, bin_ps);
		add_piece(pieces, &piece);
	}
}

// cut_wait: a wait for the link that it wanted is counted in the bins in which it lasts,
// where that is known then, else in that in which it ends; and how long it has lasted is
// known at the end of each bin, for the link that leads.
static void cut_wait(struct pieces *pieces, const struct oracle_facts *facts, size_t i,
	tb_time_ps bin_ps)
{
	const struct oracle_fact *fact = &facts->list[i];
	tb_time_ps begin = fact->from / bin_ps * bin_ps;
	for (; begin <= fact->to; begin += bin_ps) {
		struct piece wanted = cut_wanted(fact, begin, bin_ps);
		struct piece longest = {.bin = wanted.bin,
			.sample.link.id =
				facts->leads_wanted ? fact->wanted : fact->link};
		longest.sample.longest_wait_ps =
			(uint64_t)(oracle_earlier(fact->to, begin + bin_ps) - fact->from);
		if (!facts->leads_wanted)
			wanted.sample.wait_for_ps =
				begin + bin_ps > fact->to
					? (uint64_t)(fact->to - fact->from)
					: 0;
		add_piece(pieces, &wanted);
		add_piece(pieces, &longest);
	}
}

static int by_bin_and_link(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	int by_bin = oracle_compare(a->bin, b->bin);
	return by_bin ? by_bin : oracle_compare(a->sample.link.id, b->sample.link.id);
}

static void add_sample(struct piece *sum, const struct piece *more)
{
	const struct tb_link_sample *from = &more->sample;
	sum->held_ps += more->held_ps;
	sum->sample.n_packets += from->n_packets;
	sum->sample.n_blocked += from->n_blocked;
	sum->sample.came_by_ps += from->came_by_ps;
	sum->sample.wait_for_ps += from->wait_for_ps;
	sum->sample.busy_ps += from->busy_ps;
	sum->sample.stall_ps += from->stall_ps;
	sum->sample.bytes += from->bytes;
	if (from->longest_wait_ps > sum->sample.longest_wait_ps)
		sum->sample.longest_wait_ps = from->longest_wait_ps;
	if (from->largest_queue_bytes > sum->sample.largest_queue_bytes)
		sum->sample.largest_queue_bytes = from->largest_queue_bytes;
}

static void add_up_pieces(struct pieces *pieces)
{
	size_t n = 0;
	qsort(pieces->list, pieces->n, sizeof *pieces->list, by_bin_and_link);
	for (size_t i = 0; i < pieces->n; i++)
		if (n && by_bin_and_link(&pieces->list[n - 1], &pieces->list[i]) == 0)
			add_sample(&pieces->list[n - 1], &pieces->list[i]);
		else
			pieces->list[n++] = pieces->list[i];
	pieces->n = n;
}

// report_bins gives the observer bin after bin of added up pieces.
static int report_bins(const struct pieces *pieces, const struct tb_observer *observer)
{
	struct tb_link_sample *samples = NULL;
	int status = TB_OK;
	for (size_t i = 0; i < pieces->n && status >= 0;) {
		uint64_t bin = pieces->list[i].bin;
		size_t n = 0;
		for (; i < pieces->n && pieces->list[i].bin == bin; i++) {
			const struct piece *piece = &pieces->list[i];
			samples = oracle_one_more(samples, n, sizeof *samples);
			samples[n] = piece->sample;
			// Of a replay that ends early the last block may end beyond what
			// is held.
			if (piece->held_ps > piece->sample.busy_ps)
				samples[n].stall_ps =
					piece->held_ps - piece->sample.busy_ps;
			n++;
		}
		status = observer->bin(observer->context, bin, samples, n);
	}
	free(samples);
	return status;
}

// automatic_width is the narrowest bin, of 1 us times a power of two, with which the last
// instant lies in one of the first so many bins but the last of these.
static tb_time_ps automatic_width(uint32_t n_links, tb_time_ps end)
{
	uint64_t n_bins = 1024;
	while (n_bins > 64 && n_bins * n_links > UINT64_C(1) << 17)
		n_bins /= 2;
	while (n_bins > 8 && n_bins * n_links > UINT64_C(1) << 22)
		n_bins /= 2;
	tb_time_ps width = TB_PS_PER_US;
	while ((uint64_t)(end / width) >= n_bins - 1)
		width *= 2;
	return width;
}

// Queues: a packet stands in one from the beginning of its wait until that ends.
//
static int by_queue_and_time(const void *left, const void *right)
{
	const struct oracle_fact *a = left, *b = right;
	int by_link = oracle_compare(a->link, b->link);
	int by_queue = by_link ? by_link : oracle_compare(a->serial, b->serial);
	return by_queue ? by_queue : oracle_compare((uint64_t)a->from, (uint64_t)b->from);
}

static bool in_one_queue(const struct oracle_fact *a, const struct oracle_fact *b)
{
	return a->link == b->link && a->serial == b->serial;
}

// bytes_at sums what stands in the queue of wait `i`, of n sorted ones, at an instant
// within it; none lasts longer than `longest`.
static uint64_t bytes_at(const struct oracle_fact *waits, size_t n, size_t i,
	tb_time_ps at, tb_time_ps longest)
{
	uint64_t bytes = 0;
	for (size_t j = i; j-- > 0 && in_one_queue(&waits[j], &waits[i]) &&
			   waits[j].from + longest > at;)
		bytes += waits[j].to > at ? waits[j].bytes : 0;
	for (size_t j = i;
		j < n && in_one_queue(&waits[j], &waits[i]) && waits[j].from <= at; j++)
		bytes += waits[j].to > at ? waits[j].bytes : 0;
	return bytes;
}

// before is the queue of wait `i`, of n sorted ones, just before an instant: its bytes
// and the link that the first in it wants. If that is when the wait ends, those have left
// already that were noted before it to leave then.
static struct tb_link_sample before(
	const struct oracle_fact *waits, size_t n, size_t i, tb_time_ps at, bool is_end)
{
	struct tb_link_sample queue = {.link.id = TB_ID_NONE};
	size_t j = i;
	while (j > 0 && in_one_queue(&waits[j - 1], &waits[i]))
		j--;
	for (; j < n && in_one_queue(&waits[j], &waits[i]) && waits[j].from < at; j++) {
		bool is_later = !is_end || waits[j].n_packets >= waits[i].n_packets;
		if (waits[j].to < at || (waits[j].to == at && !is_later))
			continue;
		if (queue.link.id == TB_ID_NONE)
			queue.link.id = waits[j].wanted;
		queue.largest_queue_bytes += waits[j].bytes;
	}
	return queue;
}

// add_wanted_queue: a queue counts for the link that its first packet wants, when a wait
// in it or a bin ends.
static void add_wanted_queue(struct pieces *pieces, const struct oracle_fact *waits,
	size_t n, size_t i, tb_time_ps bin_ps)
{
	const struct oracle_fact *wait = &waits[i];
	for (tb_time_ps begin = wait->from / bin_ps * bin_ps; begin < wait->to;
		begin += bin_ps) {
		tb_time_ps at = oracle_earlier(wait->to, begin + bin_ps);
		struct piece piece = {.bin = (uint64_t)(begin / bin_ps),
			.sample = before(waits, n, i, at, at < begin + bin_ps)};
		add_piece(pieces, &piece);
	}
}

// add_queues: a queue grows as waits begin, and at the begin of a bin stands as before.
static void add_queues(
	struct pieces *pieces, const struct oracle_facts *facts, tb_time_ps bin_ps)
{
	struct oracle_fact *waits = NULL;
	tb_time_ps longest = 0;
	size_t n = 0;
	for (size_t i = 0; i < facts->n; i++) {
		const struct oracle_fact *fact = &facts->list[i];
		if (fact->kind != ORACLE_WAITED || fact->to == fact->from)
			continue;
		waits = oracle_one_more(waits, n, sizeof *waits);
		waits[n] = *fact;
		waits[n].n_packets = (uint32_t)n; // that were noted before
		n++;
		longest = oracle_later(longest, fact->to - fact->from);
	}
	if (n)
		qsort(waits, n, sizeof *waits, by_queue_and_time);
	for (size_t i = 0; i < n && facts->leads_wanted; i++)
		add_wanted_queue(pieces, waits, n, i, bin_ps);
	for (size_t i = 0; i < n && !facts->leads_wanted; i++)
		for (tb_time_ps at = waits[i].from; at < waits[i].to;
			at = (at / bin_ps + 1) * bin_ps) {
			struct piece piece = {.bin = (uint64_t)(at / bin_ps),
				.sample.link.id = waits[i].link};
			piece.sample.largest_queue_bytes =
				bytes_at(waits, n, i, at, longest);
			add_piece(pieces, &piece);
		}
	free(waits);
}

static int report_links(const struct oracle_facts *facts,
	const struct tb_observer *observer, tb_time_ps bin_ps)
{
	struct pieces pieces = {0};
	for (size_t i = 0; i < facts->n; i++) {
		if (facts->list[i].kind <= ORACLE_WAITED)
			cut_bins(&pieces, &facts->list[i], bin_ps);
		if (facts->list[i].kind == ORACLE_WAITED)
			cut_wait(&pieces, facts, i, bin_ps);
	}
	add_queues(&pieces, facts, bin_ps);
	if (pieces.n)
		add_up_pieces(&pieces);
	int status = observer->start ? observer->start(observer->context, bin_ps) : TB_OK;
	if (status >= 0 && observer->bin)
		status = report_bins(&pieces, observer);
	free(pieces.list);
	return status;
}

// Flows.
//
static struct oracle_flow flow_of(const struct tb_flow_sample *sample)
{
	return (struct oracle_flow){
		sample->job, sample->source.id, sample->destination.id};
}

static int by_flow(const void *left, const void *right)
{
	struct oracle_flow a = flow_of(left), b = flow_of(right);
	return oracle_compare_flows(&a, &b);
}

static struct tb_flow_sample flow_row(const struct oracle_fact *fact)
{
	struct tb_flow_sample row = {.job = fact->flow.job,
		.source = {fact->flow.source},
		.destination = {fact->flow.destination}};
	if (fact->kind == ORACLE_WAITED)
		row.wait_ps = (uint64_t)(fact->to - fact->from);
	if (fact->kind != ORACLE_DELIVERED)
		return row;
	row.n_messages = 1;
	row.n_packets = fact->n_packets;
	row.bytes = fact->bytes;
	row.latency_ps = row.worst_latency_ps = (uint64_t)(fact->to - fact->from);
	row.queue_ps = (uint64_t)fact->queued;
	row.network_ps = (uint64_t)fact->crossed;
	row.ideal_ps = (uint64_t)fact->ideal_ps;
	row.first_ps = row.last_post_ps = fact->from;
	row.last_ps = fact->to;
	return row;
}

// blamed_row is the row of the flow to blame for a wait.
static struct tb_flow_sample blamed_row(const struct oracle_fact *fact)
{
	return (struct tb_flow_sample){.job = fact->culprit.job,
		.source = {fact->culprit.source},
		.destination = {fact->culprit.destination},
		.blamed_ps = (uint64_t)(fact->to - fact->from)};
}

static void add_flow(struct tb_flow_sample *sum, const struct tb_flow_sample *more)
{
	if (more->n_messages) {
		if (sum->n_messages == 0 || more->first_ps < sum->first_ps)
			sum->first_ps = more->first_ps;
		sum->last_ps = oracle_later(sum->last_ps, more->last_ps);
		sum->last_post_ps = oracle_later(sum->last_post_ps, more->last_post_ps);
	}
	sum->n_messages += more->n_messages;
	sum->n_packets += more->n_packets;
	sum->bytes += more->bytes;
	sum->latency_ps += more->latency_ps;
	sum->queue_ps += more->queue_ps;
	sum->network_ps += more->network_ps;
	if (more->worst_latency_ps > sum->worst_latency_ps)
		sum->worst_latency_ps = more->worst_latency_ps;
	sum->ideal_ps += more->ideal_ps;
	sum->wait_ps += more->wait_ps;
	sum->blamed_ps += more->blamed_ps;
}

static int report_flows(
	const struct oracle_facts *facts, const struct tb_observer *observer)
{
	struct tb_flow_sample *rows = NULL;
	size_t n_rows = 0, n = 0;
	for (size_t i = 0; i < facts->n; i++) {
		enum oracle_fact_kind kind = facts->list[i].kind;
		if (kind != ORACLE_POSTED && kind != ORACLE_DELIVERED &&
			kind != ORACLE_WAITED)
			continue;
		rows = oracle_one_more(rows, n_rows, sizeof *rows);
		rows[n_rows++] = flow_row(&facts->list[i]);
		if (kind != ORACLE_WAITED || !observer->blame)
			continue;
		rows = oracle_one_more(rows, n_rows, sizeof *rows);
		rows[n_rows++] = blamed_row(&facts->list[i]);
	}
	if (n_rows)
		qsort(rows, n_rows, sizeof *rows, by_flow);
	for (size_t i = 0; i < n_rows; i++)
		if (n && by_flow(&rows[n - 1], &rows[i]) == 0)
			add_flow(&rows[n - 1], &rows[i]);
		else
			rows[n++] = rows[i];
	int status = observer->flows(observer->context, rows, n);
	free(rows);
	return status;
}

// Messages.
//
static struct tb_message_sample message_row(const struct oracle_fact *fact)
{
	return (struct tb_message_sample){.number = fact->serial,
		.bytes = fact->bytes,
		.job = fact->flow.job,
		.source = {fact->flow.source},
		.destination = {fact->flow.destination},
		.posted_ps = fact->from,
		.started_ps = fact->entered,
		.delivered_ps = fact->to,
		.queue_ps = (uint64_t)fact->queued,
		.network_ps = (uint64_t)fact->crossed,
		.ideal_ps = (uint64_t)fact->ideal_ps};
}

static int by_message(const void *left, const void *right)
{
	const struct tb_message_sample *a = left, *b = right;
	int order = oracle_compare(a->job, b->job);
	order = order ? order : oracle_compare(a->source.id, b->source.id);
	order = order ? order : oracle_compare(a->destination.id, b->destination.id);
	return order ? order : oracle_compare(a->number, b->number);
}

// report_messages reports all; the engine keeps some tens of thousands.
static int report_messages(
	const struct oracle_facts *facts, const struct tb_observer *observer)
{
	struct tb_message_sample *rows = NULL;
	size_t n = 0;
	for (size_t i = 0; i < facts->n; i++) {
		if (facts->list[i].kind != ORACLE_DELIVERED)
			continue;
		rows = oracle_one_more(rows, n, sizeof *rows);
		rows[n++] = message_row(&facts->list[i]);
	}
	if (n)
		qsort(rows, n, sizeof *rows, by_message);
	int status = observer->messages(observer->context, rows, n);
	free(rows);
	return status;
}

// What was not delivered.
//
static int by_flow_and_dead(const void *left, const void *right)
{
	const struct tb_undelivered_sample *a = left, *b = right;
	struct oracle_flow flows[] = {{a->job, a->source.id, a->destination.id},
		{b->job, b->source.id, b->destination.id}};
	int order = oracle_compare_flows(&flows[0], &flows[1]);
	return order ? order : oracle_compare(a->dead.id, b->dead.id);
}

static int report_undelivered(
	const struct oracle_facts *facts, const struct tb_observer *observer)
{
	struct tb_undelivered_sample *rows = NULL;
	size_t n_rows = 0, n = 0;
	for (size_t i = 0; i < facts->n; i++) {
		const struct oracle_fact *fact = &facts->list[i];
		if (fact->kind != ORACLE_GIVEN_UP)
			continue;
		rows = oracle_one_more(rows, n_rows, sizeof *rows);
		rows[n_rows++] = (struct tb_undelivered_sample){.job = fact->flow.job,
			.source = {fact->flow.source},
			.destination = {fact->flow.destination},
			.dead = {fact->link},
			.n_messages = 1,
			.bytes = fact->bytes,
			.first_ps = fact->from};
	}
	if (n_rows == 0)
		return TB_OK;
	qsort(rows, n_rows, sizeof *rows, by_flow_and_dead);
	for (size_t i = 0; i < n_rows; i++)
		if (n && by_flow_and_dead(&rows[n - 1], &rows[i]) == 0) {
			struct tb_undelivered_sample *sum = &rows[n - 1];
			sum->n_messages++;
			sum->bytes += rows[i].bytes;
			sum->first_ps = oracle_earlier(sum->first_ps, rows[i].first_ps);
		} else {
			rows[n++] = rows[i];
		}
	int status = observer->undelivered(observer->context, rows, n);
	free(rows);
	return status;
}

int oracle_report(const struct oracle_facts *facts, const struct tb_observer *observer,
	const struct tb_network *network, tb_time_ps bin_ps, tb_time_ps end)
{
	uint32_t n_links = tb_network_n_links(network);
	tb_time_ps width = bin_ps ? bin_ps : automatic_width(n_links, end);
	int status = report_links(facts, observer, width);
	if (status >= 0 && observer->flows)
		status = report_flows(facts, observer);
	if (status >= 0 && observer->blame)
		status = oracle_report_blame(facts, observer, network, bin_ps);
	if (status >= 0 && observer->undelivered)
		status = report_undelivered(facts, observer);
	if (status >= 0 && observer->messages)
		status = report_messages(facts, observer);
	return status;
}
