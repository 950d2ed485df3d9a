#include "array.h"
#include "backlog.h"
#include "during.h"
#include "hash.h"
#include "hot_links.h"
#include "link_counts.h"
#include "map.h"
#include "movers.h"
#include "order.h"
#include "run_impl.h"
#include "select.h"
#include "series.h"
#include "stored_tables.h"
#include "switchings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A link by its wait; of equal ones, as of bounds that are all of the time, by the pause
// frames that ports counted.
struct hot_place {
	struct tb_link link;
	uint64_t wait_ps, frames;
};

TB_ORDER_BY(order_hot_places, struct hot_place,
	TB_DOWN(wait_ps) TB_DOWN(frames) TB_UP(link.id))

#define RECORD struct hot_place
static const struct tb_stored_table pause_frames = TB_STORED_TABLE(
	"link_count", RECORD, TB_COLUMN("link", link), TB_COLUMN("count", frames));
#undef RECORD

static int read_pause_frames(
	struct tb_run *run, struct hot_place *places, struct tb_error *error)
{
	struct hot_place row;
	struct tb_row_reader rows = tb_run_read(run, &pause_frames,
		"link_count WHERE run = ?1 AND counter IN ('pauses_received', "
		"'pauses_sent')",
		error);
	while (tb_row_read(&rows, &row))
		if (row.frames > places[row.link.id].frames)
			places[row.link.id].frames = row.frames;
	return tb_row_reader_end(&rows);
}

static double hot_link_percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

int tb_hot_links(struct tb_run *run, struct tb_window window, uint32_t top,
	struct tb_hot_link **links, uint32_t *n, struct tb_error *error)
{
	uint32_t n_links = tb_run_info(run)->n_links;
	struct tb_link_sample *samples = calloc((size_t)n_links + 1, sizeof *samples);
	struct hot_place *places = calloc((size_t)n_links + 1, sizeof *places);
	int status = samples && places ? tb_run_samples(run, window, samples, error)
				       : tb_fail_memory(error, "%u links", n_links);
	if (!status && tb_run_is_measured(tb_run_info(run)))
		status = read_pause_frames(run, places, error);
	if (status) {
		free(places);
		free(samples);
		return status;
	}
	uint32_t n_waited = 0;
	double whole_wait = 0;
	for (uint32_t i = 0; i < n_links; i++) {
		places[i].link = samples[i].link;
		places[i].wait_ps = samples[i].wait_ps;
		n_waited += samples[i].wait_ps > 0;
		whole_wait += (double)samples[i].wait_ps;
	}
	uint32_t n_listed = top && top < n_waited ? top : n_waited;
	tb_select_first(places, n_links, sizeof *places, n_listed, order_hot_places);
	struct tb_hot_link *listed = calloc((size_t)n_listed + 1, sizeof *listed);
	if (listed) {
		double window_ps = (double)tb_run_window_ps(run, window);
		for (uint32_t i = 0; i < n_listed; i++) {
			const struct tb_link_sample *at = &samples[places[i].link.id];
			listed[i] = (struct tb_hot_link){
				.sample = *at,
				.rank = i + 1,
				.percent_of_top = hot_link_percent(
					at->wait_ps, (double)places[0].wait_ps),
				.percent_of_wait =
					hot_link_percent(at->wait_ps, whole_wait),
				.utilisation = hot_link_percent(at->busy_ps, window_ps),
				.waiting = hot_link_percent(at->wait_ps, window_ps),
			};
		}
		*links = listed;
		*n = n_listed;
	} else {
		status = tb_fail_memory(error, "%u hot links", n_listed);
	}
	free(places);
	free(samples);
	return status;
}

// A column while bins are being read.
struct series_column {
	uint32_t at;
	uint64_t sum, largest, n_looks;
};

static void finish_series_column(const struct series_column *column,
	enum tb_metric metric, uint64_t *columns, uint32_t n)
{
	if (column->at < n && column->n_looks)
		columns[column->at] = tb_link_figures[metric].adds == TB_ADDS_MOST
					      ? column->largest
					      : column->sum / column->n_looks;
}

int tb_run_series(struct tb_run *run, struct tb_link link, enum tb_metric metric,
	uint64_t *columns, uint32_t n, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct series_column column = {.at = 0};
	uint64_t n_bins = info->n_bins;
	uint64_t step = (n_bins + TB_SERIES_LOOKS - 1) / TB_SERIES_LOOKS;
	struct tb_row_reader rows = tb_run_read(run, &tb_bin_packs,
		"link_pack WHERE run = ?1 AND bin = ?2 AND pack = ?3", error);
	memset(columns, 0, n * sizeof *columns);
	tb_row_bind(&rows, 3, link.id / TB_PACK_LINKS);
	for (uint64_t bin = 0; !rows.status && bin < n_bins; bin += step) {
		struct tb_packed_links row;
		struct tb_link_sample sample;
		uint64_t value = 0; // where the bin has no row
		uint32_t at = (uint32_t)((double)bin / (double)n_bins * n);
		if (at != column.at) {
			finish_series_column(&column, metric, columns, n);
			column = (struct series_column){.at = at};
		}
		tb_row_reader_again(&rows, error);
		tb_row_bind(&rows, 2, (int64_t)bin);
		int found = tb_row_read(&rows, &row) ? tb_packed_find(&row, link, &sample)
						     : 0;
		if (found < 0)
			tb_row_damaged(&rows);
		if (found > 0) {
			tb_link_sample_derive(&sample, info->wait, info->bin_ps);
			value = tb_metric_of(&sample, metric);
		}
		column.sum += value;
		column.largest = value > column.largest ? value : column.largest;
		column.n_looks++;
	}
	finish_series_column(&column, metric, columns, n);
	return tb_row_reader_end(&rows);
}

int tb_bin_totals(struct tb_run *run, struct tb_bin_total *totals, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_bin_sum row;
	struct tb_row_reader rows =
		tb_run_read(run, &tb_bin_sums_stored, "bin_total WHERE run = ?1", error);
	memset(totals, 0, info->n_bins * sizeof *totals);
	while (tb_row_read(&rows, &row))
		if (row.bin < info->n_bins)
			totals[row.bin] = (struct tb_bin_total){
				.wait_ps = info->wait == TB_CAME_BY
						   ? row.sample.came_by_ps
						   : row.sample.wait_for_ps,
				.stall_ps = row.sample.stall_ps,
				.busy_ps = row.sample.busy_ps};
	return tb_row_reader_end(&rows);
}

struct senders_row {
	struct tb_senders senders;
	uint32_t last_job;
};
#define RECORD		      struct senders_row
#define OF_ALL(column, field) TB_COLUMN("coalesce(" column ", 0)", field)
static const struct tb_stored_table senders_stored = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("count(DISTINCT source)", senders.n),
	OF_ALL("min(first_ps)", senders.first_ps),
	OF_ALL("max(last_ps)", senders.last_ps), OF_ALL("min(source)", senders.first),
	OF_ALL("min(job)", senders.job), OF_ALL("max(job)", last_job));
#undef OF_ALL
#undef RECORD

int tb_senders_to(struct tb_run *run, struct tb_node node, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_senders *senders, struct tb_error *error)
{
	struct senders_row row;
	// Packs are passed over that cannot hold a flow to the node (packed_tables.h).
	struct tb_row_reader rows = tb_run_read(run, &senders_stored,
		"unpacked_flow WHERE run = ?1 AND destination = ?2 AND messages > 0 AND "
		"source <> ?2 AND first_ps < ?4 AND last_ps > ?3",
		error);
	tb_row_bind(&rows, 2, node.id);
	tb_row_bind(&rows, 3, from_ps);
	tb_row_bind(&rows, 4, to_ps);
	if (tb_row_read(&rows, &row)) {
		*senders = row.senders;
		if (senders->job != row.last_job)
			senders->job = TB_ID_NONE;
	}
	return tb_row_reader_end(&rows);
}

// carrying_ps returns what the links of a node take for so many bytes of payload.
static double carrying_ps(const struct tb_run *run, struct tb_node node, uint64_t bytes)
{
	const struct tb_network_params *network = &tb_run_info(run)->network;
	const struct tb_run_link *links = tb_run_links(run);
	double payload = (double)network->packet_payload_bytes, rate = 0;
	double share = payload / (payload + (double)network->packet_overhead_bytes);
	if (strcmp(tb_run_info(run)->input_kind, "packets") == 0)
		share = tb_switching_captured_share(network);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_INJECTION && links[i].at.from == node.id)
			rate += (double)links[i].at.bytes_per_s;
	return rate > 0 ? (double)bytes / share / rate * (double)TB_PS_PER_S : 0;
}

int tb_backlog_find(
	struct tb_backlog *backlog, struct tb_run *run, struct tb_error *error)
{
	struct tb_flow_sample sent;
	struct tb_backlog worst = {0};
	struct tb_row_reader rows = tb_run_read(run, &tb_sender_totals_stored,
		"sender_total WHERE run = ?1 ORDER BY node", error);
	uint32_t n = 0;
	while (tb_row_read(&rows, &sent)) {
		if (sent.queue_ps > sent.latency_ps || sent.first_ps > sent.last_post_ps)
			tb_row_damaged(&rows);
		if (!(sent.queue_ps > 0 &&
			    100 * (double)sent.queue_ps >=
				    TB_BACKLOG_PERCENT * (double)sent.latency_ps))
			continue;
		n++;
		if (sent.queue_ps > worst.queue_ps)
			worst = (struct tb_backlog){.node = sent.source,
				.n_messages = sent.n_messages,
				.bytes = sent.bytes,
				.latency_ps = sent.latency_ps,
				.queue_ps = sent.queue_ps,
				.posting_ps = sent.last_post_ps - sent.first_ps};
	}
	int status = tb_row_reader_end(&rows);
	worst.n_nodes = n;
	if (n)
		worst.carrying_ps = carrying_ps(run, worst.node, worst.bytes);
	if (status == TB_OK)
		*backlog = worst;
	return status;
}

struct counted_row {
	struct tb_stored_bytes key;
	int counter;		    // enum tb_counter, of the key
	struct tb_link link, cable; // of the cable: that with the lesser number
	uint32_t number;
	uint64_t count;
	bool at_least;
};
#define RECORD struct counted_row
static const struct tb_stored_table counted =
	TB_STORED_TABLE("link_count", RECORD, TB_COLUMN("counter", key),
		TB_COLUMN("link", link), TB_COLUMN("min(link, reverse)", cable),
		TB_COLUMN("max(from_number, to_number)", number),
		TB_COLUMN("count", count), TB_COLUMN("at_least", at_least));
#undef RECORD

static uint64_t add_up(uint64_t sum, uint64_t count)
{
	return sum > UINT64_MAX - count ? UINT64_MAX : sum + count;
}

static bool is_of_cable(int counter)
{
	return counter >= TB_CABLE_COUNTER_FIRST && counter <= TB_CABLE_COUNTER_LAST;
}

static void count_on_cable(struct tb_bad_cable *cable, const struct counted_row *row)
{
	uint64_t *sum = &cable->counts[row->counter];
	if (!is_of_cable(row->counter))
		return;
	cable->at_least |= row->at_least;
	if (row->counter == TB_COUNTER_LINK_DOWNED) { // which both ends count
		*sum = row->count > *sum ? row->count : *sum;
		return;
	}
	*sum = add_up(*sum, row->count);
	cable->n_errors = add_up(cable->n_errors, row->count);
}

static bool is_worse(const struct tb_bad_cable *one, const struct tb_bad_cable *other)
{
	uint64_t downs = one->counts[TB_COUNTER_LINK_DOWNED];
	uint64_t other_downs = other->counts[TB_COUNTER_LINK_DOWNED];
	return downs != other_downs ? downs > other_downs
				    : one->n_errors > other->n_errors;
}

// take_cable keeps a cable that is bad, if it is one of the worst.
static void take_cable(struct tb_link_counts *counts, const struct tb_run *run,
	const struct tb_bad_cable *cable)
{
	double allowed = 2 * 8e-12 *
			 (double)tb_run_links(run)[cable->link.id].at.bytes_per_s *
			 (double)tb_run_info(run)->simulated_ps / (double)TB_PS_PER_S;
	uint32_t at = counts->n_bad;
	if (cable->counts[TB_COUNTER_LINK_DOWNED] == 0 &&
		(double)cable->n_errors <= allowed)
		return;
	while (at > 0 && is_worse(cable, &counts->bad[at - 1]))
		at--;
	if (at == TB_BAD_CABLES_MOST)
		return;
	counts->n_bad += counts->n_bad < TB_BAD_CABLES_MOST;
	memmove(&counts->bad[at + 1], &counts->bad[at],
		(counts->n_bad - at - 1) * sizeof *cable);
	counts->bad[at] = *cable;
}

static bool is_told(const struct tb_link_counts *counts, const struct counted_row *row)
{
	for (uint32_t i = 0; i < counts->n_bad && is_of_cable(row->counter); i++)
		if (counts->bad[i].link.id == row->cable.id)
			return true;
	return false;
}

static void sum_counts(
	struct tb_link_counts *counts, const struct counted_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tb_link_count_sum *sum = &counts->sums[rows[i].counter];
		if (is_told(counts, &rows[i]))
			continue;
		sum->n_links++;
		sum->at_least |= rows[i].at_least;
		sum->count = add_up(sum->count, rows[i].count);
		if (rows[i].count > sum->worst_count) {
			sum->worst_count = rows[i].count;
			sum->worst = rows[i].link;
		}
	}
}

int tb_link_counts_sum(
	struct tb_link_counts *counts, struct tb_run *run, struct tb_error *error)
{
	struct counted_row row, *kept = NULL;
	size_t n = 0, room = 0;
	bool has_room = true;
	struct tb_row_reader rows = tb_run_read(run, &counted,
		"link_count JOIN link USING (run, link) WHERE run = ?1 "
		"ORDER BY min(link, reverse), link, counter",
		error);
	*counts = (struct tb_link_counts){.n_bad = 0};
	while (has_room && tb_row_read(&rows, &row)) {
		row.counter = 0;
		while (row.counter < TB_N_COUNTERS &&
			strcmp(tb_counter_infos[row.counter].key, row.key.text) != 0)
			row.counter++;
		if (row.counter == TB_N_COUNTERS || row.count == 0)
			continue;
		has_room = TB_ARRAY_RESERVE(&kept, &room, n + 1) == TB_OK;
		if (has_room)
			kept[n++] = row;
	}
	int status = tb_row_reader_end(&rows);
	if (!has_room)
		status = tb_fail_memory(error, "counters of links");
	for (size_t i = 0; i < n && status == TB_OK;) {
		struct tb_bad_cable cable = {
			.link = kept[i].cable, .number = kept[i].number};
		for (; i < n && kept[i].cable.id == cable.link.id; i++)
			count_on_cable(&cable, &kept[i]);
		if (cable.n_errors || cable.counts[TB_COUNTER_LINK_DOWNED])
			take_cable(counts, run, &cable);
	}
	if (status == TB_OK)
		sum_counts(counts, kept, n);
	free(kept);
	return status;
}

// map_names maps names by their hashes: at worst a collision would report two links as
// missing from one run.
static int map_names(struct tb_map *map, const struct tb_run *run)
{
	const struct tb_run_link *links = tb_run_links(run);
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < tb_run_info(run)->n_links; i++)
		status = tb_map_put(map, tb_hash_text(TB_HASH_BEGIN, links[i].name), i);
	return status;
}

int tb_link_pairs_init(struct tb_link_pairs *pairs, const struct tb_run *a,
	const struct tb_run *b, struct tb_error *error)
{
	struct tb_link_pairs made = {
		.links_a = tb_run_links(a), .links_b = tb_run_links(b)};
	struct tb_map names = {0};
	size_t n_a = tb_run_info(a)->n_links, n_b = tb_run_info(b)->n_links;
	made.pairs = calloc(n_a + n_b + 1, sizeof *made.pairs);
	bool *taken = calloc(n_b + 1, sizeof *taken);
	int status = made.pairs && taken ? map_names(&names, b) : TB_ENOMEM;
	if (status == TB_OK) {
		// Write the pairs; `taken` receives, by link of b, whether a has it too.
		const struct tb_run_link *from = tb_run_links(a), *to = tb_run_links(b);
		for (uint32_t i = 0; i < tb_run_info(a)->n_links; i++) {
			struct tb_link_pair *pair = &made.pairs[made.n++];
			uint32_t twin;
			*pair = (struct tb_link_pair){{i}, {TB_ID_NONE}};
			if (tb_map_find(&names, tb_hash_text(TB_HASH_BEGIN, from[i].name),
				    &twin) &&
				!taken[twin] &&
				strcmp(from[i].name, to[twin].name) == 0) {
				pair->b.id = twin;
				taken[twin] = true;
				made.n_both++;
			} else {
				made.n_only_a++;
			}
		}
		for (uint32_t i = 0; i < tb_run_info(b)->n_links; i++) {
			if (taken[i])
				continue;
			made.pairs[made.n++] = (struct tb_link_pair){{TB_ID_NONE}, {i}};
			made.n_only_b++;
		}
	}
	free(taken);
	tb_map_fini(&names);
	if (status != TB_OK) {
		free(made.pairs);
		return tb_fail_memory(error, "a comparison");
	}
	*pairs = made;
	return TB_OK;
}

void tb_link_pairs_fini(struct tb_link_pairs *pairs)
{
	free(pairs->pairs);
	*pairs = (struct tb_link_pairs){0};
}

void tb_link_pair_known(const struct tb_link_pairs *pairs,
	const struct tb_link_pair *pair, enum tb_metric metric, enum tb_known known[2])
{
	known[0] = known[1] = TB_EXACT;
	if (pairs->links_a && pair->a.id != TB_ID_NONE)
		known[0] = tb_known_of(pairs->links_a[pair->a.id].known, metric);
	if (pairs->links_b && pair->b.id != TB_ID_NONE)
		known[1] = tb_known_of(pairs->links_b[pair->b.id].known, metric);
}

static int order_movers(const void *left, const void *right)
{
	const struct tb_mover *a = left, *b = right;
	double more = fabs(tb_mover_change(a)) - fabs(tb_mover_change(b));
	if (more > 0 || more < 0)
		return more > 0 ? -1 : 1;
	if (a->pair.a.id != b->pair.a.id)
		return a->pair.a.id < b->pair.a.id ? -1 : 1;
	return (a->pair.b.id > b->pair.b.id) - (a->pair.b.id < b->pair.b.id);
}

int tb_movers(const struct tb_link_pairs *pairs, const struct tb_link_sample *a,
	const struct tb_link_sample *b, enum tb_metric metric, uint32_t top,
	struct tb_mover **movers, uint32_t *n, uint32_t *n_moved, struct tb_error *error)
{
	struct tb_mover *found = calloc((size_t)pairs->n + 1, sizeof *found);
	uint32_t n_found = 0;
	if (!found)
		return tb_fail_memory(error, "a comparison");
	for (uint32_t i = 0; i < pairs->n; i++) {
		const struct tb_link_pair *pair = &pairs->pairs[i];
		struct tb_mover mover = {.pair = *pair};
		enum tb_known known[2];
		tb_link_pair_known(pairs, pair, metric, known);
		if (known[0] == TB_NOT_MEASURED || known[1] == TB_NOT_MEASURED)
			continue;
		if (pair->a.id != TB_ID_NONE)
			mover.before = tb_metric_of(&a[pair->a.id], metric);
		if (pair->b.id != TB_ID_NONE)
			mover.after = tb_metric_of(&b[pair->b.id], metric);
		if (mover.before != mover.after)
			found[n_found++] = mover;
	}
	uint32_t listed = top && top < n_found ? top : n_found;
	tb_select_first(found, n_found, sizeof *found, listed, order_movers);
	*movers = found;
	*n = listed;
	*n_moved = n_found;
	return TB_OK;
}
