// Timelines of small jobs whose times can be told beforehand.
#include "../../support/timeline_made.h"

#include "held_up.h"
#include "run_timeline.h"

#include <stdlib.h>
#include <string.h>

#define STORE "unit_timeline.db"
#define JOB   "unit_timeline.goal"

#define NS ((tb_time_ps)TB_PS_PER_NS)

static struct made record(const char *goal, const char *network)
{
	static const char *const traces[] = {JOB};
	const struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1},
		.network = network,
		.output = STORE,
		.seed = 1};
	struct made made;
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fputs(goal, file);
	assert_int_equal(fclose(file), 0);
	assert_true(made_record(&made, &options));
	made_path_adds_up(&made);
	made_ranks_follow(&made, 0);
	unlink(STORE);
	unlink(JOB);
	return made;
}

// Rank 1 sends at once, and rank 0 after its calcs: the run ends with what rank 1
// computes when it has that message.
static void the_path_goes_by_the_last_message(void **state)
{
	(void)state;
	struct made made = record("num_ranks 2\nrank 0 {\na: calc 9000\nb: calc 40\n"
				  "b requires a\nc: send 1b to 1\nc requires b\n"
				  "d: recv 1b from 1\n}\nrank 1 {\na: send 1b to 0\n"
				  "b: recv 1b from 0\nc: calc 50000\nc requires b\n}\n",
		"ib-hdr");
	const tb_time_ps *causes = made.path.causes;
	assert_int_equal(causes[TB_PATH_COMPUTE], (9040 + 50000) * NS);
	assert_int_equal(causes[TB_PATH_SOFTWARE] + causes[TB_PATH_TRANSFER] +
				 causes[TB_PATH_ACKNOWLEDGE],
		tb_run_info(made.run)->simulated_ps - (9040 + 50000) * NS);
	assert_int_equal(made_time(&made, 1, TB_SPAN_COMPUTE), 50000 * NS);
	made_drop(&made);
}

// Rank 1 computes 100 ns and waits until rank 0 has computed 5000; what passes until it
// answers is the latency of a lone message.
static void a_rank_waits_until_the_other_sends(void **state)
{
	(void)state;
	struct made made =
		record("num_ranks 2\nrank 0 {\na: calc 5000\n"
		       "b: send 4000b to 1\nb requires a\nc: recv 4000b from 1\n"
		       "c requires b\n}\nrank 1 {\n"
		       "a: calc 100\nb: recv 4000b from 0\nb requires a\n"
		       "c: calc 700\nc requires b\nd: send 4000b to 0\n"
		       "d requires c\n}\n",
			"ib-hdr");
	const tb_time_ps *causes = made.path.causes;
	tb_time_ps latency = made_time(&made, 1, TB_SPAN_RECEIVE);
	assert_int_equal(causes[TB_PATH_COMPUTE], 5700 * NS);
	assert_int_equal(
		causes[TB_PATH_SOFTWARE] + causes[TB_PATH_TRANSFER], 2 * latency);
	assert_true(causes[TB_PATH_SOFTWARE] > 0);
	assert_int_equal(made_time(&made, 1, TB_SPAN_WAIT), 4900 * NS);
	assert_int_equal(made_time(&made, 1, TB_SPAN_COMPUTE), 800 * NS);
	assert_int_equal(made_time(&made, 0, TB_SPAN_RECEIVE), latency);
	assert_int_equal(made.times.spans[1].peer, 1);
	made_drop(&made);
}

// Two ranks send to one at once: one message is held up behind the other, before the link
// to the receiver.
static void what_holds_a_message_up_is_named(void **state)
{
	(void)state;
	struct made made = record("num_ranks 3\nrank 0 {\na: recv 64000b from 1\n"
				  "b: recv 64000b from 2\n}\nrank 1 {\n"
				  "a: send 64000b to 0\n}\nrank 2 {\n"
				  "a: send 64000b to 0\n}\n",
		"ib-hdr,arity=4,levels=1");
	tb_time_ps held = made.path.causes[TB_PATH_HELD_UP];
	const struct tb_path_link *links = made.path.links;
	assert_true(held > 0);
	assert_true(made.path.n_links > 0);
	assert_int_equal(links[0].culprit_destination.id, 0);
	assert_true(links[0].culprit_source.id == 1 || links[0].culprit_source.id == 2);
	// It waits at the switch for the link to that node, not for its own node's, by
	// which it came in.
	uint32_t link = links[0].place.link.id;
	assert_int_equal(tb_run_links(made.run)[link].at.kind, TB_LINK_EJECTION);
	struct tb_link_cost *costs =
		calloc(tb_run_info(made.run)->n_links, sizeof *costs);
	struct tb_error error = {0};
	assert_int_equal(
		tb_critical_path_costs(&made.path, made.run, costs, &error), TB_OK);
	assert_int_equal(costs[link].least_ps, held);
	assert_false(costs[link].may_be_more);
	free(costs);
	made_drop(&made);
}

// The text has a mark in every column until the end of a rank.
static void text_shows_the_path_at_its_ranks(void **state)
{
	(void)state;
	struct made made = record("num_ranks 2\nrank 0 {\na: calc 80000\n"
				  "b: send 1b to 1\nb requires a\n}\nrank 1 {\n"
				  "a: calc 40000\nb: recv 1b from 0\nb requires a\n}\n",
		"ib-hdr");
	const struct tb_timeline_options options = {0, TB_TIME_NEVER, 2, NULL};
	struct tb_timeline timeline = {0};
	struct tb_error error = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(tb_timeline_init(&timeline, made.run, &options, &error), TB_OK);
	assert_int_equal(tb_timeline_text(&timeline, 49, 8, stream, &error), TB_OK);
	assert_int_equal(fclose(stream), 0);
	assert_non_null(strstr(text, "rank 0 |CCCCCCCCCCCCCCCCCCCC"));
	assert_non_null(strstr(text, "rank 1 |cccccccccccccccccccc......."));
	free(text);
	tb_timeline_fini(&timeline);
	const struct tb_timeline_options beyond = {TB_PS_PER_S, TB_TIME_NEVER, 2, NULL};
	assert_int_equal(
		tb_timeline_init(&timeline, made.run, &beyond, &error), TB_EUSAGE);
	made_drop(&made);
}

// Ranks 1 and 2 send 64000 bytes each to rank 0, which computes first and last.
#define INCAST                                                                           \
	"num_ranks 3\nrank 0 {\na: calc 10\nb: recv 64000b from 1\nb requires a\n"       \
	"c: recv 64000b from 2\nc requires a\nd: calc 3000\nd requires b\n"              \
	"d requires c\n}\nrank 1 {\na: send 64000b to 0\n}\nrank 2 {\n"                  \
	"a: send 64000b to 0\n}\n"

static const struct tb_span_held *row_of(
	const struct tb_held_list *list, const struct tb_rank_span *span, uint32_t link)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->rows[i].span.rank == span->rank &&
			list->rows[i].span.from_ps == span->from_ps &&
			list->rows[i].link.id == link)
			return &list->rows[i];
	return NULL;
}

// From each span to its links and back; what a flow waited at a link is shared out whole
// to its sender's spans.
static void spans_and_the_links_that_held_them_up(void **state)
{
	(void)state;
	struct made made = record(INCAST, "ib-hdr,arity=4,levels=1");
	struct tb_held_up held = {.n_parts = 0};
	struct tb_held_list links = {0}, spans = {0};
	struct tb_error error = {0};
	assert_int_equal(tb_held_up_init(&held, made.run, &error), TB_OK);
	double sent_ps = 0, all_ps = 0;
	uint32_t n_links = 0;
	for (size_t i = 0; i < made.times.n; i++) {
		const struct tb_rank_span *span = &made.times.spans[i];
		assert_int_equal(
			tb_held_links(&held, made.run, span, &links, &error), TB_OK);
		assert_true(span->what != TB_SPAN_COMPUTE || links.n == 0);
		for (size_t k = 0; k < links.n; k++) {
			uint32_t link = links.rows[k].link.id;
			assert_int_equal(tb_held_spans(&held, made.run,
						 links.rows[k].link, &spans, &error),
				TB_OK);
			const struct tb_span_held *back = row_of(&spans, span, link);
			assert_non_null(back);
			assert_true(llabs(back->wait_ps - links.rows[k].wait_ps) <= 1);
			if (span->what == TB_SPAN_SEND)
				sent_ps += (double)links.rows[k].wait_ps;
			n_links++;
		}
	}
	for (uint32_t i = 0; i < held.waits.listed.n; i++)
		all_ps += (double)held.waits.rows[i].wait_ps;
	assert_true(n_links > 0 && all_ps > 0);
	assert_true(sent_ps > all_ps - (double)made.times.n && sent_ps <= all_ps);
	tb_held_list_fini(&links);
	tb_held_list_fini(&spans);
	tb_held_up_fini(&held);
	made_drop(&made);
}

static void ranks_are_listed_by_wait_and_by_end(void **state)
{
	(void)state;
	struct made made = record("num_ranks 3\nrank 0 {\na: recv 64000b from 1\n"
				  "b: calc 3000\nb requires a\n}\nrank 1 {\n"
				  "a: calc 5000\nb: send 64000b to 0\nb requires a\n}\n"
				  "rank 2 {\na: calc 10\n}\n",
		"ib-hdr,arity=4,levels=1");
	const struct tb_timeline_options options = {0, TB_TIME_NEVER, 2, NULL};
	struct tb_timeline timeline = {0};
	struct tb_error error = {0};
	size_t ranks[3];
	assert_int_equal(tb_timeline_init(&timeline, made.run, &options, &error), TB_OK);
	assert_int_equal(timeline.n_ranks, 3);
	for (int order = 0; order < TB_RANKS_ORDERS; order++) {
		assert_int_equal(tb_timeline_choose(&timeline,
					 (enum tb_timeline_order)order, ranks, 3),
			3);
		for (int i = 1; i < 3; i++) {
			const struct tb_timeline_rank *a = &timeline.ranks[ranks[i - 1]];
			const struct tb_timeline_rank *b = &timeline.ranks[ranks[i]];
			if (order == TB_RANKS_BY_WAIT)
				assert_true(a->wait_ps >= b->wait_ps);
			else if (order == TB_RANKS_BY_END)
				assert_true(a->end_ps >= b->end_ps);
			else
				assert_true(a->rank < b->rank);
		}
	}
	assert_int_equal(tb_timeline_choose(&timeline, TB_RANKS_BY_END, ranks, 1), 1);
	assert_int_equal(timeline.ranks[ranks[0]].rank, 0); // it computes at last
	assert_true(timeline.ranks[0].wait_ps > 0);
	tb_timeline_fini(&timeline);
	made_drop(&made);
}

// Of several replays whose run times alone are compared nobody asks for more.
static void without_a_log_the_run_is_the_same_and_has_no_timeline(void **state)
{
	(void)state;
	static const char *const traces[] = {JOB};
	struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1},
		.network = "ib-hdr",
		.output = STORE,
		.seed = 1};
	struct made made[2];
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fputs("num_ranks 2\nrank 0 {\na: calc 5000\nb: send 4000b to 1\nb requires a\n"
	      "}\nrank 1 {\na: recv 4000b from 0\nb: calc 700\nb requires a\n}\n",
		file);
	assert_int_equal(fclose(file), 0);
	for (int i = 0; i < 2; i++) {
		options.workload.without_log = i == 1;
		assert_true(made_record(&made[i], &options));
	}
	assert_int_equal(tb_run_info(made[0].run)->simulated_ps,
		tb_run_info(made[1].run)->simulated_ps);
	assert_true(made[0].times.n > 0 && made[0].path.n_steps > 0);
	assert_true(made[1].times.n == 0 && made[1].path.n_steps == 0);
	made_drop(&made[0]);
	made_drop(&made[1]);
	unlink(STORE);
	unlink(JOB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_goes_by_the_last_message),
		cmocka_unit_test(a_rank_waits_until_the_other_sends),
		cmocka_unit_test(what_holds_a_message_up_is_named),
		cmocka_unit_test(text_shows_the_path_at_its_ranks),
		cmocka_unit_test(spans_and_the_links_that_held_them_up),
		cmocka_unit_test(ranks_are_listed_by_wait_and_by_end),
		cmocka_unit_test(without_a_log_the_run_is_the_same_and_has_no_timeline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
