// A first-in first-out list of operations, linked through an array that its owner keeps
// for all operations, so an operation is in one list per array at a time. Private to
// replay/.
#ifndef TB_OP_QUEUE_H
#define TB_OP_QUEUE_H

#include "ids.h"

struct tb_op_queue {
	uint32_t first, last; // `last` means nothing while `first` is TB_ID_NONE
};

static inline struct tb_op_queue tb_op_queue_empty(void)
{
	return (struct tb_op_queue){TB_ID_NONE, TB_ID_NONE};
}

static inline void tb_op_queue_push(
	struct tb_op_queue *queue, uint32_t *next, uint32_t op)
{
	next[op] = TB_ID_NONE;
	if (queue->first == TB_ID_NONE)
		queue->first = op;
	else
		next[queue->last] = op;
	queue->last = op;
}

// tb_op_queue_pop removes and returns the first of a queue that is not empty.
static inline uint32_t tb_op_queue_pop(struct tb_op_queue *queue, const uint32_t *next)
{
	uint32_t op = queue->first;
	queue->first = next[op];
	return op;
}

// tb_op_queue_remove takes `op` out; its predecessor is `before`, TB_ID_NONE for the
// first.
static inline void tb_op_queue_remove(
	struct tb_op_queue *queue, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == TB_ID_NONE)
		queue->first = next[op];
	else
		next[before] = next[op];
	if (queue->last == op)
		queue->last = before;
}

#endif
