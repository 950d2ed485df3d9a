// Broadcasts of large vectors: scattered in parts along a binomial tree, and the parts
// then gathered by all. Part i is that of relative rank i, counted from the root.
#include "expansion_impl.h"

static struct tb_way way(const struct tb_shape *shape, uint32_t from, uint32_t to)
{
	uint64_t n = shape->n, root = shape->root;
	return (struct tb_way){
		(uint32_t)((from + root) % n), (uint32_t)((to + root) % n)};
}

static void scatter(struct tb_plan *plan, const struct tb_shape *shape)
{
	uint32_t n = shape->n, mask = 1;
	tb_cut_ceiling(plan, n);
	while (mask < n)
		mask *= 2;
	for (mask /= 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint64_t v = 0; v + mask < n; v += 2 * (uint64_t)mask) {
			uint64_t child = v + mask, left = n - child;
			tb_put(plan, way(shape, (uint32_t)v, (uint32_t)child), child,
				left < mask ? left : mask);
		}
	}
}

void tb_scatter_ring_broadcast(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	uint32_t n = shape->n;
	scatter(plan, shape);
	for (uint32_t i = 0; i + 1 < n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < n; v++)
			tb_put(plan, way(shape, v, (v + 1) % n), (v + n - i) % n, 1);
	}
}

// A group is 2 * mask members from `group` on, of which the upper half may be incomplete.
// Then only as many of the lower half got its parts, and pass them on among themselves.
static void pass_on(struct tb_plan *plan, const struct tb_shape *shape, uint32_t group,
	uint32_t mask, uint32_t hop)
{
	uint32_t upper = group + mask, n_upper = shape->n - upper;
	for (uint32_t v = group; v < upper; v++) {
		uint32_t other = v ^ hop, have = v - v % (2 * hop) + n_upper;
		if (other > v && v < have && other >= have)
			tb_put(plan, way(shape, v, other), upper, n_upper);
	}
}

static void double_once(struct tb_plan *plan, const struct tb_shape *shape, uint32_t mask)
{
	uint32_t n = shape->n;
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < n; v++) {
		uint32_t first = v - v % mask, left = n - first;
		if ((v ^ mask) < n)
			tb_put(plan, way(shape, v, v ^ mask), first,
				left < mask ? left : mask);
	}
	uint32_t last = (n - 1) - (n - 1) % (2 * mask);
	if (last + mask >= n || last + 2 * (uint64_t)mask <= n)
		return;
	for (uint32_t hop = mask / 2; hop > 0; hop /= 2) {
		tb_plan_next_round(plan);
		pass_on(plan, shape, last, mask, hop);
	}
}

void tb_scatter_doubling_broadcast(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	scatter(plan, shape);
	for (uint32_t mask = 1; mask < shape->n; mask *= 2)
		double_once(plan, shape, mask);
}
