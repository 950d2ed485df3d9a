#include "paths_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN UINT32_MAX

static int fan_init(struct tb_fan *fan, const struct tb_paths *paths,
	enum tb_link_kind kind, uint32_t n_from)
{
	fan->first = calloc((size_t)n_from + 2, sizeof *fan->first);
	if (!fan->first)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < paths->n_links; i++)
		if (paths->links[i].at.kind == kind)
			fan->first[paths->links[i].at.from + 2]++;
	for (uint32_t i = 2; i < n_from + 2; i++)
		fan->first[i] += fan->first[i - 1];
	fan->links = malloc((fan->first[n_from + 1] + 1u) * sizeof *fan->links);
	if (!fan->links)
		return TB_ENOMEM;
	// first[i + 1] moves from the begin of i's list to its end, where i + 1 begins.
	for (uint32_t i = 0; i < paths->n_links; i++)
		if (paths->links[i].at.kind == kind)
			fan->links[fan->first[paths->links[i].at.from + 1]++] = i;
	return TB_OK;
}

static void fan_fini(struct tb_fan *fan)
{
	free(fan->first);
	free(fan->links);
}

static int climb_init(struct tb_climb *climb, uint32_t n_switches)
{
	climb->distance = malloc((n_switches + 1u) * sizeof *climb->distance);
	climb->order = malloc((n_switches + 1u) * sizeof *climb->order);
	if (!climb->distance || !climb->order)
		return TB_ENOMEM;
	memset(climb->distance, 0xff, n_switches * sizeof *climb->distance);
	return TB_OK;
}

static void climb_fini(struct tb_climb *climb)
{
	free(climb->distance);
	free(climb->order);
}

int tb_paths_new(
	struct tb_paths **paths, const struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_paths *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "paths");
	made->run = run;
	tb_paths_describe(made);
	made->links = tb_run_links(run);
	made->n_links = info->n_links;
	made->n_switches = info->n_switches;
	made->n_nodes = info->n_nodes;
	made->useful = calloc(info->n_switches + 1u, 1);
	made->found = malloc((info->n_links + 1u) * sizeof *made->found);
	if (!made->useful || !made->found ||
		fan_init(&made->ups, made, TB_LINK_UP, info->n_switches) ||
		fan_init(&made->downs, made, TB_LINK_DOWN, info->n_switches) ||
		fan_init(&made->injections, made, TB_LINK_INJECTION, info->n_nodes) ||
		fan_init(&made->ejections, made, TB_LINK_EJECTION, info->n_switches) ||
		climb_init(&made->out, info->n_switches) ||
		climb_init(&made->in, info->n_switches)) {
		tb_paths_free(made);
		return tb_fail_memory(
			error, "paths over %" PRIu32 " links", info->n_links);
	}
	*paths = made;
	return TB_OK;
}

void tb_paths_free(struct tb_paths *paths)
{
	if (!paths)
		return;
	fan_fini(&paths->ups);
	fan_fini(&paths->downs);
	fan_fini(&paths->injections);
	fan_fini(&paths->ejections);
	climb_fini(&paths->out);
	climb_fini(&paths->in);
	free(paths->useful);
	free(paths->found);
	free(paths);
}

static void reach_switch(struct tb_climb *climb, uint32_t sw, uint32_t distance)
{
	if (climb->distance[sw] != UNSEEN)
		return;
	climb->distance[sw] = distance;
	climb->order[climb->n++] = sw;
}

static void climb_from(
	struct tb_paths *paths, struct tb_climb *climb, struct tb_path_end end)
{
	const struct tb_fan *own = &paths->injections;
	if (end.is_switch)
		reach_switch(climb, end.id, 0);
	else
		for (uint32_t i = own->first[end.id]; i < own->first[end.id + 1]; i++)
			reach_switch(climb, paths->links[own->links[i]].at.to, 1);
	for (uint32_t at = 0; at < climb->n; at++) {
		uint32_t sw = climb->order[at];
		for (uint32_t i = paths->ups.first[sw]; i < paths->ups.first[sw + 1]; i++)
			reach_switch(climb, paths->links[paths->ups.links[i]].at.to,
				climb->distance[sw] + 1);
	}
}

static void reset_climb(struct tb_climb *climb)
{
	for (uint32_t i = 0; i < climb->n; i++)
		climb->distance[climb->order[i]] = UNSEEN;
	climb->n = 0;
}

static uint32_t shortest(const struct tb_paths *paths)
{
	uint32_t least = UNSEEN;
	for (uint32_t i = 0; i < paths->out.n; i++) {
		uint32_t sw = paths->out.order[i];
		if (paths->in.distance[sw] == UNSEEN)
			continue;
		uint32_t length = paths->out.distance[sw] + paths->in.distance[sw];
		least = length < least ? length : least;
	}
	return least;
}

// In a damaged store, where links up go round in circles, one is found more than once.
static void take_path_link(struct tb_paths *paths, uint32_t link)
{
	if (link < paths->n_links && paths->n_found < paths->n_links)
		paths->found[paths->n_found++].id = link;
}

// walk_back follows a climb from the common ancestors back to its end and takes the links
// of the climb, or their reverses.
static void walk_back(struct tb_paths *paths, const struct tb_climb *climb,
	struct tb_path_end end, uint32_t length, bool reverse)
{
	for (uint32_t i = 0; i < climb->n; i++) {
		uint32_t sw = climb->order[i];
		uint32_t up = paths->out.distance[sw];
		uint32_t down = paths->in.distance[sw];
		paths->useful[sw] = up != UNSEEN && down != UNSEEN && up + down == length;
	}
	for (uint32_t at = climb->n; at-- > 0;) {
		uint32_t sw = climb->order[at];
		const uint32_t *first = &paths->ups.first[sw];
		for (uint32_t i = first[0]; i < first[1]; i++) {
			uint32_t link = paths->ups.links[i];
			uint32_t to = paths->links[link].at.to;
			if (!paths->useful[to] ||
				climb->distance[to] != climb->distance[sw] + 1)
				continue;
			paths->useful[sw] = 1;
			take_path_link(
				paths, reverse ? paths->links[link].at.reverse.id : link);
		}
	}
	if (end.is_switch)
		return;
	const uint32_t *own = &paths->injections.first[end.id];
	for (uint32_t i = own[0]; i < own[1]; i++) {
		uint32_t link = paths->injections.links[i];
		if (paths->useful[paths->links[link].at.to])
			take_path_link(
				paths, reverse ? paths->links[link].at.reverse.id : link);
	}
}

static int by_id(const void *one, const void *other)
{
	const struct tb_link *a = one, *b = other;
	return (a->id > b->id) - (a->id < b->id);
}

static bool is_known(const struct tb_paths *paths, struct tb_path_end end)
{
	return end.id < (end.is_switch ? paths->n_switches : paths->n_nodes);
}

const struct tb_link *tb_paths_between(struct tb_paths *paths, struct tb_path_end source,
	struct tb_path_end destination, uint32_t *n)
{
	paths->n_found = 0;
	*n = 0;
	if (!is_known(paths, source) || !is_known(paths, destination) ||
		(source.is_switch == destination.is_switch &&
			source.id == destination.id))
		return paths->found;
	climb_from(paths, &paths->out, source);
	climb_from(paths, &paths->in, destination);
	uint32_t length = shortest(paths);
	if (length != UNSEEN) {
		walk_back(paths, &paths->out, source, length, false);
		uint32_t n_out = paths->n_found;
		qsort(paths->found, n_out, sizeof *paths->found, by_id);
		for (uint32_t i = 0; i < paths->out.n; i++)
			paths->useful[paths->out.order[i]] = 0;
		walk_back(paths, &paths->in, destination, length, true);
		qsort(paths->found + n_out, paths->n_found - n_out, sizeof *paths->found,
			by_id);
		for (uint32_t i = 0; i < paths->in.n; i++)
			paths->useful[paths->in.order[i]] = 0;
	}
	reset_climb(&paths->out);
	reset_climb(&paths->in);
	*n = paths->n_found;
	return paths->found;
}

const struct tb_link *tb_paths_find(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n)
{
	return tb_paths_between(paths, (struct tb_path_end){false, source.id},
		(struct tb_path_end){false, destination.id}, n);
}
