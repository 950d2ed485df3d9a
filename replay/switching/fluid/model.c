// A fluid as a switching model: its function table, and how it handles each event.
#include "clock.h"
#include "fluid.h"

static void fluid_carry(struct tb_replay *replay, uint32_t message)
{
	tb_fluid_join(fluid_of(replay), message);
}

static void fluid_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct fluid *fluid = fluid_of(replay);
	if (event.kind == EV_BEGIN)
		tb_fluid_begins(fluid, event.subject);
	else if (fluid->event_at <= replay->now)
		fluid->event_at = TB_TIME_NEVER;
}

static void fluid_choose(struct tb_replay *replay)
{
	tb_fluid_end_due(fluid_of(replay));
}

static void fluid_serve(struct tb_replay *replay)
{
	tb_fluid_share(fluid_of(replay));
}

static void fluid_alone(struct tb_replay *replay, struct tb_event event)
{
	fluid_arrive(replay, event);
	fluid_choose(replay);
	fluid_serve(replay);
}

static bool fluid_settle(struct tb_replay *replay, tb_time_ps until)
{
	return tb_fluid_settle_all(fluid_of(replay), until);
}

static tb_time_ps fluid_lasts_until(const struct tb_replay *replay)
{
	return replay->now;
}

// fluid_blame_open: what is lost is charged whenever it is counted.
static void fluid_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
}

static uint32_t fluid_link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return sizeof(struct fluid_link) + sizeof(struct tb_share_link) +
	       sizeof(struct tb_cell) + sizeof(struct tb_cell *) +
	       sizeof(struct tb_link_sample) + sizeof(uint32_t);
}

static void fluid_leave(struct tb_replay *replay)
{
	tb_fluid_free_links(fluid_of(replay));
}

static int fluid_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

// It has no link_failed and no prefetches: it takes no faults, and does not prefetch.
const struct tb_switching tb_fluid = {.name = "fluid",
	.carrier = {.carry = fluid_carry, .ideal_ps = tb_fluid_ideal_ps},
	.bytes = sizeof(struct fluid),
	.holds_stall = true,
	.is_ideal_too = true,
	.make = tb_fluid_make,
	.free = tb_fluid_free,
	.leave = fluid_leave,
	.run = fluid_run,
	.arrive = fluid_arrive,
	.choose = fluid_choose,
	.alone = fluid_alone,
	.serve = fluid_serve,
	.settle = fluid_settle,
	.lasts_until = fluid_lasts_until,
	.blame_open = fluid_blame_open,
	.link_bytes = fluid_link_bytes};

static int fluid_run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_fluid, n_rounds, error);
}
