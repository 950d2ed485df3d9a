// The circuits as a switching model: their function table, and how they handle each
// event.

#include "circuits_impl.h"
#include "clock.h"
#include "idle.h"

static struct circuits *circuits_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

static const struct circuits *of_const(const struct tb_replay *replay)
{
	return (const void *)replay;
}

// tail: the last flit of a packet has arrived where the packet ends.
static void tail(struct circuits *circuits, uint32_t id)
{
	if (circuits->replay.retries && tb_circuits_end_failed(circuits, id))
		return;
	if (circuits->delays)
		tb_circuits_add_delays(circuits, circuit_packet_at(circuits, id));
	tb_nodes_arrive(&circuits->replay, id);
}

static void circuits_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = circuits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum circuit_event_kind)event.kind) {
	case EV_HEADER:
		tb_circuits_header(circuits, id >> circuits->hops_shift);
		break;
	case EV_TAIL:
		tail(circuits, id);
		break;
	case EV_READY:
		tb_bursts_ready(circuits, id);
		break;
	case EV_LINK:
		circuits->links[id].event_set = false;
		tb_list_add(&circuits->links_now, id, &circuits->links[id].listed);
		break;
	case EV_SWITCH:
		tb_list_add(&circuits->switches_now, id, &circuits->switches[id].listed);
		break;
	case EV_BROADCAST:
		circuits->broadcasts.listed = true;
		break;
	}
}

static void circuits_choose(struct tb_replay *replay)
{
	struct circuits *circuits = circuits_of_replay(replay);
	if (circuits->broadcasts.listed)
		tb_branches_choose(circuits);
	for (uint32_t i = 0; i < circuits->switches_now.n; i++)
		tb_circuits_switch(circuits, circuits->switches_now.ids[i]);
	circuits->switches_now.n = 0;
}

static __attribute__((noinline)) void serve_links(struct circuits *circuits)
{
	for (uint32_t i = 0; i < circuits->links_now.n; i++)
		tb_bursts_serve(circuits, circuits->links_now.ids[i]);
	circuits->links_now.n = 0;
}

static inline void circuits_serve(struct tb_replay *replay)
{
	if (circuits_of_replay(replay)->links_now.n)
		serve_links(circuits_of_replay(replay));
}

static void circuits_alone(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = circuits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum circuit_event_kind)event.kind) {
	case EV_HEADER:
		tb_circuits_header_alone(circuits, id >> circuits->hops_shift);
		break;
	case EV_TAIL:
		tail(circuits, id);
		return;
	case EV_READY:
		tb_bursts_ready(circuits, id);
		break;
	case EV_LINK:
		circuits->links[id].event_set = false;
		tb_bursts_serve(circuits, id);
		break;
	case EV_SWITCH:
		tb_circuits_switch(circuits, id);
		break;
	case EV_BROADCAST:
		tb_branches_choose(circuits);
		break;
	}
	circuits_serve(replay);
}

static void circuits_prefetch_first(
	struct tb_replay *replay, const struct tb_event *events, uint32_t n)
{
	tb_circuits_prefetch_first(circuits_of_replay(replay), events, n);
}

static void circuits_prefetch_second(struct tb_replay *replay, struct tb_event event)
{
	tb_circuits_prefetch_second(circuits_of_replay(replay), event);
}

static void circuits_prefetch_third(struct tb_replay *replay, struct tb_event event)
{
	tb_circuits_prefetch_third(circuits_of_replay(replay), event);
}

static void circuits_link_failed(struct tb_replay *replay, uint32_t link)
{
	if (replay->net->links[link].kind != TB_LINK_INJECTION)
		tb_circuits_route_again(
			circuits_of_replay(replay), replay->net->links[link].from);
}

static tb_time_ps circuits_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	const struct circuits *circuits = of_const(replay);
	(void)packet;
	return first_free(circuits, circuits->first_injection + node);
}

static void circuits_inject(struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	tb_circuits_inject(circuits_of_replay(replay), node, packet);
}

static tb_time_ps circuits_release(struct tb_replay *replay, uint32_t packet,
	tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)drained_at; // a node accepts every packet
	struct circuit_packet *released =
		circuit_packet_at(circuits_of_replay(replay), packet);
	return tb_circuits_release(circuits_of_replay(replay), released, ack_at);
}

static const char *circuits_branch(
	struct tb_replay *replay, const struct tb_message *message, uint32_t *end)
{
	return tb_branches_prepare(circuits_of_replay(replay), message, end);
}

static bool circuits_settle(struct tb_replay *replay, tb_time_ps until)
{
	return tb_circuits_settle(circuits_of_replay(replay), until);
}

static void circuits_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	tb_circuits_blame_open(circuits_of_replay(replay), until);
}

// The last circuits are held a little beyond the last event.
static tb_time_ps circuits_lasts_until(const struct tb_replay *replay)
{
	const struct circuits *circuits = of_const(replay);
	tb_time_ps end = replay->now;
	for (uint32_t i = 0; i < circuits->n_own; i++) {
		const tb_time_ps *frees = free_at(circuits, own_slot(circuits, i));
		for (uint32_t v = 0; v < circuits->vcs_most; v++)
			if (frees[v] != TB_TIME_NEVER && frees[v] > end)
				end = frees[v];
	}
	return end;
}

static uint32_t circuits_link_bytes(const struct tb_replay *replay)
{
	uint32_t vcs_most = of_const(replay)->vcs_most;
	return (uint32_t)(sizeof(struct circuit_link) +
			  vcs_most * (sizeof(struct vc) + sizeof(tb_time_ps)) +
			  sizeof(uint32_t) + sizeof(struct tb_cell *) +
			  sizeof(struct tb_link_sample));
}

static int circuits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static void circuits_window(struct tb_replay *replay, tb_time_ps until);

const struct tb_switching tb_circuits = {.name = "circuits",
	.carrier = {.injects_at = circuits_injects_at,
		.inject = circuits_inject,
		.release = circuits_release,
		.branch = circuits_branch,
		.ideal_ps = tb_idle_latency_ps,
		.in_parts = true,
		.in_one_memory = true,
		.owns_cables = true},
	.bytes = sizeof(struct circuits),
	.can_fail = true,
	.make = tb_circuits_make,
	.free = tb_circuits_free,
	.run = circuits_run,
	.arrive = circuits_arrive,
	.choose = circuits_choose,
	.serve = circuits_serve,
	.alone = circuits_alone,
	.prefetch_first = circuits_prefetch_first,
	.prefetch_second = circuits_prefetch_second,
	.prefetch_third = circuits_prefetch_third,
	.link_failed = circuits_link_failed,
	.settle = circuits_settle,
	.lasts_until = circuits_lasts_until,
	.blame_open = circuits_blame_open,
	.link_bytes = circuits_link_bytes,
	.join = tb_circuits_join,
	.window = circuits_window,
	.receive = tb_circuits_receive};

static int circuits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_circuits, n_rounds, error);
}

static void circuits_window(struct tb_replay *replay, tb_time_ps until)
{
	tb_circuits_begin_window(circuits_of_replay(replay));
	circuits_serve(replay);
	tb_clock_window(replay, &tb_circuits, until);
	tb_circuits_end_window(circuits_of_replay(replay), until);
}
