// Messages that wait for others of their node: those of a queue pair or a connection go
// one after another, and gaps lie between messages that begin.
#include "fluid.h"

#include "array.h"
#include "circuit_params.h"
#include "credit_params.h"
#include "switchings.h"

// fluid_line_key returns by whom a message's line is known; false: it waits for no other
// one.
static bool fluid_line_key(
	const struct fluid *fluid, const struct tb_posted *message, uint64_t *key)
{
	const struct tb_network_params *params = &fluid->replay.net->params;
	uint32_t source = message->what.source.id;
	bool by_pair =
		fluid->nodes->stores ||
		(fluid->nodes->has_queue_pairs && tb_credit_params(params)->queue_pairs ==
							  TB_QUEUE_PAIRS_CONNECTION);
	*key = (uint64_t)source << 32 | (by_pair ? message->end : source);
	return by_pair || (fluid->nodes->has_circuits &&
				  tb_circuit_params(params)->slice_bytes == 0);
}

static uint32_t fluid_line_find(struct fluid *fluid, uint64_t key)
{
	uint32_t id = fluid->n_lines;
	if (tb_map_find(&fluid->line_of, key, &id))
		return id;
	if (TB_ARRAY_RESERVE(&fluid->lines, &fluid->lines_room,
		    (size_t)fluid->n_lines + 1) != TB_OK ||
		tb_map_put(&fluid->line_of, key, id) != TB_OK)
		return NOTHING;
	fluid->lines[id] =
		(struct fluid_line){.first = NOTHING, .last = NOTHING, .begun_at = -1};
	fluid->n_lines++;
	return id;
}

void tb_fluid_begins(struct fluid *fluid, uint32_t message)
{
	if (TB_ARRAY_RESERVE(&fluid->beginning, &fluid->beginning_room,
		    (size_t)fluid->n_beginning + 1) != TB_OK) {
		tb_replay_no_memory(&fluid->replay, "the flows");
		return;
	}
	fluid->beginning[fluid->n_beginning++] = message;
}

// begin_in_time has a message begin when its gaps allow; `last` is when the one before it
// in its line began.
static tb_time_ps begin_in_time(struct fluid *fluid, uint32_t message, tb_time_ps last)
{
	const struct tb_credit_params *credits =
		tb_credit_params(&fluid->replay.net->params);
	uint32_t source = fluid->replay.messages[message].what.source.id;
	tb_time_ps at = fluid->replay.now;
	if (last >= 0 && at < last + credits->queue_pair_gap_ps)
		at = last + credits->queue_pair_gap_ps;
	if (fluid->node_begun_at) {
		tb_time_ps free_at =
			fluid->node_begun_at[source] + credits->message_gap_ps;
		if (at < free_at)
			at = free_at;
		fluid->node_begun_at[source] = at;
	}
	if (at == fluid->replay.now)
		tb_fluid_begins(fluid, message);
	else
		tb_wheel_put(&fluid->replay.wheel, at, EV_BEGIN, message);
	return at;
}

void tb_fluid_join(struct fluid *fluid, uint32_t id)
{
	struct tb_posted *message = &fluid->replay.messages[id];
	uint64_t key = 0;
	if (!fluid_line_key(fluid, message, &key)) {
		(void)begin_in_time(fluid, id, -1);
		return;
	}
	uint32_t at = fluid_line_find(fluid, key);
	if (at == NOTHING) {
		tb_replay_no_memory(&fluid->replay, "the queue pairs");
		return;
	}
	struct fluid_line *line = &fluid->lines[at];
	if (!line->flows) {
		line->flows = true;
		line->begun_at = begin_in_time(fluid, id, line->begun_at);
		return;
	}
	message->next = NOTHING;
	if (line->first == NOTHING)
		line->first = id;
	else
		fluid->replay.messages[line->last].next = id;
	line->last = id;
}

void tb_fluid_next(struct fluid *fluid, uint32_t id)
{
	uint64_t key = 0;
	uint32_t at = NOTHING;
	if (!fluid_line_key(fluid, &fluid->replay.messages[id], &key) ||
		!tb_map_find(&fluid->line_of, key, &at))
		return;
	struct fluid_line *line = &fluid->lines[at];
	uint32_t next = line->first;
	line->flows = next != NOTHING;
	if (next == NOTHING)
		return;
	line->first = fluid->replay.messages[next].next;
	line->begun_at = begin_in_time(fluid, next, line->begun_at);
}
