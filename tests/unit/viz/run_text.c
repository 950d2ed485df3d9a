// Windows of time and their ends, captions, and values of metrics as text.
#include "../../analyze_fixture.h"
#include "../../support/named_fabric.h"
#include "scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// Ten bins, the last of which ends early.
static const struct tb_run_info info = {.network_name = "qsnet",
	.n_nodes = 16,
	.bin_ps = 1000,
	.n_bins = 10,
	.simulated_ps = 9750};

static void a_window_covers_the_times_by_whole_bins(void **state)
{
	(void)state;
	struct tb_window window;
	assert_int_equal(tb_window_between(&info, 1000, 2001, &window, NULL), TB_OK);
	assert_int_equal(window.first_bin, 1);
	assert_int_equal(window.end_bin, 3);
	assert_int_equal(tb_window_between(&info, 1999, 3000, &window, NULL), TB_OK);
	assert_int_equal(window.first_bin, 1);
	assert_int_equal(window.end_bin, 3);
	assert_int_equal(tb_window_between(&info, 9000, 99999, &window, NULL), TB_OK);
	assert_int_equal(window.end_bin, 10);
}

static void a_window_that_is_empty_or_after_the_end_is_refused(void **state)
{
	(void)state;
	struct tb_window window;
	assert_int_equal(tb_window_between(&info, 5, 5, &window, NULL), TB_EUSAGE);
	assert_int_equal(tb_window_between(&info, 9999, 10001, &window, NULL), TB_OK);
	assert_int_equal(
		tb_window_between(&info, 10000, 10001, &window, NULL), TB_EUSAGE);
}

static void the_last_bin_ends_with_the_run(void **state)
{
	(void)state;
	assert_int_equal(tb_window_end_ps(&info, (struct tb_window){3, 5}), 5000);
	assert_int_equal(tb_window_end_ps(&info, (struct tb_window){3, 10}), 9750);
	assert_int_equal(tb_window_begin_ps(&info, (struct tb_window){3, 10}), 3000);
	assert_true(tb_window_whole(&info, (struct tb_window){0, 10}));
	assert_false(tb_window_whole(&info, (struct tb_window){1, 10}));
	assert_false(tb_window_whole(&info, (struct tb_window){0, 9}));
}

static void a_caption_names_the_first_input(void **state)
{
	(void)state;
	struct tb_run_info run = info;
	char text[256];
	run.input_kind = "job";
	run.input_name = "traces/one.goal, traces/two.goal, three.goal";
	assert_string_equal(tb_run_caption(&run, text, sizeof text),
		"one.goal and 2 more on qsnet, 16 nodes (not ended)");
	run.input_name = "-";
	run.complete = true;
	assert_string_equal(tb_run_caption(&run, text, sizeof text),
		"standard input on qsnet, 16 nodes");
}

static void a_caption_of_a_capture_has_what_decides_its_figures(void **state)
{
	(void)state;
	struct tb_run_info run = info;
	char text[256];
	run.input_kind = "packets";
	run.input_name = "a.pcap";
	run.complete = true;
	run.time_scale = 0.05;
	run.input_summary = "{}";
	assert_string_equal(tb_run_caption(&run, text, sizeof text),
		"a.pcap on qsnet, 16 nodes, time scale 0.05");
	run.input_summary = "{\"wire_bytes\": 9, \"payload_bytes\": 3, "
			    "\"squeezed_ps\": 5200000000000}";
	assert_string_equal(tb_run_caption(&run, text, sizeof text),
		"a.pcap on qsnet, 16 nodes, time scale 0.05, 5.200 s idle taken out");
}

static void counts_agree_with_their_nouns(void **state)
{
	(void)state;
	char text[48];
	assert_string_equal(
		tb_metric_format(TB_PACKETS, 1, text, sizeof text), "1 packet");
	assert_string_equal(
		tb_metric_format(TB_PACKETS, 2, text, sizeof text), "2 packets");
	assert_string_equal(
		tb_metric_format(TB_BLOCKED, 1, text, sizeof text), "1 header");
	assert_string_equal(
		tb_metric_format(TB_BLOCKED, 0, text, sizeof text), "0 headers");
}

static void flows_are_named_where_there_is_room(void **state)
{
	(void)state;
	struct tb_run *run = NULL;
	struct fixture fixture;
	struct tb_error error = {0};
	char text[160];
	fixture_init(&fixture);
	tb_network_free(fixture.network);
	fixture.network = fabric_new();
	fixture.n_links = tb_network_n_links(fixture.network);
	fixture_store(&fixture, 1, 1);
	fabric_check(tb_run_open(&run, fixture.path, 0, &error), &error);
	const struct tb_node login = {0}, n002 = {2};
	assert_string_equal(tb_run_pair_text(run, login, n002, 300, text, sizeof text),
		"login > n002");
	assert_string_equal(tb_run_pair_text(run, login, n002, 100, text, sizeof text),
		"login > n002");
	assert_string_equal(
		tb_run_pair_text(run, login, n002, 94, text, sizeof text), "0 > 2");
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_covers_the_times_by_whole_bins),
		cmocka_unit_test(a_window_that_is_empty_or_after_the_end_is_refused),
		cmocka_unit_test(the_last_bin_ends_with_the_run),
		cmocka_unit_test(a_caption_names_the_first_input),
		cmocka_unit_test(a_caption_of_a_capture_has_what_decides_its_figures),
		cmocka_unit_test(counts_agree_with_their_nouns),
		cmocka_unit_test(flows_are_named_where_there_is_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
