// Tapes: what an observer was told is played again, to another.
#include "tape.h"

#include "replay_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// What was played: bins and the links in them.
struct played {
	tb_time_ps bin_ps, tree_bin_ps;
	uint64_t bins[8];
	uint32_t links[8];
	size_t n;
	uint64_t flow_bytes, blame_ps, tree_ps, n_undelivered, message_bytes;
	uint64_t lost_bytes, n_resent;
	tb_time_ps timeout_ps;
};

static int on_start(void *context, tb_time_ps bin_ps)
{
	struct played *played = context;
	played->bin_ps = bin_ps;
	return TB_OK;
}

static int on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct played *played = context;
	for (size_t i = 0; i < n; i++) {
		played->bins[played->n] = bin;
		played->links[played->n++] = samples[i].link.id;
	}
	return TB_OK;
}

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct played *played = context;
	for (size_t i = 0; i < n; i++)
		played->flow_bytes += samples[i].bytes;
	return TB_OK;
}

static int on_blame(void *context, const struct tb_blame_record *record)
{
	struct played *played = context;
	for (size_t i = 0; i < record->n_by_link; i++)
		played->blame_ps += record->by_link[i].wait_ps;
	played->tree_bin_ps = record->bin_ps;
	for (size_t i = 0; i < record->n_trees; i++)
		played->tree_ps += record->trees[i].wait_ps;
	return TB_OK;
}

static int on_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct played *played = context;
	for (size_t i = 0; i < n; i++)
		played->n_undelivered += samples[i].n_messages;
	return TB_OK;
}

static int on_messages(void *context, const struct tb_message_sample *samples, size_t n)
{
	struct played *played = context;
	for (size_t i = 0; i < n; i++)
		played->message_bytes += samples[i].bytes;
	return TB_OK;
}

static int on_losses(void *context, const struct tb_loss_record *record)
{
	struct played *played = context;
	for (size_t i = 0; i < record->n_ports; i++)
		played->lost_bytes += record->ports[i].bytes;
	for (size_t i = 0; i < record->n_flows; i++)
		played->n_resent += record->flows[i].n_resent;
	for (size_t i = 0; i < record->n_timeouts; i++)
		played->timeout_ps += record->timeouts[i].to_ps;
	return TB_OK;
}

static void play(const struct tb_tape *tape, struct played *played)
{
	const struct tb_observer observer = {.context = played,
		.start = on_start,
		.bin = on_bin,
		.flows = on_flows,
		.blame = on_blame,
		.undelivered = on_undelivered,
		.messages = on_messages,
		.losses = on_losses};
	*played = (struct played){0};
	assert_int_equal(tb_tape_play(tape, &observer), TB_OK);
}

static void what_was_told_is_played_in_its_order(void **state)
{
	(void)state;
	static const struct tb_link_sample samples[] = {
		{.link = {4}}, {.link = {9}}, {.link = {6}}};
	static const struct tb_flow_sample flow = {.bytes = 11};
	static const struct tb_blame_sample blame = {.wait_ps = 13};
	static const struct tb_undelivered_sample lost = {.n_messages = 3};
	static const struct tb_tree_sample tree = {.wait_ps = 17};
	static const struct tb_message_sample message = {.bytes = 19};
	static const struct tb_blame_record record = {.bin_ps = 64000,
		.by_link = &blame,
		.n_by_link = 1,
		.trees = &tree,
		.n_trees = 1};
	static const struct tb_port_loss_sample port = {.bytes = 23};
	static const struct tb_flow_loss_sample resent = {.n_resent = 29};
	static const struct tb_timeout_sample timeout = {.to_ps = 31};
	static const struct tb_loss_record losses = {&port, &resent, &timeout, 1, 1, 1};
	struct tb_tape *tape = NULL;
	struct played played;
	assert_int_equal(tb_tape_new(&tape, NULL), TB_OK);
	struct tb_observer to = tb_tape_observer(tape);
	assert_int_equal(to.start(to.context, 1000), TB_OK);
	assert_int_equal(to.bin(to.context, 2, samples, 2), TB_OK);
	assert_int_equal(to.bin(to.context, 5, samples + 2, 1), TB_OK);
	assert_int_equal(to.flows(to.context, &flow, 1), TB_OK);
	assert_int_equal(to.blame(to.context, &record), TB_OK);
	assert_int_equal(to.undelivered(to.context, &lost, 1), TB_OK);
	assert_int_equal(to.messages(to.context, &message, 1), TB_OK);
	assert_int_equal(to.losses(to.context, &losses), TB_OK);
	play(tape, &played);
	assert_int_equal(played.bin_ps, 1000);
	assert_int_equal(played.n, 3);
	assert_int_equal(played.bins[1], 2);
	assert_int_equal(played.links[1], 9);
	assert_int_equal(played.bins[2], 5);
	assert_int_equal(played.links[2], 6);
	assert_int_equal(played.flow_bytes, 11);
	assert_int_equal(played.blame_ps, 13);
	assert_int_equal(played.n_undelivered, 3);
	assert_int_equal(played.tree_bin_ps, 64000);
	assert_int_equal(played.tree_ps, 17);
	assert_int_equal(played.message_bytes, 19);
	assert_int_equal(played.lost_bytes, 23);
	assert_int_equal(played.n_resent, 29);
	assert_int_equal(played.timeout_ps, 31);
	tb_tape_free(tape);
}

static void a_further_start_voids_the_bins_before_it(void **state)
{
	(void)state;
	static const struct tb_link_sample sample = {.link = {4}};
	struct tb_tape *tape = NULL;
	struct played played;
	assert_int_equal(tb_tape_new(&tape, NULL), TB_OK);
	struct tb_observer to = tb_tape_observer(tape);
	assert_int_equal(to.start(to.context, 1000), TB_OK);
	assert_int_equal(to.bin(to.context, 2, &sample, 1), TB_OK);
	assert_int_equal(to.bin(to.context, 3, &sample, 1), TB_OK);
	assert_int_equal(to.start(to.context, 2000), TB_OK);
	assert_int_equal(to.bin(to.context, 1, &sample, 1), TB_OK);
	play(tape, &played);
	assert_int_equal(played.bin_ps, 2000);
	assert_int_equal(played.n, 1);
	assert_int_equal(played.bins[0], 1);
	tb_tape_free(tape);
}

static void keep(struct tb_kept_bins *kept, uint32_t bin, uint32_t link)
{
	const struct tb_cell cell = {.link = link & INT32_MAX, .bytes = 7};
	assert_int_equal(tb_kept_bins_begin(kept, bin), TB_OK);
	assert_int_equal(tb_kept_bins_add(kept, &cell, 1), TB_OK);
}

static void bins_that_were_kept_are_taken_packed(void **state)
{
	(void)state;
	static const struct tb_link_sample sample = {.link = {4}};
	struct tb_link_sample room[128];
	struct tb_kept_bins kept = {0};
	struct tb_tape *tape = NULL;
	struct played played;
	assert_int_equal(tb_tape_new(&tape, NULL), TB_OK);
	struct tb_observer to = tb_tape_observer(tape);
	assert_int_equal(to.start(to.context, 1000), TB_OK);
	assert_int_equal(to.bin(to.context, 0, &sample, 1), TB_OK);
	keep(&kept, 2, 100);
	keep(&kept, 3, 9);
	keep(&kept, 6, 5);
	tb_kept_bins_widen(&kept, room);
	assert_int_equal(to.start(to.context, 2000), TB_OK);
	assert_int_equal(to.kept(to.context, &kept), TB_OK);
	assert_null(kept.bytes); // they are the tape's
	for (int again = 0; again < 2; again++) {
		play(tape, &played);
		assert_int_equal(played.n, 3);
		assert_int_equal(played.bins[0], 1);
		assert_int_equal(played.links[0], 9);
		assert_int_equal(played.bins[1], 1);
		assert_int_equal(played.links[1], 100);
		assert_int_equal(played.bins[2], 3);
		assert_int_equal(played.links[2], 5);
	}
	assert_int_equal(to.start(to.context, 4000), TB_OK);
	play(tape, &played);
	assert_int_equal(played.n, 0);
	tb_tape_free(tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_is_played_in_its_order),
		cmocka_unit_test(a_further_start_voids_the_bins_before_it),
		cmocka_unit_test(bins_that_were_kept_are_taken_packed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
