// The one way of a flow, where it follows from its ends.
#include "paths_impl.h"

static bool is_kary_tree(const struct tb_run_info *info)
{
	uint64_t n_nodes = 1;
	uint32_t k = info->network.arity;
	if (k < 2)
		return false;
	for (uint32_t level = 0; level < info->n_levels; level++) {
		if (n_nodes > UINT32_MAX)
			return false;
		n_nodes *= k;
	}
	return info->network.n_rails == 1 && n_nodes == info->n_nodes &&
	       info->n_switches == info->n_levels * (n_nodes / k) &&
	       info->n_links == 2 * info->n_levels * n_nodes;
}

void tb_paths_describe(struct tb_paths *paths)
{
	const struct tb_run_info *info = tb_run_info(paths->run);
	enum tb_ascent ascent = info->network.ascent;
	paths->arity = is_kary_tree(info) ? info->network.arity : 0;
	paths->by_source = ascent == TB_ASCENT_SOURCE;
	paths->exact = paths->arity && tb_run_n_faults(paths->run) == 0 &&
		       (paths->by_source || ascent == TB_ASCENT_DETERMINISTIC);
}

bool tb_paths_are_known(const struct tb_paths *paths)
{
	return paths->exact;
}

uint32_t tb_paths_turn(
	const struct tb_paths *paths, uint32_t source, uint32_t destination)
{
	uint32_t level = 0, k = paths->arity;
	while (source / k != destination / k) {
		source /= k;
		destination /= k;
		level++;
	}
	return level;
}

// take_way_port takes the link of a list that leaves a switch by a port; false for none.
static bool take_way_port(
	struct tb_paths *paths, const struct tb_fan *fan, uint32_t *sw, uint32_t port)
{
	for (uint32_t i = fan->first[*sw]; i < fan->first[*sw + 1]; i++) {
		uint32_t link = fan->links[i];
		if (paths->links[link].at.from_port != port)
			continue;
		paths->found[paths->n_found++].id = link;
		*sw = paths->links[link].at.to;
		return true;
	}
	return false;
}

// walk_way goes up to the level of the turn by the digits of an end, then down by those
// of the destination; false when a link is missing, which a damaged file can bring about.
static bool walk_way(struct tb_paths *paths, uint32_t source, uint32_t destination)
{
	uint32_t k = paths->arity, number = paths->by_source ? source : destination;
	uint32_t turn = tb_paths_turn(paths, source, destination), scale = 1, sw;
	uint32_t own = paths->injections.first[source];
	if (own == paths->injections.first[source + 1])
		return false;
	paths->found[0].id = paths->injections.links[own];
	paths->n_found = 1;
	sw = paths->links[paths->found[0].id].at.to;
	for (uint32_t hop = 0; hop < turn; hop++, scale *= k)
		if (!take_way_port(paths, &paths->ups, &sw, k + number / scale % k))
			return false;
	for (uint32_t level = turn; level > 0; level--, scale /= k)
		if (!take_way_port(paths, &paths->downs, &sw, destination / scale % k))
			return false;
	return take_way_port(paths, &paths->ejections, &sw, destination % k);
}

const struct tb_link *tb_paths_way(struct tb_paths *paths, struct tb_node source,
	struct tb_node destination, uint32_t *n)
{
	if (!paths->exact || source.id >= paths->n_nodes ||
		destination.id >= paths->n_nodes || source.id == destination.id)
		return tb_paths_find(paths, source, destination, n);
	*n = walk_way(paths, source.id, destination.id) ? paths->n_found : 0;
	return paths->found;
}
