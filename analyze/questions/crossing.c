#include "crossing.h"

#include "paths_impl.h"

#include <inttypes.h>
#include <stdlib.h>

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

static int by_job_bytes(const void *one, const void *other)
{
	const struct tb_crossing_job *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->job > b->job) - (a->job < b->job);
}

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
