#include "tree_book.h"

#include "random.h"
#include "wait_steps.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };
// 24 bytes a slot, three quarters used at most.
enum { MOST_ROOM = 16384 };
// Entries that are listed with root and link: storing a row costs as much as replaying a
// packet.
enum { MOST_LISTED = 8192 };

int tb_tree_book_init(struct tb_tree_book *book, tb_time_ps base_ps)
{
	struct tb_tree_entry *slots = calloc(FIRST_ROOM, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	*book = (struct tb_tree_book){
		.slots = slots, .room = FIRST_ROOM, .bin_ps = base_ps};
	return TB_OK;
}

void tb_tree_book_fini(struct tb_tree_book *book)
{
	free(book->slots);
	*book = (struct tb_tree_book){0};
}

static bool same(const struct tb_tree_entry *a, const struct tb_tree_entry *b)
{
	return a->bin == b->bin && a->root == b->root && a->link == b->link;
}

static uint64_t hash_of(const struct tb_tree_entry *entry)
{
	return tb_random_mix(
		(uint64_t)entry->root << 32 ^ (uint64_t)entry->bin << 26 ^ entry->link);
}

static void enter(struct tb_tree_book *book, const struct tb_tree_entry *more)
{
	uint32_t mask = book->room - 1;
	uint32_t i = (uint32_t)(hash_of(more) >> 16) & mask;
	while (book->slots[i].wait_ps && !same(&book->slots[i], more))
		i = (i + 1) & mask;
	struct tb_tree_entry *entry = &book->slots[i];
	if (entry->wait_ps == 0) {
		*entry = *more;
		book->n_used++;
		return;
	}
	entry->wait_ps += more->wait_ps;
}

// gather moves the used entries to the front of the table and counts them.
static uint32_t gather(struct tb_tree_book *book)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < book->room; i++)
		if (book->slots[i].wait_ps)
			book->slots[n++] = book->slots[i];
	return n;
}

// refill puts `n` gathered entries into a new table.
static int refill(struct tb_tree_book *book, uint32_t n, uint32_t room)
{
	struct tb_tree_entry *entries = book->slots;
	struct tb_tree_entry *slots = calloc(room, sizeof *slots);
	if (!slots) {
		tb_tree_book_fini(book);
		return TB_ENOMEM;
	}
	book->slots = slots;
	book->room = room;
	book->n_used = 0;
	for (uint32_t i = 0; i < n; i++)
		enter(book, &entries[i]);
	free(entries);
	return TB_OK;
}

// fold removes root and link from about the `n_light` lightest of n entries. Those of the
// slice `spared` are still growing: they stay if half as many others can be folded.
static void fold(
	struct tb_tree_entry *entries, uint32_t n, uint32_t n_light, uint32_t spared)
{
	struct tb_wait_steps steps = {0};
	for (uint32_t i = 0; i < n; i++)
		tb_wait_steps_add(&steps, entries[i].wait_ps);
	uint64_t least_ps = tb_wait_steps_reached(&steps, n - n_light);
	uint32_t n_folded = 0;
	for (int spare = 1; spare >= 0 && n_folded < n_light / 2; spare--)
		for (uint32_t i = 0; i < n; i++) {
			if (entries[i].wait_ps >= least_ps ||
				(spare && entries[i].bin == spared) ||
				entries[i].root == TB_ID_NONE)
				continue;
			entries[i].root = entries[i].link = TB_ID_NONE;
			n_folded++;
		}
}

static int make_room(struct tb_tree_book *book)
{
	if (book->n_used * 4 < book->room * 3)
		return TB_OK;
	uint32_t n = gather(book);
	if (book->room < MOST_ROOM)
		return refill(book, n, book->room * 2);
	uint32_t newest = 0;
	for (uint32_t i = 0; i < n; i++)
		newest = book->slots[i].bin > newest ? book->slots[i].bin : newest;
	fold(book->slots, n, n / 2, newest);
	return refill(book, n, book->room);
}

// flush enters the sums held in front of the table.
static int flush(struct tb_tree_book *book)
{
	int status = TB_OK;
	for (size_t i = 0; i < TB_TREE_FRONT && status == TB_OK; i++) {
		if (book->front[i].wait_ps == 0)
			continue;
		enter(book, &book->front[i]);
		book->front[i].wait_ps = 0;
		status = make_room(book);
	}
	return status;
}

// slice_at makes the slice that contains `at` the current one: most waits lie wholly in
// it.
static void slice_at(struct tb_tree_book *book, tb_time_ps at)
{
	book->bin = (uint32_t)(at / book->bin_ps);
	book->bin_start = (tb_time_ps)book->bin * book->bin_ps;
}

// widen doubles the slices: 2b and 2b + 1 become b.
static int widen(struct tb_tree_book *book)
{
	int status = flush(book);
	if (status != TB_OK)
		return status;
	uint32_t n = gather(book);
	for (uint32_t i = 0; i < n; i++)
		book->slots[i].bin /= 2;
	book->bin_ps *= 2;
	slice_at(book, book->bin_start);
	return refill(book, n, book->room);
}

static int put(struct tb_tree_book *book, const struct tb_tree_entry *more)
{
	int status = TB_OK;
	struct tb_tree_entry *front = &book->front[hash_of(more) % TB_TREE_FRONT];
	if (front->wait_ps && same(front, more)) {
		front->wait_ps += more->wait_ps;
		return TB_OK;
	}
	if (front->wait_ps) {
		enter(book, front);
		status = make_room(book);
	}
	*front = *more;
	return status;
}

int tb_tree_book_add(struct tb_tree_book *book, uint32_t root, uint32_t link,
	tb_time_ps from, tb_time_ps to)
{
	int status = TB_OK;
	while (status == TB_OK && book->slots && to > book->bin_ps * TB_TREE_BINS)
		status = widen(book);
	while (status == TB_OK && book->slots && from < to) {
		if (from < book->bin_start || from >= book->bin_start + book->bin_ps)
			slice_at(book, from);
		struct tb_tree_entry part = {book->bin, root, link, 0};
		tb_time_ps end = book->bin_start + book->bin_ps;
		end = end < to ? end : to;
		part.wait_ps = (uint64_t)(end - from);
		status = put(book, &part);
		from = end;
	}
	return status;
}

static int in_order(const void *one, const void *other)
{
	const struct tb_tree_sample *a = one, *b = other;
	if (a->bin != b->bin)
		return a->bin < b->bin ? -1 : 1;
	if (a->root.id != b->root.id)
		return a->root.id < b->root.id ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

int tb_tree_book_list(
	struct tb_tree_book *book, struct tb_tree_sample **samples, size_t *n)
{
	int status = book->slots ? flush(book) : TB_OK;
	if (status != TB_OK)
		return status;
	if (book->n_used > MOST_LISTED) {
		uint32_t n_all = gather(book);
		fold(book->slots, n_all, n_all - MOST_LISTED, UINT32_MAX);
		status = refill(book, n_all, book->room);
		if (status != TB_OK)
			return status;
	}
	uint32_t n_used = book->slots ? gather(book) : 0;
	struct tb_tree_sample *made = malloc((n_used + 1u) * sizeof *made);
	for (uint32_t i = 0; made && i < n_used; i++)
		made[i] = (struct tb_tree_sample){.bin = book->slots[i].bin,
			.root = {book->slots[i].root},
			.link = {book->slots[i].link},
			.wait_ps = book->slots[i].wait_ps};
	if (book->slots)
		status = refill(book, n_used, book->room);
	if (!made || status != TB_OK) {
		free(made);
		return TB_ENOMEM;
	}
	if (n_used)
		qsort(made, n_used, sizeof *made, in_order);
	*samples = made;
	*n = n_used;
	return TB_OK;
}
