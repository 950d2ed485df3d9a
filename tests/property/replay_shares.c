// Max-min fair rates against a naive reference: flows, whole and split, of one share or
// several, begin, change their shares and end at random, some at once, and the rates of
// all are what progressive filling from nothing gives, but for what is left of divisions.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#include "random.h"
#include "shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LINKS = 24, FLOWS = 60, STEPS = 6, ROUNDS = 60 };

// A division leaves less than a unit for each flow of a link, and another link may pass
// that on.
#define UNITS UINT64_C(1000000000)
enum { APART_MOST = 10000 };

struct wanted { // a flow of the reference
	uint32_t links[STEPS], weights[STEPS], n, id;
	uint64_t rate, share;
	bool runs, has_rate;
};

struct program {
	uint64_t capacities[LINKS];
	struct wanted flows[FLOWS];
};

// weight_of is the weight of a flow on a link; 0: it does not cross it.
static uint32_t weight_of(const struct wanted *flow, uint32_t link)
{
	for (uint32_t i = 0; i < flow->n; i++)
		if (flow->links[i] == link)
			return flow->weights[i];
	return 0;
}

// share_of is what a link has for each share of the whole flows of those that have no
// rate yet; UINT64_MAX: there are none.
static uint64_t share_of(const struct program *program, uint32_t link)
{
	uint64_t rest = program->capacities[link], n = 0;
	for (uint32_t f = 0; f < FLOWS; f++) {
		const struct wanted *flow = &program->flows[f];
		uint32_t weight = flow->runs ? weight_of(flow, link) : 0;
		n += flow->has_rate ? 0 : weight * flow->share;
		rest -= flow->has_rate ? weight * flow->rate : 0;
	}
	return n ? rest / n : UINT64_MAX;
}

// fill raises all rates together until links stop them.
static void fill(struct program *program)
{
	for (uint32_t f = 0; f < FLOWS; f++)
		program->flows[f].has_rate = false;
	for (;;) {
		uint64_t shares[LINKS], least = UINT64_MAX;
		for (uint32_t l = 0; l < LINKS; l++) {
			shares[l] = share_of(program, l);
			if (shares[l] < least)
				least = shares[l];
		}
		if (least == UINT64_MAX)
			return;
		for (uint32_t l = 0; l < LINKS; l++)
			for (uint32_t f = 0; f < FLOWS && shares[l] == least; f++) {
				struct wanted *flow = &program->flows[f];
				if (!flow->runs || flow->has_rate ||
					weight_of(flow, l) == 0)
					continue;
				flow->has_rate = true;
				flow->rate = least * flow->share;
			}
	}
}

static void begin(struct tb_random *random, struct tb_shares *shares, struct wanted *flow)
{
	flow->n = 0;
	uint32_t n = 1 + (uint32_t)tb_random_below(random, STEPS);
	// Links in two clusters, and few in both, so that groups differ.
	uint32_t half = (uint32_t)tb_random_below(random, 8) ? LINKS / 2 : LINKS;
	uint32_t first =
		half == LINKS ? 0 : (uint32_t)tb_random_below(random, 2) * LINKS / 2;
	while (flow->n < n) {
		uint32_t link = first + (uint32_t)tb_random_below(random, half);
		if (weight_of(flow, link))
			continue;
		flow->weights[flow->n] = TB_SHARE_WHOLE >> tb_random_below(random, 5);
		flow->links[flow->n++] = link;
	}
	struct tb_share_step steps[STEPS];
	for (uint32_t i = 0; i < n; i++)
		steps[i] = (struct tb_share_step){
			.link = flow->links[i], .weight = (uint16_t)flow->weights[i]};
	flow->id = tb_shares_begin(shares, steps, n);
	assert_int_not_equal(flow->id, TB_SHARES_NONE);
	flow->runs = true;
	flow->share = 1;
}

static uint32_t most_shares = 1; // of a flow, in this run

static uint64_t weights_of(const struct tb_share_link *link)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < link->n; i++)
		sum += tb_share_uses(link)[i].weight * (uint64_t)most_shares;
	return sum;
}

// check compares rates, and what links know of their flows.
static void check(const struct tb_shares *shares, struct program *program, uint64_t seed)
{
	uint64_t rates[LINKS] = {0};
	fill(program);
	for (uint32_t f = 0; f < FLOWS; f++) {
		const struct wanted *flow = &program->flows[f];
		if (!flow->runs)
			continue;
		const struct tb_share_flow *got = &shares->flows[flow->id];
		uint64_t apart = got->rate > flow->rate ? got->rate - flow->rate
							: flow->rate - got->rate;
		if (apart > APART_MOST)
			fail_msg("seed %llu: flow %u has %llu, expected %llu",
				(unsigned long long)seed, f,
				(unsigned long long)got->rate,
				(unsigned long long)flow->rate);
		for (uint32_t i = 0; i < flow->n; i++)
			rates[flow->links[i]] += flow->weights[i] * got->rate;
		const struct tb_share_step *steps = tb_shares_steps(shares, flow->id);
		const struct tb_share_link *limit =
			&shares->links[steps[got->limit].link];
		// Of what limits it there is not a unit left for each flow.
		assert_true(limit->capacity - limit->rate < weights_of(limit));
	}
	for (uint32_t l = 0; l < LINKS; l++) {
		assert_int_equal(shares->links[l].rate, rates[l]);
		assert_true(rates[l] <= program->capacities[l]);
	}
}

static void run(uint64_t seed)
{
	struct tb_random random;
	struct program program = {0};
	struct tb_shares shares;
	tb_random_init(&random, seed, 0);
	assert_int_equal(tb_shares_init(&shares, LINKS, STEPS, false), TB_OK);
	most_shares = seed % 3 ? 1 : 9;
	bool alike = tb_random_below(&random, 2);
	for (uint32_t l = 0; l < LINKS; l++)
		program.capacities[l] = shares.links[l].capacity =
			UNITS * (alike ? 1000 : 1 + tb_random_below(&random, 5000));
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t n = 1 + (uint32_t)tb_random_below(
					 &random, tb_random_below(&random, 4) ? 2 : 20);
		bool touched[FLOWS] = {false};
		for (uint32_t i = 0; i < n; i++) {
			uint32_t f = (uint32_t)tb_random_below(&random, FLOWS);
			struct wanted *flow = &program.flows[f];
			if (touched[f])
				continue;
			touched[f] = true;
			bool weighs = most_shares > 1 && flow->runs &&
				      tb_random_below(&random, 2);
			if (flow->runs && !weighs)
				tb_shares_end(&shares, flow->id);
			flow->runs = !flow->runs || weighs;
			if (flow->runs && !weighs)
				begin(&random, &shares, flow);
			if (!flow->runs)
				continue;
			flow->share = 1 + tb_random_below(&random, most_shares);
			tb_shares_weigh(&shares, flow->id, (uint32_t)flow->share);
		}
		tb_shares_solve(&shares);
		tb_shares_apply(&shares);
		check(&shares, &program, seed);
	}
	tb_shares_fini(&shares);
}

static void rates_are_those_of_progressive_filling(void **state)
{
	(void)state;
	unsigned long long first = 1, last = 150;
	const char *seeds = getenv("REPLAY_SEEDS");
	if (seeds)
		assert_int_equal(sscanf(seeds, "%llu-%llu", &first, &last), 2);
	for (uint64_t seed = first; seed <= last; seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_those_of_progressive_filling)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
