#include "blame_square.h"

#include "map.h"

#include <stdlib.h>
#include <string.h>

bool tb_blame_passes(
	const struct tb_blame_sample *row, const struct tb_blame_filter *filter)
{
	uint32_t node = filter->node;
	bool link = filter->link == TB_ID_NONE || row->link.id == filter->link ||
		    row->root.id == filter->link;
	bool victim =
		filter->victim_job == TB_ID_NONE || row->victim_job == filter->victim_job;
	bool culprit = filter->culprit_job == TB_ID_NONE ||
		       row->culprit_job == filter->culprit_job;
	bool ends = node == TB_ID_NONE || row->victim_source.id == node ||
		    row->victim_destination.id == node ||
		    row->culprit_source.id == node || row->culprit_destination.id == node;
	return link && victim && culprit && ends;
}

// counts leaves out of a square of flows what is told by job alone.
static bool counts(const struct tb_blame_sample *row, enum tb_blame_parties parties)
{
	return parties == TB_BLAME_OF_JOBS || row->victim_source.id != TB_ID_NONE;
}

static struct tb_blame_party victim_of(
	const struct tb_blame_sample *row, enum tb_blame_parties parties)
{
	const struct tb_node none = {TB_ID_NONE};
	bool jobs = parties == TB_BLAME_OF_JOBS;
	return (struct tb_blame_party){row->victim_job, jobs ? none : row->victim_source,
		jobs ? none : row->victim_destination, row->wait_ps};
}

static struct tb_blame_party culprit_of(
	const struct tb_blame_sample *row, enum tb_blame_parties parties)
{
	const struct tb_node none = {TB_ID_NONE};
	bool jobs = parties == TB_BLAME_OF_JOBS;
	return (struct tb_blame_party){row->culprit_job,
		jobs ? none : row->culprit_source, jobs ? none : row->culprit_destination,
		row->wait_ps};
}

static uint64_t key_of(const struct tb_blame_party *party)
{
	return ((uint64_t)party->job & 0xffff) << 48 |
	       ((uint64_t)party->source.id & 0xffffff) << 24 |
	       (party->destination.id & 0xffffff);
}

static int heaviest_first(const void *one, const void *other)
{
	const struct tb_blame_party *a = one, *b = other;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps < b->wait_ps ? 1 : -1;
	uint64_t mine = key_of(a), theirs = key_of(b);
	return (mine > theirs) - (mine < theirs);
}

// Parties while rows are gone through.
struct gathering {
	struct tb_map known; // place in the list, by key
	struct tb_blame_party *list;
	uint32_t n;
};

static int gather(struct gathering *gathering, const struct tb_blame_party *party)
{
	uint64_t key = key_of(party);
	uint32_t at = gathering->n;
	if (tb_map_find(&gathering->known, key, &at)) {
		gathering->list[at].wait_ps += party->wait_ps;
		return TB_OK;
	}
	gathering->list[gathering->n++] = *party;
	return tb_map_put(&gathering->known, key, at);
}

// choose sorts the parties, keeps `side` of them and makes the map tell their places.
static int choose(struct gathering *gathering, uint32_t side,
	struct tb_blame_party *chosen, uint32_t *n)
{
	if (gathering->n)
		qsort(gathering->list, gathering->n, sizeof *gathering->list,
			heaviest_first);
	*n = gathering->n < side ? gathering->n : side;
	for (uint32_t i = 0; i < gathering->n; i++) {
		if (i < *n)
			chosen[i] = gathering->list[i];
		if (tb_map_put(&gathering->known, key_of(&gathering->list[i]), i) !=
			TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

static void put(struct tb_blame_square *square, uint32_t victim, uint32_t culprit,
	uint32_t index, const struct tb_blame_sample *row)
{
	if (victim >= square->n_victims || culprit >= square->n_culprits)
		return;
	uint64_t *wait_ps = &square->wait_ps[victim][culprit];
	// Rows come heaviest first: the first of a cell is its heaviest.
	if (*wait_ps == 0)
		square->heaviest[victim][culprit] = index;
	*wait_ps += row->wait_ps;
	square->shown_ps += row->wait_ps;
	if (*wait_ps > square->largest_ps)
		square->largest_ps = *wait_ps;
}

static int fill(struct tb_blame_square *square, const struct tb_blame_sample *rows,
	uint32_t n, const struct tb_blame_filter *filter, uint32_t side,
	struct gathering *victims, struct gathering *culprits)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		if (!tb_blame_passes(&rows[i], filter))
			continue;
		square->whole_ps += rows[i].wait_ps;
		if (!counts(&rows[i], square->parties))
			continue;
		struct tb_blame_party victim = victim_of(&rows[i], square->parties);
		struct tb_blame_party culprit = culprit_of(&rows[i], square->parties);
		status = gather(victims, &victim);
		if (status == TB_OK)
			status = gather(culprits, &culprit);
	}
	square->all_victims = victims->n;
	square->all_culprits = culprits->n;
	if (status == TB_OK)
		status = choose(victims, side, square->victims, &square->n_victims);
	if (status == TB_OK)
		status = choose(culprits, side, square->culprits, &square->n_culprits);
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t at_victim = UINT32_MAX, at_culprit = UINT32_MAX;
		if (!tb_blame_passes(&rows[i], filter) ||
			!counts(&rows[i], square->parties))
			continue;
		struct tb_blame_party victim = victim_of(&rows[i], square->parties);
		struct tb_blame_party culprit = culprit_of(&rows[i], square->parties);
		(void)tb_map_find(&victims->known, key_of(&victim), &at_victim);
		(void)tb_map_find(&culprits->known, key_of(&culprit), &at_culprit);
		put(square, at_victim, at_culprit, i, &rows[i]);
	}
	return status;
}

int tb_blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n, enum tb_blame_parties parties,
	const struct tb_blame_filter *filter, uint32_t side)
{
	struct gathering victims = {.list = malloc((n + 1u) * sizeof *victims.list)};
	struct gathering culprits = {.list = malloc((n + 1u) * sizeof *culprits.list)};
	*square = (struct tb_blame_square){.parties = parties};
	int status = TB_ENOMEM;
	if (victims.list && culprits.list)
		status = fill(square, rows, n, filter,
			side < TB_BLAME_SIDE ? side : TB_BLAME_SIDE, &victims, &culprits);
	tb_map_fini(&victims.known);
	tb_map_fini(&culprits.known);
	free(victims.list);
	free(culprits.list);
	return status;
}
