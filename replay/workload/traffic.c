#include "traffic.h"

#include "array.h"
#include "random.h"
#include "timers.h"

#include <stdlib.h>

#define NONE UINT32_MAX

enum { STREAM_DESTINATION, STREAM_SIZE, STREAM_TIME, STREAM_READ, N_STREAMS };

struct traffic_sender {
	struct tb_random streams[N_STREAMS];
	uint32_t node, job;
	uint32_t target;    // TB_TRAFFIC_FIXED
	uint32_t self;	    // its place among the job's targets; NONE: it is none
	uint32_t n_due;	    // without a load: messages that wait to be taken
	uint32_t n_left;    // to be issued; stays when there is no end
	tb_time_ps next_at; // TB_TIME_NEVER when nothing is due
};

enum traffic_stage { WRITE, REQUEST, DATA };

// A message under way; its place is the engine's cookie.
struct traffic_message {
	enum traffic_stage stage;
	uint32_t sender, target;
	uint64_t bytes; // of the data
	tb_time_ps posted_at;
	uint32_t uses; // calls of `sent` and `delivered` still to come
	uint32_t next; // in the list of the free, or of the data to be sent
};

struct tb_traffic {
	struct tb_traffic_job *jobs;
	uint32_t *targets; // of all jobs
	struct traffic_sender *senders;
	uint32_t n_senders;
	struct traffic_message *slots;
	uint32_t n_slots, free_slot;
	size_t slots_room;
	uint32_t first_data, last_data; // requests answered, not yet taken
	tb_time_ps data_at;
	struct tb_timers timers;	// of senders with something due, by their number
	struct tb_traffic_stats *stats; // by job
};

static double traffic_burst_factor(enum tb_synth_dist dist, struct tb_random *random)
{
	switch (dist) {
	case TB_SYNTH_FIXED:
		return 1;
	case TB_SYNTH_UNIFORM:
		return 2 * tb_random_unit(random);
	case TB_SYNTH_EXPONENTIAL:
		return tb_random_exponential(random);
	}
	return 1;
}

static uint64_t traffic_draw_bytes(
	const struct tb_traffic_job *job, struct tb_random *random)
{
	if (job->size_dist == TB_SYNTH_FIXED)
		return job->message_bytes;
	double bytes = (double)job->message_bytes *
			       traffic_burst_factor(job->size_dist, random) +
		       0.5;
	return bytes < 1 ? 1 : (uint64_t)bytes;
}

// mean_interval_ps returns the mean time between messages, at full rate where no load is
// set.
static double mean_interval_ps(const struct tb_traffic_job *job)
{
	double load = job->load > 0 ? job->load : 1;
	uint64_t rate =
		job->rate_bytes_per_s ? job->rate_bytes_per_s : TB_SYNTH_RATE_BYTES_PER_S;
	return (double)job->message_bytes * (double)TB_PS_PER_S / (load * (double)rate);
}

static void start_sender(struct tb_traffic *traffic, uint32_t id, uint64_t seed)
{
	struct traffic_sender *sender = &traffic->senders[id];
	const struct tb_traffic_job *job = &traffic->jobs[sender->job];
	for (uint32_t i = 0; i < N_STREAMS; i++)
		tb_random_init(&sender->streams[i], seed,
			((uint64_t)sender->job << 32 | sender->node) * N_STREAMS + i);
	bool silent = job->rule == TB_TRAFFIC_FIXED && sender->target == sender->node;
	sender->n_left = job->n_messages ? job->n_messages : 1;
	sender->n_due = job->depth;
	double share = tb_random_unit(&sender->streams[STREAM_TIME]);
	sender->next_at =
		silent ? TB_TIME_NEVER : (tb_time_ps)(share * mean_interval_ps(job));
}

static int schedule(struct tb_traffic *traffic, uint32_t id)
{
	tb_time_ps at = traffic->senders[id].next_at;
	if (at == TB_TIME_NEVER)
		return TB_OK;
	return tb_timers_put(&traffic->timers, (struct tb_timer){at, id});
}

// find_selves stores for the senders of a job, from `first` on, their index among its
// targets. `places` has room for every node.
static void find_selves(struct tb_traffic *traffic, const struct tb_traffic_job *job,
	uint32_t first, uint32_t *places)
{
	for (uint32_t i = 0; i < job->n_senders; i++)
		places[traffic->senders[first + i].node] = NONE;
	for (uint32_t i = 0; i < job->n_targets; i++)
		places[job->targets[i]] = i;
	for (uint32_t i = 0; i < job->n_senders; i++) {
		struct traffic_sender *sender = &traffic->senders[first + i];
		sender->self = places[sender->node];
	}
}

static int start_job(struct tb_traffic *traffic, const struct tb_traffic_job *job,
	uint32_t number, uint32_t first, uint64_t seed)
{
	for (uint32_t i = 0; i < job->n_senders; i++) {
		struct traffic_sender *made = &traffic->senders[first + i];
		made->node = job->senders[i];
		made->job = number;
		if (job->rule == TB_TRAFFIC_FIXED)
			made->target = job->targets[i];
		start_sender(traffic, first + i, seed);
		if (schedule(traffic, first + i) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

static uint32_t n_places(const struct tb_traffic_job *jobs, uint32_t n_jobs)
{
	uint32_t n = 0;
	for (uint32_t j = 0; j < n_jobs; j++) {
		for (uint32_t i = 0; i < jobs[j].n_senders; i++)
			n = jobs[j].senders[i] >= n ? jobs[j].senders[i] + 1 : n;
		for (uint32_t i = 0; i < jobs[j].n_targets; i++)
			n = jobs[j].targets[i] >= n ? jobs[j].targets[i] + 1 : n;
	}
	return n;
}

static int traffic_start_all(struct tb_traffic *traffic,
	const struct tb_traffic_job *jobs, uint32_t n_jobs, uint64_t seed)
{
	uint32_t sender = 0, target = 0;
	int status = TB_OK;
	uint32_t *places =
		malloc((n_places(jobs, n_jobs) + UINT64_C(1)) * sizeof *places);
	if (!places)
		return TB_ENOMEM;
	for (uint32_t j = 0; j < n_jobs && status == TB_OK; j++) {
		traffic->jobs[j] = jobs[j];
		traffic->jobs[j].senders = NULL;
		traffic->jobs[j].targets = traffic->targets + target;
		for (uint32_t i = 0; i < jobs[j].n_targets; i++)
			traffic->targets[target++] = jobs[j].targets[i];
		status = start_job(traffic, &jobs[j], j, sender, seed);
		find_selves(traffic, &jobs[j], sender, places);
		sender += jobs[j].n_senders;
	}
	free(places);
	return status;
}

int tb_traffic_new(struct tb_traffic **traffic, const struct tb_traffic_job *jobs,
	uint32_t n_jobs, uint64_t seed, struct tb_error *error)
{
	struct tb_traffic *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the traffic");
	size_t n_targets = 0;
	for (uint32_t i = 0; i < n_jobs; i++) {
		made->n_senders += jobs[i].n_senders;
		n_targets += jobs[i].n_targets;
	}
	made->jobs = calloc(n_jobs, sizeof *made->jobs);
	made->senders = calloc(made->n_senders, sizeof *made->senders);
	made->targets = calloc(n_targets, sizeof *made->targets);
	made->stats = calloc(n_jobs, sizeof *made->stats);
	made->free_slot = made->first_data = made->last_data = NONE;
	made->data_at = TB_TIME_NEVER;
	if (!made->jobs || !made->senders || !made->targets || !made->stats ||
		traffic_start_all(made, jobs, n_jobs, seed) != TB_OK) {
		tb_traffic_free(made);
		return tb_fail_memory(error, "the traffic");
	}
	*traffic = made;
	return TB_OK;
}

void tb_traffic_free(struct tb_traffic *traffic)
{
	if (!traffic)
		return;
	free(traffic->jobs);
	free(traffic->targets);
	free(traffic->senders);
	free(traffic->slots);
	free(traffic->stats);
	tb_timers_fini(&traffic->timers);
	free(traffic);
}

static uint32_t new_slot(struct tb_traffic *traffic)
{
	uint32_t id = traffic->free_slot;
	if (id != NONE) {
		traffic->free_slot = traffic->slots[id].next;
		return id;
	}
	if (TB_ARRAY_RESERVE(&traffic->slots, &traffic->slots_room,
		    (size_t)traffic->n_slots + 1) != TB_OK)
		return NONE;
	return traffic->n_slots++;
}

// called counts a call of `sent` or `delivered`; with the last one the slot is free.
static void called(struct tb_traffic *traffic, uint32_t id)
{
	if (--traffic->slots[id].uses)
		return;
	traffic->slots[id].next = traffic->free_slot;
	traffic->free_slot = id;
}

static tb_time_ps traffic_next_at(void *context)
{
	const struct tb_traffic *traffic = context;
	tb_time_ps issued_at = tb_timers_at(&traffic->timers);
	return issued_at < traffic->data_at ? issued_at : traffic->data_at;
}

// take_data sends the data of the request answered first.
static int take_data(struct tb_traffic *traffic, struct tb_message *message)
{
	uint32_t id = traffic->first_data;
	struct traffic_message *slot = &traffic->slots[id];
	const struct traffic_sender *sender = &traffic->senders[slot->sender];
	traffic->first_data = slot->next;
	if (traffic->first_data == NONE) {
		traffic->last_data = NONE;
		traffic->data_at = TB_TIME_NEVER;
	}
	slot->stage = DATA;
	*message = (struct tb_message){.cookie = id,
		.source.id = slot->target,
		.destination.id = sender->node,
		.bytes = slot->bytes,
		.job = sender->job};
	return 1;
}

static uint32_t draw_target(
	const struct tb_traffic_job *job, struct traffic_sender *sender)
{
	if (job->rule == TB_TRAFFIC_FIXED)
		return sender->target;
	uint32_t n = job->n_targets - (sender->self != NONE);
	uint64_t drawn = tb_random_below(&sender->streams[STREAM_DESTINATION], n);
	return job->targets[drawn + (drawn >= sender->self)];
}

// traffic_issued sets when the sender's next message is due.
static void traffic_issued(
	const struct tb_traffic_job *job, struct traffic_sender *sender)
{
	if (job->n_messages && --sender->n_left == 0)
		sender->next_at = TB_TIME_NEVER;
	else if (job->load > 0)
		sender->next_at += (tb_time_ps)(mean_interval_ps(job) *
						traffic_burst_factor(job->time_dist,
							&sender->streams[STREAM_TIME]));
	else if (--sender->n_due == 0)
		sender->next_at = TB_TIME_NEVER;
}

static int traffic_take_new(struct tb_traffic *traffic, uint32_t from, tb_time_ps now,
	struct tb_message *message, struct tb_error *error)
{
	struct traffic_sender *sender = &traffic->senders[from];
	const struct tb_traffic_job *job = &traffic->jobs[sender->job];
	uint32_t id = new_slot(traffic);
	if (id == NONE)
		return tb_fail_memory(error, "the messages under way");
	bool read = job->reads > 0 &&
		    tb_random_unit(&sender->streams[STREAM_READ]) < job->reads;
	struct traffic_message *slot = &traffic->slots[id];
	*slot = (struct traffic_message){.stage = read ? REQUEST : WRITE,
		.sender = from,
		.target = draw_target(job, sender),
		.bytes = traffic_draw_bytes(job, &sender->streams[STREAM_SIZE]),
		.posted_at = now,
		.uses = read ? 4 : 2};
	*message = (struct tb_message){.cookie = id,
		.source.id = sender->node,
		.destination.id = slot->target,
		.bytes = read ? TB_TRAFFIC_REQUEST_BYTES : slot->bytes,
		.job = sender->job};
	traffic->stats[sender->job].n_posted++;
	traffic->stats[sender->job].posted_bytes += slot->bytes;
	traffic_issued(job, sender);
	if (schedule(traffic, from) != TB_OK)
		return tb_fail_memory(error, "the messages under way");
	return 1;
}

static int traffic_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_traffic *traffic = context;
	if (traffic->first_data != NONE)
		return take_data(traffic, message);
	if (tb_timers_at(&traffic->timers) > now)
		return 0;
	uint32_t from = (uint32_t)tb_timers_take(&traffic->timers).what;
	return traffic_take_new(traffic, from, now, message, error);
}

// again makes a sender that keeps its node busy issue its next message.
static int again(struct tb_traffic *traffic, uint32_t id, tb_time_ps now)
{
	struct traffic_sender *sender = &traffic->senders[id];
	const struct tb_traffic_job *job = &traffic->jobs[sender->job];
	if (job->load > 0 || (job->n_messages && sender->n_left == 0) ||
		sender->n_due++ > 0)
		return TB_OK;
	sender->next_at = now;
	return schedule(traffic, id);
}

static int traffic_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_traffic *traffic = context;
	const struct traffic_message *slot = &traffic->slots[cookie];
	if (slot->stage == WRITE && again(traffic, slot->sender, now) != TB_OK)
		return tb_fail_memory(error, "the messages under way");
	called(traffic, (uint32_t)cookie);
	return TB_OK;
}

static int traffic_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_traffic *traffic = context;
	uint32_t id = (uint32_t)cookie;
	struct traffic_message *slot = &traffic->slots[id];
	if (slot->stage == REQUEST) {
		slot->next = NONE;
		if (traffic->last_data == NONE)
			traffic->first_data = id;
		else
			traffic->slots[traffic->last_data].next = id;
		traffic->last_data = id;
		traffic->data_at = now;
		called(traffic, id);
		return TB_OK;
	}
	if (slot->stage == DATA && again(traffic, slot->sender, now) != TB_OK)
		return tb_fail_memory(error, "the messages under way");
	struct tb_traffic_stats *stats =
		&traffic->stats[traffic->senders[slot->sender].job];
	stats->n_done++;
	stats->latency_ps += now - slot->posted_at;
	called(traffic, id);
	return TB_OK;
}

struct tb_source tb_traffic_source(struct tb_traffic *traffic)
{
	return (struct tb_source){.context = traffic,
		.when = traffic_next_at,
		.take = traffic_take,
		.sent = traffic_sent,
		.delivered = traffic_delivered};
}

struct tb_traffic_stats tb_traffic_stats_of(
	const struct tb_traffic *traffic, uint32_t job)
{
	return traffic->stats[job];
}
