// The engine against the oracle, on random small networks and loads: every message's
// times and all that an observer receives must be the same.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds; a program that fails is
// shrunk and printed.
#include "../support/replay_compare.h"
#include "circuit_params.h"

// What a program has beside messages from node to node.
enum extra { NO_EXTRA, WITH_FAULTS, WITH_BROADCASTS };

static void print_program(const struct program *program, enum shape shape)
{
	const struct tb_network_params *params = &program->params;
	if (program->by_table)
		print_message("routes from a file, ");
	print_message(
		"seed %" PRIu64 " of shape %d: %u-ary %u-tree (or %u leaves, %u "
		"tops), ascent %d, rate %" PRIu64 ", hop %" PRId64
		" ps, %u VCs, fifo %u, flit %u, payload %u, overhead %u, bus %" PRIu64
		", turn %" PRId64 ", ack %" PRId64 ", overheads %" PRId64 " and %" PRId64
		", slice %u, %u partners or %" PRId64
		", weight %.1f, %.2f link tokens, bin %" PRId64 "\n",
		program->seed, (int)shape, params->arity, params->levels,
		program->n_leaves, program->n_tops, (int)params->ascent,
		params->link_bytes_per_s, params->hop_latency_ps, params->n_vcs,
		params->fifo_bytes, tb_circuit_params(params)->flit_bytes,
		params->packet_payload_bytes, params->packet_overhead_bytes,
		tb_circuit_params(params)->bus_bytes_per_s,
		tb_circuit_params(params)->bus_turn_ps,
		tb_circuit_params(params)->ack_delay_ps, params->send_overhead_ps,
		params->receive_overhead_ps, tb_circuit_params(params)->slice_bytes,
		tb_circuit_params(params)->partners,
		tb_circuit_params(params)->partner_delay_ps,
		tb_circuit_params(params)->age_weight,
		tb_circuit_params(params)->link_tokens, program->bin_ps);
	print_posts(program);
}

// some_broadcast makes broadcasts of a third of a program's messages.
static void some_broadcast(struct tb_random *random, struct program *program)
{
	uint32_t n_nodes = 1;
	for (uint32_t level = 0; level < program->params.levels; level++)
		n_nodes *= program->params.arity;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post *post = &program->posts[i];
		if (below(random, 3))
			continue;
		post->destination = below(random, n_nodes - 1);
		post->n_receivers = 2 + below(random, n_nodes - post->destination - 1);
	}
}

// check_seed returns what came of a program.
static struct tb_engine_stats check_seed(uint64_t seed, enum shape shape, int extra)
{
	struct difference difference;
	struct tb_engine_stats stats;
	struct program program = random_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 100);
	if (extra == WITH_FAULTS)
		random_faults(&random, &program);
	if (extra == WITH_BROADCASTS)
		some_broadcast(&random, &program);
	if (!fails(&program, &program, &difference, &stats))
		return stats;
	struct program least = shrink(program, NULL);
	(void)fails(&least, &least, &difference, NULL);
	print_program(&least, shape);
	fail_msg("%s", difference.text);
	return stats;
}

static void check_seeds(enum shape shape, enum extra extra, unsigned long long last)
{
	check_programs(check_seed, shape, (int)extra, last);
}

static void they_agree_on_regular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, NO_EXTRA, 300);
}

static void they_agree_on_irregular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_IRREGULAR, NO_EXTRA, 300);
}

static void they_agree_with_unequal_rates(void **state)
{
	(void)state;
	check_seeds(SHAPE_MIXED, NO_EXTRA, 300);
}

static void they_agree_when_links_and_switches_die(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, WITH_FAULTS, 200);
	check_seeds(SHAPE_IRREGULAR, WITH_FAULTS, 200);
	check_seeds(SHAPE_MIXED, WITH_FAULTS, 200);
}

static void they_agree_on_broadcasts(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, WITH_BROADCASTS, 200);
}

// The faults: each nudges a parameter of one of the two by a flit, or less.
static void ack_leaves_a_flit_later(struct program *program)
{
	tb_circuit_params_mutable(&program->params)->ack_delay_ps +=
		(tb_time_ps)(TB_PS_PER_S *
			     tb_circuit_params(&program->params)->flit_bytes /
			     (tb_time_ps)program->params.link_bytes_per_s);
}

static void packets_are_a_flit_longer(struct program *program)
{
	program->params.packet_overhead_bytes +=
		tb_circuit_params(&program->params)->flit_bytes;
}

static void fifos_hold_a_flit_more(struct program *program)
{
	program->params.fifo_bytes += tb_circuit_params(&program->params)->flit_bytes;
}

static void slices_are_a_packet_longer(struct program *program)
{
	tb_circuit_params_mutable(&program->params)->slice_bytes +=
		program->params.packet_payload_bytes;
}

static void a_partner_more_is_one_too_many(struct program *program)
{
	tb_circuit_params_mutable(&program->params)->partners +=
		tb_circuit_params(&program->params)->partners > 0;
}

static void the_bus_turns_slower(struct program *program)
{
	tb_circuit_params_mutable(&program->params)->bus_turn_ps++;
}

static void ties_are_drawn_anew(struct program *program)
{
	program->seed++;
}

static void check_fault(void (*fault)(struct program *), const char *name)
{
	struct difference difference;
	uint32_t n_found = 0;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct program program = random_program(seed, SHAPE_TREE);
		struct program other = program;
		fault(&other);
		if (!fails(&program, &other, &difference, NULL))
			continue;
		if (n_found++)
			continue;
		struct program least = shrink(program, fault);
		assert_true(least.n_posts <= program.n_posts);
		print_message("%s: %" PRIu32 " messages shrunk to %" PRIu32 "; %s\n",
			name, program.n_posts, least.n_posts, difference.text);
	}
	print_message("%s: found by %" PRIu32 " of 30 programs\n", name, n_found);
	assert_true(n_found > 0);
}

static void a_planted_fault_is_found(void **state)
{
	(void)state;
	check_fault(ack_leaves_a_flit_later, "ack a flit later");
	check_fault(packets_are_a_flit_longer, "packet a flit longer");
	check_fault(fifos_hold_a_flit_more, "FIFO a flit more");
	check_fault(slices_are_a_packet_longer, "slice a packet longer");
	check_fault(a_partner_more_is_one_too_many, "a partner more");
	check_fault(the_bus_turns_slower, "a turn of the bus 1 ps longer");
	check_fault(ties_are_drawn_anew, "another seed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_agree_on_regular_trees),
		cmocka_unit_test(they_agree_on_irregular_trees),
		cmocka_unit_test(they_agree_with_unequal_rates),
		cmocka_unit_test(they_agree_when_links_and_switches_die),
		cmocka_unit_test(they_agree_on_broadcasts),
		cmocka_unit_test(a_planted_fault_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
