#include "books.h"

#include "array.h"
#include "blame_record.h"

#include <stdlib.h>
#include <string.h>

// An automatic width keeps at most this many samples where links are few, and never more
// bins than MOST_BINS nor fewer than LEAST_BINS: storing a bin of a link costs about as
// much as replaying a packet, so a short replay must not write too many rows. With so
// many links that even LEAST_BINS would need more than MOST_MEMORY samples (of some 20
// bytes), there are fewer bins.
enum { MOST_SAMPLES = 131072, MOST_MEMORY = 1 << 22 };
enum { MOST_BINS = 1024, LEAST_BINS = 64, FEWEST_BINS = 8 };
enum { FIRST_BIN_PS = 1000000 };

static uint64_t bins_for(uint32_t n_links)
{
	uint64_t bins = LEAST_BINS;
	while (bins < MOST_BINS && bins * 2 * n_links <= MOST_SAMPLES)
		bins *= 2;
	while (bins > FEWEST_BINS && bins * n_links > MOST_MEMORY)
		bins /= 2;
	return bins;
}

int tb_books_init(struct tb_books *books, const struct tb_network *net,
	const struct tb_observer *observer, struct tb_cell **cells, tb_time_ps bin_ps,
	bool blame)
{
	uint32_t n_links = net->n_links;
	*books = (struct tb_books){.observer = observer,
		.cells = cells,
		.n_links = n_links,
		.automatic = bin_ps == 0,
		.bin_ps = bin_ps ? bin_ps : FIRST_BIN_PS,
		.bins_most = bins_for(n_links),
		.keeps_messages = observer && observer->messages};
	books->bin_end = books->bin_ps;
	books->touched = calloc(n_links / 64 + 1, sizeof *books->touched);
	// Number 0, which tb_books_flow returns when memory runs out, must be valid.
	int status = TB_ARRAY_RESERVE(&books->flows, &books->flows_room, 1);
	if (blame && observer->blame)
		books->blame = tb_blame_book_new(net, books->bin_ps);
	if (!books->touched || status != TB_OK ||
		(blame && observer->blame && !books->blame)) {
		tb_books_fini(books);
		return TB_ENOMEM;
	}
	return TB_OK;
}

void tb_books_fini(struct tb_books *books)
{
	if (books->is_joined) {
		books->flows = NULL;
		books->near_cells = NULL;
	}
	free(books->near_cells);
	free(books->joined);
	free(books->waits);
	free(books->touched);
	free(books->told);
	free(books->spills);
	free(books->spills_before);
	tb_kept_bins_fini(&books->kept);
	free(books->flows);
	free(books->undelivered);
	tb_losses_fini(&books->losses);
	tb_message_book_fini(&books->messages);
	tb_map_fini(&books->undelivered_of);
	tb_blame_book_free(books->blame);
	tb_map_fini(&books->flow_of);
	*books = (struct tb_books){0};
}

uint32_t tb_books_flow(
	struct tb_books *books, uint32_t job, uint32_t source, uint32_t destination)
{
	uint64_t key = (uint64_t)job << 48 | (uint64_t)source << 24 | destination;
	uint32_t flow = 0;
	if (tb_map_find(&books->flow_of, key, &flow))
		return flow;
	if (TB_ARRAY_RESERVE(&books->flows, &books->flows_room,
		    (size_t)books->n_flows + 1) != TB_OK) {
		books->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < books->n_joined; i++)
		books->joined[i]->flows = books->flows;
	flow = books->n_flows;
	if (tb_map_put(&books->flow_of, key, flow) != TB_OK)
		books->failed = true;
	books->flows[flow] = (struct tb_flow_sample){
		.job = job, .source = {source}, .destination = {destination}};
	books->n_flows++;
	return flow;
}

static void push_spill(struct tb_books *books, struct tb_spill burst)
{
	if (TB_ARRAY_RESERVE(&books->spills, &books->spills_room, books->n_spills + 1) !=
		TB_OK) {
		books->failed = true;
		return;
	}
	books->spills[books->n_spills++] = burst;
}

// bytes_by returns how many bytes of a burst have crossed by an instant within it:
// proportional to time, rounded down, so that merged bins equal one wide bin.
static uint64_t bytes_by(const struct tb_spill *burst, tb_time_ps at)
{
	uint64_t part = (uint64_t)(at - burst->start);
	uint64_t whole = (uint64_t)(burst->end - burst->start);
	if (part == whole)
		return burst->bytes;
	for (; burst->bytes > UINT64_MAX / whole; whole /= 2)
		part /= 2;
	return burst->bytes * part / whole;
}

// count_part counts the part of a burst that lies in the open bin.
static void count_part(struct tb_books *books, const struct tb_spill *burst)
{
	struct tb_cell *cell = tb_books_near_cell(books, burst->link);
	bool begins = burst->start >= books->bin_start;
	tb_time_ps from = begins ? burst->start : books->bin_start;
	tb_time_ps to = burst->end < books->bin_end ? burst->end : books->bin_end;
	if (from >= to)
		return;
	cell->busy_ps += (uint64_t)(to - from);
	cell->bytes += bytes_by(burst, to) - bytes_by(burst, from);
	cell->n_packets += begins ? burst->n_packets : 0;
	tb_books_touch(books, cell);
}

void tb_books_spill(struct tb_books *books, struct tb_spill burst)
{
	count_part(books, &burst);
	push_spill(books, burst);
}

// pour_spills adds to the opened bin what earlier bursts left for it.
static void pour_spills(struct tb_books *books)
{
	struct tb_spill *before = books->spills;
	size_t n = books->n_spills;
	size_t room = books->spills_room;
	books->spills = books->spills_before;
	books->spills_room = books->before_room;
	books->spills_before = before;
	books->before_room = room;
	books->n_spills = 0;
	for (size_t i = 0; i < n; i++)
		if (before[i].end > books->bin_end)
			tb_books_spill(books, before[i]);
		else
			count_part(books, &before[i]);
}

bool tb_books_idle(const struct tb_books *books)
{
	for (uint32_t i = 0; i < books->n_joined; i++)
		if (!tb_books_idle(books->joined[i]))
			return false;
	if (books->n_spills)
		return false;
	for (uint32_t i = 0; i <= books->n_links / 64; i++)
		if (books->touched[i])
			return false;
	return true;
}

static int observer_failed(struct tb_error *error, int status)
{
	return tb_fail(
		error, (enum tb_status)status, "the observer of the replay failed");
}

// tell_start passes the width of the bins to the observer, once.
static int tell_start(struct tb_books *books, struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	if (books->started || !observer || !observer->start)
		return TB_OK;
	books->started = true;
	int status = observer->start(observer->context, books->bin_ps);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell(struct tb_books *books, uint64_t bin,
	const struct tb_link_sample *samples, size_t n, struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	if (n == 0 || !observer || !observer->bin)
		return TB_OK;
	int status = observer->bin(observer->context, bin, samples, n);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

// widen doubles the width.
static void widen(struct tb_books *books)
{
	if (tb_kept_bins_widen(&books->kept) != TB_OK)
		books->failed = true;
	books->kept_told = 0;
	books->bin /= 2;
	books->bin_ps *= 2;
}

static void open_bin(struct tb_books *books)
{
	while (books->automatic && books->bin >= books->bins_most)
		widen(books);
	books->bin_start = (tb_time_ps)books->bin * books->bin_ps;
	books->bin_end = books->bin_start + books->bin_ps;
	tb_books_follow(books);
}

static struct tb_link_sample sample_of(
	const struct tb_books *books, const struct tb_cell *cell)
{
	// A burst may be counted up to its end although its VC is held longer.
	uint64_t moving = cell->busy_ps < cell->held_ps ? cell->busy_ps : cell->held_ps;
	if (books->holds_stall)
		moving = 0;
	return (struct tb_link_sample){.link = {cell->link},
		.n_packets = cell->n_packets,
		.n_blocked = cell->n_blocked,
		.wait_ps = cell->wait_ps,
		.stall_ps = cell->held_ps - moving,
		.busy_ps = cell->busy_ps,
		.bytes = cell->bytes,
		.longest_wait_ps = cell->longest_ps};
}

// gather turns the open bin's cells of 64 links into samples, by link, and clears them.
static uint32_t gather(
	struct tb_books *books, uint32_t word, struct tb_link_sample *samples)
{
	uint32_t n = 0;
	uint64_t bits = tb_books_take_touched(books, word);
	for (; bits; bits &= bits - 1) {
		uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct tb_cell *cell = books->cells[link];
		if (books->parts)
			tb_books_add_near(books, link, cell);
		samples[n++] = sample_of(books, cell);
		*cell = (struct tb_cell){.link = link};
	}
	return n;
}

// keep packs the open bin.
static int keep(struct tb_books *books)
{
	struct tb_link_sample samples[64];
	int status = tb_kept_bins_begin(&books->kept, (uint32_t)books->bin);
	for (uint32_t word = 0; word <= books->n_links / 64 && status == TB_OK; word++) {
		uint32_t n = gather(books, word, samples);
		status = tb_kept_bins_add(&books->kept, samples, n);
	}
	return status;
}

// make_told makes room for a bin to be told.
static int make_told(struct tb_books *books)
{
	if (!books->told)
		books->told = malloc(books->n_links * sizeof *books->told);
	return books->told ? TB_OK : TB_ENOMEM;
}

static int tell_open_bin(struct tb_books *books, struct tb_error *error)
{
	size_t n = 0;
	for (uint32_t word = 0; word <= books->n_links / 64; word++)
		n += gather(books, word, books->told + n);
	return tell(books, books->bin, books->told, n, error);
}

static int check_memory(const struct tb_books *books, struct tb_error *error)
{
	bool failed = books->failed || (books->blame && books->blame->failed);
	for (uint32_t i = 0; i < books->n_joined; i++)
		failed |= books->joined[i]->failed;
	return failed ? tb_fail(error, TB_ENOMEM,
				"no memory for what happens on the links")
		      : TB_OK;
}

int tb_books_close(struct tb_books *books, struct tb_error *error)
{
	int status = books->automatic ? TB_OK : tell_start(books, error);
	if (status != TB_OK)
		return status;
	if ((books->automatic ? keep(books) : make_told(books)) != TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory for the time bins");
	if (!books->automatic)
		status = tell_open_bin(books, error);
	books->bin++;
	open_bin(books);
	pour_spills(books);
	for (uint32_t i = 0; i < books->n_joined; i++)
		pour_spills(books->joined[i]);
	return status == TB_OK ? check_memory(books, error) : status;
}

void tb_books_jump(struct tb_books *books, tb_time_ps now)
{
	books->bin = (uint64_t)(now / books->bin_ps);
	open_bin(books);
}

int tb_books_tell_bins(struct tb_books *books, struct tb_error *error)
{
	if (!books->observer)
		return TB_OK;
	if (books->automatic && books->kept_told == 0)
		books->started = false;
	int status = tell_start(books, error);
	if (status != TB_OK)
		return status;
	if (make_told(books) != TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory for the time bins");
	while (books->kept_told < books->kept.n_bytes) {
		uint32_t bin = 0, n = 0;
		books->kept_told = tb_kept_bins_read(
			&books->kept, books->kept_told, &bin, books->told, &n);
		status = tell(books, bin, books->told, n, error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static int by_flow(const void *left, const void *right)
{
	const struct tb_flow_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	return (a->destination.id > b->destination.id) -
	       (a->destination.id < b->destination.id);
}

static int tell_blame(struct tb_books *books, struct tb_error *error)
{
	int status = TB_OK;
	if (!books->blame)
		return TB_OK;
	if (tb_blame_record_give(books->blame, books->flows, books->observer, &status) !=
		TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory to tell who waited for whom");
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell_flows(struct tb_books *books, struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	if (!observer->flows)
		return TB_OK;
	// Without a flow too: hosts have some that cross no network.
	struct tb_flow_sample *samples = malloc((books->n_flows + 1u) * sizeof *samples);
	if (!samples)
		return tb_fail(error, TB_ENOMEM, "no memory to tell the flows");
	memcpy(samples, books->flows, books->n_flows * sizeof *samples);
	qsort(samples, books->n_flows, sizeof *samples, by_flow);
	int status = observer->flows(observer->context, samples, books->n_flows);
	free(samples);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

// undelivered_at returns the row of a flow and link, which it makes if new; NULL when
// memory runs out.
static struct tb_undelivered_sample *undelivered_at(
	struct tb_books *books, uint32_t flow, uint32_t dead)
{
	uint64_t key = (uint64_t)flow << 32 | dead;
	uint32_t at = books->n_undelivered;
	if (tb_map_find(&books->undelivered_of, key, &at))
		return &books->undelivered[at];
	if (TB_ARRAY_RESERVE(&books->undelivered, &books->undelivered_room,
		    (size_t)at + 1) != TB_OK ||
		tb_map_put(&books->undelivered_of, key, at) != TB_OK)
		return NULL;
	const struct tb_flow_sample *of = &books->flows[flow];
	books->undelivered[at] = (struct tb_undelivered_sample){.job = of->job,
		.source = of->source,
		.destination = of->destination,
		.dead = {dead},
		.first_ps = TB_TIME_NEVER};
	books->n_undelivered++;
	return &books->undelivered[at];
}

void tb_books_undelivered(struct tb_books *books, uint32_t flow, uint32_t dead,
	uint64_t bytes, tb_time_ps now)
{
	struct tb_undelivered_sample *at = undelivered_at(books, flow, dead);
	if (!at) {
		books->failed = true;
		return;
	}
	at->n_messages++;
	at->bytes += bytes;
	if (now < at->first_ps)
		at->first_ps = now;
}

static int by_flow_and_link(const void *left, const void *right)
{
	const struct tb_undelivered_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	if (a->destination.id != b->destination.id)
		return a->destination.id < b->destination.id ? -1 : 1;
	return (a->dead.id > b->dead.id) - (a->dead.id < b->dead.id);
}

static int tell_undelivered(struct tb_books *books, struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	if (!observer->undelivered || books->n_undelivered == 0)
		return TB_OK;
	qsort(books->undelivered, books->n_undelivered, sizeof *books->undelivered,
		by_flow_and_link);
	int status = observer->undelivered(
		observer->context, books->undelivered, books->n_undelivered);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell_losses(struct tb_books *books, struct tb_error *error)
{
	int status = tb_books_tell_losses(books);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell_messages(struct tb_books *books, struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	if (!books->keeps_messages)
		return TB_OK;
	int status = tb_message_book_tell(&books->messages, observer);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static void forget_spills(struct tb_books *books)
{
	free(books->spills);
	free(books->spills_before);
	books->spills = books->spills_before = NULL;
	books->n_spills = books->spills_room = books->before_room = 0;
}

// forget_bins frees what has been told, before the rest needs memory.
static void forget_bins(struct tb_books *books)
{
	tb_kept_bins_fini(&books->kept);
	books->kept_told = 0;
	free(books->told);
	books->told = NULL;
	forget_spills(books);
	for (uint32_t i = 0; i < books->n_joined; i++)
		forget_spills(books->joined[i]);
}

int tb_books_finish(struct tb_books *books, struct tb_error *error)
{
	if (!books->observer)
		return TB_OK;
	int status = check_memory(books, error);
	if (status == TB_OK)
		status = tb_books_tell_bins(books, error);
	forget_bins(books);
	tb_books_enter_waits(books, NULL);
	if (books->blame)
		tb_blame_book_enter(books->blame, books->flows, NULL);
	if (status == TB_OK)
		status = tell_flows(books, error);
	if (status == TB_OK)
		status = tell_blame(books, error);
	if (status == TB_OK)
		status = tell_undelivered(books, error);
	if (status == TB_OK)
		status = tell_losses(books, error);
	return status == TB_OK ? tell_messages(books, error) : status;
}
