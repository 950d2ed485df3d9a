// Processes, threads, GPUs and communicators of a log, found by what lines name them.
#include "nccl_impl.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

int tb_nl_no_memory(const struct nl_log *log)
{
	return tb_fail_memory_in(log->error, log->file, "a log of NCCL");
}

void tb_nl_fini(struct nl_log *log)
{
	for (size_t i = 0; i < log->n_processes; i++) {
		free(log->processes[i].host);
		free(log->processes[i].adapters);
	}
	for (size_t i = 0; i < log->n_comms; i++) {
		for (size_t k = 0; k < log->comms[i].n_channels; k++)
			free(log->comms[i].channels[k].order);
		free(log->comms[i].channels);
	}
	for (size_t i = 0; i < log->n_groups; i++)
		free(log->groups[i].members);
	free(log->processes);
	free(log->threads);
	free(log->comms);
	free(log->gpus);
	free(log->groups);
	free(log->ops);
	tb_map_fini(&log->process_of);
	tb_map_fini(&log->thread_of);
	tb_map_fini(&log->comm_of);
	tb_map_fini(&log->gpu_of);
	tb_map_fini(&log->newest_of);
}

static uint64_t table_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 29;
}

static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t hash = 1469598103934665603u; // FNV-1a
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
	return hash;
}

static bool is_process(const struct nl_process *process, const struct nl_line *line)
{
	return process->pid == line->pid && strlen(process->host) == line->host_n &&
	       memcmp(process->host, line->host, line->host_n) == 0;
}

// line_is_behind returns whether a line is of a process, behind what a program printed
// without ending its line: "0n01:100:100" of "n01:100:100".
static bool line_is_behind(const struct nl_process *process, const struct nl_line *line)
{
	size_t n = strlen(process->host);
	return process->pid == line->pid && n < line->host_n &&
	       memcmp(process->host, line->host + line->host_n - n, n) == 0;
}

int tb_nl_process(struct nl_log *log, const struct nl_line *line, uint32_t *process)
{
	uint64_t key = table_mix(text_hash(line->host, line->host_n), line->pid);
	for (; tb_map_find(&log->process_of, key, process); key++)
		if (is_process(&log->processes[*process], line))
			return TB_OK;
	if (tb_map_find(&log->newest_of, line->pid, process) &&
		line_is_behind(&log->processes[*process], line))
		return TB_OK;
	*process = (uint32_t)log->n_processes;
	if (tb_map_put(&log->newest_of, line->pid, *process) != TB_OK ||
		TB_ARRAY_RESERVE(&log->processes, &log->processes_room,
			log->n_processes + 1) != TB_OK ||
		tb_map_put(&log->process_of, key, *process) != TB_OK)
		return tb_nl_no_memory(log);
	struct nl_process made = {
		.host = strndup(line->host, line->host_n), .pid = line->pid};
	if (!made.host)
		return tb_nl_no_memory(log);
	log->processes[log->n_processes++] = made;
	return TB_OK;
}

int tb_nl_gpu(struct nl_log *log, uint32_t process, uint32_t device, uint32_t *gpu)
{
	uint64_t key = table_mix(process, device);
	for (; tb_map_find(&log->gpu_of, key, gpu); key++)
		if (log->gpus[*gpu].process == process &&
			log->gpus[*gpu].device == device)
			return TB_OK;
	*gpu = (uint32_t)log->n_gpus;
	if (TB_ARRAY_RESERVE(&log->gpus, &log->gpus_room, log->n_gpus + 1) != TB_OK ||
		tb_map_put(&log->gpu_of, key, *gpu) != TB_OK)
		return tb_nl_no_memory(log);
	log->gpus[log->n_gpus++] =
		(struct nl_gpu){.process = process, .device = device, .rank = NL_NONE};
	return TB_OK;
}

// A slot of the map: the first from the key on that is empty or the communicator's.
static bool comm_look_up(const struct nl_log *log, uint32_t process, uint64_t pointer,
	uint64_t *key, uint32_t *comm)
{
	*key = table_mix(pointer, process);
	for (; tb_map_find(&log->comm_of, *key, comm); ++*key)
		if (log->comms[*comm].process == process &&
			log->comms[*comm].pointer == pointer)
			return true;
	return false;
}

void tb_nl_comm(
	const struct nl_log *log, uint32_t process, uint64_t pointer, uint32_t *comm)
{
	uint64_t key;
	if (!comm_look_up(log, process, pointer, &key, comm))
		*comm = NL_NONE;
}

int tb_nl_comm_names(struct nl_log *log, uint32_t comm)
{
	uint64_t key;
	uint32_t other;
	const struct nl_comm *made = &log->comms[comm];
	comm_look_up(log, made->process, made->pointer, &key, &other);
	return tb_map_put(&log->comm_of, key, comm) == TB_OK ? TB_OK
							     : tb_nl_no_memory(log);
}

int tb_nl_comm_add(struct nl_log *log, const struct nl_comm *made, uint32_t *comm)
{
	if (log->n_comms >= NL_NONE - 1 || TB_ARRAY_RESERVE(&log->comms, &log->comms_room,
						   log->n_comms + 1) != TB_OK)
		return tb_nl_no_memory(log);
	*comm = (uint32_t)log->n_comms;
	log->comms[log->n_comms++] = *made;
	return made->pointer ? tb_nl_comm_names(log, *comm) : TB_OK;
}
