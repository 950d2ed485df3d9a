#include "replay_records.h"

#include "array.h"
#include "blame_table.h"
#include "memory.h"
#include "order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// An automatic width keeps at most this many samples where links are few, and never more
// bins than MOST_BINS nor fewer than LEAST_BINS: storing a bin of a link costs about as
// much as replaying a packet, so a short replay must not write too many rows. With so
// many links that even LEAST_BINS would need more than MOST_MEMORY samples (of some 20
// bytes), there are fewer bins, down to FEW_BINS, and of millions of links fewer still.
enum { MOST_SAMPLES = 131072, MOST_MEMORY = 1 << 22, MOST_MEMORY_OF_FEW = 1 << 25 };
enum { MOST_BINS = 1024, LEAST_BINS = 64, FEW_BINS = 8, FEWEST_BINS = 4 };
enum { FIRST_BIN_PS = 1000000 };

// Bins take so many bytes a link at least, within limits, before they are merged: to
// merge them costs as much as to keep them.
enum { BYTES_A_LINK = 2048, LEAST_BYTES = 4 << 20, MOST_BYTES = 48 << 20 };

struct tb_slice {				 // of the links, while a bin is closed
	_Alignas(64) struct tb_kept_bins packed; // one bin
	uint32_t n;				 // samples in `bin_samples`
	bool failed;
};

static size_t bytes_for(uint32_t n_links)
{
	size_t bytes = (size_t)n_links * BYTES_A_LINK;
	bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
	return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

static uint64_t bins_for(uint32_t n_links)
{
	uint64_t bins = LEAST_BINS;
	while (bins < MOST_BINS && bins * 2 * n_links <= MOST_SAMPLES)
		bins *= 2;
	while (bins > FEW_BINS && bins * n_links > MOST_MEMORY)
		bins /= 2;
	while (bins > FEWEST_BINS && bins * n_links > MOST_MEMORY_OF_FEW)
		bins /= 2;
	return bins;
}

int tb_records_init(struct tb_records *records, const struct tb_network *net,
	const struct tb_observer *observer, struct tb_cell **cells, tb_time_ps bin_ps,
	bool blame)
{
	uint32_t n_links = net->n_links;
	*records = (struct tb_records){.observer = observer,
		.cells = cells,
		.from_cells = cells,
		.n_links = n_links,
		.automatic = bin_ps == 0,
		.bin_ps = bin_ps ? bin_ps : FIRST_BIN_PS,
		.bins_most = bins_for(n_links),
		.kept.most_bytes = bytes_for(n_links),
		.keeps_messages = observer && observer->messages};
	records->bin_end = records->bin_ps;
	records->touched = calloc(n_links / 64 + 1, sizeof *records->touched);
	// Number 0, which tb_records_flow returns when memory runs out, must be valid.
	int status = TB_ARRAY_RESERVE(&records->flows, &records->flows_room, 1);
	if (blame && observer->blame)
		records->blame = tb_blame_table_new(net, records->bin_ps);
	if (!records->touched || status != TB_OK ||
		(blame && observer->blame && !records->blame)) {
		tb_records_fini(records);
		return TB_ENOMEM;
	}
	return TB_OK;
}

void tb_records_fini(struct tb_records *records)
{
	for (uint32_t i = 0; records->slices && i < TB_RECORDS_SLICES; i++)
		tb_kept_bins_fini(&records->slices[i].packed);
	free(records->slices);
	free(records->log.waits);
	free(records->touched);
	free(records->bin_samples);
	free(records->spills);
	free(records->spills_before);
	tb_kept_bins_fini(&records->kept);
	if (!records->borrows_flows)
		free(records->flows);
	free(records->undelivered);
	tb_losses_fini(&records->losses);
	tb_slowest_messages_fini(&records->messages);
	tb_map_fini(&records->undelivered_of);
	tb_blame_table_free(records->blame);
	tb_map_fini(&records->flow_of);
	*records = (struct tb_records){0};
}

// Logged waits are entered by so many: what is at hand in the nearest cache.
enum { MOST_LOGGED = 256 };

static void enter_logged(struct tb_records *records)
{
	struct tb_wait_log *log = &records->log;
	if (records->blame && log->n)
		tb_blame_table_add(records->blame, records->flows, log->waits, log->n);
	log->n = records->blame ? 0 : log->n;
}

bool tb_records_room_for_waits(struct tb_records *records, size_t n)
{
	struct tb_wait_log *log = &records->log;
	enter_logged(records);
	if (records->blame && log->room)
		return true;
	if (!records->blame && !records->keeps_waits)
		return false;
	if (TB_ARRAY_RESERVE(&log->waits, &log->room,
		    records->blame ? MOST_LOGGED : log->n + n) == TB_OK)
		return true;
	records->failed = true;
	return false;
}

void tb_records_blame_all(
	struct tb_records *records, const struct tb_blame_wait *waits, size_t n)
{
	struct tb_wait_log *log = &records->log;
	if (records->blame && !records->to_ps) {
		enter_logged(records);
		tb_blame_table_add(records->blame, records->flows, waits, n);
	} else if (records->keeps_waits && !records->to_ps) {
		if (!tb_records_room_for_waits(records, n))
			return;
		memcpy(log->waits + log->n, waits, n * sizeof *waits);
		log->n += n;
	} else {
		for (size_t i = 0; i < n; i++)
			tb_records_blame(records, waits[i].key.link, waits[i].key.root,
				waits[i].key.victim, waits[i].key.culprit,
				waits[i].to - waits[i].from, waits[i].to);
	}
}

void tb_records_limit_to(struct tb_records *records, tb_time_ps from_ps, tb_time_ps to_ps)
{
	assert(!records->automatic && records->bin_start == 0);
	records->from_ps = from_ps;
	records->to_ps = to_ps;
	if (from_ps > 0)
		records->bin_end = from_ps;
}

uint32_t tb_records_flow(
	struct tb_records *records, uint32_t job, uint32_t source, uint32_t destination)
{
	uint64_t key = tb_flow_key(job, source, destination);
	uint32_t flow = 0;
	if (tb_map_find(&records->flow_of, key, &flow))
		return flow;
	if (TB_ARRAY_RESERVE(&records->flows, &records->flows_room,
		    (size_t)records->n_flows + 1) != TB_OK) {
		records->failed = true;
		return 0;
	}
	flow = records->n_flows;
	if (tb_map_put(&records->flow_of, key, flow) != TB_OK)
		records->failed = true;
	records->flows[flow] = (struct tb_flow_sample){
		.job = job, .source = {source}, .destination = {destination}};
	records->n_flows++;
	return flow;
}

// bytes_by returns how many bytes of a burst have crossed by an instant within it:
// proportional to time, rounded down, so that merged bins equal one wide bin.
static uint64_t bytes_by(const struct tb_spill *burst, tb_time_ps at)
{
	uint64_t part = (uint64_t)(at - burst->start);
	uint64_t whole = (uint64_t)(burst->end - burst->start);
	if (whole >> 32)
		for (; burst->bytes > UINT64_MAX / whole; whole /= 2)
			part /= 2;
	return burst->bytes * part / whole;
}

// count_part counts the part of a burst that lies in the open bin.
static void count_part(struct tb_records *records, const struct tb_spill *burst)
{
	struct tb_cell *cell = burst->cell;
	bool begins = burst->start >= records->bin_start;
	tb_time_ps from = begins ? burst->start : records->bin_start;
	tb_time_ps to = burst->end < records->bin_end ? burst->end : records->bin_end;
	if (from >= to)
		return;
	cell->busy_ps += (uint64_t)(to - from);
	cell->bytes += to == burst->end ? burst->bytes : bytes_by(burst, to);
	cell->bytes -= begins ? 0 : bytes_by(burst, from);
	cell->n_packets += begins ? burst->n_packets : 0;
	tb_records_touch(records, cell);
}

void tb_records_spill(struct tb_records *records, struct tb_spill burst)
{
	count_part(records, &burst);
	if (TB_ARRAY_RESERVE(&records->spills, &records->spills_room,
		    records->n_spills + 1) != TB_OK) {
		records->failed = true;
		return;
	}
	records->spills[records->n_spills++] = burst;
}

enum { PREFETCHED = 8 }; // spills ahead

void tb_records_pour(struct tb_records *records)
{
	struct tb_spill *before = records->spills;
	size_t n = records->n_spills;
	size_t room = records->spills_room;
	records->spills = records->spills_before;
	records->spills_room = records->before_room;
	records->spills_before = before;
	records->before_room = room;
	records->n_spills = 0;
	for (size_t i = 0; i < n; i++) {
		// Cells of a large network are no longer in the cache.
		if (i + PREFETCHED < n)
			__builtin_prefetch(before[i + PREFETCHED].cell, 1);
		if (before[i].end > records->bin_end)
			tb_records_spill(records, before[i]);
		else
			count_part(records, &before[i]);
	}
}

bool tb_records_idle(const struct tb_records *records)
{
	if (records->n_spills)
		return false;
	for (uint32_t i = 0; i <= records->n_links / 64; i++)
		if (records->touched[i])
			return false;
	return true;
}

// observed returns what to make of the return value of an observer.
static int observed(struct tb_error *error, int status)
{
	return status < 0 ? tb_fail(error, (enum tb_status)status,
				    "the observer of the replay failed")
			  : TB_OK;
}

// records_report_start passes the width of the bins to the observer, once.
static int records_report_start(struct tb_records *records, struct tb_error *error)
{
	const struct tb_observer *observer = records->observer;
	if (records->started || !observer || !observer->start)
		return TB_OK;
	records->started = true;
	return observed(error, observer->start(observer->context, records->bin_ps));
}

static int records_report(struct tb_records *records, uint64_t bin,
	const struct tb_link_sample *samples, size_t n, struct tb_error *error)
{
	const struct tb_observer *observer = records->observer;
	if (n == 0 || !observer || !observer->bin)
		return TB_OK;
	return observed(error, observer->bin(observer->context, bin, samples, n));
}

// make_bin_samples makes room for the samples of a bin.
static int make_bin_samples(struct tb_records *records)
{
	if (!records->bin_samples)
		records->bin_samples =
			malloc(records->n_links * sizeof *records->bin_samples);
	return records->bin_samples ? TB_OK : TB_ENOMEM;
}

static void double_width(struct tb_records *records)
{
	if (make_bin_samples(records) == TB_OK)
		tb_kept_bins_widen(&records->kept, records->bin_samples);
	else
		records->failed = true;
	records->kept_reported = 0;
	records->bin /= 2;
	records->bin_ps *= 2;
}

static void open_bin(struct tb_records *records)
{
	while (records->automatic && records->bin >= records->bins_most)
		double_width(records);
	records->bin_start = (tb_time_ps)records->bin * records->bin_ps;
	// The last possible bin ends at the end of time.
	records->bin_end = records->bin_start < TB_TIME_NEVER - records->bin_ps
				   ? records->bin_start + records->bin_ps
				   : TB_TIME_NEVER;
	if (records->to_ps && records->bin_start >= records->to_ps)
		records->bin_end = TB_TIME_NEVER;
}

void tb_records_lasts(struct tb_records *records, tb_time_ps until)
{
	bool widens = false;
	while (records->automatic && records->bin % 2 == 0 &&
		(uint64_t)(until / records->bin_ps) >= records->bins_most) {
		double_width(records);
		widens = true;
	}
	if (widens)
		open_bin(records);
}

// gather takes the open bin's cells of 64 links that hold something, and clears them.
static uint32_t gather(struct tb_records *records, uint32_t word, struct tb_cell *cells)
{
	uint32_t n = 0;
	uint64_t bits = records->touched[word];
	records->touched[word] = 0;
	for (; bits; bits &= bits - 1) {
		uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct tb_cell *cell = records->cells[link];
		cells[n] = *cell;
		// A burst may be counted up to its end although its VC is held longer.
		uint64_t moving =
			cell->busy_ps < cell->stall_ps ? cell->busy_ps : cell->stall_ps;
		cells[n++].stall_ps -= records->holds_stall ? 0 : moving;
		tb_cell_clear(cell, link);
	}
	return n;
}

// gather_samples does so, as samples.
static uint32_t gather_samples(
	struct tb_records *records, uint32_t word, struct tb_link_sample *samples)
{
	struct tb_cell cells[64];
	uint32_t n = gather(records, word, cells);
	for (uint32_t i = 0; i < n; i++) {
		samples[i] = (struct tb_link_sample){.link = {cells[i].link}};
#define ROW(ID, field, ...) samples[i].field = cells[i].field;
		TB_LINK_FIGURES(ROW)
#undef ROW
	}
	return n;
}

// A bin can be closed in slices of the links, which the threads of a team gather side by
// side.

int tb_records_make_slices(struct tb_records *records)
{
	records->slices = tb_lines_new(TB_RECORDS_SLICES, sizeof *records->slices);
	return records->slices ? TB_OK : TB_ENOMEM;
}

static void slice_run(
	struct tb_records *records, void (*task)(void *context, uint32_t index))
{
	if (records->team)
		tb_team_run(records->team, TB_RECORDS_SLICES, task, records);
	for (uint32_t i = 0; i < TB_RECORDS_SLICES && !records->team; i++)
		task(records, i);
}

// keep_words packs the samples of the links of some words into the bin begun last.
static int keep_words(struct tb_records *records, uint32_t word, uint32_t end,
	struct tb_kept_bins *kept)
{
	struct tb_cell cells[64];
	int status = TB_OK;
	for (; word < end && status == TB_OK; word++) {
		uint32_t n = gather(records, word, cells);
		status = tb_kept_bins_add(kept, cells, n);
	}
	return status;
}

static void slice_pack(void *context, uint32_t index)
{
	struct tb_records *records = context;
	struct tb_slice *slice = &records->slices[index];
	slice->packed.n_bytes = 0;
	int status = tb_kept_bins_begin(&slice->packed, 0);
	if (status == TB_OK)
		status = keep_words(records, tb_records_first_word(records, index),
			tb_records_first_word(records, index + 1), &slice->packed);
	slice->failed = status != TB_OK;
}

// records_keep packs the open bin.
static int records_keep(struct tb_records *records)
{
	int status = tb_kept_bins_begin(&records->kept, (uint32_t)records->bin);
	if (status != TB_OK)
		return status;
	if (!records->slices)
		return keep_words(records, 0, records->n_links / 64 + 1u, &records->kept);
	slice_run(records, slice_pack);
	for (uint32_t i = 0; i < TB_RECORDS_SLICES; i++)
		if (records->slices[i].failed ||
			tb_kept_bins_append(&records->kept, &records->slices[i].packed) !=
				TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// slice_list writes the samples of a slice to a place with room for all of its links.
static void slice_list(void *context, uint32_t index)
{
	struct tb_records *records = context;
	uint32_t word = tb_records_first_word(records, index);
	uint32_t end = tb_records_first_word(records, index + 1);
	uint32_t n = 0;
	for (struct tb_link_sample *to = records->bin_samples + word * 64u; word < end;
		word++)
		n += gather_samples(records, word, to + n);
	records->slices[index].n = n;
}

// records_list writes the samples of the open bin to `bin_samples` and returns how many
// there are.
static size_t records_list(struct tb_records *records)
{
	size_t n = 0;
	for (uint32_t word = 0; word <= records->n_links / 64 && !records->slices; word++)
		n += gather_samples(records, word, records->bin_samples + n);
	if (!records->slices)
		return n;
	slice_run(records, slice_list);
	for (uint32_t i = 0; i < TB_RECORDS_SLICES; i++) {
		memmove(records->bin_samples + n,
			records->bin_samples + tb_records_first_word(records, i) * 64u,
			records->slices[i].n * sizeof *records->bin_samples);
		n += records->slices[i].n;
	}
	return n;
}

// keeps returns whether closed bins are kept, instead of being passed to the observer at
// once.
static bool keeps(const struct tb_records *records)
{
	return records->automatic || records->keeps_bins;
}

int tb_records_check_memory(const struct tb_records *records, struct tb_error *error)
{
	bool failed = records->failed || (records->blame && records->blame->failed);
	return failed ? tb_fail_memory(error, "what happens on the links") : TB_OK;
}

int tb_records_close(struct tb_records *records, struct tb_error *error)
{
	int status = keeps(records) ? TB_OK : records_report_start(records, error);
	if (status != TB_OK)
		return status;
	if ((keeps(records) ? records_keep(records) : make_bin_samples(records)) != TB_OK)
		return tb_fail_memory(error, "the time bins");
	if (!keeps(records)) {
		size_t n = records_list(records);
		if (!records->to_ps || (records->bin_start >= records->from_ps &&
					       records->bin_start < records->to_ps)) {
			status = records_report(
				records, records->bin, records->bin_samples, n, error);
		}
	}
	records->bin = records->bin_start < records->from_ps
			       ? (uint64_t)(records->from_ps / records->bin_ps)
			       : records->bin + 1;
	open_bin(records);
	tb_records_pour(records);
	return status == TB_OK ? tb_records_check_memory(records, error) : status;
}

void tb_records_jump(struct tb_records *records, tb_time_ps now)
{
	records->bin = (uint64_t)(now / records->bin_ps);
	open_bin(records);
}

int tb_records_report_bins(struct tb_records *records, struct tb_error *error)
{
	if (!records->observer)
		return TB_OK;
	if (keeps(records) && records->kept_reported == 0)
		records->started = false;
	int status = records_report_start(records, error);
	if (status != TB_OK)
		return status;
	if (make_bin_samples(records) != TB_OK)
		return tb_fail_memory(error, "the time bins");
	while (records->kept_reported < records->kept.n_bytes) {
		uint32_t bin = 0, n = 0;
		records->kept_reported = tb_kept_bins_read(&records->kept,
			records->kept_reported, &bin, records->bin_samples, &n);
		status = records_report(records, bin, records->bin_samples, n, error);
		if (status != TB_OK)
			return status;
	}
	if (keeps(records)) { // not soon needed again
		free(records->bin_samples);
		records->bin_samples = NULL;
	}
	return TB_OK;
}

// records_give_bins passes all bins on at the end.
static int records_give_bins(struct tb_records *records, struct tb_error *error)
{
	const struct tb_observer *observer = records->observer;
	if (!observer->kept || !keeps(records))
		return tb_records_report_bins(records, error);
	records->started = false;
	int status = records_report_start(records, error);
	if (status != TB_OK)
		return status;
	return observed(error, observer->kept(observer->context, &records->kept));
}

static int records_report_blame(struct tb_records *records, struct tb_error *error)
{
	int status = TB_OK;
	if (!records->blame)
		return TB_OK;
	if (tb_blame_record_give(
		    records->blame, records->flows, records->observer, &status) != TB_OK)
		return tb_fail_memory(error, "who waited for whom");
	return observed(error, status);
}

static int records_report_flows(struct tb_records *records, struct tb_error *error)
{
	const struct tb_observer *observer = records->observer;
	if (!observer->flows)
		return TB_OK;
	// Also without flows: messages between processes of one node cross no network.
	struct tb_flow_sample *samples =
		malloc((records->n_flows + 1u) * sizeof *samples);
	if (!samples ||
		tb_flows_in_order(records->flows, records->n_flows, samples) != TB_OK) {
		free(samples);
		return tb_fail_memory(error, "the flows");
	}
	int status = observer->flows(observer->context, samples, records->n_flows);
	free(samples);
	return observed(error, status);
}

// undelivered_at returns the row of a flow and link, which it makes if new; NULL when
// memory runs out.
static struct tb_undelivered_sample *undelivered_at(
	struct tb_records *records, uint32_t flow, uint32_t dead)
{
	uint64_t key = (uint64_t)flow << 32 | dead;
	uint32_t at = records->n_undelivered;
	if (tb_map_find(&records->undelivered_of, key, &at))
		return &records->undelivered[at];
	if (TB_ARRAY_RESERVE(&records->undelivered, &records->undelivered_room,
		    (size_t)at + 1) != TB_OK ||
		tb_map_put(&records->undelivered_of, key, at) != TB_OK)
		return NULL;
	const struct tb_flow_sample *of = &records->flows[flow];
	records->undelivered[at] = (struct tb_undelivered_sample){.job = of->job,
		.source = of->source,
		.destination = of->destination,
		.dead = {dead},
		.first_ps = TB_TIME_NEVER};
	records->n_undelivered++;
	return &records->undelivered[at];
}

void tb_records_undelivered(struct tb_records *records, uint32_t flow, uint32_t dead,
	uint64_t bytes, tb_time_ps now)
{
	struct tb_undelivered_sample *at = undelivered_at(records, flow, dead);
	if (!at) {
		records->failed = true;
		return;
	}
	at->n_messages++;
	at->bytes += bytes;
	if (now < at->first_ps)
		at->first_ps = now;
}

TB_ORDER_BY(records_blame_order, struct tb_undelivered_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id) TB_UP(dead.id))

static int records_report_undelivered(struct tb_records *records, struct tb_error *error)
{
	const struct tb_observer *observer = records->observer;
	if (!observer->undelivered || records->n_undelivered == 0)
		return TB_OK;
	qsort(records->undelivered, records->n_undelivered, sizeof *records->undelivered,
		records_blame_order);
	return observed(error, observer->undelivered(observer->context,
				       records->undelivered, records->n_undelivered));
}

void tb_records_forget_spills(struct tb_records *records)
{
	free(records->spills);
	free(records->spills_before);
	records->spills = records->spills_before = NULL;
	records->n_spills = records->spills_room = records->before_room = 0;
}

int tb_records_finish(struct tb_records *records, struct tb_error *error)
{
	if (!records->observer)
		return TB_OK;
	int status = tb_records_check_memory(records, error);
	if (status == TB_OK)
		status = records_give_bins(records, error);
	// Free the bins, which the observer has, before the rest needs memory.
	tb_kept_bins_fini(&records->kept);
	records->kept_reported = 0;
	free(records->bin_samples);
	records->bin_samples = NULL;
	tb_records_forget_spills(records);
	enter_logged(records);
	if (records->blame)
		tb_blame_table_enter(records->blame, records->flows, NULL);
	if (status == TB_OK)
		status = records_report_flows(records, error);
	if (status == TB_OK)
		status = records_report_blame(records, error);
	if (status == TB_OK)
		status = records_report_undelivered(records, error);
	if (status == TB_OK)
		status = observed(error, tb_records_report_losses(records));
	if (status == TB_OK && records->keeps_messages)
		status = observed(error, tb_slowest_messages_report(
						 &records->messages, records->observer));
	return status;
}

// Samples have 120 bytes each, so indices are sorted instead.
struct flow_place {
	uint64_t key;
	size_t flow;
};

// sort_byte sorts by one byte of the keys; places with the same one keep their order.
static void sort_byte(
	const struct flow_place *from, size_t n, struct flow_place *to, unsigned shift)
{
	size_t next[256] = {0}, sum = 0;
	for (size_t i = 0; i < n; i++)
		next[from[i].key >> shift & 255]++;
	for (size_t byte = 0; byte < 256; byte++) {
		size_t n_of = next[byte];
		next[byte] = sum;
		sum += n_of;
	}
	for (size_t i = 0; i < n; i++)
		to[next[from[i].key >> shift & 255]++] = from[i];
}

int tb_flows_in_order(
	const struct tb_flow_sample *flows, size_t n, struct tb_flow_sample *sorted)
{
	struct flow_place *both = malloc((2 * n + 1) * sizeof *both);
	struct flow_place *places = both, *other = both + n;
	uint64_t differs = 0;
	if (!both)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = tb_flow_key(
			flows[i].job, flows[i].source.id, flows[i].destination.id);
		places[i] = (struct flow_place){key, i};
		differs |= key ^ places[0].key;
	}
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if ((differs >> shift & 255) == 0)
			continue;
		sort_byte(places, n, other, shift);
		struct flow_place *swapped = places;
		places = other;
		other = swapped;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = flows[places[i].flow];
	free(both);
	return TB_OK;
}

// Frames dropped by full queues, by port and by flow, and segments sent again.

void tb_losses_fini(struct tb_losses *losses)
{
	free(losses->ports);
	free(losses->flows);
	free(losses->bursts);
	free(losses->timers);
	tb_map_fini(&losses->burst_of);
	tb_map_fini(&losses->retry_of);
	tb_map_fini(&losses->port_of);
	tb_map_fini(&losses->flow_of);
}

// losses_port_at returns the row of a port, which it makes if new; NULL when memory runs
// out.
static struct tb_port_loss_sample *losses_port_at(struct tb_losses *losses, uint32_t link)
{
	uint32_t at = (uint32_t)losses->n_ports;
	if (tb_map_find(&losses->port_of, link, &at))
		return &losses->ports[at];
	if (TB_ARRAY_RESERVE(&losses->ports, &losses->ports_room, (size_t)at + 1) !=
			TB_OK ||
		tb_map_put(&losses->port_of, link, at) != TB_OK)
		return NULL;
	losses->ports[losses->n_ports++] = (struct tb_port_loss_sample){.link = {link}};
	return &losses->ports[at];
}

static struct tb_flow_loss_sample *losses_flow_at(
	struct tb_records *records, uint32_t flow)
{
	struct tb_losses *losses = &records->losses;
	const struct tb_flow_sample *of = &records->flows[flow];
	uint32_t at = (uint32_t)losses->n_flows;
	if (tb_map_find(&losses->flow_of, flow, &at))
		return &losses->flows[at];
	if (TB_ARRAY_RESERVE(&losses->flows, &losses->flows_room, (size_t)at + 1) !=
			TB_OK ||
		tb_map_put(&losses->flow_of, flow, at) != TB_OK)
		return NULL;
	losses->flows[losses->n_flows++] = (struct tb_flow_loss_sample){
		.job = of->job, .source = of->source, .destination = of->destination};
	return &losses->flows[at];
}

// losses_note_burst keeps when a flow lost its last frame at a port: by port, as parts of
// a replay have ports of their own.
static bool losses_note_burst(
	struct tb_records *records, uint32_t flow, uint32_t link, tb_time_ps now)
{
	struct tb_losses *losses = &records->losses;
	const struct tb_flow_sample *of = &records->flows[flow];
	uint64_t key = (uint64_t)flow << 32 | link;
	uint32_t at = 0;
	if (!tb_map_find(&losses->burst_of, key, &at) ||
		now - losses->bursts[at].to_ps > TB_LOSSES_BURST_PS) {
		at = (uint32_t)losses->n_bursts;
		if (TB_ARRAY_RESERVE(&losses->bursts, &losses->bursts_room,
			    (size_t)at + 1) != TB_OK ||
			tb_map_put(&losses->burst_of, key, at) != TB_OK)
			return false;
		losses->n_bursts++;
	}
	losses->bursts[at] = (struct tb_timeout_sample){.job = of->job,
		.source = of->source,
		.destination = of->destination,
		.to_ps = now,
		.lost = {link}};
	return true;
}

// losses_add_timer keeps that a timer of a flow ran out; false without memory.
static bool losses_add_timer(struct tb_records *records, uint32_t flow, uint32_t lost,
	tb_time_ps from_ps, tb_time_ps now)
{
	struct tb_losses *losses = &records->losses;
	const struct tb_flow_sample *of = &records->flows[flow];
	if (TB_ARRAY_RESERVE(&losses->timers, &losses->timers_room,
		    losses->n_timers + 1) != TB_OK) {
		records->failed = true;
		return false;
	}
	losses->timers[losses->n_timers++] = (struct tb_timeout_sample){.job = of->job,
		.source = of->source,
		.destination = of->destination,
		.from_ps = from_ps,
		.to_ps = now,
		.lost = {lost}};
	return true;
}

void tb_records_timed_out(
	struct tb_records *records, uint32_t flow, tb_time_ps from_ps, tb_time_ps now)
{
	(void)losses_add_timer(records, flow, TB_ID_NONE, from_ps, now);
}

void tb_records_retried(struct tb_records *records, uint32_t flow, uint32_t dead,
	tb_time_ps from_ps, tb_time_ps now)
{
	struct tb_losses *losses = &records->losses;
	uint32_t last = 0;
	if (from_ps >= now || dead == TB_ID_NONE ||
		(tb_map_find(&losses->retry_of, flow, &last) &&
			from_ps < losses->timers[last].to_ps))
		return;
	if (losses_add_timer(records, flow, dead, from_ps, now) &&
		tb_map_put(&losses->retry_of, flow, (uint32_t)losses->n_timers - 1) !=
			TB_OK)
		records->failed = true;
}

void tb_records_lost(struct tb_records *records, uint32_t flow, uint32_t link,
	uint32_t bytes, tb_time_ps now)
{
	struct tb_port_loss_sample *port = losses_port_at(&records->losses, link);
	struct tb_flow_loss_sample *of = losses_flow_at(records, flow);
	if (!port || !of || !losses_note_burst(records, flow, link, now)) {
		records->failed = true;
		return;
	}
	port->n_frames++;
	port->bytes += bytes;
	of->n_frames++;
	of->bytes += bytes;
}

void tb_records_resent(struct tb_records *records, uint32_t flow)
{
	struct tb_flow_loss_sample *of = losses_flow_at(records, flow);
	if (of)
		of->n_resent++;
	else
		records->failed = true;
}

static int losses_append(struct tb_timeout_sample **to, size_t *n, size_t *room,
	const struct tb_timeout_sample *more, size_t n_more)
{
	if (n_more == 0)
		return TB_OK;
	if (TB_ARRAY_RESERVE(to, room, *n + n_more) != TB_OK)
		return TB_ENOMEM;
	memcpy(*to + *n, more, n_more * sizeof *more);
	*n += n_more;
	return TB_OK;
}

// tb_records_add_losses: each port is of one of the records, but flows are of several.
int tb_records_add_losses(struct tb_records *records, const struct tb_records *others)
{
	const struct tb_losses *of = &others->losses;
	struct tb_losses *to = &records->losses;
	if (losses_append(&to->timers, &to->n_timers, &to->timers_room, of->timers,
		    of->n_timers) != TB_OK ||
		losses_append(&to->bursts, &to->n_bursts, &to->bursts_room, of->bursts,
			of->n_bursts) != TB_OK)
		return TB_ENOMEM;
	for (size_t i = 0; i < of->n_ports; i++) {
		struct tb_port_loss_sample *port =
			losses_port_at(&records->losses, of->ports[i].link.id);
		if (!port)
			return TB_ENOMEM;
		*port = of->ports[i];
	}
	for (size_t i = 0; i < of->n_flows; i++) {
		const struct tb_flow_loss_sample *more = &of->flows[i];
		struct tb_flow_loss_sample *flow = losses_flow_at(
			records, tb_records_flow(records, more->job, more->source.id,
					 more->destination.id));
		if (!flow)
			return TB_ENOMEM;
		flow->n_frames += more->n_frames;
		flow->bytes += more->bytes;
		flow->n_resent += more->n_resent;
	}
	return TB_OK;
}

TB_ORDER_BY(losses_link_order, struct tb_port_loss_sample, TB_UP(link.id))

TB_ORDER_BY(losses_flow_order, struct tb_flow_loss_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id))

TB_ORDER_BY(losses_timer_order, struct tb_timeout_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id) TB_UP(to_ps) TB_UP(lost.id))

// losses_find_timeouts keeps, sorted, those timers that ran out because of a loss, and
// finds where that was unless it is known.
static void losses_find_timeouts(struct tb_losses *losses)
{
	size_t n = 0, at = 0;
	if (losses->n_timers)
		qsort(losses->timers, losses->n_timers, sizeof *losses->timers,
			losses_timer_order);
	if (losses->n_bursts)
		qsort(losses->bursts, losses->n_bursts, sizeof *losses->bursts,
			losses_timer_order);
	for (size_t i = 0; i < losses->n_timers; i++) {
		struct tb_timeout_sample timer = losses->timers[i];
		if (timer.lost.id != TB_ID_NONE) {
			losses->timers[n++] = timer;
			continue;
		}
		timer.lost = (struct tb_link){0};
		while (at < losses->n_bursts &&
			losses_timer_order(&losses->bursts[at], &timer) < 0)
			at++;
		const struct tb_timeout_sample *loss =
			at ? &losses->bursts[at - 1] : NULL;
		if (!loss || loss->job != timer.job ||
			loss->source.id != timer.source.id ||
			loss->destination.id != timer.destination.id ||
			timer.from_ps - loss->to_ps > timer.to_ps - timer.from_ps)
			continue;
		timer.lost = loss->lost;
		losses->timers[n++] = timer;
	}
	losses->n_timers = n;
}

int tb_records_report_losses(struct tb_records *records)
{
	const struct tb_observer *observer = records->observer;
	struct tb_losses *losses = &records->losses;
	losses_find_timeouts(losses);
	if (!observer->losses || losses->n_flows + losses->n_timers == 0)
		return TB_OK;
	if (losses->n_ports > 0)
		qsort(losses->ports, losses->n_ports, sizeof *losses->ports,
			losses_link_order);
	if (losses->n_flows > 0)
		qsort(losses->flows, losses->n_flows, sizeof *losses->flows,
			losses_flow_order);
	const struct tb_loss_record record = {losses->ports, losses->flows,
		losses->timers, losses->n_ports, losses->n_flows, losses->n_timers};
	return observer->losses(observer->context, &record);
}
