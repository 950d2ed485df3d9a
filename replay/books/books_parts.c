// The books of a replay in parts: joined to those of the whole, which gather from them.
#include "books.h"

#include "array.h"

#include <stdlib.h>

int tb_books_cut(struct tb_books *books, const struct tb_parts *parts)
{
	books->parts = parts;
	books->near_cells = calloc(parts->n_crossing + 1u, sizeof *books->near_cells);
	books->joined = calloc(parts->n, sizeof(struct tb_books *));
	if (!books->near_cells || !books->joined)
		return TB_ENOMEM;
	for (uint32_t link = 0; link < books->n_links; link++)
		if (parts->crossing_of[link] != TB_ID_NONE)
			books->near_cells[parts->crossing_of[link]].link = link;
	return TB_OK;
}

int tb_books_join(struct tb_books *books, struct tb_books *whole)
{
	*books = (struct tb_books){.cells = whole->cells,
		.n_links = whole->n_links,
		.parts = whole->parts,
		.near_cells = whole->near_cells,
		.flows = whole->flows,
		.is_joined = true,
		.keeps_waits = whole->blame};
	books->touched = calloc(whole->n_links / 64 + 1, sizeof *books->touched);
	if (!books->touched) {
		tb_books_fini(books);
		return TB_ENOMEM;
	}
	whole->joined[whole->n_joined++] = books;
	tb_books_follow(whole);
	return TB_OK;
}

void tb_books_keep_wait(struct tb_books *books, const struct tb_blame_wait *wait)
{
	if (TB_ARRAY_RESERVE(&books->waits, &books->waits_room, books->n_waits + 1) !=
		TB_OK) {
		books->failed = true;
		return;
	}
	books->waits[books->n_waits++] = *wait;
}

void tb_books_enter_waits(struct tb_books *whole, struct tb_team *team)
{
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		struct tb_books *books = whole->joined[i];
		for (size_t w = 0; w < books->n_waits && whole->blame; w++)
			tb_blame_book_add(
				whole->blame, whole->flows, &books->waits[w], team);
		books->n_waits = 0;
	}
}

uint64_t tb_books_waits(const struct tb_books *whole)
{
	uint64_t wait_ps = whole->wait_ps;
	for (uint32_t i = 0; i < whole->n_joined; i++)
		wait_ps += whole->joined[i]->wait_ps;
	return wait_ps;
}

uint64_t tb_books_take_touched(struct tb_books *whole, uint32_t word)
{
	uint64_t bits = whole->touched[word];
	whole->touched[word] = 0;
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		bits |= whole->joined[i]->touched[word];
		whole->joined[i]->touched[word] = 0;
	}
	return bits;
}

void tb_books_add_near(struct tb_books *whole, uint32_t link, struct tb_cell *sum)
{
	uint32_t number = whole->parts->crossing_of[link];
	if (number == TB_ID_NONE)
		return;
	struct tb_cell *near = &whole->near_cells[number];
	sum->wait_ps += near->wait_ps;
	sum->busy_ps += near->busy_ps;
	sum->held_ps += near->held_ps;
	sum->bytes += near->bytes;
	sum->n_packets += near->n_packets;
	sum->n_blocked += near->n_blocked;
	if (near->longest_ps > sum->longest_ps)
		sum->longest_ps = near->longest_ps;
	*near = (struct tb_cell){.link = link};
}

void tb_books_follow(struct tb_books *whole)
{
	for (uint32_t i = 0; i < whole->n_joined; i++) {
		struct tb_books *books = whole->joined[i];
		books->flows = whole->flows;
		books->bin = whole->bin;
		books->bin_ps = whole->bin_ps;
		books->bin_start = whole->bin_start;
		books->bin_end = whole->bin_end;
	}
}
