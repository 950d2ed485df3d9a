#include "tree_ledger.h"

#include "random.h"
#include "wait_steps.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };
// 24 bytes a slot, three quarters used at most.
enum { MOST_ROOM = 16384 };
// So many are told with root and link: a row of the store costs as much as replaying a
// packet.
enum { MOST_TOLD = 8192 };

int tb_tree_ledger_init(struct tb_tree_ledger *ledger, tb_time_ps base_ps)
{
	struct tb_tree_entry *slots = calloc(FIRST_ROOM, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	*ledger = (struct tb_tree_ledger){
		.slots = slots, .room = FIRST_ROOM, .bin_ps = base_ps};
	return TB_OK;
}

void tb_tree_ledger_fini(struct tb_tree_ledger *ledger)
{
	free(ledger->slots);
	*ledger = (struct tb_tree_ledger){0};
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

static void enter(struct tb_tree_ledger *ledger, const struct tb_tree_entry *more)
{
	uint32_t mask = ledger->room - 1;
	uint32_t i = (uint32_t)(hash_of(more) >> 16) & mask;
	while (ledger->slots[i].wait_ps && !same(&ledger->slots[i], more))
		i = (i + 1) & mask;
	struct tb_tree_entry *entry = &ledger->slots[i];
	if (entry->wait_ps == 0) {
		*entry = *more;
		ledger->n_used++;
		return;
	}
	entry->wait_ps += more->wait_ps;
}

// gather moves the used entries to the front of the table and counts them.
static uint32_t gather(struct tb_tree_ledger *ledger)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ledger->room; i++)
		if (ledger->slots[i].wait_ps)
			ledger->slots[n++] = ledger->slots[i];
	return n;
}

// refill puts `n` gathered entries into a new table.
static int refill(struct tb_tree_ledger *ledger, uint32_t n, uint32_t room)
{
	struct tb_tree_entry *entries = ledger->slots;
	struct tb_tree_entry *slots = calloc(room, sizeof *slots);
	if (!slots) {
		tb_tree_ledger_fini(ledger);
		return TB_ENOMEM;
	}
	ledger->slots = slots;
	ledger->room = room;
	ledger->n_used = 0;
	for (uint32_t i = 0; i < n; i++)
		enter(ledger, &entries[i]);
	free(entries);
	return TB_OK;
}

// fold takes root and link from the lightest `n_light` or so of n entries. Those of the
// slice `spared` are still growing: they are left when half as many others can go.
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

static int make_room(struct tb_tree_ledger *ledger)
{
	if (ledger->n_used * 4 < ledger->room * 3)
		return TB_OK;
	uint32_t n = gather(ledger);
	if (ledger->room < MOST_ROOM)
		return refill(ledger, n, ledger->room * 2);
	uint32_t newest = 0;
	for (uint32_t i = 0; i < n; i++)
		newest = ledger->slots[i].bin > newest ? ledger->slots[i].bin : newest;
	fold(ledger->slots, n, n / 2, newest);
	return refill(ledger, n, ledger->room);
}

// flush enters what is held in front.
static int flush(struct tb_tree_ledger *ledger)
{
	int status = TB_OK;
	for (size_t i = 0; i < TB_TREE_FRONT && status == TB_OK; i++) {
		if (ledger->front[i].wait_ps == 0)
			continue;
		enter(ledger, &ledger->front[i]);
		ledger->front[i].wait_ps = 0;
		status = make_room(ledger);
	}
	return status;
}

// slice_at makes the slice that holds `at` the one at hand: most waits lie wholly in it.
static void slice_at(struct tb_tree_ledger *ledger, tb_time_ps at)
{
	ledger->bin = (uint32_t)(at / ledger->bin_ps);
	ledger->bin_start = (tb_time_ps)ledger->bin * ledger->bin_ps;
}

// widen doubles the slices: 2b and 2b + 1 become b.
static int widen(struct tb_tree_ledger *ledger)
{
	int status = flush(ledger);
	if (status != TB_OK)
		return status;
	uint32_t n = gather(ledger);
	for (uint32_t i = 0; i < n; i++)
		ledger->slots[i].bin /= 2;
	ledger->bin_ps *= 2;
	slice_at(ledger, ledger->bin_start);
	return refill(ledger, n, ledger->room);
}

static int put(struct tb_tree_ledger *ledger, const struct tb_tree_entry *more)
{
	int status = TB_OK;
	struct tb_tree_entry *front = &ledger->front[hash_of(more) % TB_TREE_FRONT];
	if (front->wait_ps && same(front, more)) {
		front->wait_ps += more->wait_ps;
		return TB_OK;
	}
	if (front->wait_ps) {
		enter(ledger, front);
		status = make_room(ledger);
	}
	*front = *more;
	return status;
}

int tb_tree_ledger_add(struct tb_tree_ledger *ledger, uint32_t root, uint32_t link,
	tb_time_ps from, tb_time_ps to)
{
	int status = TB_OK;
	while (status == TB_OK && ledger->slots && to > ledger->bin_ps * TB_TREE_BINS)
		status = widen(ledger);
	while (status == TB_OK && ledger->slots && from < to) {
		if (from < ledger->bin_start ||
			from >= ledger->bin_start + ledger->bin_ps)
			slice_at(ledger, from);
		struct tb_tree_entry part = {ledger->bin, root, link, 0};
		tb_time_ps end = ledger->bin_start + ledger->bin_ps;
		end = end < to ? end : to;
		part.wait_ps = (uint64_t)(end - from);
		status = put(ledger, &part);
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

int tb_tree_ledger_list(
	struct tb_tree_ledger *ledger, struct tb_tree_sample **samples, size_t *n)
{
	int status = ledger->slots ? flush(ledger) : TB_OK;
	if (status != TB_OK)
		return status;
	if (ledger->n_used > MOST_TOLD) {
		uint32_t n_all = gather(ledger);
		fold(ledger->slots, n_all, n_all - MOST_TOLD, UINT32_MAX);
		status = refill(ledger, n_all, ledger->room);
		if (status != TB_OK)
			return status;
	}
	uint32_t n_used = ledger->slots ? gather(ledger) : 0;
	struct tb_tree_sample *made = malloc((n_used + 1u) * sizeof *made);
	for (uint32_t i = 0; made && i < n_used; i++)
		made[i] = (struct tb_tree_sample){.bin = ledger->slots[i].bin,
			.root = {ledger->slots[i].root},
			.link = {ledger->slots[i].link},
			.wait_ps = ledger->slots[i].wait_ps};
	if (ledger->slots)
		status = refill(ledger, n_used, ledger->room);
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
