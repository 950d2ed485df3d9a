#include "queue_times.h"
#include "array.h"
#include "link_queue.h"
#include "order.h"
#include "run_impl.h"
#include "stored_tables.h"

#include <stdlib.h>

// The rows of pack ?2, bin by bin, or the bins would be read with all of their packs.
#define BINS_OF_PACK                                                                     \
	"bin_total CROSS JOIN link_pack USING (run, bin) WHERE run = ?1 AND pack = ?2"

// Looking for that many links in a pack takes as long as reading all of it.
#define LOOKED_FOR_MOST 8

// The links of one pack, while its bins are read.
struct queues_reading {
	struct tb_link_queue *queues;	  // of all links
	struct tb_link_queue *now;	  // from_ps, to_ps: the stretch that lasts
	uint32_t seats[TB_PACK_LINKS], n; // where they stand in `queues`
	uint32_t seat_of[TB_PACK_LINKS];  // by link in the pack, or TB_ID_NONE
	enum tb_metric wait;
	tb_time_ps bin_ps;
};

static void see_queue(struct queues_reading *reading, uint32_t seat,
	const struct tb_link_sample *one, tb_time_ps at_ps)
{
	struct tb_link_queue *found = &reading->queues[seat], *now = &reading->now[seat];
	if (one->largest_queue_bytes > found->largest_bytes) {
		found->largest_bytes = one->largest_queue_bytes;
		found->largest_at_ps = at_ps;
	}
	if (tb_metric_of(one, reading->wait) == 0)
		return;
	if (now->to_ps != at_ps)
		now->from_ps = at_ps;
	now->to_ps = at_ps + reading->bin_ps;
	if (now->to_ps - now->from_ps > found->to_ps - found->from_ps) {
		found->from_ps = now->from_ps;
		found->to_ps = now->to_ps;
	}
}

// see_bin takes the links out of a row; false when it is damaged.
static bool see_bin(struct queues_reading *reading, const struct tb_packed_links *row,
	const struct tb_link *links)
{
	struct tb_link_sample one;
	struct tb_link_pack pack;
	tb_time_ps at_ps = (tb_time_ps)row->bin * reading->bin_ps;
	int status = 0;
	if (reading->n <= LOOKED_FOR_MOST) {
		for (uint32_t i = 0; i < reading->n && status >= 0; i++) {
			status = tb_packed_find(row, links[reading->seats[i]], &one);
			if (status > 0)
				see_queue(reading, reading->seats[i], &one, at_ps);
		}
		return status >= 0;
	}
	if (!tb_packed_open(row, &pack))
		return false;
	while ((status = tb_link_pack_next(&pack, &one)) > 0) {
		uint32_t seat = reading->seat_of[one.link.id % TB_PACK_LINKS];
		if (seat != TB_ID_NONE)
			see_queue(reading, seat, &one, at_ps);
	}
	return status == 0;
}

int tb_link_queues_find(struct tb_link_queue *queues, struct tb_run *run,
	enum tb_metric wait, const struct tb_link *links, uint32_t n,
	struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct queues_reading reading = {.queues = queues,
		.now = calloc(n + 1u, sizeof *reading.now),
		.wait = wait,
		.bin_ps = info->bin_ps};
	if (!reading.now)
		return tb_fail_memory(error, "the queues of %u links", n);
	struct tb_packed_links row;
	struct tb_row_reader rows =
		tb_run_read(run, &tb_bin_packs, BINS_OF_PACK " ORDER BY bin", error);
	for (uint32_t i = 0; i < n && !rows.status; i++)
		queues[i] = (struct tb_link_queue){0};
	uint32_t n_packs = (info->n_links + TB_PACK_LINKS - 1) / TB_PACK_LINKS;
	for (uint32_t pack = 0; !rows.status && pack < n_packs; pack++) {
		reading.n = 0;
		for (uint32_t i = 0; i < TB_PACK_LINKS; i++)
			reading.seat_of[i] = TB_ID_NONE;
		for (uint32_t i = 0; i < n; i++)
			if (links[i].id / TB_PACK_LINKS == pack) {
				reading.seats[reading.n++] = i;
				reading.seat_of[links[i].id % TB_PACK_LINKS] = i;
			}
		if (reading.n == 0)
			continue;
		tb_row_reader_again(&rows, error);
		tb_row_bind(&rows, 2, pack);
		while (tb_row_read(&rows, &row))
			if (row.bin > info->n_bins || !see_bin(&reading, &row, links))
				tb_row_damaged(&rows);
	}
	// The last bin may end after the run, of which some bins are: acknowledgements.
	for (uint32_t i = 0; info->simulated_ps > 0 && i < n && !rows.status; i++) {
		struct tb_link_queue *found = &queues[i];
		found->to_ps = tb_min_i64(found->to_ps, info->simulated_ps);
		if (found->from_ps >= found->to_ps)
			found->from_ps = found->to_ps = 0;
	}
	free(reading.now);
	return tb_row_reader_end(&rows);
}

#define FEW_BINS 10 // so many tell a length to a tenth

struct queue_bin {
	int32_t n_senders; // with messages under way
	bool asked, stands;
};

// A message to the node, or a stretch of them.
struct queue_message {
	tb_time_ps from_ps, to_ps;
	double lost_ps;
	uint32_t source, job;
	bool several; // sources
};

struct queue_search {
	struct tb_run *run;
	const struct tb_run_info *info;
	struct tb_link link;
	struct tb_node node;
	struct queue_bin *bins;
	struct tb_link_bin *link_bins;
	uint64_t n_bins;
	struct queue_message *messages; // by begin
	uint32_t n_messages;
	struct queue_message *stretches; // in which the queue stood
	uint32_t n_stretches;
	struct tb_span *spans;
	size_t n_spans, spans_room;
};

static tb_time_ps later_of(tb_time_ps one, tb_time_ps other)
{
	return one > other ? one : other;
}

static tb_time_ps earlier_of(tb_time_ps one, tb_time_ps other)
{
	return one < other ? one : other;
}

static int fail_memory(const struct queue_search *search, struct tb_error *error)
{
	return tb_fail_memory_in(error, search->run->path, "the messages to a node");
}

int tb_link_bins_add(struct tb_link_bin *bins, struct tb_run *run, struct tb_link link,
	struct tb_error *error)
{
	uint64_t n_bins = tb_run_info(run)->n_bins;
	struct tb_packed_links row;
	struct tb_row_reader rows = tb_run_read(run, &tb_bin_packs, BINS_OF_PACK, error);
	tb_row_bind(&rows, 2, link.id / TB_PACK_LINKS);
	while (tb_row_read(&rows, &row)) {
		struct tb_link_sample one;
		int found = tb_packed_find(&row, link, &one);
		if (found < 0)
			tb_row_damaged(&rows);
		if (found <= 0 || row.bin >= n_bins)
			continue;
		bins[row.bin].wait_ps += one.wait_for_ps;
		bins[row.bin].busy_ps += one.busy_ps;
		bins[row.bin].stall_ps += one.stall_ps;
	}
	return tb_row_reader_end(&rows);
}

// mark_queue_slope marks the slope of a bin that stands, on one side of it: those that
// the queue falls to without a rest.
static void mark_queue_slope(struct queue_search *search, uint64_t at, int step)
{
	struct queue_bin *bins = search->bins;
	const struct tb_link_bin *of = search->link_bins;
	for (uint64_t next = at + (uint64_t)step; next < search->n_bins;
		at = next, next += (uint64_t)step) {
		if (of[next].wait_ps == 0 || of[next].wait_ps >= of[at].wait_ps ||
			bins[next].stands || !bins[next].asked)
			return;
		bins[next].stands = true;
	}
}

// may_stand returns whether the queue may stand in a bin in which little waits for the
// link itself: the link never rests, and several nodes send. Then it stands farther back,
// or its wait is stored where it ended.
static bool may_stand(const struct queue_search *search, uint64_t at)
{
	const struct tb_link_bin *bin = &search->link_bins[at];
	tb_time_ps begin_ps = (tb_time_ps)at * search->info->bin_ps;
	tb_time_ps bin_ps =
		earlier_of(search->info->bin_ps, search->info->simulated_ps - begin_ps);
	return search->bins[at].n_senders >= TB_QUEUE_SENDERS &&
	       (double)(bin->busy_ps + bin->stall_ps) * 100 >=
		       TB_QUEUE_HELD * (double)bin_ps;
}

// spread marks the bins around those that stand in which the queue may stand.
static void spread(struct queue_search *search)
{
	for (uint64_t i = 1; i < search->n_bins; i++)
		search->bins[i].stands |=
			search->bins[i - 1].stands && may_stand(search, i);
	for (uint64_t i = search->n_bins; i-- > 1;)
		search->bins[i - 1].stands |=
			search->bins[i].stands && may_stand(search, i - 1);
}

static int add_span(struct queue_search *search, struct tb_span span)
{
	if (TB_ARRAY_RESERVE(&search->spans, &search->spans_room, search->n_spans + 1) !=
		TB_OK)
		return TB_ENOMEM;
	search->spans[search->n_spans++] = span;
	return TB_OK;
}

// find_standing makes spans of the bins in which the queue stood.
static int find_standing(struct queue_search *search)
{
	struct queue_bin *bins = search->bins;
	const struct tb_link_bin *of = search->link_bins;
	uint64_t worst = 0;
	for (uint64_t i = 0; i < search->n_bins; i++)
		if (bins[i].asked && of[i].wait_ps > worst)
			worst = of[i].wait_ps;
	for (uint64_t i = 0; i < search->n_bins && worst > 0; i++)
		bins[i].stands = bins[i].asked && (double)of[i].wait_ps * 100 >=
							  (double)worst * TB_QUEUE_QUIET;
	// All of it stands farther back.
	for (uint64_t i = 0; i < search->n_bins && worst == 0; i++)
		bins[i].stands = bins[i].asked && may_stand(search, i);
	for (uint64_t i = 0; i < search->n_bins; i++) {
		bool seed = worst > 0 && bins[i].stands &&
			    (double)of[i].wait_ps * 100 >= (double)worst * TB_QUEUE_QUIET;
		if (seed) {
			mark_queue_slope(search, i, -1);
			mark_queue_slope(search, i, 1);
		}
	}
	spread(search);
	tb_time_ps bin_ps = search->info->bin_ps;
	for (uint64_t i = 0, first = 0; i < search->n_bins; i++) {
		if (!bins[i].stands)
			continue;
		if (i == 0 || !bins[i - 1].stands)
			first = i;
		if (i + 1 < search->n_bins && bins[i + 1].stands)
			continue;
		if (add_span(search, (struct tb_span){(tb_time_ps)first * bin_ps,
					     (tb_time_ps)(i + 1) * bin_ps}) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

TB_ORDER_BY(by_begin, struct queue_message, TB_UP(from_ps) TB_UP(source))
TB_ORDER_BY(by_source, struct queue_message, TB_UP(source) TB_UP(from_ps))

// count_senders sets how many nodes have messages under way in each bin.
static void count_senders(struct queue_search *search)
{
	const struct queue_message *messages = search->messages;
	tb_time_ps bin_ps = search->info->bin_ps;
	if (search->n_messages == 0 || search->n_bins == 0)
		return;
	qsort(search->messages, search->n_messages, sizeof *messages, by_source);
	uint64_t free = 0; // the first bin behind those that count the source
	for (uint32_t i = 0; i < search->n_messages; i++) {
		uint64_t from = (uint64_t)(messages[i].from_ps / bin_ps);
		uint64_t end = (uint64_t)(messages[i].to_ps / bin_ps) + 1;
		if (i == 0 || messages[i].source != messages[i - 1].source)
			free = 0;
		for (from = from > free ? from : free;
			from < end && from < search->n_bins; from++)
			search->bins[from].n_senders++;
		free = end > free ? end : free;
	}
}

static int read_queue_messages(struct queue_search *search, struct tb_error *error)
{
	struct tb_message_sample row;
	size_t room = 0;
	struct tb_row_reader rows = tb_run_read(search->run, &tb_messages_stored,
		"message WHERE run = ?1 AND destination = ?2 AND source <> ?2", error);
	tb_row_bind(&rows, 2, search->node.id);
	while (tb_row_read(&rows, &row)) {
		if (row.started_ps > row.delivered_ps || row.ideal_ps > row.network_ps) {
			tb_row_damaged(&rows);
			break;
		}
		if (TB_ARRAY_RESERVE(&search->messages, &room,
			    (size_t)search->n_messages + 1) != TB_OK) {
			tb_row_no_memory(&rows, "the messages to a node");
			break;
		}
		search->messages[search->n_messages++] =
			(struct queue_message){.from_ps = row.started_ps,
				.to_ps = row.delivered_ps,
				.lost_ps = (double)(row.network_ps - row.ideal_ps),
				.source = row.source.id,
				.job = row.job};
	}
	count_senders(search);
	if (search->n_messages > 1)
		qsort(search->messages, search->n_messages, sizeof *search->messages,
			by_begin);
	return tb_row_reader_end(&rows);
}

// find_stretches joins messages that follow each other without a gap, and keeps the
// stretches in which the queue stood.
static int find_stretches(struct queue_search *search)
{
	struct queue_message *made = calloc(search->n_messages + 1u, sizeof *made);
	double worst = 0;
	uint32_t n = 0, n_kept = 0;
	bool several = false;
	if (!made)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < search->n_messages; i++) {
		const struct queue_message *message = &search->messages[i];
		struct queue_message *last = n ? &made[n - 1] : NULL;
		if (!last || message->from_ps > last->to_ps) {
			made[n++] = *message;
			continue;
		}
		last->to_ps = last->to_ps < message->to_ps ? message->to_ps : last->to_ps;
		last->lost_ps += message->lost_ps;
		last->several |= last->source != message->source;
	}
	for (uint32_t i = 0; i < n; i++)
		worst = made[i].lost_ps > worst ? made[i].lost_ps : worst;
	for (uint32_t i = 0; i < n; i++)
		several |= made[i].several && made[i].lost_ps * 2 >= worst;
	// Beside those of several senders, what one lost it lost elsewhere.
	for (uint32_t i = 0; i < n; i++)
		if (worst > 0 && (made[i].several || !several) &&
			made[i].lost_ps * 100 >= worst * TB_QUEUE_QUIET)
			made[n_kept++] = made[i];
	search->stretches = made;
	search->n_stretches = n_kept;
	return TB_OK;
}

// refine cuts the spans of bins to the stretches of messages, and stores whether these
// tell more than the bins.
static int refine(struct queue_search *search, bool all_kept, bool *refined)
{
	struct tb_span *coarse = search->spans;
	size_t n_coarse = search->n_spans;
	int status = TB_OK;
	search->spans = NULL;
	search->n_spans = search->spans_room = 0;
	*refined = false;
	for (size_t i = 0; status == TB_OK && i < n_coarse; i++) {
		struct tb_span span = coarse[i], outer = {0};
		size_t before = search->n_spans;
		for (uint32_t k = 0; status == TB_OK && k < search->n_stretches; k++) {
			const struct queue_message *at = &search->stretches[k];
			if (at->from_ps >= span.to_ps || at->to_ps <= span.from_ps)
				continue;
			const struct tb_span both = {later_of(at->from_ps, span.from_ps),
				earlier_of(at->to_ps, span.to_ps)};
			if (all_kept)
				status = add_span(search, both);
			outer.from_ps = outer.to_ps ? outer.from_ps : both.from_ps;
			outer.to_ps = later_of(outer.to_ps, both.to_ps);
		}
		*refined |= outer.to_ps > 0;
		// Where no message tells, it stood all the same.
		if (status == TB_OK && search->n_spans == before)
			status = add_span(search, outer.to_ps ? outer : span);
	}
	free(coarse);
	return status;
}

// join_spans makes the spans few: those with the shortest gaps between them become one.
static void join_spans(const struct queue_search *search, struct tb_queue_times *times)
{
	size_t cuts[TB_QUEUE_TIMES_MOST - 1];
	uint32_t n_cuts = 0;
	// The widest gaps, of equal ones the first, in order.
	for (size_t i = 1; i < search->n_spans; i++) {
		tb_time_ps gap = search->spans[i].from_ps - search->spans[i - 1].to_ps;
		uint32_t least = 0;
		if (n_cuts < TB_QUEUE_TIMES_MOST - 1) {
			cuts[n_cuts++] = i;
			continue;
		}
		for (uint32_t k = 1; k < n_cuts; k++)
			if (search->spans[cuts[k]].from_ps -
					search->spans[cuts[k] - 1].to_ps <
				search->spans[cuts[least]].from_ps -
					search->spans[cuts[least] - 1].to_ps)
				least = k;
		if (gap <= search->spans[cuts[least]].from_ps -
				   search->spans[cuts[least] - 1].to_ps)
			continue;
		for (uint32_t k = least; k + 1 < n_cuts; k++)
			cuts[k] = cuts[k + 1];
		cuts[n_cuts - 1] = i;
	}
	size_t first = 0;
	for (uint32_t k = 0; search->n_spans > 0 && k <= n_cuts; k++) {
		size_t end = k < n_cuts ? cuts[k] : search->n_spans;
		times->at[times->n++] = (struct tb_span){
			search->spans[first].from_ps, search->spans[end - 1].to_ps};
		first = end;
	}
}

// message_is_in returns whether a message was under way in one of the spans within a
// time.
static bool message_is_in(const struct queue_search *search,
	const struct queue_message *message, struct tb_span time)
{
	for (size_t i = 0; i < search->n_spans; i++) {
		struct tb_span span = search->spans[i];
		if (span.from_ps >= time.from_ps && span.to_ps <= time.to_ps &&
			message->from_ps < span.to_ps && message->to_ps > span.from_ps)
			return true;
	}
	return false;
}

// senders_in finds whose messages were under way in the spans within a time.
static int senders_in(const struct queue_search *search, struct tb_span time,
	struct tb_senders *senders)
{
	uint8_t *seen = calloc((size_t)search->info->n_nodes + 1, 1);
	*senders = (struct tb_senders){.first = {TB_ID_NONE}};
	if (!seen)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < search->n_messages; i++) {
		const struct queue_message *message = &search->messages[i];
		if (message->source >= search->info->n_nodes ||
			!message_is_in(search, message, time))
			continue;
		if (senders->n == 0)
			senders->job = message->job;
		else if (senders->job != message->job)
			senders->job = TB_ID_NONE;
		senders->n += !seen[message->source];
		seen[message->source] = 1;
		if (message->source < senders->first.id)
			senders->first.id = message->source;
	}
	free(seen);
	return TB_OK;
}

// find_senders finds those of the time in which most sent, and drops times in which
// nobody did.
static int find_senders(struct queue_search *search, struct tb_queue_times *times,
	bool all_kept, struct tb_error *error)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < times->n; i++) {
		struct tb_senders flows = {0}, known;
		struct tb_span time = times->at[i];
		int status = tb_senders_to(search->run, search->node, time.from_ps,
			time.to_ps, &flows, error);
		if (!status && senders_in(search, time, &known) != TB_OK)
			status = fail_memory(search, error);
		if (status)
			return status;
		// What was not sent yet, or delivered before, did not wait.
		time.from_ps = later_of(time.from_ps, flows.first_ps);
		time.to_ps = earlier_of(time.to_ps, flows.last_ps);
		if (flows.n == 0 || time.to_ps <= time.from_ps)
			continue;
		bool by_flows = known.n == 0;
		if (by_flows)
			known = flows;
		if (known.n > times->senders.n) {
			times->at_most = by_flows;
			times->at_least = !all_kept && known.n < flows.n;
			times->most_senders = times->at_least ? flows.n : known.n;
			times->senders = known;
		}
		times->at[n++] = time;
	}
	times->n = n;
	return TB_OK;
}

// begin_search sets which bins are asked for.
static int begin_search(struct queue_search *search, const struct tb_span *spans,
	uint32_t n, struct tb_error *error)
{
	tb_time_ps bin_ps = search->info->bin_ps;
	search->n_bins = search->info->n_bins;
	search->bins = calloc(search->n_bins + 1, sizeof *search->bins);
	search->link_bins = calloc(search->n_bins + 1, sizeof *search->link_bins);
	if (!search->bins || !search->link_bins)
		return fail_memory(search, error);
	for (uint32_t i = 0; i < n; i++)
		for (uint64_t bin = (uint64_t)(spans[i].from_ps / bin_ps);
			bin < search->n_bins && (tb_time_ps)bin * bin_ps < spans[i].to_ps;
			bin++)
			search->bins[bin].asked = true;
	return TB_OK;
}

int tb_queue_times_find(struct tb_queue_times *times, struct tb_run *run,
	struct tb_link link, const struct tb_span *spans, uint32_t n,
	struct tb_error *error)
{
	struct queue_search search = {.run = run,
		.info = tb_run_info(run),
		.link = link,
		.node = {tb_run_links(run)[link.id].at.to}};
	struct tb_queue_times found = {.n = 0};
	bool all_kept = search.info->n_messages_kept == search.info->n_messages;
	bool refined = false;
	if (n == 0) {
		*times = found;
		return TB_OK;
	}
	int status = begin_search(&search, spans, n, error);
	if (!status)
		status = tb_link_bins_add(
			search.link_bins, search.run, search.link, error);
	if (!status)
		status = read_queue_messages(&search, error);
	if (!status && find_standing(&search) != TB_OK)
		status = fail_memory(&search, error);
	bool stood = search.n_spans > 0;
	for (uint32_t i = 0; !status && !stood && i < n; i++)
		if (add_span(&search, spans[i]) != TB_OK)
			status = fail_memory(&search, error);
	if (!status && (find_stretches(&search) != TB_OK ||
			       refine(&search, all_kept, &refined) != TB_OK))
		status = fail_memory(&search, error);
	if (!status) {
		join_spans(&search, &found);
		status = find_senders(&search, &found, all_kept, error);
	}
	if (!status) {
		// Add what the link did, and whether the times are a few bins.
		tb_time_ps bin_ps = search.info->bin_ps;
		found.within = !refined;
		for (uint32_t i = 0; i < found.n; i++) {
			struct tb_span time = found.at[i];
			uint64_t busy = 0, stall = 0,
				 span = (uint64_t)(time.to_ps - time.from_ps);
			for (uint64_t bin = (uint64_t)(time.from_ps / bin_ps);
				bin < search.n_bins &&
				(tb_time_ps)bin * bin_ps < time.to_ps;
				bin++) {
				busy += search.link_bins[bin].busy_ps;
				stall += search.link_bins[bin].stall_ps;
			}
			// Bins reach beyond both ends.
			found.busy_ps += busy < span ? busy : span;
			found.stall_ps += stall < span ? stall : span;
			found.span_ps += span;
			found.within &= span < (uint64_t)bin_ps * FEW_BINS;
		}
		*times = found;
	}
	free(search.bins);
	free(search.link_bins);
	free(search.messages);
	free(search.stretches);
	free(search.spans);
	return status;
}
