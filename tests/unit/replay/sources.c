// Several sources as one: starts, nodes and jobs are the whole's, what happens to a
// message is told to the source that posted it, in its own time.
#include "workload_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_MESSAGES 3

// A source that posts message i at 10 i of its own time, node i to i + 1, and remembers
// what it was told.
struct scripted {
	uint64_t n_posted;
	tb_time_ps sent_at[N_MESSAGES], delivered_at[N_MESSAGES];
	int finish;
};

static tb_time_ps when(void *context)
{
	const struct scripted *scripted = context;
	return scripted->n_posted < N_MESSAGES ? (tb_time_ps)scripted->n_posted * 10
					       : TB_TIME_NEVER;
}

static int take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct scripted *scripted = context;
	(void)error;
	if (when(context) > now)
		return 0;
	uint32_t i = (uint32_t)scripted->n_posted++;
	*message = (struct tb_message){
		.cookie = i, .source = {i}, .destination = {i + 1}, .bytes = 8, .job = 1};
	return 1;
}

static int sent(void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	(void)error;
	((struct scripted *)context)->sent_at[cookie] = now;
	return TB_OK;
}

static int delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	(void)error;
	((struct scripted *)context)->delivered_at[cookie] = now;
	return TB_OK;
}

static int finish(void *context, struct tb_error *error)
{
	(void)error;
	return ((struct scripted *)context)->finish;
}

static struct tb_source source_of(struct scripted *scripted)
{
	return (struct tb_source){.context = scripted,
		.when = when,
		.take = take,
		.sent = sent,
		.delivered = delivered,
		.finish = finish};
}

static void sources_share_time_nodes_and_jobs(void **state)
{
	(void)state;
	struct scripted first = {0}, second = {0};
	const uint32_t nodes[] = {7, 5, 3, 1};
	const struct tb_source_part parts[] = {
		{.source = source_of(&first), .first_job = 0},
		{.source = source_of(&second),
			.start_ps = 10,
			.first_job = 4,
			.node_of = nodes}};
	// Time, source node, job of each message, in the order in which they are taken.
	static const struct {
		tb_time_ps at;
		uint32_t source, destination, job;
	} expected[] = {{0, 0, 1, 1}, {10, 1, 2, 1}, {10, 7, 5, 5}, {20, 2, 3, 1},
		{20, 5, 3, 5}, {30, 3, 1, 5}};
	struct tb_sources *sources = NULL;
	struct tb_error error;
	assert_int_equal(tb_sources_new(&sources, parts, 2, &error), TB_OK);
	struct tb_source all = tb_sources_source(sources);
	struct tb_message message;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		tb_time_ps at = all.when(all.context);
		assert_int_equal(at, expected[i].at);
		assert_int_equal(all.take(all.context, at, &message, &error), 1);
		assert_int_equal(message.source.id, expected[i].source);
		assert_int_equal(message.destination.id, expected[i].destination);
		assert_int_equal(message.job, expected[i].job);
		assert_int_equal(
			all.sent(all.context, at + 1, message.cookie, &error), TB_OK);
		assert_int_equal(
			all.delivered(all.context, at + 2, message.cookie, &error),
			TB_OK);
	}
	assert_int_equal(all.take(all.context, 100, &message, &error), 0);
	assert_int_equal(all.when(all.context), TB_TIME_NEVER);
	for (int i = 0; i < N_MESSAGES; i++) {
		assert_int_equal(first.sent_at[i], 10 * i + 1);
		assert_int_equal(second.sent_at[i], 10 * i + 1);
		assert_int_equal(second.delivered_at[i], 10 * i + 2);
	}
	assert_int_equal(all.finish(all.context, &error), TB_OK);
	second.finish = TB_EDEADLOCK;
	assert_int_equal(all.finish(all.context, &error), TB_EDEADLOCK);
	tb_sources_free(sources);
}

static void what_an_open_loop_is_not_told_does_not_matter(void **state)
{
	(void)state;
	struct scripted scripted = {0};
	struct tb_source_part part = {.source = source_of(&scripted), .start_ps = 5};
	part.source.sent = part.source.delivered = NULL;
	part.source.finish = NULL;
	struct tb_sources *sources = NULL;
	struct tb_error error;
	struct tb_message message;
	assert_int_equal(tb_sources_new(&sources, &part, 1, &error), TB_OK);
	struct tb_source all = tb_sources_source(sources);
	assert_int_equal(all.take(all.context, 4, &message, &error), 0);
	assert_int_equal(all.take(all.context, 5, &message, &error), 1);
	assert_int_equal(all.sent(all.context, 6, message.cookie, &error), TB_OK);
	assert_int_equal(all.delivered(all.context, 6, message.cookie, &error), TB_OK);
	assert_int_equal(all.finish(all.context, &error), TB_OK);
	tb_sources_free(sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_share_time_nodes_and_jobs),
		cmocka_unit_test(what_an_open_loop_is_not_told_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
