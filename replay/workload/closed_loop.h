// A job trace as a source: an operation starts when those that it depends on are done
// (closed loop).
//
// A send posts its message when it starts and is done when the last packet is
// acknowledged (its buffer is free). A receive is posted when it is ready and done when a
// message that matches has been delivered; matching is MPI's: by source and tag, or any,
// in the order of delivery and of posting. A calc occupies its cpu of the rank for its
// time; calcs and sends of one cpu start in the order in which they became ready, a send
// while no calc runs there.
//
// Memory: about 25 bytes per operation, besides the job itself.
#ifndef TB_CLOSED_LOOP_H
#define TB_CLOSED_LOOP_H

#include "job.h"
#include "source.h"

struct tb_closed_loop; // opaque

// tb_closed_loop_new borrows `job` and copies `node_of_rank` (n_ranks entries). `number`
// is the number of the job in flows.
//
// With `broadcasts`, sends of one rank that start in the same instant, have one size and
// tag, and go to consecutive nodes (its own may be left out) become one broadcast
// (docs/jobs.md).
int tb_closed_loop_new(struct tb_closed_loop **loop, const struct tb_job *job,
	const uint32_t *node_of_rank, uint32_t number, bool broadcasts,
	struct tb_error *error) TB_MUST_USE;
void tb_closed_loop_free(struct tb_closed_loop *loop);

// Where messages were given up, the source's finish returns TB_OK even if operations
// still wait for them; compare tb_closed_loop_n_done with the job's operations.
struct tb_source tb_closed_loop_source(struct tb_closed_loop *loop);

// tb_closed_loop_n_done returns the number of operations that are done.
uint64_t tb_closed_loop_n_done(const struct tb_closed_loop *loop);

#endif
