// The messages that a replay keeps, each by itself: all while they are few, then those
// that lost most time.
#include "slowest_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = TB_MESSAGES_KEPT };

struct told {
	struct tb_message_sample *samples;
	size_t n;
};

static int on_messages(void *context, const struct tb_message_sample *samples, size_t n)
{
	struct told *told = context;
	told->samples = malloc((n + 1) * sizeof *samples);
	memcpy(told->samples, samples, n * sizeof *samples);
	told->n = n;
	return TB_OK;
}

// message `number` lost so much; flows take turns.
static struct tb_message_sample message(uint64_t number, uint64_t lost_ps)
{
	return (struct tb_message_sample){.number = number,
		.source = {(uint32_t)(number % 3)},
		.destination = {7},
		.network_ps = 1000 + number % 500 + lost_ps,
		.ideal_ps = 1000 + number % 500};
}

static void add(struct tb_slowest_messages *slowest, uint64_t number, uint64_t lost_ps)
{
	struct tb_message_sample added = message(number, lost_ps);
	assert_int_equal(tb_slowest_messages_add(slowest, &added), TB_OK);
}

static struct told tell(struct tb_slowest_messages *slowest)
{
	struct told told = {0};
	const struct tb_observer observer = {.context = &told, .messages = on_messages};
	assert_int_equal(tb_slowest_messages_report(slowest, &observer), TB_OK);
	tb_slowest_messages_fini(slowest);
	return told;
}

// is_kept returns by number whether a message was told, and checks the order.
static bool *is_kept(const struct told *told, uint64_t n)
{
	bool *kept = calloc(n, sizeof *kept);
	for (size_t i = 0; i < told->n; i++) {
		const struct tb_message_sample *at = &told->samples[i];
		assert_true(at->number < n && !kept[at->number]);
		kept[at->number] = true;
		if (i && at[-1].source.id == at->source.id)
			assert_true(at[-1].number < at->number);
		else if (i)
			assert_true(at[-1].source.id < at->source.id);
	}
	return kept;
}

static void few_messages_are_all_told_by_flow_and_number(void **state)
{
	(void)state;
	struct tb_slowest_messages slowest = {0};
	for (uint64_t i = 0; i < 100; i++)
		add(&slowest, 99 - i, i % 7);
	struct told told = tell(&slowest);
	assert_int_equal(told.n, 100);
	free(is_kept(&told, 100));
	free(told.samples);
}

static void of_many_those_stay_that_lost_most(void **state)
{
	(void)state;
	struct tb_slowest_messages slowest = {0};
	// 7919 has no common factor with 4 * N: every loss comes once.
	for (uint64_t i = 0; i < 4 * N; i++)
		add(&slowest, i, i * 7919 % (4 * N));
	struct told told = tell(&slowest);
	assert_int_equal(told.n, N);
	bool *kept = is_kept(&told, 4 * N);
	for (uint64_t i = 0; i < 4 * N; i++)
		assert_int_equal(kept[i], i * 7919 % (4 * N) >= 3 * N);
	free(kept);
	free(told.samples);
}

static void of_equals_those_delivered_earlier_stay(void **state)
{
	(void)state;
	struct tb_slowest_messages slowest = {0};
	for (uint64_t i = 0; i < N + 50; i++)
		add(&slowest, i, 5);
	for (uint64_t i = N + 50; i < N + 60; i++)
		add(&slowest, i, 6);
	struct told told = tell(&slowest);
	bool *kept = is_kept(&told, N + 60);
	assert_int_equal(told.n, N);
	for (uint64_t i = 0; i < N + 60; i++)
		assert_int_equal(kept[i], i < N - 10 || i >= N + 50);
	free(kept);
	free(told.samples);
}

static void equals_do_not_push_each_other_out(void **state)
{
	(void)state;
	struct tb_slowest_messages slowest = {0};
	for (uint64_t i = 0; i < N + 50; i++)
		add(&slowest, i, 5);
	struct told told = tell(&slowest);
	bool *kept = is_kept(&told, N + 50);
	for (uint64_t i = 0; i < N + 50; i++)
		assert_int_equal(kept[i], i < N);
	free(kept);
	free(told.samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_messages_are_all_told_by_flow_and_number),
		cmocka_unit_test(of_many_those_stay_that_lost_most),
		cmocka_unit_test(of_equals_those_delivered_earlier_stay),
		cmocka_unit_test(equals_do_not_push_each_other_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
