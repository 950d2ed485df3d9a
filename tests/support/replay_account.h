// Replays a random program and keeps what its source and its observer received.
#ifndef TB_TESTS_REPLAY_ACCOUNT_H
#define TB_TESTS_REPLAY_ACCOUNT_H

#include "replay_either.h"
#include "replay_observed.h"
#include "replay_program.h"

struct account {
	const struct program *program;
	// The source.
	uint32_t timed[POSTS_MOST], n_timed, next_timed; // by time
	struct ready {
		tb_time_ps at;
		uint32_t post;
	} ready[POSTS_MOST]; // in the order of the events that made them ready
	uint32_t n_ready;
	// Events received.
	tb_time_ps sent[POSTS_MOST], delivered[POSTS_MOST], given_up[POSTS_MOST];
	struct observed observed;
	struct tb_engine_stats stats;
	int status;
	struct tb_error error;
};

static inline void account_drop(struct account *account)
{
	observed_free(&account->observed);
	free(account);
}

static inline uint32_t earliest_ready(const struct account *account)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < account->n_ready; i++)
		if (account->ready[i].at < account->ready[best].at)
			best = i;
	return best;
}

static inline tb_time_ps account_when(void *context)
{
	const struct account *account = context;
	tb_time_ps at = TB_TIME_NEVER;
	if (account->next_timed < account->n_timed)
		at = account->program->posts[account->timed[account->next_timed]].at;
	if (account->n_ready && account->ready[earliest_ready(account)].at < at)
		at = account->ready[earliest_ready(account)].at;
	return at;
}

static inline int account_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct account *account = context;
	uint32_t id = TB_ID_NONE;
	(void)error;
	if (account->n_ready) {
		uint32_t first = earliest_ready(account);
		if (account->ready[first].at <= now) {
			id = account->ready[first].post;
			account->n_ready--;
			memmove(&account->ready[first], &account->ready[first + 1],
				(account->n_ready - first) * sizeof *account->ready);
		}
	}
	if (id == TB_ID_NONE && account->next_timed < account->n_timed &&
		account->program->posts[account->timed[account->next_timed]].at <= now)
		id = account->timed[account->next_timed++];
	if (id == TB_ID_NONE)
		return 0;
	const struct post *post = &account->program->posts[id];
	*message = (struct tb_message){.cookie = id,
		.source = {post->source},
		.destination = {post->destination},
		.n_receivers = post->n_receivers,
		.bytes = post->bytes,
		.captured = post->captured,
		.source_rank = id % 2,
		.job = post->job};
	return 1;
}

static inline void make_ready(
	struct account *account, tb_time_ps now, uint64_t after, int when)
{
	const struct program *program = account->program;
	for (uint32_t i = 0; i < program->n_posts; i++)
		if ((int)program->posts[i].when == when &&
			program->posts[i].after == after)
			account->ready[account->n_ready++] =
				(struct ready){now + program->posts[i].at, i};
}

static inline int account_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct account *account = context;
	(void)error;
	account->sent[cookie] = now;
	make_ready(account, now, cookie, POST_AFTER_SENT);
	return TB_OK;
}

static inline int account_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct account *account = context;
	(void)error;
	account->delivered[cookie] = now;
	make_ready(account, now, cookie, POST_AFTER_DELIVERED);
	return TB_OK;
}

static inline int account_given_up(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct account *account = context;
	(void)error;
	account->given_up[cookie] = now;
	make_ready(account, now, cookie, POST_AFTER_SENT);
	return TB_OK;
}

static inline void sort_timed(struct account *account)
{
	const struct program *program = account->program;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		if (program->posts[i].when != POST_AT)
			continue;
		uint32_t at = account->n_timed++;
		for (; at > 0 &&
			program->posts[account->timed[at - 1]].at > program->posts[i].at;
			at--)
			account->timed[at] = account->timed[at - 1];
		account->timed[at] = i;
	}
}

// account_of replays a program for at most `n_instants` points in time. `status` and
// `error` hold a failure.
static inline struct account *account_of(
	enum replayer by, const struct program *program, uint64_t n_instants)
{
	struct account *account = calloc(1, sizeof *account);
	account->program = program;
	for (uint32_t i = 0; i < POSTS_MOST; i++)
		account->sent[i] = account->delivered[i] = account->given_up[i] =
			TB_TIME_NEVER;
	sort_timed(account);
	struct tb_network *net = network_of(program, &account->error);
	struct tb_faults *faults = net ? faults_of(program, net) : NULL;
	struct tb_source source = {.context = account,
		.when = account_when,
		.take = account_take,
		.sent = program->open_loop ? NULL : account_sent,
		.delivered = account_delivered,
		.undelivered = account_given_up};
	struct tb_observer observer = observer_of(&account->observed);
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = {.seed = program->seed,
			.bin_ps = program->bin_ps,
			.faults = faults,
			.n_jobs = program->seed % 2 ? JOBS_MOST : 0,
			.ideal = program->ideal,
			.job_bytes = program->job_bytes,
			.n_parts = program->n_parts,
			.n_threads = program->n_threads,
			.peers = program->peers,
			.service_levels = program->service_levels,
			.n_service_levels = JOBS_MOST},
		.n_instants = n_instants,
		.n_between = program->n_between,
		.error = account->error};
	account->status = net ? replay_by(by, &replay) : account->error.code;
	account->stats = replay.stats;
	account->error = replay.error;
	tb_faults_free(faults);
	tb_network_free(net);
	return account;
}

#endif
