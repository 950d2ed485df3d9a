// The groups of collective calls: communicators as they are used.
#include "paraver_impl.h"

#include <inttypes.h>
#include <stdlib.h>

struct prv_group_finding {
	struct prv_trace *trace;
	struct tb_calls *calls;
	struct tb_map communicator_of; // hash of application and id to its number
};

static int finding_no_memory(const struct prv_trace *trace)
{
	return tb_fail_memory_in(trace->error, trace->file, "a Paraver trace");
}

static int finding_make(const struct prv_group_finding *finding, uint32_t application,
	const uint32_t *members, uint32_t n, uint32_t *group)
{
	struct prv_trace *trace = finding->trace;
	const struct prv_application *of = &trace->applications[application];
	uint32_t *ranks = malloc((n + 1) * sizeof *ranks);
	int status = ranks ? TB_OK : finding_no_memory(trace);
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t member = members ? members[i] : i;
		if (member >= of->n_tasks)
			status = tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"a communicator has task %" PRIu32
				" of application %" PRIu32 ", which has %" PRIu32,
				member + 1, application + 1, of->n_tasks);
		else
			ranks[i] = trace->tasks[of->first_task + member].rank;
	}
	if (status == TB_OK)
		status = tb_calls_group(finding->calls, ranks, n, n, group, trace->error);
	free(ranks);
	return status;
}

// A slot of the map: the first from `key` on that is empty or the communicator's.
static struct prv_communicator *finding_look_up(const struct prv_group_finding *finding,
	uint32_t application, uint64_t id, uint64_t *key)
{
	uint32_t place;
	*key = (id ^ (uint64_t)application << 48) * UINT64_C(0x9e3779b97f4a7c15);
	for (; tb_map_find(&finding->communicator_of, *key, &place); ++*key) {
		struct prv_communicator *at = &finding->trace->communicators[place];
		if (at->id == id && at->application == application)
			return at;
	}
	return NULL;
}

static struct prv_communicator *find_communicator(
	const struct prv_group_finding *finding, uint32_t application, uint64_t id)
{
	uint64_t key;
	return finding_look_up(finding, application, id, &key);
}

// map_communicators has each be found by its id; the first of several lines counts.
static int map_communicators(struct prv_group_finding *finding)
{
	const struct prv_trace *trace = finding->trace;
	for (size_t i = 0; i < trace->n_communicators; i++) {
		uint64_t key;
		const struct prv_communicator *at = &trace->communicators[i];
		if (!finding_look_up(finding, at->application, at->id, &key) &&
			tb_map_put(&finding->communicator_of, key, (uint32_t)i) != TB_OK)
			return finding_no_memory(trace);
	}
	return TB_OK;
}

// finding_find stores the group of a collective call in the place of its communicator.
static int finding_find(const struct prv_group_finding *finding, uint32_t application,
	struct prv_span *span)
{
	struct prv_trace *trace = finding->trace;
	uint32_t group = 0;
	int status = TB_OK;
	struct prv_communicator *found =
		span->communicator
			? find_communicator(finding, application, span->communicator)
			: NULL;
	if (!found && span->communicator)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"a collective call in communicator %" PRIu64
			" of application %" PRIu32 ", which no line c: describes",
			span->communicator, application + 1);
	if (found && found->n == 0)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"a collective call in communicator %" PRIu64
			", which has no tasks",
			span->communicator);
	if (found && found->group == PRV_NONE)
		status = finding_make(finding, application,
			trace->members + found->first_member, found->n, &found->group);
	if (found)
		group = found->group;
	span->communicator = group;
	return status;
}

int tb_prv_find_groups(struct prv_trace *trace, struct tb_calls *calls)
{
	struct prv_group_finding finding = {.trace = trace, .calls = calls};
	int status = map_communicators(&finding);
	for (uint32_t a = 0; a < trace->n_applications; a++) {
		const struct prv_application *of = &trace->applications[a];
		for (uint32_t i = 0; i < of->n_tasks && status == TB_OK; i++) {
			struct prv_task *task = &trace->tasks[of->first_task + i];
			for (size_t k = 0; k < task->n && status == TB_OK; k++)
				if (tb_prv_is_collective(&task->spans[k]))
					status = finding_find(
						&finding, a, &task->spans[k]);
		}
	}
	tb_map_fini(&finding.communicator_of);
	return status;
}
