// A fluid as a switching model: its function table, and how it handles each event.
#include "clock.h"
#include "fluid.h"

static void carry(struct tb_replay *replay, uint32_t message)
{
	tb_fluid_join(fluid_of(replay), message);
}

static void arrive(struct tb_replay *replay, struct tb_event event)
{
	struct fluid *fluid = fluid_of(replay);
	if (event.kind == EV_BEGIN)
		tb_fluid_begins(fluid, event.subject);
	else if (fluid->looks_at <= replay->now)
		fluid->looks_at = TB_TIME_NEVER;
}

static void choose(struct tb_replay *replay)
{
	tb_fluid_end_due(fluid_of(replay));
}

static void serve(struct tb_replay *replay)
{
	tb_fluid_share(fluid_of(replay));
}

static void alone(struct tb_replay *replay, struct tb_event event)
{
	arrive(replay, event);
	choose(replay);
	serve(replay);
}

static bool settle(struct tb_replay *replay, tb_time_ps until)
{
	return tb_fluid_settle_all(fluid_of(replay), until);
}

static tb_time_ps lasts_until(const struct tb_replay *replay)
{
	return replay->now;
}

// blame_open: what is lost is charged whenever it is counted.
static void blame_open(struct tb_replay *replay, tb_time_ps until)
{
	(void)replay;
	(void)until;
}

static uint32_t link_bytes(const struct tb_replay *replay)
{
	(void)replay;
	return sizeof(struct fluid_link) + sizeof(struct tb_share_link) +
	       sizeof(struct tb_cell) + sizeof(struct tb_cell *) +
	       sizeof(struct tb_link_sample) + sizeof(uint32_t);
}

static void leave(struct tb_replay *replay)
{
	tb_fluid_free_links(fluid_of(replay));
}

static int run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

// It has no link_failed and no prefetches: it takes no faults, and does not prefetch.
const struct tb_switching tb_fluid = {.name = "fluid",
	.carrier = {.carry = carry, .ideal_ps = tb_fluid_ideal_ps},
	.bytes = sizeof(struct fluid),
	.holds_stall = true,
	.is_ideal_too = true,
	.make = tb_fluid_make,
	.free = tb_fluid_free,
	.leave = leave,
	.run = run,
	.arrive = arrive,
	.choose = choose,
	.alone = alone,
	.serve = serve,
	.settle = settle,
	.lasts_until = lasts_until,
	.blame_open = blame_open,
	.link_bytes = link_bytes};

static int run(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_fluid, n_rounds, error);
}
