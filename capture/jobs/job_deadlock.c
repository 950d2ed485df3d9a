#include "job_check.h"

#include <stdlib.h>
#include <string.h>

#define DONE UINT32_MAX // instead of the number of operations waited for
#define NONE UINT32_MAX

// What one channel holds while the job is run without a network.
struct channel {
	uint32_t n_sent;  // and, where `ordered`, not received
	uint32_t waiting; // the receive that waits, or the first of a list
	uint32_t last;	  // receive of the channel, in the order of operations
	bool ordered;	  // each receive starts after the one before it is done
};

// The job, run in no time: a send is done when it starts, a receive when there is a
// message for it. Whatever can be done in a replay is done here too, so what is stuck
// here is stuck there. Which of a channel's receives gets a message is plain where they
// are ordered. Else the order of arrival decides, which is not known: there one message
// does for all of them.
struct run {
	const struct tb_job *job;
	const uint32_t *channel_of;
	struct channel *channels;
	uint32_t *waits; // by operation: for how many, or DONE
	uint32_t *ready; // a stack
	uint32_t *next;	 // in the list of those that wait
	uint32_t n_ready, n_done;
};

// pass tells the successors of the wanted kind that they wait for one less.
static void pass(struct run *run, uint32_t op, uint32_t kind)
{
	const struct tb_job *job = run->job;
	for (uint32_t k = job->first_successor[op]; k < job->first_successor[op + 1];
		k++) {
		uint32_t next = job->successors[k] & ~TB_DEP_START;
		if ((job->successors[k] & TB_DEP_START) == kind &&
			--run->waits[next] == 0)
			run->ready[run->n_ready++] = next;
	}
}

static void end(struct run *run, uint32_t op)
{
	run->waits[op] = DONE;
	run->n_done++;
	pass(run, op, 0);
}

static void do_send(struct run *run, uint32_t op)
{
	struct channel *channel = &run->channels[run->channel_of[op]];
	uint32_t receive = channel->waiting;
	end(run, op);
	channel->n_sent++;
	channel->waiting = NONE;
	if (channel->ordered && receive != NONE)
		channel->n_sent--;
	while (receive != NONE) {
		uint32_t next = run->next[receive];
		end(run, receive);
		receive = next;
	}
}

static void do_receive(struct run *run, uint32_t op)
{
	struct channel *channel = &run->channels[run->channel_of[op]];
	if (channel->n_sent > 0) {
		channel->n_sent -= channel->ordered;
		end(run, op);
	} else {
		run->next[op] = channel->waiting;
		channel->waiting = op;
	}
}

static void start(struct run *run, uint32_t op)
{
	pass(run, op, TB_DEP_START);
	switch ((enum tb_op_kind)run->job->ops[op].kind) {
	case TB_OP_CALC:
		end(run, op);
		break;
	case TB_OP_SEND:
		do_send(run, op);
		break;
	case TB_OP_RECV:
		do_receive(run, op);
		break;
	}
}

static bool follows(const struct tb_job *job, uint32_t op)
{
	for (uint32_t k = job->first_successor[op - 1]; k < job->first_successor[op]; k++)
		if (job->successors[k] == op)
			return true;
	return false;
}

// order_channels finds the channels whose receives stand in one chain of operations that
// each require the one before, as those of a program without nonblocking calls do. Other
// orders are not looked for: it would take more than linear time.
static void order_channels(struct run *run, uint32_t n_channels)
{
	const struct tb_job *job = run->job;
	uint32_t chain = 0; // where the chain of the operation at hand began
	for (uint32_t i = 0; i < n_channels; i++)
		run->channels[i] =
			(struct channel){.waiting = NONE, .last = NONE, .ordered = true};
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i > 0 && !follows(job, i))
			chain = i;
		if (job->ops[i].kind != TB_OP_RECV)
			continue;
		struct channel *channel = &run->channels[run->channel_of[i]];
		if (channel->last != NONE && channel->last < chain)
			channel->ordered = false;
		channel->last = i;
	}
}

static void run_all(struct run *run)
{
	const struct tb_job *job = run->job;
	memcpy(run->waits, job->n_predecessors, job->n_ops * sizeof *run->waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (job->n_predecessors[i] != 0)
			continue;
		start(run, i);
		while (run->n_ready > 0)
			start(run, run->ready[--run->n_ready]);
	}
}

// fail_stuck names the circle: an operation waits for a predecessor that is not done (of
// several for the first), a receive that has started for the first send that has not.
static int fail_stuck(struct run *run, const uint32_t *lines, struct tb_error *error)
{
	const struct tb_job *job = run->job;
	uint32_t *on = run->ready, stuck = 0;
	for (uint32_t i = job->n_ops; i-- > 0;) {
		if (run->waits[i] == DONE)
			continue;
		stuck = i;
		if (job->ops[i].kind == TB_OP_SEND)
			run->channels[run->channel_of[i]].last = i;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			if (run->waits[i] > 0 || !(job->successors[k] & TB_DEP_START))
				on[job->successors[k] & ~TB_DEP_START] = i;
	}
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (run->waits[i] == 0)
			on[i] = run->channels[run->channel_of[i]].last;
	return tb_job_fail_cycle(job, lines, on, stuck, error);
}

bool tb_job_waits_across(const struct tb_job *job)
{
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_RECV &&
			job->first_successor[i] != job->first_successor[i + 1])
			return true;
	return false;
}

int tb_job_check_deadlock(const struct tb_job *job, const uint32_t *lines,
	const struct tb_job_channels *channels, struct tb_error *error)
{
	if (channels->any_wildcard)
		return TB_OK;
	struct run run = {.job = job, .channel_of = channels->of};
	run.channels = malloc(((size_t)channels->n + 1) * sizeof *run.channels);
	run.waits = malloc(((size_t)job->n_ops + 1) * sizeof *run.waits);
	run.ready = malloc(((size_t)job->n_ops + 1) * sizeof *run.ready);
	run.next = malloc(((size_t)job->n_ops + 1) * sizeof *run.next);
	int status = TB_OK;
	if (run.channels && run.waits && run.ready && run.next) {
		order_channels(&run, channels->n);
		run_all(&run);
		if (run.n_done < job->n_ops)
			status = fail_stuck(&run, lines, error);
	} else {
		status = tb_fail_in(
			error, TB_ENOMEM, job->name, "no memory to look for deadlocks");
	}
	free(run.channels);
	free(run.waits);
	free(run.ready);
	free(run.next);
	return status;
}
