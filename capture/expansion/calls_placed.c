// Which operations of the job calls last from and to.
#include "array.h"
#include "calls_job_impl.h"

#include <stdlib.h>
#include <string.h>

uint8_t tb_placing_algorithm(struct tb_lowering *l, const char *name)
{
	uint32_t i = 1;
	while (i < TB_PLACED_ALGORITHMS && l->algorithms[i] &&
		strcmp(l->algorithms[i], name) != 0)
		i++;
	if (i == TB_PLACED_ALGORITHMS)
		return 0;
	l->algorithms[i] = name;
	return (uint8_t)i;
}

// placed_bytes returns what a rank gives a call: where it has a size for each member, all
// of them.
static uint64_t placed_bytes(const struct tb_lowering *l, const struct tb_call *call)
{
	uint32_t n = 0;
	const uint64_t *sizes = tb_calls_sizes_of(l->calls, call, &n);
	uint64_t bytes = sizes ? 0 : call->bytes;
	for (uint32_t i = 0; i < n; i++)
		bytes = sizes[i] > UINT64_MAX - bytes ? UINT64_MAX : bytes + sizes[i];
	return bytes;
}

// calls_place returns whether a call lasts, and stores from where to where. What is left
// out has no edge.
static bool calls_place(const struct tb_lowering *l, const struct tb_lowered_rank *rank,
	uint32_t i, struct tb_placed_call *placed)
{
	const struct tb_call *call = &rank->calls[i];
	bool is_collective = call->kind == TB_CALL_COLLECTIVE;
	*placed = (struct tb_placed_call){.bytes = placed_bytes(l, call),
		.enter = rank->timed[i].enter,
		.leave = is_collective ? rank->edges[i] : rank->timed[i].leave,
		.kind = tb_timed_kind(call),
		.algorithm = is_collective ? rank->algorithms[i] : 0};
	return placed->enter != TB_AT_NO_TIME && placed->leave != TB_AT_NO_TIME &&
	       placed->leave != TB_AT_BEGINNING && placed->enter != placed->leave;
}

static int place_rank(const struct tb_lowering *l, struct tb_placed_calls *placed,
	uint32_t r, size_t *room)
{
	size_t n = placed->first[r];
	for (uint32_t i = 0; i < l->ranks[r].n; i++) {
		if (TB_ARRAY_RESERVE(&placed->calls, room, n + 1) != TB_OK)
			return TB_ENOMEM;
		n += calls_place(l, &l->ranks[r], i, &placed->calls[n]);
	}
	placed->first[r + 1] = n;
	return TB_OK;
}

int tb_placing_take(const struct tb_lowering *l, struct tb_placed_calls **placed)
{
	size_t room = 0;
	if (!l->ranks[0].timed)
		return TB_OK;
	struct tb_placed_calls *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->n_ranks = l->n_ranks;
	memcpy(made->algorithms, l->algorithms, sizeof made->algorithms);
	made->first = calloc(l->n_ranks + 1u, sizeof *made->first);
	int status = made->first ? TB_OK : TB_ENOMEM;
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++)
		status = place_rank(l, made, r, &room);
	if (status == TB_OK && made->first[l->n_ranks] > 0)
		*placed = made;
	else
		tb_placed_calls_free(made);
	return status;
}

void tb_placing_number(struct tb_placed_calls *placed, const struct tb_job *job)
{
	for (uint32_t r = 0; r < placed->n_ranks; r++)
		for (size_t i = placed->first[r]; i < placed->first[r + 1]; i++) {
			struct tb_placed_call *call = &placed->calls[i];
			call->leave += job->first_op[r];
			if (call->enter != TB_AT_BEGINNING)
				call->enter += job->first_op[r];
		}
}
