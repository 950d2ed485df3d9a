// The book of who waited for whom: it may tell less than all, but loses nothing.
#include "blame_book.h"
#include "wait_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_LINKS = 40, N_FLOWS = 64, N_JOBS = 3 };

static struct tb_flow_sample flows[N_FLOWS];

static int make_flows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_FLOWS; i++)
		flows[i] = (struct tb_flow_sample){
			.job = i % N_JOBS, .source = {i}, .destination = {N_FLOWS - i}};
	return 0;
}

static void add(struct tb_blame_book *book, uint32_t link, uint32_t victim,
	uint32_t culprit, uint64_t wait_ps)
{
	const struct tb_blame_entry more = {.link = link,
		.root = link + 1,
		.victim = victim,
		.culprit = culprit,
		.n_waits = 1,
		.wait_ps = wait_ps};
	assert_int_equal(tb_blame_book_add(book, flows, &more), TB_OK);
}

static void waits_of_the_same_parties_are_added_up(void **state)
{
	(void)state;
	struct tb_blame_book book;
	struct tb_blame_sample *samples = NULL;
	size_t n = 0;
	assert_int_equal(tb_blame_book_init(&book), TB_OK);
	add(&book, 1, 2, 3, 100);
	add(&book, 1, 3, 2, 150);
	add(&book, 1, 2, 3, 70);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(tb_blame_book_list(&book, flows, &samples, &n), TB_OK);
		assert_int_equal(n, 2);
		assert_int_equal(samples[0].wait_ps, 170);
		assert_int_equal(samples[0].n_waits, 2);
		assert_int_equal(samples[0].victim_source.id, 2);
		assert_int_equal(samples[0].culprit_destination.id, N_FLOWS - 3);
		assert_int_equal(samples[1].wait_ps, 150);
		free(samples);
	}
	tb_blame_book_fini(&book);
}

// More parties than are told apart, those of one victim by far the heaviest.
static void what_is_not_told_apart_is_told_by_job(void **state)
{
	(void)state;
	static uint64_t waits[N_LINKS][N_JOBS][N_JOBS];
	struct tb_blame_book book;
	struct tb_blame_sample *samples = NULL;
	size_t n = 0, n_in_full = 0;
	assert_int_equal(tb_blame_book_init(&book), TB_OK);
	for (uint32_t link = 0; link < N_LINKS; link++)
		for (uint32_t i = 0; i < N_FLOWS * N_FLOWS; i++) {
			uint32_t victim = i / N_FLOWS, culprit = i % N_FLOWS;
			uint64_t wait = victim == 5 ? 1000000 : 1 + (link + i) % 97;
			add(&book, link, victim, culprit, wait);
			waits[link][victim % N_JOBS][culprit % N_JOBS] += wait;
		}
	assert_int_equal(tb_blame_book_list(&book, flows, &samples, &n), TB_OK);
	assert_true(n < 8192);
	for (size_t i = 0; i < n; i++) {
		const struct tb_blame_sample *sample = &samples[i];
		assert_int_equal(sample->root.id, sample->link.id + 1);
		assert_true(i == 0 || sample->link.id >= samples[i - 1].link.id);
		n_in_full += sample->victim_source.id == 5;
		waits[sample->link.id][sample->victim_job][sample->culprit_job] -=
			sample->wait_ps;
	}
	assert_int_equal(n_in_full, N_LINKS * N_FLOWS);
	for (uint32_t link = 0; link < N_LINKS; link++)
		for (int jobs = 0; jobs < N_JOBS * N_JOBS; jobs++)
			assert_int_equal(waits[link][jobs / N_JOBS][jobs % N_JOBS], 0);
	free(samples);
	tb_blame_book_fini(&book);
}

static void a_zeroed_book_keeps_nothing(void **state)
{
	(void)state;
	struct tb_blame_book book = {0};
	add(&book, 1, 2, 3, 100);
	assert_false(tb_blame_book_is_kept(&book));
	tb_blame_book_fini(&book);
}

static void the_wait_that_so_many_reach_is_found_to_a_step(void **state)
{
	(void)state;
	struct tb_wait_steps steps = {{0}};
	for (uint64_t wait_ps = 1000; wait_ps <= 8000; wait_ps += 1000)
		tb_wait_steps_add(&steps, wait_ps);
	for (uint32_t n_most = 0; n_most < 8; n_most++) {
		// That is just above the wait that one more reaches.
		uint64_t reached_ps = tb_wait_steps_reached(&steps, n_most);
		uint64_t below_ps = (8 - n_most) * UINT64_C(1000);
		assert_true(reached_ps > below_ps);
		assert_true(reached_ps <= below_ps + below_ps / 16);
	}
	assert_int_equal(tb_wait_steps_reached(&steps, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_the_same_parties_are_added_up),
		cmocka_unit_test(what_is_not_told_apart_is_told_by_job),
		cmocka_unit_test(a_zeroed_book_keeps_nothing),
		cmocka_unit_test(the_wait_that_so_many_reach_is_found_to_a_step),
	};
	return cmocka_run_group_tests(tests, make_flows, NULL);
}
