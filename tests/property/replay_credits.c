// The engine against the oracle on networks with credits (docs/credits.md): random
// programs on random small networks; every message's times and all that an observer
// receives must be the same.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds; a program that fails is
// shrunk and printed.
#include "../support/replay_credits.h"
#include "../support/replay_compare.h"
#include "credit_params.h"

static void print_credits(const struct tb_credit_params *credits)
{
	print_message(
		"  %s, S %u, %s, %s %u to %u, high \"%s\", low \"%s\", limit %u, VLs "
		"\"%s\", first +%u, ack %u, pcie %" PRIu64 ", queue pairs by %s\n",
		tb_queues_words[credits->queues], credits->input_speedup,
		tb_forwarding_words[credits->forwarding],
		tb_flow_control_words[credits->flow_control], credits->xoff_bytes,
		credits->xon_bytes, credits->vl_high, credits->vl_low, credits->vl_limit,
		credits->sl_to_vl, credits->first_overhead_bytes, credits->ack_bytes,
		credits->pcie_bytes_per_s, tb_queue_pairs_words[credits->queue_pairs]);
}

static void print_network(const struct program *program, enum shape shape)
{
	const struct tb_network_params *params = &program->params;
	print_message("seed %" PRIu64 " of shape %d: ", program->seed, (int)shape);
	if (params->shape[0])
		print_message("%s, rates %s, latencies %s", params->shape,
			params->level_rates, params->level_latencies);
	else if (program->n_leaves)
		print_message("%u leaves, %u tops with %u nodes", program->n_leaves,
			program->n_tops, program->n_top_nodes);
	else
		print_message("%u-ary %u-tree", params->arity, params->levels);
	for (uint32_t i = 0; i < 2; i++)
		if (program->slow[i].bytes_per_s)
			print_message(", node %u drains at %" PRIu64,
				program->slow[i].node, program->slow[i].bytes_per_s);
	print_message("%s, %u parts\n", program->by_table ? ", routes from a file" : "",
		program->n_parts);
}

static void print_program(const struct program *program, enum shape shape)
{
	const struct tb_network_params *params = &program->params;
	print_network(program, shape);
	print_message(
		"  %s, rate %" PRIu64 ", hop %" PRId64
		" ps, %u VLs, buffer %u, payload %u, overhead %u, overheads %" PRId64
		" and %" PRId64 ", gaps %" PRId64 " and %" PRId64 ", fetch %" PRId64
		" from %u on, bin %" PRId64
		", service levels %u %u %u, %u retries after %" PRId64 " ps\n",
		tb_ascent_words[params->ascent], params->link_bytes_per_s,
		params->hop_latency_ps, params->n_vcs, params->fifo_bytes,
		params->packet_payload_bytes, params->packet_overhead_bytes,
		params->send_overhead_ps, params->receive_overhead_ps,
		tb_credit_params(params)->queue_pair_gap_ps,
		tb_credit_params(params)->message_gap_ps,
		tb_credit_params(params)->fetch_delay_ps,
		tb_credit_params(params)->inline_bytes, program->bin_ps,
		program->service_levels[0], program->service_levels[1],
		program->service_levels[2], params->retries, params->retry_delay_ps);
	print_credits(tb_credit_params(params));
	print_posts(program);
}

// time_faults has what dies die in instants in which packets come, have crossed or are
// drained when nothing dies.
static void time_faults(struct tb_random *random, struct program *program)
{
	struct program whole = *program;
	whole.n_faults = 0;
	struct account *account = account_of(BY_ENGINE, &whole, UINT64_MAX);
	for (uint32_t i = 0; i < program->n_faults; i++) {
		tb_time_ps at = account->delivered[below(random, program->n_posts)];
		if (at == TB_TIME_NEVER || below(random, 3) == 0)
			continue;
		at -= program->params.receive_overhead_ps +
		      below(random, 4) * program->params.hop_latency_ps;
		if (at > 0)
			program->faults[i].at_ps = at;
	}
	account_drop(account);
}

// check_seed returns what came of a program.
static struct tb_engine_stats check_seed(uint64_t seed, enum shape shape, int with_faults)
{
	struct difference difference;
	struct tb_engine_stats stats;
	struct program program = random_credit_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 100);
	if (with_faults)
		random_faults(&random, &program);
	if (with_faults && below(&random, 2))
		time_faults(&random, &program);
	// Some in parts, side by side.
	program.n_parts = below(&random, 3) ? 1 : 2 + below(&random, 3);
	program.n_threads = 1 + below(&random, 2);
	if (!fails(&program, &program, &difference, &stats))
		return stats;
	struct program least = shrink(program, NULL);
	(void)fails(&least, &least, &difference, NULL);
	print_program(&least, shape);
	fail_msg("%s", difference.text);
	return stats;
}

static void check_seeds(enum shape shape, bool with_faults, unsigned long long last)
{
	check_programs(check_seed, shape, with_faults, last);
}

static void they_agree_on_regular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, false, 100);
	// A ring of updates fills while its sender is not served yet.
	(void)check_seed(323, SHAPE_TREE, false);
}

static void they_agree_on_irregular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_IRREGULAR, false, 100);
}

static void they_agree_with_unequal_rates(void **state)
{
	(void)state;
	check_seeds(SHAPE_MIXED, false, 100);
	// Updates put off to one instant, and told in another order than they fell free.
	(void)check_seed(1682, SHAPE_MIXED, false);
}

static void they_agree_on_shapes_with_parallel_cables(void **state)
{
	(void)state;
	check_seeds(SHAPE_PGFT, false, 100);
	// Two VLs of a node send to one node at their own paces.
	(void)check_seed(2422, SHAPE_PGFT, false);
}

static void they_agree_on_switches_with_many_ports(void **state)
{
	(void)state;
	check_seeds(SHAPE_WIDE, false, 20);
}

static void they_agree_when_links_and_switches_die(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, true, 75);
	check_seeds(SHAPE_IRREGULAR, true, 75);
	check_seeds(SHAPE_MIXED, true, 75);
	check_seeds(SHAPE_PGFT, true, 75);
	// A packet waits to be sent again while its message stands in the queue.
	(void)check_seed(1119, SHAPE_TREE, true);
}

// The faults: each nudges a parameter of one of the two.
static void packets_are_a_byte_longer(struct program *program)
{
	program->params.packet_overhead_bytes++;
	program->params.fifo_bytes += 64;
}

static void buffers_hold_a_block_more(struct program *program)
{
	program->params.fifo_bytes += 64;
}

static void pause_comes_later(struct program *program)
{
	tb_credit_params_mutable(&program->params)->xoff_bytes += 64;
	program->params.fifo_bytes += 64;
}

static void inputs_send_one_more(struct program *program)
{
	tb_credit_params_mutable(&program->params)->input_speedup++;
}

static void an_acknowledgement_is_longer(struct program *program)
{
	tb_credit_params_mutable(&program->params)->ack_bytes++;
}

static void queue_pairs_are_others(struct program *program)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(&program->params);
	credits->queue_pairs = credits->queue_pairs == TB_QUEUE_PAIRS_MESSAGE
				       ? TB_QUEUE_PAIRS_CONNECTION
				       : TB_QUEUE_PAIRS_MESSAGE;
}

static void high_priority_has_another_limit(struct program *program)
{
	tb_credit_params_mutable(&program->params)->vl_limit =
		tb_credit_params(&program->params)->vl_limit ? 0 : 255;
}

static void rates_rise_by_another_step(struct program *program)
{
	tb_credit_params_mutable(&program->params)->rate_timer_ps /= 2;
	tb_credit_params_mutable(&program->params)->rate_bytes =
		1 + tb_credit_params(&program->params)->rate_bytes / 2;
}

static void notifications_are_further_apart(struct program *program)
{
	tb_credit_params_mutable(&program->params)->cnp_interval_ps += 3000000;
}

static void queues_mark_later(struct program *program)
{
	tb_credit_params_mutable(&program->params)->ecn_max_bytes += 64;
}

static void queue_pairs_wait_longer(struct program *program)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(&program->params);
	credits->queue_pair_gap_ps += credits->message_gap_ps;
}

static void adapters_wait_longer(struct program *program)
{
	tb_credit_params_mutable(&program->params)->message_gap_ps += 1000;
}

static void more_is_sent_inline(struct program *program)
{
	tb_credit_params_mutable(&program->params)->inline_bytes += 64;
}

static void indices_fall_later(struct program *program)
{
	tb_credit_params_mutable(&program->params)->ccti_timer_ps *= 3;
}

static void delays_are_longer(struct program *program)
{
	tb_credit_params_mutable(&program->params)->cct_square *= 1.5;
}

static void other_victims_mark(struct program *program)
{
	struct tb_credit_params *credits = tb_credit_params_mutable(&program->params);
	credits->fecn_victims = credits->fecn_victims == TB_FECN_VICTIMS_ALL
					? TB_FECN_VICTIMS_NONE
					: TB_FECN_VICTIMS_ALL;
}

static void fewer_packets_are_marked(struct program *program)
{
	tb_credit_params_mutable(&program->params)->marking_rate++;
}

enum { FAULT_SEEDS = 80 };

static void check_fault(void (*fault)(struct program *), const char *name)
{
	struct difference difference;
	uint32_t n_found = 0;
	for (uint64_t seed = 1; seed <= FAULT_SEEDS; seed++) {
		struct program program = random_credit_program(seed, SHAPE_TREE);
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
	print_message(
		"%s: found by %" PRIu32 " of %d programs\n", name, n_found, FAULT_SEEDS);
	assert_true(n_found > 0);
}

static void a_planted_fault_is_found(void **state)
{
	(void)state;
	check_fault(packets_are_a_byte_longer, "packet a byte longer");
	check_fault(buffers_hold_a_block_more, "buffer a block more");
	check_fault(pause_comes_later, "pause a block later");
	check_fault(inputs_send_one_more, "S one more");
	check_fault(an_acknowledgement_is_longer, "acknowledgement a byte longer");
	check_fault(queue_pairs_are_others, "other queue pairs");
	check_fault(rates_rise_by_another_step, "another step of rates");
	check_fault(notifications_are_further_apart, "fewer notifications");
	check_fault(queues_mark_later, "later marks");
	check_fault(queue_pairs_wait_longer, "a longer gap of queue pairs");
	check_fault(adapters_wait_longer, "a longer gap of adapters");
	check_fault(more_is_sent_inline, "more inline");
	check_fault(indices_fall_later, "indices that fall later");
	check_fault(delays_are_longer, "longer delays of the table");
	check_fault(other_victims_mark, "marks of other victims");
	check_fault(fewer_packets_are_marked, "fewer marks");
	check_fault(high_priority_has_another_limit, "another limit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_agree_on_regular_trees),
		cmocka_unit_test(they_agree_on_irregular_trees),
		cmocka_unit_test(they_agree_with_unequal_rates),
		cmocka_unit_test(they_agree_on_shapes_with_parallel_cables),
		cmocka_unit_test(they_agree_on_switches_with_many_ports),
		cmocka_unit_test(they_agree_when_links_and_switches_die),
		cmocka_unit_test(a_planted_fault_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
