// Which receive takes which message: MPI's rule, by source and tag, or any, in the order
// of delivery and of posting. Private to replay/.
//
// Sends and receives are the operations of a job; each is posted or arrives once. Cost:
// constant, except for receives with a wildcard: they are searched in the order of
// posting, or search what has arrived at their rank.
#ifndef TB_MATCHING_H
#define TB_MATCHING_H

#include "job.h"
#include "op_queue.h"

#include <stddef.h>

struct tb_matching {
	const struct tb_job *job;
	const uint32_t *rank_of; // of each operation
	uint32_t *channel;	 // of each send and each receive without wildcards
	uint32_t *next;		 // link of posted receives and of arrived messages
	// Of a receive, the order of its posting; of a send, the link of its rank's
	// arrivals.
	uint32_t *aside;
	struct tb_matching_channel *channels;
	uint32_t n_channels;
	size_t channels_room;
	struct tb_matching_rank *ranks;
	uint32_t n_posted;
};

// tb_matching_init borrows `job` and `rank_of` (n_ops entries) until tb_matching_fini. On
// failure (TB_ENOMEM) what was made is freed. A zeroed struct may be finished too.
int tb_matching_init(struct tb_matching *matching, const struct tb_job *job,
	const uint32_t *rank_of) TB_MUST_USE;
void tb_matching_fini(struct tb_matching *matching);

// tb_matching_post returns the message that a receive takes, the earliest arrival that
// matches, or TB_ID_NONE when it must wait for one.
uint32_t tb_matching_post(struct tb_matching *matching, uint32_t recv);

// tb_matching_arrive returns the receive that takes a message, the earliest posted that
// matches, or TB_ID_NONE when the message must wait for one.
uint32_t tb_matching_arrive(struct tb_matching *matching, uint32_t send);

#endif
