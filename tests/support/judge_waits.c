// Which receives a send waits for.
#include "array.h"
#include "judge_impl.h"

#include <stdlib.h>

static uint32_t push(struct judge_side *side, uint32_t op, uint32_t n)
{
	if (op == JUDGE_NONE || side->seen[op] == side->n_walks)
		return n;
	side->seen[op] = side->n_walks;
	side->stack[n] = op;
	return n + 1;
}

// push_before puts on the stack what `op` waits for and this walk has not seen.
static uint32_t push_before(struct judge_side *side, uint32_t op, uint32_t n)
{
	for (uint32_t i = side->first_before[op]; i < side->first_before[op + 1]; i++)
		n = push(side, side->before[i], n);
	return push(side, side->posted[op], n);
}

// walk_down marks all that `op` waits for, down to a place.
static void walk_down(struct judge_side *side, uint32_t op, uint32_t place)
{
	uint32_t n = push_before(side, op, 0);
	while (n > 0) {
		uint32_t at = side->stack[--n];
		if (side->place[at] > place)
			n = push_before(side, at, n);
	}
}

bool judge_holds(struct judge_side *side, uint32_t send, uint32_t recv)
{
	side->n_walks++;
	walk_down(side, send, side->place[recv]);
	return side->seen[recv] == side->n_walks;
}

static int list(uint32_t **rows, size_t *room, size_t *n, uint32_t op)
{
	int status = TB_ARRAY_RESERVE(rows, room, *n + 1);
	if (status == TB_OK)
		(*rows)[(*n)++] = op;
	return status;
}

int judge_waits(struct judge_side *side, uint32_t send)
{
	int status = TB_OK;
	side->n_walks++;
	side->n_waits = side->n_sends = 0;
	uint32_t n = push_before(side, send, 0);
	while (n > 0 && status == TB_OK) {
		uint32_t at = side->stack[--n];
		uint8_t kind = side->job->ops[at].kind;
		if (kind == TB_OP_CALC)
			n = push_before(side, at, n);
		else if (kind == TB_OP_SEND)
			status =
				list(&side->sends, &side->sends_room, &side->n_sends, at);
		else
			status =
				list(&side->waits, &side->waits_room, &side->n_waits, at);
	}
	return status;
}

size_t judge_reduce(struct judge_side *side, uint32_t *recvs, size_t n)
{
	uint32_t lowest = UINT32_MAX;
	for (size_t i = 0; i < n; i++)
		if (side->place[recvs[i]] < lowest)
			lowest = side->place[recvs[i]];
	side->n_walks++;
	for (size_t i = 0; i < n; i++)
		walk_down(side, recvs[i], lowest);
	size_t left = 0;
	for (size_t i = 0; i < n; i++) {
		if (side->seen[recvs[i]] == side->n_walks)
			continue;
		side->seen[recvs[i]] = side->n_walks; // not twice
		recvs[left++] = recvs[i];
	}
	return left;
}

// inherits returns whether a receive that another send waits for counts for `send`, too:
// on the side of the truth it does; else if it holds, so that an error counts once.
static bool inherits(struct judge_side *truth, const uint32_t *counterparts,
	uint32_t send, uint32_t recv)
{
	uint32_t same = counterparts ? counterparts[send] : JUDGE_NONE;
	return same == JUDGE_NONE || judge_holds(truth, same, recv);
}

// gather adds to the last receives what `send` waits for, and what the sends that it
// waits for do.
static int gather(struct judge_side *side, struct judge_side *truth,
	const uint32_t *counterparts, uint32_t send)
{
	uint32_t **rows = &side->lasts;
	size_t *room = &side->lasts_room, *n = &side->n_lasts;
	int status = judge_waits(side, send);
	for (size_t i = 0; status == TB_OK && i < side->n_waits; i++) {
		uint32_t recv = side->waits[i];
		if (counterparts)
			recv = counterparts[recv];
		if (recv != JUDGE_NONE)
			status = list(rows, room, n, recv);
	}
	for (size_t i = 0; status == TB_OK && i < side->n_sends; i++) {
		const struct judge_last *last = &side->last[side->sends[i]];
		for (uint32_t k = 0; status == TB_OK && k < last->n; k++) {
			uint32_t recv = side->lasts[last->first + k];
			if (inherits(truth, counterparts, send, recv))
				status = list(rows, room, n, recv);
		}
	}
	return status;
}

int judge_find_lasts(
	struct judge_side *side, struct judge_side *truth, const uint32_t *counterparts)
{
	uint32_t n_ops = (uint32_t)side->job->n_ops;
	uint32_t *order = malloc((n_ops + 1u) * sizeof *order);
	int status = order ? TB_OK : TB_ENOMEM;
	for (uint32_t i = 0; order && i < n_ops; i++)
		order[side->place[i]] = i;
	for (uint32_t i = 0; status == TB_OK && i < n_ops; i++) {
		size_t first = side->n_lasts;
		if (side->job->ops[order[i]].kind != TB_OP_SEND)
			continue;
		status = gather(side, truth, counterparts, order[i]);
		if (status != TB_OK)
			break;
		side->n_lasts = first + judge_reduce(truth, side->lasts + first,
						side->n_lasts - first);
		side->last[order[i]] =
			(struct judge_last){first, (uint32_t)(side->n_lasts - first)};
	}
	free(order);
	return status;
}
