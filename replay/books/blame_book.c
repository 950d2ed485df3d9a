#include "blame_book.h"

#include "random.h"
#include "wait_steps.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };
// Beyond so many slots (32 bytes each) only the heavier entries are kept separately.
enum { MOST_ROOM = 32768 };
// Entries that are listed in full: storing every pair of flows would take longer than the
// replay.
enum { MOST_LISTED = 4096 };

int tb_blame_book_init(struct tb_blame_book *book)
{
	struct tb_blame_entry *slots = calloc(FIRST_ROOM, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	*book = (struct tb_blame_book){
		.slots = slots, .room = FIRST_ROOM, .n_slots = FIRST_ROOM};
	return TB_OK;
}

void tb_blame_book_fini(struct tb_blame_book *book)
{
	free(book->slots);
	*book = (struct tb_blame_book){0};
}

bool tb_blame_book_is_kept(const struct tb_blame_book *book)
{
	return book->slots != NULL;
}

static bool same_parties(const struct tb_blame_entry *a, const struct tb_blame_entry *b)
{
	return a->link == b->link && a->root == b->root && a->victim == b->victim &&
	       a->culprit == b->culprit;
}

static uint64_t hash_of(const struct tb_blame_entry *entry)
{
	return tb_random_mix(((uint64_t)entry->victim << 32 | entry->culprit) ^
			     ((uint64_t)entry->root << 20) ^ entry->link);
}

static uint32_t slot_of(const struct tb_blame_book *book, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * book->n_slots >> 32);
}

static void enter(
	struct tb_blame_book *book, const struct tb_blame_entry *more, uint64_t hash)
{
	uint32_t i = slot_of(book, hash);
	while (book->slots[i].n_waits && !same_parties(&book->slots[i], more))
		i = i + 1 == book->n_slots ? 0 : i + 1;
	struct tb_blame_entry *entry = &book->slots[i];
	if (entry->n_waits == 0) {
		*entry = *more;
		book->n_used++;
		return;
	}
	entry->n_waits += more->n_waits;
	entry->wait_ps += more->wait_ps;
}

static int by_id(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

// by_place puts what is added up by job, which has no nodes, before flows.
static int by_place(const void *left, const void *right)
{
	const struct tb_blame_entry *a = left, *b = right;
	if (a->link != b->link)
		return by_id(a->link, b->link);
	if (a->root != b->root)
		return by_id(a->root, b->root);
	if (a->victim != b->victim)
		return by_id(a->victim ^ TB_FLOW_OF_JOB, b->victim ^ TB_FLOW_OF_JOB);
	return by_id(a->culprit ^ TB_FLOW_OF_JOB, b->culprit ^ TB_FLOW_OF_JOB);
}

static uint32_t flow_of_job(const struct tb_flow_sample *flows, uint32_t flow)
{
	return flow & TB_FLOW_OF_JOB ? flow : TB_FLOW_OF_JOB | flows[flow].job;
}

// gather moves the used entries to the front and counts them. The table is then a list,
// that keeps no more memory than it needs; call refill before entering more.
static uint32_t gather(struct tb_blame_book *book)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < book->n_slots; i++)
		if (book->slots[i].n_waits)
			book->slots[n++] = book->slots[i];
	struct tb_blame_entry *list =
		realloc(book->slots, (n + 1u) * sizeof *book->slots);
	if (list)
		book->slots = list;
	book->is_list = true;
	return n;
}

// rehash puts `n` gathered entries into a new table of `n_slots` or more.
static int rehash(struct tb_blame_book *book, uint32_t n, uint32_t n_slots)
{
	struct tb_blame_entry *entries = book->slots;
	if (n_slots < n + n / 2)
		n_slots = n + n / 2;
	book->slots = calloc(n_slots, sizeof *book->slots);
	if (!book->slots) {
		free(entries);
		*book = (struct tb_blame_book){0};
		return TB_ENOMEM;
	}
	book->n_slots = n_slots;
	book->is_list = false;
	book->n_used = 0;
	for (uint32_t i = 0; i < n; i++)
		enter(book, &entries[i], hash_of(&entries[i]));
	free(entries);
	return TB_OK;
}

// refill makes at least `room` for `n` gathered entries, and so much that they fill at
// most half of it: even with many pairs of jobs the next refill is far off. Of large
// rooms only the slots are there that are needed.
static int refill(struct tb_blame_book *book, uint32_t n, uint32_t room)
{
	if (rehash(book, n, room < MOST_ROOM ? room : MOST_ROOM) != TB_OK)
		return TB_ENOMEM;
	while (book->n_used > room / 2)
		room *= 2;
	book->room = room;
	return TB_OK;
}

// fold sums by job those of `n` gathered entries that waited less than `least_ps`.
static void fold(struct tb_blame_book *book, const struct tb_flow_sample *flows,
	uint32_t n, uint64_t least_ps)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tb_blame_entry *entry = &book->slots[i];
		if (entry->wait_ps >= least_ps)
			continue;
		entry->victim = flow_of_job(flows, entry->victim);
		entry->culprit = flow_of_job(flows, entry->culprit);
	}
}

// heavier_ps returns a wait that about `n_most` of the entries reach, and no more than
// that.
static uint64_t heavier_ps(
	const struct tb_blame_entry *entries, uint32_t n, uint32_t n_most)
{
	struct tb_wait_steps steps = {0};
	for (uint32_t i = 0; i < n; i++)
		tb_wait_steps_add(&steps, entries[i].wait_ps);
	return tb_wait_steps_reached(&steps, n_most);
}

// enlarge makes room. From MOST_ROOM on it keeps the heavier half and folds the rest.
static int enlarge(struct tb_blame_book *book, const struct tb_flow_sample *flows)
{
	uint32_t n = gather(book);
	if (book->room < MOST_ROOM)
		return refill(book, n, book->room * 2);
	fold(book, flows, n, heavier_ps(book->slots, n, n / 2));
	return refill(book, n, book->room);
}

static int enter_held(
	struct tb_blame_book *book, const struct tb_flow_sample *flows, uint32_t i)
{
	enter(book, &book->held[i], book->hashes[i]);
	if (book->n_used * 4 >= book->room * 3)
		return enlarge(book, flows);
	if (book->n_used < book->n_slots - book->n_slots / 8)
		return TB_OK;
	return rehash(book, gather(book), 0);
}

int tb_blame_book_add(struct tb_blame_book *book, const struct tb_flow_sample *flows,
	const struct tb_blame_entry *more)
{
	if (!book->slots)
		return TB_OK;
	if (book->is_list && refill(book, book->n_used, book->room) != TB_OK)
		return TB_ENOMEM;
	uint32_t i = book->next_held;
	if (book->n_held == TB_BLAME_HELD) {
		if (enter_held(book, flows, i) != TB_OK)
			return TB_ENOMEM;
	} else {
		book->n_held++;
	}
	book->held[i] = *more;
	book->hashes[i] = hash_of(more);
	book->next_held = (i + 1) % TB_BLAME_HELD;
	__builtin_prefetch(&book->slots[slot_of(book, book->hashes[i])], 1);
	return TB_OK;
}

// enter_all enters the entries held back, in order of arrival.
static int enter_all(struct tb_blame_book *book, const struct tb_flow_sample *flows)
{
	uint32_t first = book->next_held + TB_BLAME_HELD - book->n_held;
	for (uint32_t n = 0; n < book->n_held; n++)
		if (enter_held(book, flows, (first + n) % TB_BLAME_HELD) != TB_OK)
			return TB_ENOMEM;
	book->n_held = 0;
	return TB_OK;
}

// end_of returns the flow that a number in an entry stands for, or only its job.
static struct tb_flow_sample end_of(const struct tb_flow_sample *flows, uint32_t flow)
{
	if (flow & TB_FLOW_OF_JOB)
		return (struct tb_flow_sample){.job = flow & ~TB_FLOW_OF_JOB,
			.source = {TB_ID_NONE},
			.destination = {TB_ID_NONE}};
	return flows[flow];
}

static struct tb_blame_sample sample_of(
	const struct tb_flow_sample *flows, const struct tb_blame_entry *entry)
{
	struct tb_flow_sample victim = end_of(flows, entry->victim);
	struct tb_flow_sample culprit = end_of(flows, entry->culprit);
	return (struct tb_blame_sample){.link = {entry->link},
		.root = {entry->root},
		.victim_job = victim.job,
		.victim_source = victim.source,
		.victim_destination = victim.destination,
		.culprit_job = culprit.job,
		.culprit_source = culprit.source,
		.culprit_destination = culprit.destination,
		.n_waits = entry->n_waits,
		.wait_ps = entry->wait_ps};
}

// fold_lightest leaves at most MOST_LISTED entries in full.
static int fold_lightest(struct tb_blame_book *book, const struct tb_flow_sample *flows)
{
	uint32_t n = gather(book);
	fold(book, flows, n, heavier_ps(book->slots, n, MOST_LISTED));
	return refill(book, n, FIRST_ROOM);
}

int tb_blame_book_list(struct tb_blame_book *book, const struct tb_flow_sample *flows,
	struct tb_blame_sample **samples, size_t *n)
{
	if (book->is_list && refill(book, book->n_used, book->room) != TB_OK)
		return TB_ENOMEM;
	if (enter_all(book, flows) != TB_OK)
		return TB_ENOMEM;
	if (book->n_used > MOST_LISTED && fold_lightest(book, flows) != TB_OK)
		return TB_ENOMEM;
	uint32_t n_used = gather(book);
	struct tb_blame_sample *made = malloc((n_used + 1u) * sizeof *made);
	if (made) {
		qsort(book->slots, n_used, sizeof *book->slots, by_place);
		for (uint32_t i = 0; i < n_used; i++)
			made[i] = sample_of(flows, &book->slots[i]);
	}
	if (!made)
		return TB_ENOMEM;
	*samples = made;
	*n = n_used;
	return TB_OK;
}
