#include "crossing.h"

#include "paths_impl.h"

#include <inttypes.h>
#include <stdlib.h>

// What is asked: a link, or a switch when `link` is TB_ID_NONE. Flows that cross it have
// an end below `lower`: the switch, or the lower end of the link.
struct quest {
	struct tb_paths *paths;
	const struct tb_flow_table *table;
	uint32_t link, sw;
	uint32_t lower;	       // TB_ID_NONE: the link joins a node
	uint8_t *below;	       // by node
	uint32_t arity;	       // 0: no k-ary n-tree
	bool exact, by_source; // how the ways ascend
};

static bool is_kary_tree(const struct tb_run_info *info)
{
	uint64_t n_nodes = 1;
	uint32_t k = info->network.arity;
	for (uint32_t level = 0; level < info->n_levels; level++) {
		if (k < 2 || n_nodes > UINT32_MAX)
			return false;
		n_nodes *= k;
	}
	return info->network.n_rails == 1 && n_nodes == info->n_nodes &&
	       info->n_switches == info->n_levels * (n_nodes / k) &&
	       info->n_links == 2 * info->n_levels * n_nodes;
}

static void describe(struct quest *quest)
{
	const struct tb_run *run = quest->paths->run;
	const struct tb_run_info *info = tb_run_info(run);
	enum tb_ascent ascent = info->network.ascent;
	quest->arity = is_kary_tree(info) ? info->network.arity : 0;
	quest->by_source = ascent == TB_ASCENT_SOURCE;
	quest->exact = quest->arity && tb_run_n_faults(run) == 0 &&
		       (quest->by_source || ascent == TB_ASCENT_DETERMINISTIC);
}

// mark_below marks the nodes that a descent from a switch reaches.
static int mark_below(const struct tb_paths *paths, uint32_t sw, uint8_t *below)
{
	uint8_t *seen = calloc(paths->n_switches + 1u, 1);
	uint32_t *stack = malloc((paths->n_switches + 1u) * sizeof *stack);
	uint32_t n = 0;
	if (seen && stack)
		stack[n++] = sw;
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
	int status = seen && stack ? TB_OK : TB_ENOMEM;
	free(seen);
	free(stack);
	return status;
}

// turn_level returns the level of the nearest common ancestors of a k-ary n-tree.
static uint32_t turn_level(uint32_t arity, uint32_t source, uint32_t destination)
{
	uint32_t level = 0;
	while (source / arity != destination / arity) {
		source /= arity;
		destination /= arity;
		level++;
	}
	return level;
}

// port_link finds the link of a list that leaves by a port; TB_ID_NONE for none.
static uint32_t port_link(const struct tb_paths *paths, const struct tb_fan *fan,
	uint32_t sw, uint32_t port)
{
	for (uint32_t i = fan->first[sw]; i < fan->first[sw + 1]; i++)
		if (paths->links[fan->links[i]].at.from_port == port)
			return fan->links[i];
	return TB_ID_NONE;
}

static bool is_met(const struct quest *quest, uint32_t link)
{
	const struct tb_link_info *at = &quest->paths->links[link].at;
	return quest->link != TB_ID_NONE
		       ? link == quest->link
		       : at->kind != TB_LINK_EJECTION && at->to == quest->sw;
}

// walks_over follows the one way of a flow: up to the level of the turn by the digits of
// an end, then down by those of the destination.
static bool walks_over(const struct quest *quest, uint32_t source, uint32_t destination)
{
	const struct tb_paths *paths = quest->paths;
	uint32_t k = quest->arity, number = quest->by_source ? source : destination;
	uint32_t turn = turn_level(k, source, destination), scale = 1;
	uint32_t link = paths->injections.links[paths->injections.first[source]];
	for (uint32_t hop = 0; link != TB_ID_NONE && !is_met(quest, link);
		hop++, scale *= k) {
		if (hop == turn)
			break;
		link = port_link(paths, &paths->ups, paths->links[link].at.to,
			k + number / scale % k);
	}
	for (uint32_t level = turn;
		link != TB_ID_NONE && !is_met(quest, link) && level > 0;
		level--, scale /= k)
		link = port_link(paths, &paths->downs, paths->links[link].at.to,
			destination / scale % k);
	return link != TB_ID_NONE && is_met(quest, link);
}

// may_cross looks at all shortest paths of any network.
static bool may_cross(
	const struct quest *quest, struct tb_node source, struct tb_node destination)
{
	uint32_t n;
	const struct tb_link *links =
		tb_paths_find(quest->paths, source, destination, &n);
	for (uint32_t i = 0; i < n; i++)
		if (is_met(quest, links[i].id))
			return true;
	return false;
}

static bool crosses(const struct quest *quest, const struct tb_flow_sample *flow)
{
	uint32_t source = flow->source.id, destination = flow->destination.id;
	const struct tb_run_link *links = quest->paths->links;
	if (source == destination)
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
	if (quest->arity == 0)
		return may_cross(quest, flow->source, flow->destination);
	uint32_t level = tb_run_switches(quest->paths->run)[quest->lower].at.level;
	uint32_t turn = turn_level(quest->arity, source, destination);
	if (turn < level || (turn == level && quest->link != TB_ID_NONE))
		return false;
	return !quest->exact || walks_over(quest, source, destination);
}

struct ranked {
	uint64_t bytes;
	uint32_t row;
};

static int by_bytes(const void *one, const void *other)
{
	const struct ranked *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

static int by_job_bytes(const void *one, const void *other)
{
	const struct tb_crossing_job *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->job > b->job) - (a->job < b->job);
}

static void add_job(struct tb_crossing *crossing, const struct tb_flow_sample *flow)
{
	struct tb_crossing_job *job = &crossing->jobs[flow->job];
	job->job = flow->job;
	job->n_flows++;
	job->bytes += flow->bytes;
}

// pack_jobs keeps the jobs that have flows.
static void pack_jobs(struct tb_crossing *crossing, uint32_t n_jobs)
{
	for (uint32_t i = 0; i < n_jobs; i++)
		if (crossing->jobs[i].n_flows)
			crossing->jobs[crossing->n_jobs++] = crossing->jobs[i];
	qsort(crossing->jobs, crossing->n_jobs, sizeof *crossing->jobs, by_job_bytes);
}

static int collect(struct tb_crossing *crossing, const struct quest *quest)
{
	const struct tb_flow_table *table = quest->table;
	uint32_t n_jobs = tb_run_info(quest->paths->run)->n_jobs, n = 0;
	struct ranked *list = malloc((table->n + 1u) * sizeof *list);
	crossing->jobs = calloc(n_jobs + 1u, sizeof *crossing->jobs);
	if (!list || !crossing->jobs) {
		free(list);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; table->group <= 1 && i < table->n; i++)
		if (crosses(quest, &table->rows[i])) {
			list[n++] = (struct ranked){table->rows[i].bytes, i};
			if (table->rows[i].job < n_jobs)
				add_job(crossing, &table->rows[i]);
		}
	qsort(list, n, sizeof *list, by_bytes);
	crossing->flows = malloc((n + 1u) * sizeof *crossing->flows);
	for (uint32_t i = 0; crossing->flows && i < n; i++)
		crossing->flows[i] = list[i].row;
	crossing->n = n;
	free(list);
	pack_jobs(crossing, n_jobs);
	return crossing->flows ? TB_OK : TB_ENOMEM;
}

static int answer(
	struct tb_crossing *crossing, struct quest *quest, struct tb_error *error)
{
	struct tb_crossing made = {.n = 0};
	int status = TB_OK;
	quest->below = calloc(quest->paths->n_nodes + 1u, 1);
	if (!quest->below)
		status = TB_ENOMEM;
	describe(quest);
	if (status == TB_OK && quest->lower != TB_ID_NONE)
		status = mark_below(quest->paths, quest->lower, quest->below);
	if (status == TB_OK)
		status = collect(&made, quest);
	free(quest->below);
	// Which links join a node does not depend on the way, but for that of a rail.
	made.exact = quest->exact ||
		     (quest->lower == TB_ID_NONE &&
			     tb_run_info(quest->paths->run)->network.n_rails == 1);
	if (status != TB_OK) {
		tb_crossing_fini(&made);
		return tb_fail(error, TB_ENOMEM, "no memory for %" PRIu32 " flows",
			quest->table->n);
	}
	*crossing = made;
	return TB_OK;
}

int tb_crossing_of_link(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, struct tb_link link, struct tb_error *error)
{
	const struct tb_link_info *at = &paths->links[link.id].at;
	struct quest quest = {.paths = paths,
		.table = table,
		.link = link.id,
		.lower = at->kind == TB_LINK_UP	    ? at->from
			 : at->kind == TB_LINK_DOWN ? at->to
						    : TB_ID_NONE};
	return answer(crossing, &quest, error);
}

int tb_crossing_of_switch(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, struct tb_switch sw, struct tb_error *error)
{
	struct quest quest = {.paths = paths,
		.table = table,
		.link = TB_ID_NONE,
		.sw = sw.id,
		.lower = sw.id};
	return answer(crossing, &quest, error);
}

void tb_crossing_fini(struct tb_crossing *crossing)
{
	free(crossing->flows);
	free(crossing->jobs);
	*crossing = (struct tb_crossing){.n = 0};
}
