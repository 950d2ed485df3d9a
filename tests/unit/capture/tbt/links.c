// Communicators of ranks are the same groups (tbt_groups.h), and their messages relate
// the clocks of machines (tbt_clock.h).
#include "tbt_clock.h"

#include "../../../support/tbt_lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct tbt_lane lane;
static struct tb_error error;

// define defines a communicator of a rank and returns its group.
static int define(struct tb_tbt_groups *groups, uint32_t rank, uint64_t number,
	enum tb_tbt_how how, size_t n_list, const uint64_t *list)
{
	struct tb_tbt_record record = {.kind = TB_TBT_COMM,
		.fields = {number, number ? 1 : 0, (uint64_t)how},
		.list = list,
		.n_list = n_list};
	for (size_t i = 1; i < n_list; i += 2)
		record.fields[4] += list[i];
	record.fields[5] = record.fields[4];
	return tb_tbt_groups_add(groups, rank, &record, &error);
}

static uint32_t group_at(const struct tb_tbt_groups *groups, uint32_t rank, size_t number)
{
	size_t n;
	const uint32_t *own = tb_tbt_groups_of(groups, rank, &n);
	assert_true(number < n);
	return own[number];
}

static void communicators_made_alike_are_one_group(void **state)
{
	(void)state;
	struct tb_tbt_groups *groups;
	assert_int_equal(tb_tbt_groups_new(&groups, 8, &error), TB_OK);
	for (uint32_t rank = 0; rank < 8; rank++) {
		const uint64_t half[] = {rank / 4 * 4, 4};
		const uint64_t odd[] = {7, 1, 5, 1, 3, 1, 0, 2};
		assert_int_equal(define(groups, rank, 0, TB_TBT_FOUND, 2,
					 (const uint64_t[]){0, 8}),
			TB_OK);
		assert_int_equal(
			define(groups, rank, 1, TB_TBT_BY_PARENT, 2, half), TB_OK);
		assert_int_equal(
			define(groups, rank, 2, TB_TBT_BY_PARENT, 2, half), TB_OK);
		assert_int_equal(define(groups, rank, 3, TB_TBT_BY_GROUP, 8, odd), TB_OK);
	}
	assert_int_equal(group_at(groups, 5, 0), 0);
	assert_int_equal(group_at(groups, 0, 1), group_at(groups, 3, 1));
	assert_int_not_equal(group_at(groups, 0, 1), group_at(groups, 4, 1));
	assert_int_not_equal(group_at(groups, 0, 1), group_at(groups, 0, 2));
	struct tb_tbt_group odd = tb_tbt_groups_at(groups, group_at(groups, 0, 3));
	static const uint32_t members[] = {7, 5, 3, 0, 1};
	uint32_t rank;
	for (uint32_t place = 0; place < 5; place++) {
		assert_true(tb_tbt_group_member(&odd, place, &rank));
		assert_int_equal(rank, members[place]);
	}
	assert_false(tb_tbt_group_member(&odd, 5, &rank));
	assert_false(tb_tbt_group_member(&odd, UINT64_MAX, &rank));
	tb_tbt_groups_free(groups);
}

static void members_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct tb_tbt_groups *groups;
	const uint64_t beyond[] = {0, 9}, far[] = {8, 1}, ragged[] = {0, 1, 2};
	assert_int_equal(tb_tbt_groups_new(&groups, 8, &error), TB_OK);
	assert_int_equal(define(groups, 0, 0, TB_TBT_FOUND, 2, beyond), TB_EFORMAT);
	assert_int_equal(define(groups, 0, 0, TB_TBT_FOUND, 2, far), TB_EFORMAT);
	assert_int_equal(define(groups, 0, 0, TB_TBT_FOUND, 3, ragged), TB_EFORMAT);
	assert_int_equal(
		define(groups, 0, 1, TB_TBT_BY_PARENT, 2, (const uint64_t[]){0, 8}),
		TB_EFORMAT); // its parent is not defined
	tb_tbt_groups_free(groups);
}

enum { MACHINES = 40, PER_MACHINE = 2, RANKS = MACHINES * PER_MACHINE };

// Machine i is ahead of machine 0 by this.
static int64_t ahead_ns(uint32_t machine)
{
	return (int64_t)(machine * 7919 % 1000) * 1000 * (machine % 2 ? 1 : -1);
}

static uint64_t clock_ns(uint32_t rank, uint64_t true_ns)
{
	return (uint64_t)((int64_t)true_ns + ahead_ns(rank / PER_MACHINE));
}

// by_ring: each rank sends to the next; else all meet in a barrier.
static void take_rank(struct tb_tbt_links *links, uint32_t rank, bool by_ring)
{
	struct tb_tbt_lane of = {.records = lane.bytes};
	struct tb_tbt_rank file = {
		.rank = rank, .n_ranks = RANKS, .lanes = &of, .n_lanes = 1};
	tbt_begin(&lane, clock_ns(rank, 10000000));
	const uint64_t there[] = {0, (rank + 1) % RANKS, 5, 64};
	const uint64_t back[] = {0, (rank + RANKS - 1) % RANKS, 5, 64};
	const uint64_t barrier[] = {TB_TBT_BARRIER, 0, 0, 0, 0};
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at = 20000000 + 1000000 * i;
		if (by_ring) {
			tbt_put(&lane, TB_TBT_SEND, clock_ns(rank, at),
				clock_ns(rank, at + 10), 4, there);
			tbt_put(&lane, TB_TBT_RECV, clock_ns(rank, at + 20),
				clock_ns(rank, at + 3000), 4, back);
			tbt_put(&lane, TB_TBT_SEND, clock_ns(rank, at + 4000),
				clock_ns(rank, at + 4010), 4, back);
			tbt_put(&lane, TB_TBT_RECV, clock_ns(rank, at + 4020),
				clock_ns(rank, at + 7000), 4, there);
		} else {
			tbt_put(&lane, TB_TBT_COLL, clock_ns(rank, at),
				clock_ns(rank, at + 5000), 5, barrier);
			tbt_list(&lane, 0, NULL);
		}
	}
	of.n = lane.n;
	assert_int_equal(tb_tbt_links_rank(links, &file), TB_OK);
}

static void messages_and_meetings_tell_the_clocks_apart(void **state)
{
	(void)state;
	for (int by_ring = 0; by_ring < 2; by_ring++) {
		struct tb_tbt_groups *groups;
		struct tb_tbt_links *links;
		struct tb_tbt_clocks *clocks;
		struct tb_tbt_point starts[MACHINES] = {{0}};
		uint32_t clock_of[RANKS];
		assert_int_equal(tb_tbt_groups_new(&groups, RANKS, &error), TB_OK);
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			clock_of[rank] = rank / PER_MACHINE;
			assert_int_equal(define(groups, rank, 0, TB_TBT_FOUND, 2,
						 (const uint64_t[]){0, RANKS}),
				TB_OK);
		}
		assert_int_equal(
			tb_tbt_links_new(&links, groups, clock_of, &error), TB_OK);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			take_rank(links, rank, by_ring);
		assert_int_equal(tb_tbt_clocks_new(&clocks, starts, MACHINES, 10000000,
					 30000000, &error),
			TB_OK);
		assert_int_equal(tb_tbt_links_give(links, clocks), TB_OK);
		assert_int_equal(tb_tbt_clocks_solve(clocks), 0);
		for (uint32_t i = 0; i < MACHINES; i++) {
			struct tb_tbt_point points[TB_TBT_POINTS_MAX];
			assert_int_equal(tb_tbt_clocks_points(clocks, i, points), 1);
			assert_true(points[0].add_ns == -ahead_ns(i));
		}
		tb_tbt_clocks_free(clocks);
		tb_tbt_links_free(links);
		tb_tbt_groups_free(groups);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(communicators_made_alike_are_one_group),
		cmocka_unit_test(members_that_cannot_be_are_refused),
		cmocka_unit_test(messages_and_meetings_tell_the_clocks_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
