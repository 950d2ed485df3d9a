// What benchmarks should have measured: rows as calls, and what the rest follows from.
#include "expect.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// judge returns what 'tailback expect -f json' writes of the text of a file.
static json_t *judge(const char *text, struct tb_expect_options options)
{
	char path[] = "/tmp/expect.XXXXXX";
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(dprintf(file, "%s", text), (int)strlen(text));
	close(file);
	const char *const files[] = {path};
	struct tb_expect *expect = NULL;
	struct tb_error error = {0};
	char *written = NULL;
	size_t size = 0;
	options.files = files;
	options.n_files = 1;
	options.n_workers = 2;
	int status = tb_expect_new(&expect, &options, &error);
	unlink(path);
	if (status != TB_OK)
		print_message("%s\n", error.text);
	assert_int_equal(status, TB_OK);
	FILE *stream = open_memstream(&written, &size);
	assert_non_null(stream);
	assert_int_equal(
		tb_expect_write(expect, TB_FORMAT_JSON, 0, NULL, stream, &error), TB_OK);
	fclose(stream);
	tb_expect_free(expect);
	json_t *root = json_loads(written, 0, NULL);
	assert_non_null(root);
	free(written);
	return root;
}

static double figure(const json_t *root, size_t row, const char *key)
{
	return json_number_value(
		json_object_get(json_array_get(json_object_get(root, "rows"), row), key));
}

static const char *word(const json_t *root, size_t row, const char *key)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(root, "rows"), row), key));
}

#define OSU(test, unit) "# OSU MPI " test " v7.4\n# Size      " unit "\n"

static void a_stream_fills_the_adapter(void **state)
{
	(void)state;
	// 24.8 GB/s of payload are what 200 Gbit/s carry.
	json_t *root =
		judge(OSU("Bandwidth Test", "Bandwidth (MB/s)") "4194304   12400.00\n",
			(struct tb_expect_options){.network = "ib-hdr"});
	assert_true(figure(root, 0, "expected_bytes_per_s") > 24.2e9);
	assert_true(figure(root, 0, "expected_bytes_per_s") < 24.9e9);
	assert_true(figure(root, 0, "ratio") > 0.49 && figure(root, 0, "ratio") < 0.52);
	// Half of the rate explains it.
	const json_t *reasons = json_object_get(root, "reasons");
	size_t n = 0;
	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const json_t *one = json_array_get(reasons, i);
		n += strcmp(json_string_value(json_object_get(one, "kind")),
			     "explains") == 0;
	}
	assert_true(n >= 1);
	json_decref(root);
}

static void a_round_trip_takes_twice_the_latency(void **state)
{
	(void)state;
	json_t *root = judge(OSU("Latency Test", "Latency (us)") "8    1.50\n",
		(struct tb_expect_options){.network = "ib-hdr", .leaves_out_why = true});
	assert_true(figure(root, 0, "expected_ps") > 0.8e6);
	assert_true(figure(root, 0, "expected_ps") < 3e6);
	assert_string_equal(word(root, 0, "operation"), "latency");
	json_decref(root);
}

static void ranks_sit_by_host(void **state)
{
	(void)state;
	const char *text =
		OSU("Allreduce Latency Test", "Avg Latency(us)") "1048576  400.00\n";
	json_t *apart = judge(
		text, (struct tb_expect_options){
			      .network = "ib-hdr", .n_ranks = 8, .leaves_out_why = true});
	json_t *together = judge(text, (struct tb_expect_options){.network = "ib-hdr",
					       .n_ranks = 8,
					       .per_node = 4,
					       .leaves_out_why = true});
	assert_true(figure(apart, 0, "hosts") == 8);
	assert_true(figure(together, 0, "hosts") == 2);
	assert_true(
		figure(apart, 0, "expected_ps") != figure(together, 0, "expected_ps"));
	json_decref(apart);
	json_decref(together);
}

static void nothing_is_called_with_no_bytes(void **state)
{
	(void)state;
	const char *text =
		"#    Intel(R) MPI Benchmarks 2019, MPI-1 part\n# Benchmarking "
		"Allreduce\n# #processes = 4\n       #bytes #repetitions  t_min[usec]  "
		"t_max[usec]  t_avg[usec]\n            0         1000         0.05     "
		"    0.05         0.05\n            4         1000         2.05         "
		"2.05         2.05\n";
	json_t *root = judge(text,
		(struct tb_expect_options){.network = "ib-hdr", .leaves_out_why = true});
	assert_string_equal(word(root, 0, "verdict"), "not judged");
	assert_string_not_equal(word(root, 1, "verdict"), "not judged");
	json_decref(root);
}

// matrix writes what mpiGraph prints of four ranks, by turns on two hosts, of which the
// last one is slow.
static void matrix(char *text, size_t size, const char *slow)
{
	size_t n = (size_t)snprintf(text, size,
		"START mpiGraph v1.5\nMsgSize\t1048576\nProcs\t4\n\n"
		"Send\tn0:0\tn1:1\tn0:2\tn1:3\n");
	for (int from = 0; from < 4; from++) {
		n += (size_t)snprintf(text + n, size - n, "n%d:%d to", from % 2, from);
		for (int to = 0; to < 4; to++)
			n += (size_t)snprintf(text + n, size - n, "\t%s",
				from == to	       ? "0.000"
				: from == 3 || to == 3 ? slow
						       : "11000.0");
		n += (size_t)snprintf(text + n, size - n, "\n");
	}
	snprintf(text + n, size - n, "END mpiGraph\n");
}

static size_t n_behind(const json_t *root, const char *of)
{
	const json_t *reasons = json_object_get(root, "reasons");
	size_t n = 0;
	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const json_t *one = json_array_get(reasons, i);
		n += strcmp(json_string_value(json_object_get(one, "kind")), "behind") ==
			     0 &&
		     strcmp(json_string_value(json_object_get(one, "of")), of) == 0;
	}
	return n;
}

static void a_slow_rank_falls_behind(void **state)
{
	(void)state;
	char text[1000];
	const struct tb_expect_options options = {
		.network = "ib-hdr", .n_nodes = 2, .leaves_out_why = true};
	matrix(text, sizeof text, "5500.0");
	json_t *root = judge(text, options);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 12);
	// Ranks that take turns on two hosts.
	assert_true(figure(root, 0, "hosts") == 2);
	assert_int_equal(n_behind(root, "rank 3"), 1);
	assert_int_equal(n_behind(root, "rank 0"), 0);
	assert_int_equal(n_behind(root, "rank 1"), 0);
	json_decref(root);
	matrix(text, sizeof text, "10900.0");
	root = judge(text, options);
	assert_int_equal(n_behind(root, "rank 3"), 0);
	json_decref(root);
}

static void no_point_lies_on_the_frame(void **state)
{
	(void)state;
	const char *const files[] = {"allreduce"};
	const struct tb_expect_options options = {.files = files,
		.n_files = 1,
		.sizes = "1K,4K",
		.network = "ib-hdr",
		.n_ranks = 4,
		.leaves_out_why = true};
	struct tb_expect *expect = NULL;
	struct tb_curves curves;
	struct tb_error error;
	assert_int_equal(tb_expect_new(&expect, &options, &error), TB_OK);
	assert_int_equal(tb_expect_curves(expect, &curves, &error), TB_OK);
	for (size_t i = 0; i < curves.n_curves; i++)
		for (size_t k = 0; k < curves.curves[i].n_points; k++) {
			const struct tb_curve_point *point = &curves.curves[i].points[k];
			assert_true(point->x > 1.2 * curves.x.least);
			assert_true(1.2 * point->x < curves.x.most);
			assert_true(point->y.mean > 1.04 * curves.y.least);
			assert_true(1.04 * point->y.mean < curves.y.most);
		}
	assert_true(exp2(round(log2(curves.y.most))) == curves.y.most);
	tb_curves_fini(&curves);
	tb_expect_free(expect);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_fills_the_adapter),
		cmocka_unit_test(a_round_trip_takes_twice_the_latency),
		cmocka_unit_test(ranks_sit_by_host),
		cmocka_unit_test(nothing_is_called_with_no_bytes),
		cmocka_unit_test(a_slow_rank_falls_behind),
		cmocka_unit_test(no_point_lies_on_the_frame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
