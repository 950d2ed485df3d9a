#include "fluid_edges.h"

#include "fluid.h"

// leave_flow has what a flow is within be sent. The message has arrived, but for its
// latency, if that was its last packet; else what is left of it is on the list.
static void leave_flow(struct fluid *fluid, uint32_t id)
{
	struct tb_replay *replay = &fluid->replay;
	struct fluid_flow *flow = &fluid->flows[id];
	uint32_t n = tb_fluid_round_up(fluid, id);
	uint32_t n_left = replay->messages[flow->message].n_unfetched - n;
	replay->stats.n_hops -= (uint64_t)flow->n_hops * n_left;
	if (n_left) {
		tb_nodes_carried_part(replay, flow->message, n);
		replay->messages[flow->message].behind_since = replay->now;
		tb_fluid_begins(fluid, flow->message);
		return;
	}
	tb_nodes_carried(replay, flow->message, replay->now + flow->in_ps,
		replay->now + flow->in_ps + flow->back_ps);
}

void tb_fluid_leave(struct tb_replay *replay)
{
	struct fluid *fluid = fluid_of(replay);
	(void)tb_fluid_settle_all(fluid, replay->now);
	for (uint32_t i = 0; i < fluid->n_ends; i++)
		leave_flow(fluid, fluid->ends[i]);
	(void)tb_fluid_settle_all(fluid, replay->now);
}

void tb_fluid_waits(struct tb_replay *replay, struct tb_event event)
{
	if (event.kind == EV_BEGIN)
		tb_fluid_begins(fluid_of(replay), event.subject);
}

uint32_t tb_fluid_left(
	struct tb_replay *replay, const struct tb_posted *messages, const uint32_t **ids)
{
	struct fluid *fluid = fluid_of(replay);
	tb_fluid_sort(fluid->beginning, fluid->n_beginning, messages);
	for (uint32_t i = 0; i < fluid->n_lines; i++)
		for (uint32_t id = fluid->lines[i].first; id != NOTHING;
			id = messages[id].next)
			tb_fluid_begins(fluid, id);
	*ids = fluid->beginning;
	return fluid->n_beginning;
}

void tb_fluid_enter(struct tb_replay *replay, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		tb_fluid_join(fluid_of(replay), ids[i]);
	tb_wheel_put(&replay->wheel, replay->now, EV_END, 0);
}
