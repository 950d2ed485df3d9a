#include "grouped.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[TB_GRAINS] = {
	[TB_GRAIN_FLOWS] = "flows",
	[TB_GRAIN_DESTINATIONS] = "destinations",
	[TB_GRAIN_DESTINATION_LEAVES] = "destination leaves",
	[TB_GRAIN_SOURCE_LEAVES] = "source leaves",
	[TB_GRAIN_JOBS] = "jobs",
};

const char *tb_grain_name(enum tb_grain grain)
{
	return names[grain];
}

static bool is_enough(const struct tb_listed *listed)
{
	return listed->n_all > 0 && 2 * listed->rest_ps <= listed->whole_ps;
}

// by_flows, by_groups and by_jobs store whether the grain holds enough.
static int by_flows(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	bool *enough, struct tb_error *error)
{
	struct tb_heavy_waits flows;
	int status = tb_heavy_waits_init(&flows, run, top, error);
	if (status)
		return status;
	*enough = is_enough(&flows.listed);
	if (*enough)
		*grouped = (struct tb_grouped){
			.grain = TB_GRAIN_FLOWS, .flows = flows, .listed = flows.listed};
	else
		tb_heavy_waits_fini(&flows);
	return TB_OK;
}

static int by_groups(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	enum tb_grain grain, bool *enough, struct tb_error *error)
{
	enum tb_grouping grouping = grain == TB_GRAIN_DESTINATIONS ? TB_GROUP_DESTINATION
				    : grain == TB_GRAIN_DESTINATION_LEAVES
					    ? TB_GROUP_DESTINATION_LEAF
					    : TB_GROUP_SOURCE_LEAF;
	struct tb_groups groups;
	int status = tb_groups_init(&groups, run, grouping, top, error);
	if (status)
		return status;
	*enough = is_enough(&groups.listed);
	if (*enough)
		*grouped = (struct tb_grouped){
			.grain = grain, .rows = groups.rows, .listed = groups.listed};
	else
		tb_groups_fini(&groups);
	return TB_OK;
}

static int by_jobs(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_job_pairs pairs;
	int status = tb_job_pairs_init(&pairs, run, (struct tb_span){0, 0}, top, error);
	if (status)
		return status;
	struct tb_group_sample *rows = calloc(pairs.listed.n + 1u, sizeof *rows);
	for (uint32_t i = 0; rows && i < pairs.listed.n; i++)
		rows[i] = (struct tb_group_sample){.victim = pairs.rows[i].victim_job,
			.culprit = pairs.rows[i].culprit_job,
			.n_waits = pairs.rows[i].n_waits,
			.wait_ps = pairs.rows[i].wait_ps};
	*grouped = (struct tb_grouped){
		.grain = TB_GRAIN_JOBS, .rows = rows, .listed = pairs.listed};
	tb_job_pairs_fini(&pairs);
	return rows ? TB_OK : tb_fail_memory(error, "blame");
}

int tb_grouped_init(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	bool enough = false;
	int status = by_flows(grouped, run, top, &enough, error);
	for (int grain = TB_GRAIN_DESTINATIONS;
		!status && !enough && grain < TB_GRAIN_JOBS; grain++)
		status = by_groups(
			grouped, run, top, (enum tb_grain)grain, &enough, error);
	return status || enough ? status : by_jobs(grouped, run, top, error);
}

void tb_grouped_fini(struct tb_grouped *grouped)
{
	tb_heavy_waits_fini(&grouped->flows);
	free(grouped->rows);
	*grouped = (struct tb_grouped){0};
}

char *tb_grouped_party(const struct tb_run *run, enum tb_grain grain, uint32_t id,
	char *buffer, size_t size)
{
	const char *name = grain == TB_GRAIN_JOBS ? tb_run_job_name(run, id) : "";
	const char *host =
		grain == TB_GRAIN_DESTINATIONS && id < tb_run_info(run)->n_nodes
			? tb_run_node_name(run, (struct tb_node){id})
			: "";
	if (grain == TB_GRAIN_DESTINATIONS)
		snprintf(buffer, size, *host ? "node %u (%s)" : "node %u", id, host);
	else if (grain != TB_GRAIN_JOBS && id < tb_run_info(run)->n_switches)
		snprintf(buffer, size, "leaf %s", tb_run_switches(run)[id].name);
	else if (name[0])
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", id);
	return buffer;
}
