// Records in parts: whatever is counted, in whatever bins, the joined records of any
// number of parts come to what those of the whole network are.
#include "../support/replay_observed.h"

#include "network_open.h"
#include "preset.h"
#include "random.h"
#include "records_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { PROGRAMS = 200, STEPS = 3000, FLOWS = 40, MOST_PARTS = 5 };

struct side { // one way to keep records
	struct tb_records whole, parts[MOST_PARTS];
	struct tb_joint_records *joint; // NULL: not in parts
	struct tb_cell *places, **cells;
	struct observed observed;
	struct tb_observer observer;
};

static struct tb_network *open_network(void)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_preset(&params, "qsnet,levels=2", NULL), TB_OK);
	assert_int_equal(
		tb_network_open(
			&net, &(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	return net;
}

// shorten_lists has the lists of the heaviest evict most of what few waits are.
static void shorten_lists(struct tb_blame_table *blame)
{
	blame->batch = 50;
	blame->piece = 7;
	blame->by_link.n_most = blame->by_time.n_most = blame->trees.n_most = 32;
	for (int i = 0; i < TB_GROUPINGS; i++)
		blame->groups[i].n_most = 8;
}

static void open_side(struct side *side, const struct tb_network *net,
	const struct tb_parts *parts, tb_time_ps bin_ps)
{
	*side = (struct side){0};
	side->places = calloc(net->n_links, sizeof *side->places);
	side->cells = calloc(net->n_links, sizeof *side->cells);
	for (uint32_t link = 0; link < net->n_links; link++) {
		tb_cell_clear(&side->places[link], link);
		side->cells[link] = &side->places[link];
	}
	side->observer = observer_of(&side->observed);
	assert_int_equal(tb_records_init(&side->whole, net, &side->observer, side->cells,
				 bin_ps, true),
		TB_OK);
	shorten_lists(side->whole.blame);
	if (!parts)
		return;
	assert_int_equal(
		tb_joint_records_new(&side->joint, &side->whole, net, parts), TB_OK);
	for (uint32_t part = 0; part < parts->n; part++)
		assert_int_equal(
			tb_joint_records_join(side->joint, part, &side->parts[part]),
			TB_OK);
}

static void close_side(struct side *side, const struct tb_parts *parts)
{
	for (uint32_t part = 0; parts && part < parts->n; part++)
		tb_records_fini(&side->parts[part]);
	tb_records_fini(&side->whole);
	tb_joint_records_free(side->joint);
	observed_free(&side->observed);
	free(side->places);
	free(side->cells);
}

struct step {
	uint32_t link, flow, culprit, root, bytes;
	tb_time_ps now, span;
	uint32_t what;
};

static struct step draw_step(
	struct tb_random *random, const struct tb_network *net, tb_time_ps now)
{
	return (struct step){.link = (uint32_t)tb_random_below(random, net->n_links),
		.root = (uint32_t)tb_random_below(random, net->n_links),
		.flow = (uint32_t)tb_random_below(random, FLOWS),
		.culprit = (uint32_t)tb_random_below(random, FLOWS),
		.bytes = (uint32_t)tb_random_below(random, 5000),
		.what = (uint32_t)tb_random_below(random, 4),
		.now = now,
		.span = 1 + (tb_time_ps)tb_random_below(random, 3000000)};
}

static uint32_t flow_of(struct side *side, uint32_t flow)
{
	uint32_t id = tb_records_flow(&side->whole, 0, flow / 6, flow % 6);
	for (uint32_t part = 0; side->joint && part < side->joint->parts->n; part++)
		side->parts[part].flows = side->whole.flows;
	return id;
}

// take counts a step: what begins to cross in the records of the near end, what waits in
// those of the far end.
static void take(struct side *side, const struct step *step, struct tb_records *near,
	struct tb_records *far)
{
	struct tb_cell *cell = tb_records_near_cell(near, step->link);
	uint32_t flow = flow_of(side, step->flow);
	uint32_t culprit = flow_of(side, step->culprit);
	tb_time_ps in_bin = step->span < step->now - far->bin_start
				    ? step->span
				    : step->now - far->bin_start;
	if (step->what == 0) {
		tb_records_burst(
			near, cell, step->now, step->now + step->span, step->bytes, true);
	} else if (step->what == 1) {
		tb_records_held(near, cell, in_bin);
	} else if (step->what == 2) {
		tb_records_blocked(far, far->cells[step->link]);
	} else if (step->span <= step->now) {
		tb_records_flow_wait(far, flow, in_bin);
		tb_records_wait_by(far, far->cells[step->link], in_bin);
		tb_records_longest(far->cells[step->link], step->span);
		tb_records_blame(far, step->link, step->root, flow, culprit, step->span,
			step->now);
	}
}

static void close_bin(struct side *side)
{
	int status = side->joint ? tb_joint_records_close(side->joint, NULL)
				 : tb_records_close(&side->whole, NULL);
	assert_int_equal(status, TB_OK);
}

static void pass_bins(struct side *side, tb_time_ps now)
{
	while (now >= side->whole.bin_end) {
		close_bin(side);
		if (now < side->whole.bin_end)
			continue;
		if (side->joint && tb_joint_records_idle(side->joint))
			tb_joint_records_jump(side->joint, now);
		else if (!side->joint && tb_records_idle(&side->whole))
			tb_records_jump(&side->whole, now);
	}
}

static void finish(struct side *side)
{
	close_bin(side);
	int status = side->joint ? tb_joint_records_finish(side->joint, NULL)
				 : tb_records_finish(&side->whole, NULL);
	assert_int_equal(status, TB_OK);
}

// enter_waits enters some of the waits that have been, the others later.
static void enter_waits(struct side *side, struct tb_random *random)
{
	if (tb_random_below(random, 14) == 0)
		while (!tb_joint_records_turn(side->joint, 1))
			tb_joint_records_catch_up(side->joint);
	for (uint64_t n = tb_random_below(random, 4); n > 0; n--)
		(void)tb_joint_records_step(side->joint, NULL);
}

static void run(const struct tb_network *net, uint64_t seed, struct tb_team *team)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	struct tb_parts *parts = NULL;
	uint32_t n = 2 + (uint32_t)tb_random_below(&random, MOST_PARTS - 1);
	tb_time_ps bin_ps =
		tb_random_below(&random, 2) ? 0 : 1 + (tb_time_ps)(seed * 123457);
	assert_int_equal(tb_parts_new(&parts, net, n), TB_OK);
	struct side one, cut;
	open_side(&one, net, NULL, bin_ps);
	open_side(&cut, net, parts, bin_ps);
	tb_joint_records_set_team(cut.joint, seed % 2 ? team : NULL);
	tb_time_ps now = 0;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t most = tb_random_below(&random, 50) ? 100000 : 50000000;
		// Some happen at one instant, in which nothing is entered.
		bool goes_on = tb_random_below(&random, 3) > 0;
		if (goes_on)
			enter_waits(&cut, &random);
		if (goes_on)
			now += 1 + (tb_time_ps)tb_random_below(&random, most);
		pass_bins(&one, now);
		pass_bins(&cut, now);
		struct step step = draw_step(&random, net, now);
		take(&one, &step, &one.whole, &one.whole);
		take(&cut, &step, &cut.parts[tb_parts_from(parts, net, step.link)],
			&cut.parts[tb_parts_to(parts, net, step.link)]);
	}
	assert_true(tb_joint_records_waits(cut.joint) == one.whole.wait_ps);
	finish(&one);
	finish(&cut);
	struct difference difference;
	assert_true(one.observed.blame.by_link_floor_ps > 0); // keys were evicted
	if (heaviest_differ(&cut.observed.blame, &one.observed.blame, &difference) ||
		observed_differ(&cut.observed, &one.observed, &difference))
		fail_msg("seed %" PRIu64 ": %s", seed, difference.text);
	close_side(&one, NULL);
	close_side(&cut, parts);
	tb_parts_free(parts);
}

static void records_of_parts_come_to_those_of_the_whole(void **state)
{
	(void)state;
	struct tb_network *net = open_network();
	struct tb_team *team = NULL;
	assert_int_equal(tb_team_new(&team, 3), TB_OK);
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
		run(net, seed, team);
	tb_team_free(team);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_parts_come_to_those_of_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
