#include "oracle_books.h"

#include <stdlib.h>

void oracle_books_init(struct oracle_books *books, const struct tb_observer *observer,
	uint32_t n_links, tb_time_ps bin_ps, uint64_t bins_most)
{
	*books = (struct oracle_books){.observer = observer,
		.n_links = n_links,
		.bin_ps = bin_ps,
		.bins_most = bins_most};
}

void oracle_books_fini(struct oracle_books *books)
{
	tb_map_fini(&books->cell_of);
	free(books->cells);
	*books = (struct oracle_books){0};
}

// new_cell appends an empty cell; NULL when there is no memory.
static struct oracle_books_cell *new_cell(
	struct oracle_books *books, uint64_t bin, uint32_t link)
{
	if (books->n_cells == books->cells_room) {
		uint32_t room = books->cells_room ? books->cells_room * 2 : 256;
		void *moved = realloc(books->cells, room * sizeof *books->cells);
		if (!moved)
			return NULL;
		books->cells = moved;
		books->cells_room = room;
	}
	if (tb_map_put(&books->cell_of, bin * books->n_links + link, books->n_cells) !=
		TB_OK)
		return NULL;
	struct oracle_books_cell *cell = &books->cells[books->n_cells++];
	*cell = (struct oracle_books_cell){.bin = bin, .sample.link.id = link};
	return cell;
}

// cell_at finds or makes a cell. Without memory for it what is counted is lost, and
// `failed` ends the replay.
static struct oracle_books_cell *cell_at(struct oracle_books *books, uint64_t bin,
	uint32_t link, struct oracle_books_cell *lost)
{
	uint32_t i = 0;
	if (tb_map_find(&books->cell_of, bin * books->n_links + link, &i))
		return &books->cells[i];
	struct oracle_books_cell *cell = new_cell(books, bin, link);
	if (cell)
		return cell;
	books->failed = true;
	*lost = (struct oracle_books_cell){0};
	return lost;
}

static void add(struct oracle_books_cell *sum, const struct oracle_books_cell *more)
{
	const struct tb_link_sample *from = &more->sample;
	sum->held_ps += more->held_ps;
	sum->sample.n_packets += from->n_packets;
	sum->sample.n_blocked += from->n_blocked;
	sum->sample.wait_ps += from->wait_ps;
	sum->sample.busy_ps += from->busy_ps;
	sum->sample.bytes += from->bytes;
	if (from->longest_wait_ps > sum->sample.longest_wait_ps)
		sum->sample.longest_wait_ps = from->longest_wait_ps;
}

// widen doubles the width of the bins.
static void widen(struct oracle_books *books)
{
	struct oracle_books wide = *books;
	wide.bin_ps *= 2;
	wide.cell_of = (struct tb_map){0};
	wide.cells = NULL;
	wide.n_cells = wide.cells_room = 0;
	for (uint32_t i = 0; i < books->n_cells; i++) {
		const struct oracle_books_cell *cell = &books->cells[i];
		struct oracle_books_cell lost;
		add(cell_at(&wide, cell->bin / 2, cell->sample.link.id, &lost), cell);
	}
	oracle_books_fini(books);
	*books = wide;
}

// bin_of is the bin of an instant, in bins as wide as that needs.
static uint64_t bin_of(struct oracle_books *books, tb_time_ps at)
{
	while (books->bins_most && (uint64_t)(at / books->bin_ps) >= books->bins_most)
		widen(books);
	return (uint64_t)(at / books->bin_ps);
}

// part_in is how much of [begin, end) lies in a bin.
static tb_time_ps part_in(
	const struct oracle_books *books, uint64_t bin, tb_time_ps begin, tb_time_ps end)
{
	tb_time_ps from = (tb_time_ps)bin * books->bin_ps;
	tb_time_ps to = from + books->bin_ps;
	return (end < to ? end : to) - (begin > from ? begin : from);
}

void oracle_books_busy(struct oracle_books *books, uint32_t link, tb_time_ps begin,
	tb_time_ps end, uint64_t bytes)
{
	struct oracle_books_cell lost;
	uint64_t last = bin_of(books, end > begin ? end - 1 : end);
	for (uint64_t bin = bin_of(books, begin); bin <= last; bin++) {
		struct oracle_books_cell *cell = cell_at(books, bin, link, &lost);
		tb_time_ps part = part_in(books, bin, begin, end);
		uint64_t share = bytes;
		if (bin < last)
			share = (uint64_t)((double)bytes * (double)part /
					   (double)(end - begin));
		cell->sample.busy_ps += (uint64_t)part;
		cell->sample.bytes += share;
		bytes -= share;
		begin += part;
	}
}

void oracle_books_held(
	struct oracle_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end)
{
	struct oracle_books_cell lost;
	if (begin == end)
		return;
	uint64_t last = bin_of(books, end - 1);
	for (uint64_t bin = bin_of(books, begin); bin <= last; bin++)
		cell_at(books, bin, link, &lost)->held_ps +=
			(uint64_t)part_in(books, bin, begin, end);
}

void oracle_books_wait(
	struct oracle_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end)
{
	struct oracle_books_cell lost;
	uint64_t last = bin_of(books, end);
	for (uint64_t bin = bin_of(books, begin); bin <= last; bin++) {
		struct tb_link_sample *sample = &cell_at(books, bin, link, &lost)->sample;
		tb_time_ps bin_end = ((tb_time_ps)bin + 1) * books->bin_ps;
		uint64_t so_far = (uint64_t)((end < bin_end ? end : bin_end) - begin);
		sample->wait_ps += (uint64_t)part_in(books, bin, begin, end);
		if (so_far > sample->longest_wait_ps)
			sample->longest_wait_ps = so_far;
	}
	books->wait_ps += (uint64_t)(end - begin);
}

void oracle_books_blocked(struct oracle_books *books, uint32_t link, tb_time_ps at)
{
	struct oracle_books_cell lost;
	uint64_t bin = bin_of(books, at);
	cell_at(books, bin, link, &lost)->sample.n_blocked++;
}

void oracle_books_header(struct oracle_books *books, uint32_t link, tb_time_ps at)
{
	struct oracle_books_cell lost;
	uint64_t bin = bin_of(books, at);
	cell_at(books, bin, link, &lost)->sample.n_packets++;
}

static int by_bin_and_link(const void *left, const void *right)
{
	const struct oracle_books_cell *a = left, *b = right;
	if (a->bin != b->bin)
		return a->bin < b->bin ? -1 : 1;
	return (a->sample.link.id > b->sample.link.id) -
	       (a->sample.link.id < b->sample.link.id);
}

static int tell_sorted(const struct oracle_books *books, struct oracle_books_cell *cells,
	struct tb_error *error)
{
	const struct tb_observer *observer = books->observer;
	struct tb_link_sample *samples = malloc((books->n_links + 1u) * sizeof *samples);
	if (!samples)
		return tb_fail(error, TB_ENOMEM, "no memory to tell the time bins");
	int status = observer->start ? observer->start(observer->context, books->bin_ps)
				     : TB_OK;
	for (uint32_t i = 0; i < books->n_cells && status >= 0;) {
		uint64_t bin = cells[i].bin;
		size_t n = 0;
		for (; i < books->n_cells && cells[i].bin == bin; i++) {
			samples[n] = cells[i].sample;
			// At an early end a flit may be counted as crossing beyond it.
			if (cells[i].held_ps > samples[n].busy_ps)
				samples[n].stall_ps =
					cells[i].held_ps - samples[n].busy_ps;
			n++;
		}
		status = observer->bin(observer->context, bin, samples, n);
	}
	free(samples);
	return status >= 0 ? TB_OK
			   : tb_fail(error, (enum tb_status)status,
				     "the observer of the replay failed");
}

int oracle_books_tell(const struct oracle_books *books, struct tb_error *error)
{
	if (!books->observer || !books->observer->bin)
		return TB_OK;
	struct oracle_books_cell *cells = malloc((books->n_cells + 1u) * sizeof *cells);
	if (!cells)
		return tb_fail(error, TB_ENOMEM, "no memory to tell the time bins");
	for (uint32_t i = 0; i < books->n_cells; i++)
		cells[i] = books->cells[i];
	qsort(cells, books->n_cells, sizeof *cells, by_bin_and_link);
	int status = tell_sorted(books, cells, error);
	free(cells);
	return status;
}
