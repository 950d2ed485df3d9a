// When each operation of a job ended, and what it had waited for: enough to find
// afterwards what every rank did when, and what the end of the run waited for. Private to
// replay/.
//
// Memory: 12 bytes an operation and 32 a delivered send. Cost: two stores an operation.
#ifndef TB_OP_LOG_H
#define TB_OP_LOG_H

#include "ids.h"
#include "job.h"
#include "source.h"

#include <stddef.h>

// Jobs of more operations are not logged: their log would take more than 400 MiB.
#define TB_OP_LOG_OPS_MAX (UINT32_C(1) << 24)

struct tb_op_log { // zeroed: nothing is logged
	const struct tb_job *job;
	// By operation, of those that are ready: the one at whose end it could start,
	// TB_ID_NONE at the beginning of the job. So it started when that one ended.
	const uint32_t *by;
	const uint32_t *rank_of;      // of each operation
	const uint32_t *node_of_rank; // both borrowed, as `by`
	tb_time_ps *ended;	      // by operation; negative: it did not
	// Of a receive the send whose arrival ended it, of a send what is kept of its
	// message; TB_ID_NONE: none.
	uint32_t *related;
	struct tb_message_parts *parts;
	size_t n_parts, parts_room;
	bool failed; // out of memory
};

// tb_op_log_init borrows all arguments. A job of too many operations has no log.
// TB_ENOMEM.
int tb_op_log_init(struct tb_op_log *log, const struct tb_job *job, const uint32_t *by,
	const uint32_t *rank_of, const uint32_t *node_of_rank) TB_MUST_USE;
void tb_op_log_fini(struct tb_op_log *log);

static inline void tb_op_log_end(struct tb_op_log *log, uint32_t op, tb_time_ps now)
{
	if (log->ended)
		log->ended[op] = now;
}

static inline void tb_op_log_relate(struct tb_op_log *log, uint32_t op, uint32_t to)
{
	if (log->ended)
		log->related[op] = to;
}

// tb_op_log_start returns when an operation that ended had started.
static inline tb_time_ps tb_op_log_start(const struct tb_op_log *log, uint32_t op)
{
	uint32_t by = log->by[op];
	return by == TB_ID_NONE ? 0 : log->ended[by];
}

#endif
