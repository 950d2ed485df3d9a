#include "blame_ledger.h"

#include "random.h"
#include "wait_steps.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };
// Beyond so many slots (32 bytes each) the heavier entries alone are told apart.
enum { MOST_ROOM = 32768 };
// So many are told in full: a store of every pair that ever met would take longer than
// the replay.
enum { MOST_TOLD = 4096 };

int tb_blame_ledger_init(struct tb_blame_ledger *ledger)
{
	struct tb_blame_entry *slots = calloc(FIRST_ROOM, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	*ledger = (struct tb_blame_ledger){.slots = slots, .room = FIRST_ROOM};
	return TB_OK;
}

void tb_blame_ledger_fini(struct tb_blame_ledger *ledger)
{
	free(ledger->slots);
	*ledger = (struct tb_blame_ledger){0};
}

bool tb_blame_ledger_is_kept(const struct tb_blame_ledger *ledger)
{
	return ledger->slots != NULL;
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

static void enter(
	struct tb_blame_ledger *ledger, const struct tb_blame_entry *more, uint64_t hash)
{
	uint32_t mask = ledger->room - 1;
	uint32_t i = (uint32_t)hash & mask;
	while (ledger->slots[i].n_waits && !same_parties(&ledger->slots[i], more))
		i = (i + 1) & mask;
	struct tb_blame_entry *entry = &ledger->slots[i];
	if (entry->n_waits == 0) {
		*entry = *more;
		ledger->n_used++;
		return;
	}
	entry->n_waits += more->n_waits;
	entry->wait_ps += more->wait_ps;
}

static int by_id(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int heaviest_first(const void *left, const void *right)
{
	const struct tb_blame_entry *a = left, *b = right;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps < b->wait_ps ? 1 : -1;
	if (a->link != b->link)
		return by_id(a->link, b->link);
	if (a->victim != b->victim)
		return by_id(a->victim, b->victim);
	if (a->culprit != b->culprit)
		return by_id(a->culprit, b->culprit);
	return by_id(a->root, b->root);
}

static uint32_t flow_of_job(const struct tb_flow_sample *flows, uint32_t flow)
{
	return flow & TB_FLOW_OF_JOB ? flow : TB_FLOW_OF_JOB | flows[flow].job;
}

// gather moves the used entries to the front and counts them: the table is then a list,
// to be refilled before it is entered into again.
static uint32_t gather(struct tb_blame_ledger *ledger)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ledger->room; i++)
		if (ledger->slots[i].n_waits)
			ledger->slots[n++] = ledger->slots[i];
	return n;
}

static bool is_roomy(const struct tb_blame_ledger *ledger)
{
	return ledger->n_used <= ledger->room / 2;
}

// refill puts `n` gathered entries into a new table of at least `room` slots, and so many
// that it is no more than half full: where even by job there are many, the next refill is
// far off.
static int refill(struct tb_blame_ledger *ledger, uint32_t n, uint32_t room)
{
	struct tb_blame_entry *entries = ledger->slots;
	for (;; room *= 2) {
		ledger->slots = calloc(room, sizeof *ledger->slots);
		ledger->room = room;
		ledger->n_used = 0;
		if (!ledger->slots) {
			free(entries);
			*ledger = (struct tb_blame_ledger){0};
			return TB_ENOMEM;
		}
		for (uint32_t i = 0; i < n && is_roomy(ledger); i++)
			enter(ledger, &entries[i], hash_of(&entries[i]));
		if (is_roomy(ledger))
			break;
		free(ledger->slots);
	}
	free(entries);
	return TB_OK;
}

// fold tells those of `n` gathered entries by job alone that waited less than `least_ps`.
static void fold(struct tb_blame_ledger *ledger, const struct tb_flow_sample *flows,
	uint32_t n, uint64_t least_ps)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tb_blame_entry *entry = &ledger->slots[i];
		if (entry->wait_ps >= least_ps)
			continue;
		entry->victim = flow_of_job(flows, entry->victim);
		entry->culprit = flow_of_job(flows, entry->culprit);
	}
}

// heavier_ps finds a wait that about `n_most` of the entries reach, and no more.
static uint64_t heavier_ps(
	const struct tb_blame_entry *entries, uint32_t n, uint32_t n_most)
{
	struct tb_wait_steps steps = {0};
	for (uint32_t i = 0; i < n; i++)
		tb_wait_steps_add(&steps, entries[i].wait_ps);
	return tb_wait_steps_reached(&steps, n_most);
}

// enlarge makes room. From MOST_ROOM on it keeps the heavier half and folds the rest.
static int enlarge(struct tb_blame_ledger *ledger, const struct tb_flow_sample *flows)
{
	uint32_t n = gather(ledger);
	if (ledger->room < MOST_ROOM)
		return refill(ledger, n, ledger->room * 2);
	fold(ledger, flows, n, heavier_ps(ledger->slots, n, n / 2));
	return refill(ledger, n, ledger->room);
}

static int enter_held(
	struct tb_blame_ledger *ledger, const struct tb_flow_sample *flows, uint32_t i)
{
	enter(ledger, &ledger->held[i], ledger->hashes[i]);
	return ledger->n_used * 4 >= ledger->room * 3 ? enlarge(ledger, flows) : TB_OK;
}

int tb_blame_ledger_add(struct tb_blame_ledger *ledger,
	const struct tb_flow_sample *flows, const struct tb_blame_entry *more)
{
	if (!ledger->slots)
		return TB_OK;
	uint32_t i = ledger->next_held;
	if (ledger->n_held == TB_BLAME_HELD) {
		if (enter_held(ledger, flows, i) != TB_OK)
			return TB_ENOMEM;
	} else {
		ledger->n_held++;
	}
	ledger->held[i] = *more;
	ledger->hashes[i] = hash_of(more);
	ledger->next_held = (i + 1) % TB_BLAME_HELD;
	__builtin_prefetch(&ledger->slots[ledger->hashes[i] & (ledger->room - 1)], 1);
	return TB_OK;
}

// enter_all enters what is held back, in the order in which it came.
static int enter_all(struct tb_blame_ledger *ledger, const struct tb_flow_sample *flows)
{
	uint32_t first = ledger->next_held + TB_BLAME_HELD - ledger->n_held;
	for (uint32_t n = 0; n < ledger->n_held; n++)
		if (enter_held(ledger, flows, (first + n) % TB_BLAME_HELD) != TB_OK)
			return TB_ENOMEM;
	ledger->n_held = 0;
	return TB_OK;
}

// end_of is the flow behind a number of an entry, or the job alone.
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

// fold_lightest leaves MOST_TOLD entries at most in full.
static int fold_lightest(
	struct tb_blame_ledger *ledger, const struct tb_flow_sample *flows)
{
	uint32_t n = gather(ledger);
	fold(ledger, flows, n, heavier_ps(ledger->slots, n, MOST_TOLD));
	return refill(ledger, n, FIRST_ROOM);
}

int tb_blame_ledger_list(struct tb_blame_ledger *ledger,
	const struct tb_flow_sample *flows, struct tb_blame_sample **samples, size_t *n)
{
	if (enter_all(ledger, flows) != TB_OK)
		return TB_ENOMEM;
	if (ledger->n_used > MOST_TOLD && fold_lightest(ledger, flows) != TB_OK)
		return TB_ENOMEM;
	uint32_t n_used = gather(ledger);
	struct tb_blame_sample *made = malloc((n_used + 1u) * sizeof *made);
	if (made) {
		qsort(ledger->slots, n_used, sizeof *ledger->slots, heaviest_first);
		for (uint32_t i = 0; i < n_used; i++)
			made[i] = sample_of(flows, &ledger->slots[i]);
	}
	int status = refill(ledger, n_used, ledger->room);
	if (!made || status != TB_OK) {
		free(made);
		return TB_ENOMEM;
	}
	*samples = made;
	*n = n_used;
	return TB_OK;
}
