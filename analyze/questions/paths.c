// The one way of a flow, where it follows from its ends.
#include "paths.h"
#include "crossing.h"
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The topology of a run, indexed by where links begin: what paths.c and crossing.c share.

// Lists of link ids by where the links begin.
struct tb_fan {
	uint32_t *first; // by switch or node, plus one entry at the end
	uint32_t *links;
};

// The switches above an end, nearest first, and how many links away each is.
struct tb_climb {
	uint32_t *distance; // by switch
	uint32_t *order;
	uint32_t n;
};

struct tb_paths {
	const struct tb_run *run;
	const struct tb_run_link *links;
	uint32_t n_links, n_switches, n_nodes;
	struct tb_fan ups, downs;	     // by switch
	struct tb_fan injections, ejections; // by node, by switch
	struct tb_climb out, in;	     // of the source and of the destination
	uint8_t *useful;		     // by switch: on a shortest path
	uint32_t arity;			     // of a whole k-ary n-tree, else 0
	bool exact, by_source; // the ways of flows are known; by whose digits
	struct tb_link *found; // n_links at most
	uint32_t n_found;
};

// tb_paths_turn returns the level of the nearest common ancestors of two nodes of a k-ary
// n-tree.
uint32_t tb_paths_turn(
	const struct tb_paths *paths, uint32_t source, uint32_t destination);

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

// paths_describe finds out whether the ways of flows are known.
static void paths_describe(struct tb_paths *paths)
{
	const struct tb_run_info *info = tb_run_info(paths->run);
	enum tb_ascent ascent = info->network.ascent;
	paths->arity = is_kary_tree(info) ? info->network.arity : 0;
	paths->by_source = ascent == TB_ASCENT_SOURCE;
	paths->exact = paths->arity && tb_run_n_faults(paths->run) == 0 &&
		       (paths->by_source || ascent == TB_ASCENT_DETERMINISTIC);
}

bool tb_paths_by_destination(struct tb_paths *paths)
{
	paths->by_source = false;
	paths->exact = paths->arity && tb_run_n_faults(paths->run) == 0;
	return paths->exact;
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
	paths_describe(made);
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

TB_ORDER_BY(by_id, struct tb_link, TB_UP(id))

static bool is_end_known(const struct tb_paths *paths, struct tb_path_end end)
{
	return end.id < (end.is_switch ? paths->n_switches : paths->n_nodes);
}

const struct tb_link *tb_paths_between(struct tb_paths *paths, struct tb_path_end source,
	struct tb_path_end destination, uint32_t *n)
{
	paths->n_found = 0;
	*n = 0;
	if (!is_end_known(paths, source) || !is_end_known(paths, destination) ||
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

// What is asked: a link, or a switch when `link` is TB_ID_NONE. Flows that cross it have
// an end below `lower`: the switch, or the lower end of the link.
struct quest {
	struct tb_paths *paths;
	const struct tb_flow_table *table;
	const struct tb_crossing_query *query;
	uint32_t link, sw;
	uint32_t lower; // TB_ID_NONE: the link joins a node
	uint8_t *below; // by node
};

static bool is_met(const struct quest *quest, uint32_t link)
{
	const struct tb_link_info *at = &quest->paths->links[link].at;
	return quest->link != TB_ID_NONE
		       ? link == quest->link
		       : at->kind != TB_LINK_EJECTION && at->to == quest->sw;
}

// is_on_way looks at the way of a flow, or at all its shortest paths.
static bool is_on_way(const struct quest *quest, const struct tb_flow_sample *flow)
{
	uint32_t n;
	const struct tb_link *links =
		tb_paths_way(quest->paths, flow->source, flow->destination, &n);
	for (uint32_t i = 0; i < n; i++)
		if (is_met(quest, links[i].id))
			return true;
	return false;
}

// counts tells whether a flow is asked for; last_ps is 0 when the store has no times.
static bool counts(
	const struct tb_crossing_query *query, const struct tb_flow_sample *flow)
{
	return (query->job == TB_ID_NONE || query->job == flow->job) &&
	       (flow->last_ps == 0 ||
		       (flow->first_ps < query->to_ps && flow->last_ps > query->from_ps));
}

static bool crosses(const struct quest *quest, const struct tb_flow_sample *flow)
{
	uint32_t source = flow->source.id, destination = flow->destination.id;
	const struct tb_run_link *links = quest->paths->links;
	if (source == destination || !counts(quest->query, flow))
		return false;
	if (quest->lower == TB_ID_NONE) {
		const struct tb_link_info *at = &links[quest->link].at;
		return at->kind == TB_LINK_INJECTION ? at->from == source
						     : at->to == destination;
	}
	bool up = quest->link == TB_ID_NONE || links[quest->link].at.kind == TB_LINK_UP;
	bool down = quest->link == TB_ID_NONE || !up;
	if (!(up && quest->below[source]) && !(down && quest->below[destination]))
		return false;
	if (quest->paths->arity == 0)
		return is_on_way(quest, flow);
	uint32_t level = tb_run_switches(quest->paths->run)[quest->lower].at.level;
	uint32_t turn = tb_paths_turn(quest->paths, source, destination);
	if (turn < level || (turn == level && quest->link != TB_ID_NONE))
		return false;
	return !quest->paths->exact || is_on_way(quest, flow);
}

TB_ORDER_BY(by_job_bytes, struct tb_crossing_job, TB_DOWN(bytes) TB_UP(job))

static int collect(struct tb_crossing *crossing, const struct quest *quest)
{
	const struct tb_flow_table *table = quest->table;
	uint32_t n_jobs = tb_run_info(quest->paths->run)->n_jobs, n = 0;
	struct tb_flow_bytes *list = malloc((table->n + 1u) * sizeof *list);
	crossing->jobs = calloc(n_jobs + 1u, sizeof *crossing->jobs);
	if (!list || !crossing->jobs) {
		free(list);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; table->group <= 1 && i < table->n; i++)
		if (crosses(quest, &table->rows[i])) {
			list[n++] = (struct tb_flow_bytes){table->rows[i].bytes, i};
			if (table->rows[i].job < n_jobs) {
				const struct tb_flow_sample *flow = &table->rows[i];
				struct tb_crossing_job *job = &crossing->jobs[flow->job];
				job->job = flow->job;
				job->n_flows++;
				job->bytes += flow->bytes;
			}
		}
	qsort(list, n, sizeof *list, tb_flow_bytes_order);
	crossing->flows = malloc((n + 1u) * sizeof *crossing->flows);
	for (uint32_t i = 0; crossing->flows && i < n; i++)
		crossing->flows[i] = list[i].row;
	crossing->n = n;
	free(list);
	// Keep the jobs that have flows.
	for (uint32_t i = 0; i < n_jobs; i++)
		if (crossing->jobs[i].n_flows)
			crossing->jobs[crossing->n_jobs++] = crossing->jobs[i];
	qsort(crossing->jobs, crossing->n_jobs, sizeof *crossing->jobs, by_job_bytes);
	return crossing->flows ? TB_OK : TB_ENOMEM;
}

// lower_of returns the switch that flows over a link, or through a switch, have an end
// below; TB_ID_NONE for a link that joins a node.
static uint32_t lower_of(const struct tb_paths *paths, const struct quest *quest)
{
	if (quest->link == TB_ID_NONE)
		return quest->sw;
	const struct tb_link_info *at = &paths->links[quest->link].at;
	return at->kind == TB_LINK_UP	  ? at->from
	       : at->kind == TB_LINK_DOWN ? at->to
					  : TB_ID_NONE;
}

int tb_crossing_init(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, const struct tb_crossing_query *query,
	struct tb_error *error)
{
	struct tb_crossing made = {.n = 0};
	struct quest quest = {.paths = paths,
		.table = table,
		.query = query,
		.link = query->of_switch ? TB_ID_NONE : query->id,
		.sw = query->of_switch ? query->id : TB_ID_NONE,
		.below = calloc(paths->n_nodes + 1u, 1)};
	int status = quest.below ? TB_OK : TB_ENOMEM;
	quest.lower = lower_of(paths, &quest);
	if (status == TB_OK && quest.lower != TB_ID_NONE) {
		// Mark the nodes that a descent from a switch reaches.
		uint8_t *below = quest.below;
		uint8_t *seen = calloc(paths->n_switches + 1u, 1);
		uint32_t *stack = malloc((paths->n_switches + 1u) * sizeof *stack);
		uint32_t n = 0;
		if (seen && stack)
			stack[n++] = quest.lower;
		while (n) {
			uint32_t at = stack[--n];
			const uint32_t *own = &paths->ejections.first[at];
			for (uint32_t i = own[0]; i < own[1]; i++)
				below[paths->links[paths->ejections.links[i]].at.to] = 1;
			const uint32_t *down = &paths->downs.first[at];
			for (uint32_t i = down[0]; i < down[1]; i++) {
				uint32_t to = paths->links[paths->downs.links[i]].at.to;
				if (!seen[to])
					stack[n++] = to;
				seen[to] = 1;
			}
		}
		status = seen && stack ? TB_OK : TB_ENOMEM;
		free(seen);
		free(stack);
	}
	if (status == TB_OK)
		status = collect(&made, &quest);
	free(quest.below);
	// With one rail, whose flows cross a node's own link does not depend on the way.
	made.exact =
		paths->exact || (quest.lower == TB_ID_NONE &&
					tb_run_info(paths->run)->network.n_rails == 1);
	if (status != TB_OK) {
		tb_crossing_fini(&made);
		return tb_fail_memory(error, "%" PRIu32 " flows", table->n);
	}
	*crossing = made;
	return TB_OK;
}

void tb_crossing_fini(struct tb_crossing *crossing)
{
	free(crossing->flows);
	free(crossing->jobs);
	*crossing = (struct tb_crossing){.n = 0};
}
