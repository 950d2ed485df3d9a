#include "workload_impl.h"

#include "array.h"
#include "map.h"

#include <assert.h>
#include <stdlib.h>

#define NONE TB_ID_NONE

// A channel is a receiver, sender and tag: it holds receives posted for exactly these, or
// messages that arrived before a receive, never both at once; and messages on their way,
// in the order in which they left.
struct tb_matching_channel {
	struct tb_op_queue posted, arrived, sent;
};

// A message on its way.
enum { FLIES, LANDED, LOST };

struct tb_matching_rank {
	struct tb_op_queue wild;     // posted receives with any source or any tag
	struct tb_op_queue arrivals; // unmatched messages, if it ever posts such receives
	bool uses_wild;
};

static bool accepts(const struct tb_matching *matching, uint32_t recv, uint32_t send)
{
	const struct tb_op *want = &matching->job->ops[recv];
	return (want->peer == TB_ANY || want->peer == matching->rank_of[send]) &&
	       (want->tag == TB_ANY || want->tag == matching->job->ops[send].tag);
}

static bool is_wild(const struct tb_op *op)
{
	return op->kind == TB_OP_RECV && (op->peer == TB_ANY || op->tag == TB_ANY);
}

// forget_arrival removes a message that was matched through a rank's arrivals from its
// channel.
static void forget_arrival(struct tb_matching *matching, uint32_t send)
{
	struct tb_op_queue *arrived =
		&matching->channels[matching->channel[send]].arrived;
	// Messages of one channel are matched in their order, so it is the first.
	assert(arrived->first == send);
	tb_op_queue_remove(arrived, matching->next, NONE, send);
}

// first_arrival removes the first unmatched message that a wildcard receive accepts.
static uint32_t first_arrival(struct tb_matching *matching, uint32_t recv)
{
	struct tb_op_queue *arrivals = &matching->ranks[matching->rank_of[recv]].arrivals;
	uint32_t before = NONE;
	for (uint32_t send = arrivals->first; send != NONE;) {
		uint32_t next = matching->aside[send];
		bool gone = matching->channel[send] == NONE;
		if (gone || accepts(matching, recv, send)) {
			tb_op_queue_remove(arrivals, matching->aside, before, send);
			if (!gone) {
				forget_arrival(matching, send);
				return send;
			}
		} else {
			before = send;
		}
		send = next;
	}
	return NONE;
}

static struct tb_matching_channel *channel_at(
	const struct tb_matching *matching, uint32_t op)
{
	return &matching->channels[matching->channel[op]];
}

uint32_t tb_matching_post(struct tb_matching *matching, uint32_t recv)
{
	struct tb_matching_rank *rank = &matching->ranks[matching->rank_of[recv]];
	struct tb_op_queue *posted = &rank->wild;
	uint32_t send = NONE;
	matching->aside[recv] = matching->n_posted++;
	if (is_wild(&matching->job->ops[recv])) {
		send = first_arrival(matching, recv);
	} else {
		struct tb_matching_channel *channel = channel_at(matching, recv);
		posted = &channel->posted;
		if (channel->arrived.first != NONE) {
			send = tb_op_queue_pop(&channel->arrived, matching->next);
			// It stays in the rank's arrivals as a mark without a channel.
			if (rank->uses_wild)
				matching->channel[send] = NONE;
		}
	}
	if (send == NONE)
		tb_op_queue_push(posted, matching->next, recv);
	return send;
}

static void keep_arrival(struct tb_matching *matching, uint32_t send)
{
	struct tb_matching_rank *rank = &matching->ranks[matching->job->ops[send].peer];
	tb_op_queue_push(&channel_at(matching, send)->arrived, matching->next, send);
	if (rank->uses_wild)
		tb_op_queue_push(&rank->arrivals, matching->aside, send);
}

// posted_for removes the earliest posted receive that accepts a message.
static uint32_t posted_for(struct tb_matching *matching, uint32_t send)
{
	struct tb_matching_rank *rank = &matching->ranks[matching->job->ops[send].peer];
	struct tb_op_queue *posted = &channel_at(matching, send)->posted;
	uint32_t before = NONE, wild = rank->wild.first;
	while (wild != NONE && !accepts(matching, wild, send)) {
		before = wild;
		wild = matching->next[wild];
	}
	bool exact =
		posted->first != NONE &&
		(wild == NONE || matching->aside[posted->first] < matching->aside[wild]);
	if (exact)
		return tb_op_queue_pop(posted, matching->next);
	if (wild != NONE)
		tb_op_queue_remove(&rank->wild, matching->next, before, wild);
	return wild;
}

void tb_matching_send(struct tb_matching *matching, uint32_t send)
{
	matching->aside[send] = FLIES;
	tb_op_queue_push(&channel_at(matching, send)->sent, matching->next, send);
}

void tb_matching_land(struct tb_matching *matching, uint32_t send, bool lost)
{
	matching->aside[send] = lost ? LOST : LANDED;
}

uint32_t tb_matching_in_turn(struct tb_matching *matching, uint32_t send)
{
	struct tb_op_queue *way = &channel_at(matching, send)->sent;
	while (way->first != NONE && matching->aside[way->first] != FLIES) {
		uint32_t first = tb_op_queue_pop(way, matching->next);
		if (matching->aside[first] == LANDED)
			return first;
	}
	return NONE;
}

uint32_t tb_matching_arrive(struct tb_matching *matching, uint32_t send)
{
	uint32_t recv = posted_for(matching, send);
	if (recv == NONE)
		keep_arrival(matching, send);
	return recv;
}

// Used while channels are numbered.
struct numbering {
	struct tb_matching *matching;
	struct tb_map pairs; // receiver and sender to the number of the pair
	struct tb_map tags;  // pair and tag to channel
	uint32_t n_pairs;
};

static int new_channel(struct tb_matching *matching, uint32_t *channel)
{
	if (TB_ARRAY_RESERVE(&matching->channels, &matching->channels_room,
		    (size_t)matching->n_channels + 1) != TB_OK)
		return TB_ENOMEM;
	*channel = matching->n_channels++;
	matching->channels[*channel] = (struct tb_matching_channel){
		tb_op_queue_empty(), tb_op_queue_empty(), tb_op_queue_empty()};
	return TB_OK;
}

static int matching_channel(struct numbering *numbering, uint64_t to_and_from,
	uint32_t tag, uint32_t *channel)
{
	uint32_t pair = 0;
	if (!tb_map_find(&numbering->pairs, to_and_from, &pair)) {
		pair = numbering->n_pairs++;
		if (tb_map_put(&numbering->pairs, to_and_from, pair) != TB_OK)
			return TB_ENOMEM;
	}
	uint64_t key = (uint64_t)pair << 32 | tag;
	if (tb_map_find(&numbering->tags, key, channel))
		return TB_OK;
	int status = new_channel(numbering->matching, channel);
	return status == TB_OK ? tb_map_put(&numbering->tags, key, *channel) : status;
}

// number_channels gives every send and exact receive its channel before the replay, so
// that matching needs no search.
static int number_channels(struct tb_matching *matching)
{
	const struct tb_job *job = matching->job;
	struct numbering numbering = {.matching = matching};
	int status = TB_OK;
	for (uint32_t op = 0; op < job->n_ops && status == TB_OK; op++) {
		const struct tb_op *what = &job->ops[op];
		uint64_t rank = matching->rank_of[op];
		matching->channel[op] = NONE;
		if (is_wild(what))
			matching->ranks[rank].uses_wild = true;
		else if (what->kind == TB_OP_SEND)
			status = matching_channel(&numbering,
				(uint64_t)what->peer << 32 | rank, what->tag,
				&matching->channel[op]);
		else if (what->kind == TB_OP_RECV)
			status = matching_channel(&numbering, rank << 32 | what->peer,
				what->tag, &matching->channel[op]);
	}
	tb_map_fini(&numbering.pairs);
	tb_map_fini(&numbering.tags);
	return status;
}

static int matching_allocate(struct tb_matching *matching)
{
	size_t n_ops = (size_t)matching->job->n_ops + 1;
	size_t n_ranks = (size_t)matching->job->n_ranks + 1;
	matching->channel = malloc(n_ops * sizeof *matching->channel);
	matching->next = malloc(n_ops * sizeof *matching->next);
	matching->aside = malloc(n_ops * sizeof *matching->aside);
	matching->ranks = malloc(n_ranks * sizeof *matching->ranks);
	if (!matching->channel || !matching->next || !matching->aside || !matching->ranks)
		return TB_ENOMEM;
	for (size_t rank = 0; rank < n_ranks; rank++)
		matching->ranks[rank] = (struct tb_matching_rank){
			tb_op_queue_empty(), tb_op_queue_empty(), false};
	return number_channels(matching);
}

int tb_matching_init(
	struct tb_matching *matching, const struct tb_job *job, const uint32_t *rank_of)
{
	*matching = (struct tb_matching){.job = job, .rank_of = rank_of};
	int status = matching_allocate(matching);
	if (status != TB_OK)
		tb_matching_fini(matching);
	return status;
}

void tb_matching_fini(struct tb_matching *matching)
{
	free(matching->channel);
	free(matching->next);
	free(matching->aside);
	free(matching->channels);
	free(matching->ranks);
	*matching = (struct tb_matching){0};
}
