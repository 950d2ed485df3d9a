// What a log tells beside its calls.
#include "nccl_log.h"

#include "nccl_impl.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_SHOWN  64
#define GROUPS_SHOWN 16

static void facts_add_counts(
	struct tb_facts *facts, const char *name, const struct nl_counts *counts)
{
	char number[32];
	for (size_t i = 0; i < counts->n; i++)
		tb_facts_add(facts, name, "%s: %s", counts->rows[i].text,
			tb_format_count(counts->rows[i].n, number, sizeof number));
	if (counts->n_more > 0)
		tb_facts_add(facts, name, "others: %s",
			tb_format_count(counts->n_more, number, sizeof number));
}

static void add_names(
	struct tb_facts *facts, const char *name, const struct nl_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++)
		tb_facts_add(facts, name, "%s", counts->rows[i].text);
}

// find_adapter finds the name of adapter k in "[0]mlx5_0:1/IB [1]...".
static int find_adapter(const char *list, unsigned k, const char **name)
{
	char key[16];
	int n = snprintf(key, sizeof key, "[%u]", k);
	const char *at = list ? strstr(list, key) : NULL;
	*name = at ? at + n : "";
	return (int)strcspn(*name, " <");
}

static void add_gpu(const struct nl_log *log, const struct nl_gpu *gpu, const char *who,
	struct tb_facts *facts)
{
	char text[1024];
	const struct nl_process *process = &log->processes[gpu->process];
	size_t at = 0;
	for (unsigned k = 0; k < 64 && at < sizeof text; k++) {
		const char *name;
		if (!(gpu->adapters >> k & 1))
			continue;
		int n = find_adapter(process->adapters, k, &name);
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%u%s%.*s%s",
			at ? ", " : "", k, n ? " (" : "", n < 40 ? n : 40, name,
			n ? ")" : "");
	}
	if (at > 0)
		tb_facts_add(facts, "adapters", "%s on %.255s: %s %s", who, process->host,
			gpu->network, text);
}

static int member_by_rank(const void *a, const void *b)
{
	const struct nl_gpu *const *one = a, *const *other = b;
	if ((*one)->rank != (*other)->rank)
		return (*one)->rank < (*other)->rank ? -1 : 1;
	return (*one > *other) - (*one < *other);
}

// add_adapters names the adapters that each GPU sends and receives with.
static int add_adapters(const struct nl_log *log, struct tb_facts *facts)
{
	size_t n = 0;
	const struct nl_gpu **order = calloc(log->n_gpus + 1, sizeof(*order));
	if (!order)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_gpus; i++)
		if (log->gpus[i].adapters)
			order[n++] = &log->gpus[i];
	qsort(order, n, sizeof(*order), member_by_rank);
	for (size_t i = 0; i < n && i < RANKS_SHOWN; i++) {
		char who[48];
		if (order[i]->rank == NL_NONE)
			snprintf(who, sizeof who, "GPU %" PRIu32, order[i]->device);
		else
			snprintf(who, sizeof who, "rank %" PRIu32, order[i]->rank);
		add_gpu(log, order[i], who, facts);
	}
	if (n > RANKS_SHOWN)
		tb_facts_add(facts, "adapters", "and of %zu more", n - RANKS_SHOWN);
	free(order);
	return TB_OK;
}

// facts_add_hosts counts the processes of each host, in the order in which hosts are
// named.
static int facts_add_hosts(const struct nl_log *log, struct tb_facts *facts)
{
	struct nl_counts *hosts = calloc(1, sizeof *hosts);
	char number[2][48];
	if (!hosts)
		return tb_nl_no_memory(log);
	for (size_t i = 0; i < log->n_processes; i++)
		tb_nl_count(
			hosts, log->processes[i].host, strlen(log->processes[i].host));
	tb_facts_add(facts, "processes", "%s, %s",
		tb_format_counted(log->n_processes, "process|processes", number[0], 48),
		tb_format_counted(
			log->n_lines, "line of NCCL's|lines of NCCL's", number[1], 48));
	for (size_t i = 0; i < hosts->n && i < RANKS_SHOWN; i++)
		tb_facts_add(facts, "host", "%s: %s", hosts->rows[i].text,
			tb_format_counted(
				hosts->rows[i].n, "process|processes", number[0], 48));
	if (hosts->n > RANKS_SHOWN || hosts->n_more > 0)
		tb_facts_add(facts, "host", "and others");
	free(hosts);
	return TB_OK;
}

static int facts_add_groups(const struct nl_log *log, struct tb_facts *facts)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < log->n_groups && i < GROUPS_SHOWN && status == TB_OK;
		i++) {
		const struct nl_group *group = &log->groups[i];
		char id[48] = "", part[80] = "", number[2][48];
		if (group->id)
			snprintf(id, sizeof id, " (id %" PRIx64 ")", group->id);
		if (!group->members)
			snprintf(part, sizeof part, ", the log has %s",
				group->n_members == 1 ? "one of them" : "some of them");
		else if (group->is_unsure)
			snprintf(part, sizeof part, ", whose members are not certain");
		tb_facts_add(facts, "communicator", "%s%s, %s%s",
			tb_format_counted(group->n_ranks, "rank", number[0], 48), id,
			tb_format_counted(group->n_ops, "call", number[1], 48), part);
		status = tb_nl_wiring(log, i, facts);
	}
	if (log->n_groups > GROUPS_SHOWN)
		tb_facts_add(facts, "communicator", "and %zu more",
			log->n_groups - GROUPS_SHOWN);
	return status;
}

static int facts_add_all(const struct nl_log *log, struct tb_facts *facts)
{
	char text[48];
	add_names(facts, "made by", &log->versions);
	int status = facts_add_hosts(log, facts);
	if (log->last_ns > log->first_ns)
		tb_facts_add(facts, "times", "%s from the first line to the last",
			tb_format_time((tb_time_ps)((log->last_ns - log->first_ns) /
						    1000 * 1000000),
				text, sizeof text));
	add_names(facts, "network", &log->networks);
	if (status == TB_OK)
		status = add_adapters(log, facts);
	if (status == TB_OK)
		status = facts_add_groups(log, facts);
	facts_add_counts(facts, "connections", &log->connections);
	facts_add_counts(facts, "chosen", &log->algorithms);
	return status;
}

int tb_nccl_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct nl_log log = {.error = error};
	int status = tb_nl_read(&log, reading, 0, paths, n);
	if (status == TB_OK)
		status = facts_add_all(&log, facts);
	tb_nl_fini(&log);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}
