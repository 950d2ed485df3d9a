#include "blame_square.h"

#include "map.h"

bool tb_blame_passes(
	const struct tb_blame_sample *row, const struct tb_blame_filter *filter)
{
	uint32_t node = filter->node;
	bool link = filter->link == TB_ID_NONE || row->link.id == filter->link;
	bool victim =
		filter->victim_job == TB_ID_NONE || row->victim_job == filter->victim_job;
	bool culprit = filter->culprit_job == TB_ID_NONE ||
		       row->culprit_job == filter->culprit_job;
	bool ends = node == TB_ID_NONE || row->victim_source.id == node ||
		    row->victim_destination.id == node ||
		    row->culprit_source.id == node || row->culprit_destination.id == node;
	return link && victim && culprit && ends;
}

static struct tb_square_party culprit_of(
	const struct tb_blame_sample *row, enum tb_blame_parties parties)
{
	const struct tb_node none = {TB_ID_NONE};
	bool jobs = parties == TB_BLAME_OF_JOBS;
	return (struct tb_square_party){row->culprit_job,
		jobs ? none : row->culprit_source, jobs ? none : row->culprit_destination,
		row->wait_ps};
}

static uint64_t blame_square_key(const struct tb_square_party *party)
{
	return ((uint64_t)party->job & 0xffff) << 48 |
	       ((uint64_t)party->source.id & 0xffffff) << 24 |
	       (party->destination.id & 0xffffff);
}

// The parties of one side while rows are read: those chosen, and all.
struct square_side {
	struct tb_square_party *chosen;
	uint32_t n, most, n_all;
	struct tb_map known; // place among the chosen, or TB_ID_NONE, by key
};

// blame_square_place finds a party among the chosen, or adds it when it is wanted and
// there is room; else the place is TB_ID_NONE.
static int blame_square_place(struct square_side *side,
	const struct tb_square_party *party, bool wanted, uint32_t *place)
{
	uint64_t key = blame_square_key(party);
	bool known = tb_map_find(&side->known, key, place);
	side->n_all += !known;
	if (known && (*place != TB_ID_NONE || !wanted || side->n == side->most))
		return TB_OK;
	*place = TB_ID_NONE;
	if (wanted && side->n < side->most) {
		*place = side->n++;
		side->chosen[*place] = *party;
		side->chosen[*place].wait_ps = 0;
	}
	return tb_map_put(&side->known, key, *place);
}

static bool blame_square_has_room(
	const struct square_side *side, const struct tb_square_party *party)
{
	uint32_t place = TB_ID_NONE;
	return (tb_map_find(&side->known, blame_square_key(party), &place) &&
		       place != TB_ID_NONE) ||
	       side->n < side->most;
}

static void blame_square_put(struct tb_blame_square *square, uint32_t victim,
	uint32_t culprit, uint32_t index, const struct tb_blame_sample *row)
{
	if (victim == TB_ID_NONE || culprit == TB_ID_NONE)
		return;
	uint64_t *wait_ps = &square->wait_ps[victim][culprit];
	// Rows come heaviest first: the first of a cell is its heaviest.
	if (*wait_ps == 0)
		square->heaviest[victim][culprit] = index;
	*wait_ps += row->wait_ps;
	square->victims[victim].wait_ps += row->wait_ps;
	square->culprits[culprit].wait_ps += row->wait_ps;
	square->shown_ps += row->wait_ps;
	if (*wait_ps > square->largest_ps)
		square->largest_ps = *wait_ps;
}

// blame_square_fill chooses both parties of a row or neither, so that no row or column of
// the square stays empty.
static int blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n,
	const struct tb_blame_filter *filter, struct square_side *victims,
	struct square_side *culprits)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t at_victim = TB_ID_NONE, at_culprit = TB_ID_NONE;
		if (!tb_blame_passes(&rows[i], filter))
			continue;
		square->whole_ps += rows[i].wait_ps;
		const struct tb_blame_sample *row = &rows[i];
		enum tb_blame_parties parties = square->parties;
		const struct tb_node none = {TB_ID_NONE};
		bool jobs = parties == TB_BLAME_OF_JOBS;
		struct tb_square_party victim = (struct tb_square_party){row->victim_job,
			jobs ? none : row->victim_source,
			jobs ? none : row->victim_destination, row->wait_ps};
		struct tb_square_party culprit = culprit_of(&rows[i], square->parties);
		bool both = blame_square_has_room(victims, &victim) &&
			    blame_square_has_room(culprits, &culprit);
		status = blame_square_place(victims, &victim, both, &at_victim);
		if (status == TB_OK)
			status =
				blame_square_place(culprits, &culprit, both, &at_culprit);
		blame_square_put(square, at_victim, at_culprit, i, &rows[i]);
	}
	square->n_victims = victims->n;
	square->n_culprits = culprits->n;
	square->all_victims = victims->n_all;
	square->all_culprits = culprits->n_all;
	return status;
}

int tb_blame_square_fill(struct tb_blame_square *square,
	const struct tb_blame_sample *rows, uint32_t n, enum tb_blame_parties parties,
	const struct tb_blame_filter *filter, uint32_t most)
{
	if (most > TB_BLAME_SIDE)
		most = TB_BLAME_SIDE;
	*square = (struct tb_blame_square){.parties = parties};
	struct square_side victims = {.chosen = square->victims, .most = most};
	struct square_side culprits = {.chosen = square->culprits, .most = most};
	int status = blame_square_fill(square, rows, n, filter, &victims, &culprits);
	tb_map_fini(&victims.known);
	tb_map_fini(&culprits.known);
	return status;
}
