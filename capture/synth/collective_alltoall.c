// All-to-all personalized exchange (paper 003, 2.1 and 5.3).
#include "collective_impl.h"

static void put_pair(struct tb_plan *plan, uint32_t from, uint32_t to, uint32_t port)
{
	tb_plan_put(plan, (struct tb_transfer){.from = from,
				  .to = to,
				  .port = (uint16_t)port,
				  .blocks = TB_BLOCKS_PAIR});
}

// direct_round: every rank sends to the ranks at distances done + 1 to done + k.
static void direct_round(struct tb_plan *plan, uint32_t done)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint32_t p = 0; p < n; p++)
		for (uint32_t j = 0; j < k && done + j < n - 1; j++)
			put_pair(plan, p, (p + done + j + 1) % n, j);
}

void tb_alltoall_direct(struct tb_plan *plan, const struct tb_collective_options *options)
{
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < options->n_ranks - 1; done += options->n_ports)
		direct_round(plan, done);
}

// In each round p sends to the ranks to which p + k sent in the round before. p + k then
// sends p a token, so that two ranks never send to the same one at the same time.
void tb_alltoall_permission(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	uint32_t n = options->n_ranks, k = options->n_ports;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < n - 1; done += k) {
		direct_round(plan, done);
		if (done + k >= n - 1)
			break;
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			tb_plan_put(plan, (struct tb_transfer){.from = p,
						  .to = (p + n - k) % n,
						  .blocks = TB_BLOCKS_NONE});
	}
}

// partner returns the partner of p in the i-th of the matchings that pair all ranks once:
// n - 1 matchings for an even number of ranks, n for an odd one, where p itself means no
// partner. A power of two pairs by exclusive or, as in MPI libraries. Otherwise two ranks
// whose sum is i modulo an odd number are partners; for an even n that is n - 1, and the
// last rank takes the one that is left over.
static uint32_t partner(uint32_t p, uint32_t i, uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return p ^ (i + 1);
	uint32_t odd = n - (n % 2 == 0);
	if (p == odd) // the last of an even number: twice its partner is i
		return i % 2 == 0 ? i / 2 : (i + odd) / 2;
	uint32_t other = (i + odd - p) % odd;
	return other == p && odd != n ? odd : other;
}

void tb_alltoall_pairwise(
	struct tb_plan *plan, const struct tb_collective_options *options)
{
	uint32_t n = options->n_ranks, k = options->n_ports;
	uint32_t n_matchings = n - (n % 2 == 0);
	for (uint32_t i = 0; i < n_matchings; i++) {
		if (i % k == 0)
			tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t other = partner(p, i, n);
			if (other != p)
				put_pair(plan, p, other, i % k);
		}
	}
}

void tb_alltoall_bruck(struct tb_plan *plan, const struct tb_collective_options *options)
{
	uint64_t n = options->n_ranks, b = options->n_ports + 1;
	plan->radix = (uint32_t)b;
	for (uint64_t weight = 1; weight < n; weight *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * weight < n; j++)
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + j * weight) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_DIGIT,
						.first = (uint32_t)weight,
						.count = j});
	}
}
