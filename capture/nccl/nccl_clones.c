// Ranks without a log, which do what the others do (--clone-ranks).
#include "nccl_impl.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct nl_cloning {
	struct nl_log *log;
	uint32_t n_ranks, world; // of the job, and of the log
	uint32_t *templates;	 // GPUs with calls
	uint32_t n_templates;
	uint32_t *copy_of;     // by communicator: that of the rank being made
	bool *is_taken;	       // by rank
	size_t n_comms, n_ops; // of the log
};

static int clones_refuse(const struct nl_log *log, const char *why)
{
	return tb_fail_in(
		log->error, TB_EUSAGE, log->file, "its ranks cannot be cloned: %s", why);
}

// clones_check finds the GPUs with calls, and that these are collective calls of all
// ranks.
static int clones_check(struct nl_cloning *c)
{
	struct nl_log *log = c->log;
	for (size_t i = 0; i < log->n_ops; i++)
		if (log->ops[i].what >= TB_COLL_N)
			return clones_refuse(log, "they send messages to single ranks");
	for (size_t i = 0; i < log->n_comms; i++)
		if (log->comms[i].n_ops > 0 && log->comms[i].n_ranks > c->world)
			c->world = log->comms[i].n_ranks;
	for (size_t i = 0; i < log->n_comms; i++) {
		struct nl_comm *comm = &log->comms[i];
		if (comm->n_ops == 0)
			continue;
		if (comm->n_ranks != c->world)
			return clones_refuse(log,
				"they call in communicators of some ranks, "
				"and the others' are not known");
		int status = tb_nl_gpu(log, comm->process, comm->device, &comm->gpu);
		if (status != TB_OK)
			return status;
	}
	if (c->n_ranks < c->world)
		return tb_fail_in(log->error, TB_EUSAGE, log->file,
			"is of a job with %" PRIu32 " ranks: --clone-ranks %" PRIu32
			" would make fewer",
			c->world, c->n_ranks);
	return TB_OK;
}

// list_templates lists the GPUs with calls in their order, and has each know its rank.
static int list_templates(struct nl_cloning *c)
{
	struct nl_log *log = c->log;
	uint32_t *rank_of = malloc((log->n_gpus + 1) * sizeof *rank_of);
	c->templates = calloc(log->n_gpus + 1, sizeof *c->templates);
	c->copy_of = calloc(log->n_comms + 1, sizeof *c->copy_of);
	c->is_taken = calloc(c->n_ranks + 1, sizeof *c->is_taken);
	bool fine = rank_of && c->templates && c->copy_of && c->is_taken;
	for (size_t i = 0; fine && i < log->n_gpus; i++)
		rank_of[i] = NL_NONE;
	for (size_t i = 0; fine && i < log->n_comms; i++) {
		struct nl_comm *comm = &log->comms[i];
		if (comm->n_ops == 0)
			continue;
		if (rank_of[comm->gpu] == NL_NONE) {
			rank_of[comm->gpu] =
				comm->rank == NL_NONE ? c->n_templates : comm->rank;
			c->templates[c->n_templates++] = comm->gpu;
		}
		if (comm->rank == NL_NONE)
			comm->rank = rank_of[comm->gpu];
		comm->n_ranks = c->n_ranks;
		if (comm->rank < c->n_ranks)
			c->is_taken[comm->rank] = true;
	}
	free(rank_of);
	return fine ? TB_OK : tb_nl_no_memory(log);
}

static int add_process(struct nl_log *log, uint32_t *process)
{
	struct nl_process made = {.host = strdup("")};
	*process = (uint32_t)log->n_processes;
	if (!made.host || TB_ARRAY_RESERVE(&log->processes, &log->processes_room,
				  log->n_processes + 1) != TB_OK) {
		free(made.host);
		return tb_nl_no_memory(log);
	}
	log->processes[log->n_processes++] = made;
	return TB_OK;
}

static int copy_comms(struct nl_cloning *c, uint32_t gpu, uint32_t process, uint32_t rank)
{
	struct nl_log *log = c->log;
	int status = TB_OK;
	for (size_t i = 0; i < c->n_comms && status == TB_OK; i++) {
		const struct nl_comm *from = &log->comms[i];
		const struct nl_comm made = {.id = from->id,
			.process = process,
			.device = from->device,
			.rank = rank,
			.n_ranks = c->n_ranks,
			.n_ops = from->n_ops};
		if (from->n_ops > 0 && from->gpu == gpu)
			status = tb_nl_comm_add(log, &made, &c->copy_of[i]);
	}
	return status;
}

static int copy_ops(struct nl_cloning *c, uint32_t gpu)
{
	struct nl_log *log = c->log;
	for (size_t i = 0; i < c->n_ops; i++) {
		if (log->comms[log->ops[i].comm].gpu != gpu)
			continue;
		if (log->n_ops >= NL_NONE - 1 ||
			TB_ARRAY_RESERVE(&log->ops, &log->ops_room, log->n_ops + 1) !=
				TB_OK)
			return tb_nl_no_memory(log);
		log->ops[log->n_ops] = log->ops[i];
		log->ops[log->n_ops++].comm = c->copy_of[log->ops[i].comm];
	}
	return TB_OK;
}

static int clone_all(struct nl_cloning *c)
{
	int status = TB_OK;
	uint32_t process;
	for (uint32_t r = 0; r < c->n_ranks && status == TB_OK; r++) {
		uint32_t gpu = c->templates[r % c->n_templates];
		if (c->is_taken[r])
			continue;
		c->log->n_cloned++;
		status = add_process(c->log, &process);
		if (status == TB_OK)
			status = copy_comms(c, gpu, process, r);
		if (status == TB_OK)
			status = copy_ops(c, gpu);
	}
	return status;
}

int tb_nl_clone(struct nl_log *log, uint32_t n_ranks)
{
	struct nl_cloning c = {.log = log,
		.n_ranks = n_ranks,
		.n_comms = log->n_comms,
		.n_ops = log->n_ops};
	int status = clones_check(&c);
	if (status == TB_OK)
		status = list_templates(&c);
	if (status == TB_OK && c.n_templates > 0)
		status = clone_all(&c);
	free(c.templates);
	free(c.copy_of);
	free(c.is_taken);
	return status;
}
