// Algorithms in which the distance between partners doubles or halves from round to round
// (Thakur, Rabenseifner, Gropp 2005). They need a power of two of members; of others, the
// first ones come together in pairs, of which one takes part for both.
#include "expansion_impl.h"

#define WAY(from, to) ((struct tb_way){(from), (to)})

// `power` members take part: of the first `extra` pairs the odd or the even one, and all
// behind the pairs.
struct fold {
	uint32_t power, extra;
	bool odd;
};

static struct fold fold_of(uint32_t n, bool odd)
{
	struct fold fold = {.power = 1, .odd = odd};
	while (fold.power <= n / 2)
		fold.power *= 2;
	fold.extra = n - fold.power;
	return fold;
}

static uint32_t real(const struct fold *fold, uint32_t v)
{
	return v < fold->extra ? 2 * v + fold->odd : v + fold->extra;
}

// fold_in: who takes no part gives all his data to his mate; fold_out: and gets them
// back.
static void fold_in(struct tb_plan *plan, const struct fold *fold)
{
	if (fold->extra)
		tb_plan_next_round(plan);
	for (uint32_t v = 0; v < fold->extra; v++)
		tb_put_combining(plan, WAY(2 * v + !fold->odd, 2 * v + fold->odd), 0,
			plan->n_blocks);
}

static void fold_out(struct tb_plan *plan, const struct fold *fold)
{
	if (fold->extra)
		tb_plan_next_round(plan);
	for (uint32_t v = 0; v < fold->extra; v++)
		tb_put(plan, WAY(2 * v + fold->odd, 2 * v + !fold->odd), 0,
			plan->n_blocks);
}

void tb_double_allreduce(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, true);
	fold_in(plan, &fold);
	for (uint32_t mask = 1; mask < fold.power; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < fold.power; v++)
			tb_put_combining(plan, WAY(real(&fold, v), real(&fold, v ^ mask)),
				0, plan->n_blocks);
	}
	fold_out(plan, &fold);
}

// The members beyond a power of two give a token to the first ones, and get one back.
void tb_double_barrier(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, false);
	uint32_t power = fold.power;
	for (uint32_t v = 0; v < fold.extra; v++) {
		if (v == 0)
			tb_plan_next_round(plan);
		tb_put(plan, WAY(power + v, v), 0, 0);
	}
	for (uint32_t mask = 1; mask < power; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < power; v++)
			tb_put(plan, WAY(v, v ^ mask), 0, 0);
	}
	for (uint32_t v = 0; v < fold.extra; v++) {
		if (v == 0)
			tb_plan_next_round(plan);
		tb_put(plan, WAY(v, power + v), 0, 0);
	}
}

static uint32_t mirror(uint32_t v, uint32_t power)
{
	uint32_t mirrored = 0;
	for (uint32_t bit = 1; bit < power; bit *= 2)
		mirrored = mirrored * 2 + ((v & bit) != 0);
	return mirrored;
}

// fold_halves: both of a pair reduce a half, and the odd one gives his to the even one.
static void fold_halves(struct tb_plan *plan, const struct fold *fold)
{
	uint32_t half = fold->power / 2;
	if (!fold->extra)
		return;
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < fold->extra; v++) {
		tb_put_combining(plan, WAY(2 * v, 2 * v + 1), half, half);
		tb_put_combining(plan, WAY(2 * v + 1, 2 * v), 0, half);
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < fold->extra; v++)
		tb_put(plan, WAY(2 * v + 1, 2 * v), half, half);
}

// window_of returns the first block of the window of `size` blocks that v has while
// distances double: the lowest bit of v chooses the half of the vector.
static uint32_t window_of(uint32_t v, uint32_t power, uint32_t size)
{
	uint32_t block = mirror(v, power);
	return block - block % size;
}

static void halve_windows(struct tb_plan *plan, const struct fold *fold)
{
	for (uint32_t mask = 1; mask < fold->power; mask *= 2) {
		uint32_t size = fold->power / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < fold->power; v++)
			tb_put_combining(plan, WAY(real(fold, v), real(fold, v ^ mask)),
				window_of(v ^ mask, fold->power, size), size);
	}
}

// spread_windows: the reverse of halve_windows, without combining.
static void spread_windows(struct tb_plan *plan, const struct fold *fold)
{
	for (uint32_t mask = fold->power / 2; mask > 0; mask /= 2) {
		uint32_t size = fold->power / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < fold->power; v++)
			tb_put(plan, WAY(real(fold, v), real(fold, v ^ mask)),
				window_of(v, fold->power, size), size);
	}
}

// gather_windows: the root gets all windows, up a binomial tree. It may have been left
// out; then the first member gives its window to it, and it goes on in its place.
static void gather_windows(struct tb_plan *plan, const struct fold *fold, uint32_t root)
{
	bool left_out = root < 2 * fold->extra && root % 2;
	uint32_t top = left_out			? 0
		       : root < 2 * fold->extra ? root / 2
						: root - fold->extra;
	if (left_out) {
		tb_plan_next_round(plan);
		tb_put(plan, WAY(0, root), 0, 1);
	}
	for (uint32_t mask = fold->power / 2; mask > 0; mask /= 2) {
		uint32_t size = fold->power / mask / 2;
		tb_plan_next_round(plan);
		// Those who still gather agree with the top in all bits above the mask's.
		for (uint32_t v = 0; v < fold->power; v++) {
			uint32_t to = v ^ mask;
			if (!((v ^ top) & mask) || (v ^ top) >= 2 * mask)
				continue;
			tb_put(plan,
				WAY(real(fold, v),
					left_out && to == 0 ? root : real(fold, to)),
				window_of(v, fold->power, size), size);
		}
	}
}

// by_windows: halves of the vector are added up in windows, which then go to the root, or
// to all.
static void by_windows(
	struct tb_plan *plan, const struct tb_shape *shape, const struct fold *fold)
{
	halve_windows(plan, fold);
	if (shape->op == TB_COLL_REDUCE) {
		gather_windows(plan, fold, shape->root);
		return;
	}
	spread_windows(plan, fold);
	fold_out(plan, fold);
}

void tb_rabenseifner(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, false);
	tb_cut_halves(plan, fold.power, tb_element_bytes(shape->bytes));
	fold_halves(plan, &fold);
	by_windows(plan, shape, &fold);
}

void tb_halving(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, shape->op == TB_COLL_ALLREDUCE);
	tb_cut_even(plan, fold.power, tb_element_bytes(shape->bytes));
	fold_in(plan, &fold);
	by_windows(plan, shape, &fold);
}

// Pairs exchange what they have added up of their groups, which double. The sum of the
// lower group counts; that of the higher one is only passed on.
void tb_double_scan(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	for (uint32_t mask = 1; mask < shape->n; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < shape->n; v++)
			if ((v ^ mask) < shape->n)
				tb_put_combining(
					plan, WAY(v, v ^ mask), 0, plan->n_blocks);
	}
}

// blocks_of returns the first block of v and those that it takes part for.
static uint32_t block_at(const struct fold *fold, uint32_t v)
{
	return v < fold->extra ? 2 * v : v + fold->extra;
}

void tb_halve_reduce_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, true);
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	fold_in(plan, &fold);
	for (uint32_t mask = fold.power / 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < fold.power; v++) {
			uint32_t to = v ^ mask, low = to - to % mask;
			uint32_t first = block_at(&fold, low);
			tb_put_combining(plan, WAY(real(&fold, v), real(&fold, to)),
				first, block_at(&fold, low + mask) - first);
		}
	}
	if (fold.extra)
		tb_plan_next_round(plan);
	for (uint32_t v = 0; v < fold.extra; v++)
		tb_put(plan, WAY(2 * v + 1, 2 * v), 2 * v, 1);
}

// Distances double, so that each ends with the blocks of its mirror image (Traeff 2005).
void tb_butterfly_reduce_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct fold fold = fold_of(shape->n, true);
	uint32_t power = fold.power;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	fold_in(plan, &fold);
	for (uint32_t mask = 1; mask < power; mask *= 2) {
		uint32_t size = power / mask / 2;
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < power; v++) {
			uint32_t low = window_of(v ^ mask, power, size);
			uint32_t first = block_at(&fold, low);
			tb_put_combining(plan, WAY(real(&fold, v), real(&fold, v ^ mask)),
				first, block_at(&fold, low + size) - first);
		}
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < power; v++) {
		uint32_t to = mirror(v, power), rank = real(&fold, v);
		uint32_t first = block_at(&fold, to);
		if (to < fold.extra && first != rank)
			tb_put(plan, WAY(rank, first), first, 1);
		if (to != v)
			tb_put(plan, WAY(rank, real(&fold, to)),
				first + (to < fold.extra), 1);
	}
}

// Each has the blocks from a multiple of `mask` on. Where the partner's part is missing
// because there is no such member, those who have it pass it on in their own half.
void tb_double_allgather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	for (uint32_t mask = 1; mask < shape->n; mask *= 2) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < shape->n; v++)
			tb_put(plan, WAY(v, v ^ mask), v - v % mask, mask);
	}
}
