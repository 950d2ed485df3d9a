// Which receives a send waits for.
#include "array.h"
#include "judge_impl.h"

// push_before puts on the stack what `op` waits for and this walk has not seen.
static uint32_t push_before(struct judge_side *side, uint32_t op, uint32_t n)
{
	for (uint32_t i = side->first_before[op]; i < side->first_before[op + 1]; i++) {
		uint32_t before = side->before[i];
		if (side->seen[before] == side->n_walks)
			continue;
		side->seen[before] = side->n_walks;
		side->stack[n++] = before;
	}
	return n;
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

// list_receives lists the receives that come before the operations on the stack, and puts
// there instead the sends that do: returns how many, or a negative status.
static int64_t list_receives(struct judge_side *side, uint32_t n)
{
	uint32_t n_sends = 0;
	while (n > 0) {
		uint32_t at = side->stack[--n];
		uint8_t kind = side->job->ops[at].kind;
		if (kind == TB_OP_CALC) {
			n = push_before(side, at, n);
			continue;
		}
		size_t *room = kind == TB_OP_SEND ? &side->sends_room : &side->waits_room;
		uint32_t **list = kind == TB_OP_SEND ? &side->sends : &side->waits;
		size_t count = kind == TB_OP_SEND ? n_sends++ : side->n_waits++;
		int status = TB_ARRAY_RESERVE(list, room, count + 1);
		if (status != TB_OK)
			return status;
		(*list)[count] = at;
	}
	for (uint32_t i = 0; i < n_sends; i++)
		n = push_before(side, side->sends[i], n);
	return n;
}

int judge_waits(struct judge_side *side, uint32_t send)
{
	side->n_walks++;
	side->n_waits = 0;
	int64_t n = push_before(side, send, 0);
	while (n > 0 && side->n_waits == 0)
		n = list_receives(side, (uint32_t)n);
	return n < 0 ? (int)n : TB_OK;
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
	for (size_t i = 0; i < n; i++)
		if (side->seen[recvs[i]] != side->n_walks)
			recvs[left++] = recvs[i];
	return left;
}
