#include "job_check.h"

#include <stdlib.h>
#include <string.h>

#define DONE UINT32_MAX // instead of the number of operations waited for
#define NONE UINT32_MAX

// The state of one channel during the trial.
struct deadlock_channel {
	uint32_t n_sent;  // messages; where `ordered`, only those not received
	uint32_t waiting; // first of a list of receives that wait for a message, or NONE
	uint32_t last;	  // last receive seen; in the end, first send that is stuck
	bool ordered;	  // each receive starts after the one before it is done
};

// The job executed in no time, without a network: a send is done when it starts, a
// receive when there is a message for it. Whatever a replay can do is done here too, so
// what is stuck here is stuck there. If the receives of a channel are ordered, it is
// clear which of them gets a message. Otherwise the order of arrival decides, which is
// unknown, so one message satisfies all of them.
struct trial {
	const struct tb_job *job;
	const uint32_t *channel_of;
	struct deadlock_channel *channels;
	uint32_t *waits; // by operation: how many it still waits for, or DONE
	uint32_t *ready; // stack of operations that can start
	uint32_t *next;	 // by receive: the next one in the channel's list
	uint32_t n_ready, n_done;
};

// trial_pass counts down the dependencies of those successors that waited for the end
// (`kind` 0) or the start (TB_DEP_START) of `op`.
static void trial_pass(struct trial *trial, uint32_t op, uint32_t kind)
{
	const struct tb_job *job = trial->job;
	for (uint32_t k = job->first_successor[op]; k < job->first_successor[op + 1];
		k++) {
		uint32_t next = job->successors[k] & ~TB_DEP_START;
		if ((job->successors[k] & TB_DEP_START) == kind &&
			--trial->waits[next] == 0)
			trial->ready[trial->n_ready++] = next;
	}
}

static void trial_end(struct trial *trial, uint32_t op)
{
	trial->waits[op] = DONE;
	trial->n_done++;
	trial_pass(trial, op, 0);
}

static void do_send(struct trial *trial, uint32_t op)
{
	struct deadlock_channel *channel = &trial->channels[trial->channel_of[op]];
	uint32_t receive = channel->waiting;
	trial_end(trial, op);
	channel->n_sent++;
	channel->waiting = NONE;
	if (channel->ordered && receive != NONE)
		channel->n_sent--;
	while (receive != NONE) {
		uint32_t next = trial->next[receive];
		trial_end(trial, receive);
		receive = next;
	}
}

static void do_receive(struct trial *trial, uint32_t op)
{
	struct deadlock_channel *channel = &trial->channels[trial->channel_of[op]];
	if (channel->n_sent > 0) {
		channel->n_sent -= channel->ordered;
		trial_end(trial, op);
	} else {
		trial->next[op] = channel->waiting;
		channel->waiting = op;
	}
}

static void trial_start(struct trial *trial, uint32_t op)
{
	trial_pass(trial, op, TB_DEP_START);
	switch ((enum tb_op_kind)trial->job->ops[op].kind) {
	case TB_OP_CALC:
		trial_end(trial, op);
		break;
	case TB_OP_SEND:
		do_send(trial, op);
		break;
	case TB_OP_RECV:
		do_receive(trial, op);
		break;
	}
}

// is_next_in_order returns whether `op` requires the operation before it.
static bool is_next_in_order(const struct tb_job *job, uint32_t op)
{
	for (uint32_t k = job->first_successor[op - 1]; k < job->first_successor[op]; k++)
		if (job->successors[k] == op)
			return true;
	return false;
}

// order_channels finds the channels whose receives all lie in one chain of operations
// that each require the one before, as in a program without nonblocking calls. Finding
// other orders would take more than linear time.
static void order_channels(struct trial *trial, uint32_t n_channels)
{
	const struct tb_job *job = trial->job;
	uint32_t chain = 0; // first operation of the chain that i is in
	for (uint32_t i = 0; i < n_channels; i++)
		trial->channels[i] = (struct deadlock_channel){
			.waiting = NONE, .last = NONE, .ordered = true};
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i > 0 && !is_next_in_order(job, i))
			chain = i;
		if (job->ops[i].kind != TB_OP_RECV)
			continue;
		struct deadlock_channel *channel = &trial->channels[trial->channel_of[i]];
		if (channel->last != NONE && channel->last < chain)
			channel->ordered = false;
		channel->last = i;
	}
}

static void run_trial(struct trial *trial)
{
	const struct tb_job *job = trial->job;
	memcpy(trial->waits, job->n_predecessors, job->n_ops * sizeof *trial->waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (job->n_predecessors[i] != 0)
			continue;
		trial_start(trial, i);
		while (trial->n_ready > 0)
			trial_start(trial, trial->ready[--trial->n_ready]);
	}
}

// fail_trial reports the cycle: an operation waits for a predecessor that is not done
// (for the first of several), a started receive waits for the first send that has not
// started.
static int fail_trial(struct trial *trial, const uint32_t *lines, struct tb_error *error)
{
	const struct tb_job *job = trial->job;
	uint32_t *on = trial->ready, stuck = 0;
	for (uint32_t i = job->n_ops; i-- > 0;) {
		if (trial->waits[i] == DONE)
			continue;
		stuck = i;
		if (job->ops[i].kind == TB_OP_SEND)
			trial->channels[trial->channel_of[i]].last = i;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			if (trial->waits[i] > 0 || !(job->successors[k] & TB_DEP_START))
				on[job->successors[k] & ~TB_DEP_START] = i;
	}
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (trial->waits[i] == 0)
			on[i] = trial->channels[trial->channel_of[i]].last;
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
	struct trial trial = {.job = job, .channel_of = channels->of};
	trial.channels = malloc(((size_t)channels->n + 1) * sizeof *trial.channels);
	trial.waits = malloc(((size_t)job->n_ops + 1) * sizeof *trial.waits);
	trial.ready = malloc(((size_t)job->n_ops + 1) * sizeof *trial.ready);
	trial.next = malloc(((size_t)job->n_ops + 1) * sizeof *trial.next);
	int status = TB_OK;
	if (trial.channels && trial.waits && trial.ready && trial.next) {
		order_channels(&trial, channels->n);
		run_trial(&trial);
		if (trial.n_done < job->n_ops)
			status = fail_trial(&trial, lines, error);
	} else {
		status = tb_fail_memory_in(error, job->name, "finding deadlocks");
	}
	free(trial.channels);
	free(trial.waits);
	free(trial.ready);
	free(trial.next);
	return status;
}
