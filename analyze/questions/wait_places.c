#include "wait_places.h"

#include "array.h"
#include "paths.h"

#include <stdlib.h>

struct tb_wait_places {
	const struct tb_run_link *links;
	const struct tb_link_sample *samples; // whole run
	struct tb_paths *paths;		      // NULL: packets wait by where they came in
	const struct tb_run_info *info;
	struct tb_link *found;
	size_t room;
};

int tb_wait_places_new(
	struct tb_wait_places **places, struct tb_run *run, struct tb_error *error)
{
	struct tb_wait_places *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "where packets waited");
	made->links = tb_run_links(run);
	made->info = tb_run_info(run);
	int status = tb_run_look(run, (struct tb_window){0, 0}, &made->samples, error);
	if (!status && made->info->wait == TB_WAIT_FOR)
		status = tb_paths_new(&made->paths, run, error);
	if (status)
		tb_wait_places_free(made);
	else
		*places = made;
	return status;
}

void tb_wait_places_free(struct tb_wait_places *places)
{
	if (!places)
		return;
	tb_paths_free(places->paths);
	free(places->found);
	free(places);
}

// ways_on returns the links that a flow may have taken from a switch on, and some before.
static const struct tb_link *ways_on(struct tb_wait_places *places, struct tb_switch sw,
	struct tb_node source, struct tb_node destination, uint32_t *n)
{
	if (tb_paths_are_known(places->paths))
		return tb_paths_way(places->paths, source, destination, n);
	return tb_paths_between(places->paths, (struct tb_path_end){true, sw.id},
		(struct tb_path_end){false, destination.id}, n);
}

// is_on_way_back is whether what waited went to the source of its flow, as frames of TCP
// do that acknowledge.
static bool is_on_way_back(
	struct tb_wait_places *places, const struct tb_blame_sample *wait)
{
	uint32_t n = 0;
	if (!tb_switching_of(&places->info->network)->has_connections)
		return false;
	const struct tb_link *way = tb_paths_way(
		places->paths, wait->victim_source, wait->victim_destination, &n);
	for (uint32_t i = 0; i < n; i++)
		if (way[i].id == wait->link.id)
			return false;
	return true;
}

// keep_shared keeps of the found links those that the culprit took, too, if there are
// any: a culprit that is not the one at the end of a chain of waits held the same link.
static void keep_shared(struct tb_wait_places *places, struct tb_switch sw,
	const struct tb_blame_sample *wait, size_t *n)
{
	uint32_t n_ways = 0;
	size_t n_shared = 0;
	const struct tb_link *way = ways_on(
		places, sw, wait->culprit_source, wait->culprit_destination, &n_ways);
	for (size_t i = 0; i < *n; i++)
		for (uint32_t k = 0; k < n_ways; k++)
			if (places->found[i].id == way[k].id) {
				struct tb_link shared = places->found[i];
				places->found[i] = places->found[n_shared];
				places->found[n_shared++] = shared;
				break;
			}
	*n = n_shared ? n_shared : *n;
}

int tb_wait_places_several(struct tb_wait_places *places, struct tb_switch sw,
	const struct tb_blame_sample *wait, const struct tb_link **links, size_t *n)
{
	enum tb_ascent ascent = places->info->network.ascent;
	bool one_way = ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_SOURCE ||
		       ascent == TB_ASCENT_ECMP || ascent == TB_ASCENT_TABLE;
	uint32_t n_ways = 0;
	bool back = is_on_way_back(places, wait);
	const struct tb_link *way =
		ways_on(places, sw, back ? wait->victim_destination : wait->victim_source,
			back ? wait->victim_source : wait->victim_destination, &n_ways);
	if (TB_ARRAY_RESERVE(&places->found, &places->room, n_ways + 1u) != TB_OK)
		return TB_ENOMEM;
	// Where none was waited for as long, the flow had several ways all the same.
	*n = 0;
	for (int pass = one_way ? 0 : 1; pass < 2 && *n == 0; pass++)
		for (uint32_t i = 0; i < n_ways; i++) {
			const struct tb_link_info *at = &places->links[way[i].id].at;
			uint64_t least_ps =
				pass == 0 && wait->wait_ps ? wait->wait_ps : 1;
			if (at->kind != TB_LINK_INJECTION && at->from == sw.id &&
				places->samples[way[i].id].wait_ps >= least_ps)
				places->found[(*n)++] = way[i];
		}
	if (*n > 1 && !tb_switching_of(&places->info->network)->has_queue_pairs)
		keep_shared(places, sw, wait, n);
	*links = places->found;
	return TB_OK;
}

int tb_wait_places_find(struct tb_wait_places *places, const struct tb_blame_sample *wait,
	struct tb_wait_place *place)
{
	const struct tb_wait_place came_by = {wait->link, {TB_ID_NONE}};
	*place = came_by;
	if (!places->paths || wait->link.id == TB_ID_NONE ||
		places->links[wait->link.id].at.kind == TB_LINK_EJECTION ||
		wait->victim_source.id >= places->info->n_nodes ||
		wait->victim_destination.id >= places->info->n_nodes)
		return TB_OK;
	struct tb_switch sw = {places->links[wait->link.id].at.to};
	const struct tb_link *links;
	size_t n;
	int status = tb_wait_places_several(places, sw, wait, &links, &n);
	if (!status)
		*place = n == 1 ? (struct tb_wait_place){links[0], {TB_ID_NONE}}
				: (struct tb_wait_place){{TB_ID_NONE}, sw};
	return status;
}

int tb_wait_places_all(struct tb_run *run, const struct tb_blame_sample *waits, size_t n,
	struct tb_wait_place **places, struct tb_error *error)
{
	struct tb_wait_places *finder = NULL;
	struct tb_wait_place *made = calloc(n + 1, sizeof *made);
	int status = made ? tb_wait_places_new(&finder, run, error)
			  : tb_fail_memory(error, "where packets waited");
	for (size_t i = 0; i < n && !status; i++)
		if (tb_wait_places_find(finder, &waits[i], &made[i]) != TB_OK)
			status = tb_fail_memory(error, "where packets waited");
	tb_wait_places_free(finder);
	if (status)
		free(made);
	else
		*places = made;
	return status;
}

const char *tb_wait_place_name(const struct tb_run *run, struct tb_wait_place place)
{
	if (place.link.id != TB_ID_NONE)
		return tb_run_links(run)[place.link.id].name;
	return place.sw.id != TB_ID_NONE ? tb_run_switches(run)[place.sw.id].name : NULL;
}

const char *tb_wait_place_label(const struct tb_run *run, struct tb_wait_place place)
{
	if (place.link.id != TB_ID_NONE)
		return tb_run_links(run)[place.link.id].label;
	return place.sw.id != TB_ID_NONE ? tb_run_switches(run)[place.sw.id].label : NULL;
}
