// The congestion matrix, the hot links and the digest.
#include "../../analyze_fixture.h"

#include "digest.h"
#include "hot_links.h"
#include "matrix.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_run *stored_run(struct fixture *fixture)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(fixture);
	fixture_store(fixture, 20, 7);
	if (tb_run_open(&run, fixture->path, 0, &error))
		fixture_fail("open", &error);
	return run;
}

static void a_box_stands_by_level_and_index(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	struct tb_matrix matrix;
	assert_int_equal(
		tb_matrix_init(&matrix, run, (struct tb_window){0, 0}, TB_WAIT, &error),
		TB_OK);
	assert_int_equal(matrix.n_rows, 2);
	assert_int_equal(matrix.rows[0].level, 1);
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(matrix.rows[r].n_boxes, 4);
		for (uint32_t b = 0; b < 4; b++) {
			const struct tb_matrix_box *box = &matrix.rows[r].boxes[b];
			const struct tb_switch_info *at =
				&tb_run_switches(run)[box->sw.id].at;
			assert_int_equal(at->level, matrix.rows[r].level);
			assert_int_equal(at->index, b);
			assert_int_equal(box->n_below, 4);
		}
	}
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void a_number_is_the_wait_of_the_link_that_comes_in_there(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	struct tb_matrix matrix;
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	struct tb_window window = {3, 11};
	assert_int_equal(tb_run_samples(run, window, samples, &error), TB_OK);
	assert_int_equal(tb_matrix_init(&matrix, run, window, TB_WAIT, &error), TB_OK);
	uint64_t largest = 0;
	uint32_t n_plugged = 0;
	for (uint32_t r = 0; r < matrix.n_rows; r++) {
		for (uint32_t b = 0; b < matrix.rows[r].n_boxes; b++) {
			const struct tb_matrix_box *box = &matrix.rows[r].boxes[b];
			uint64_t sum = 0;
			for (uint32_t p = 0; p < box->n_above + box->n_below; p++) {
				const struct tb_matrix_cell *cell =
					p < box->n_below ? &box->below[p]
							 : &box->above[p - box->n_below];
				if (cell->link.id == TB_ID_NONE)
					continue;
				const struct tb_link_info *at =
					&tb_run_links(run)[cell->link.id].at;
				assert_int_equal(at->to, box->sw.id);
				assert_int_equal(at->to_port, p);
				assert_int_equal(
					cell->value, samples[cell->link.id].wait_ps);
				sum += cell->value;
				n_plugged++;
				largest = cell->value > largest ? cell->value : largest;
			}
			assert_int_equal(box->sum, sum);
		}
	}
	assert_int_equal(matrix.largest_link, largest);
	// All links but those to the nodes, at which no header waits.
	assert_int_equal(n_plugged, fixture.n_links - 16);
	free(samples);
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	fixture_fini(&fixture);
}

// number_of counts the cells in which a link stands, and adds up their values.
static uint32_t number_of(
	const struct tb_matrix *matrix, struct tb_link link, uint64_t *value)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < matrix->n_boxes; i++) {
		const struct tb_matrix_box *box = &matrix->boxes[i];
		for (uint32_t c = 0; c < box->n_below + box->n_above + box->n_nodes; c++)
			if (box->below[c].link.id == link.id) {
				*value = box->below[c].value;
				n++;
			}
	}
	return n;
}

static void every_link_has_one_number_and_sums_add_up(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	struct tb_matrix matrix;
	const struct tb_link_sample *samples;
	struct tb_window whole = {0, 0};
	assert_int_equal(tb_matrix_init(&matrix, run, whole, TB_STALL, &error), TB_OK);
	assert_int_equal(tb_run_look(run, whole, &samples, &error), TB_OK);
	uint64_t sum = 0, of_boxes = 0;
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		uint64_t value = 0;
		assert_int_equal(number_of(&matrix, (struct tb_link){i}, &value), 1);
		assert_int_equal(value, samples[i].stall_ps);
		sum += value;
	}
	for (uint32_t i = 0; i < matrix.n_boxes; i++) {
		assert_int_equal(matrix.boxes[i].n_nodes, i < 4 ? 0 : 4);
		of_boxes += matrix.boxes[i].sum;
	}
	assert_int_equal(of_boxes, sum);
	// In a matrix of waits of a network with circuits those to nodes have none.
	tb_matrix_fill(&matrix, samples, TB_WAIT);
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		uint64_t value = 0;
		bool to_node = tb_run_links(run)[i].at.kind == TB_LINK_EJECTION;
		assert_int_equal(
			number_of(&matrix, (struct tb_link){i}, &value), !to_node);
	}
	// A wait for a link stands at the switch that the link leaves, and back again.
	tb_matrix_fill(&matrix, samples, TB_WAIT_FOR);
	assert_true(matrix.leaves);
	for (uint32_t i = 0; i < fixture.n_links; i++) {
		uint64_t value = 0;
		assert_int_equal(number_of(&matrix, (struct tb_link){i}, &value), 1);
		assert_int_equal(value, samples[i].wait_for_ps);
	}
	for (uint32_t i = 0; i < matrix.n_boxes; i++) {
		const struct tb_matrix_box *box = &matrix.boxes[i];
		for (uint32_t c = 0; c < box->n_below + box->n_above; c++)
			assert_int_equal(tb_run_links(run)[box->below[c].link.id].at.from,
				box->sw.id);
	}
	tb_matrix_fill(&matrix, samples, TB_STALL);
	assert_false(matrix.leaves);
	assert_int_equal(tb_run_links(run)[matrix.boxes[0].below[0].link.id].at.to,
		matrix.boxes[0].sw.id);
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void the_most_loaded_is_100_percent_and_an_idle_window_0(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	struct tb_matrix matrix;
	assert_int_equal(tb_matrix_init(&matrix, run, (struct tb_window){0, 0},
				 TB_LONGEST, &error),
		TB_OK);
	double top_link = 0, top_switch = 0;
	for (uint32_t r = 0; r < matrix.n_rows; r++) {
		for (uint32_t b = 0; b < matrix.rows[r].n_boxes; b++) {
			const struct tb_matrix_box *box = &matrix.rows[r].boxes[b];
			top_switch =
				box->percent > top_switch ? box->percent : top_switch;
			for (uint32_t p = 0; p < box->n_below; p++)
				if (box->below[p].percent > top_link)
					top_link = box->below[p].percent;
			for (uint32_t p = 0; p < box->n_above; p++)
				if (box->above[p].percent > top_link)
					top_link = box->above[p].percent;
		}
	}
	assert_true(top_link == 100 && top_switch == 100);
	assert_int_equal(matrix.largest_link, matrix.largest_switch); // a longest wait
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	fixture_store(&fixture, 0, 1);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_OK);
	assert_int_equal(
		tb_matrix_init(&matrix, run, (struct tb_window){0, 0}, TB_WAIT, &error),
		TB_OK);
	assert_true(matrix.rows[0].boxes[0].percent == 0);
	tb_matrix_fini(&matrix);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void hot_links_come_hottest_first(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	struct tb_hot_link *all = NULL, *some = NULL;
	uint32_t n_all = 0, n_some = 0;
	struct tb_window whole = {0, 0};
	assert_int_equal(tb_hot_links(run, whole, 0, &all, &n_all, &error), TB_OK);
	assert_int_equal(tb_hot_links(run, whole, 5, &some, &n_some, &error), TB_OK);
	assert_int_equal(n_some, 5);
	assert_true(n_all > 5);
	double sum = 0;
	for (uint32_t i = 0; i < n_all; i++) {
		assert_int_equal(all[i].rank, i + 1);
		assert_true(all[i].sample.wait_ps > 0);
		assert_true(i == 0 || all[i - 1].sample.wait_ps >= all[i].sample.wait_ps);
		sum += all[i].percent_of_wait;
	}
	assert_true(all[0].percent_of_top == 100);
	assert_true(sum > 99.999 && sum < 100.001);
	double wait = (double)all[0].sample.wait_ps;
	assert_true(all[0].waiting == 100 * wait / 19700000);
	free(all);
	free(some);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void metrics_go_by_the_names_that_people_type(void **state)
{
	(void)state;
	static const struct tb_link_sample sample = {.wait_ps = 1,
		.stall_ps = 2,
		.busy_ps = 3,
		.bytes = 4,
		.n_packets = 5,
		.n_blocked = 6,
		.longest_wait_ps = 7,
		.largest_queue_bytes = 8,
		.packets_per_s = 9,
		.packet_wait_ps = 10};
	static const char *const names[] = {"wait", "stall", "busy", "bytes", "packets",
		"blocked", "longest", "queue", "packet-rate", "packet-wait"};
	for (uint64_t i = 0; i < 10; i++) {
		assert_string_equal(tb_metric_name(i), names[i]);
		assert_int_equal(tb_metric_of(&sample, (enum tb_metric)i), i + 1);
	}
	assert_null(tb_metric_name(TB_N_METRICS));
}

static void packet_rates_are_packets_by_the_time_of_the_window(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = stored_run(&fixture);
	static const struct tb_window windows[] = {{0, 0}, {3, 11}, {4, 12}, {4, 5}};
	for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
		const struct tb_link_sample *samples;
		uint64_t n = 0;
		assert_int_equal(tb_run_look(run, windows[w], &samples, &error), TB_OK);
		uint64_t window_ps = (uint64_t)tb_run_window_ps(run, windows[w]);
		for (uint32_t i = 0; i < fixture.n_links; i++) {
			uint64_t scaled = samples[i].n_packets * UINT64_C(1000000000000);
			assert_int_equal(samples[i].packets_per_s,
				(scaled + window_ps / 2) / window_ps);
			n += samples[i].n_packets;
		}
		assert_true(n > 0);
	}
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void digests_are_those_of_sha256sum(void **state)
{
	(void)state;
	char path[] = "/tmp/tailback-test-XXXXXX", digest[TB_DIGEST_SIZE];
	const char *const name = path, *const stream = "-";
	struct tb_error error = {0};
	uint64_t bytes = 1;
	int descriptor = mkstemp(path);
	assert_int_equal(tb_digest_files(&name, 1, digest, &bytes, &error), TB_OK);
	// FIPS 180-4: of nothing, and of "abc".
	assert_string_equal(digest, "e3b0c44298fc1c149afbf4c8996fb924"
				    "27ae41e4649b934ca495991b7852b855");
	assert_int_equal(bytes, 0);
	assert_int_equal(write(descriptor, "abc", 3), 3);
	close(descriptor);
	assert_int_equal(tb_digest_files(&name, 1, digest, &bytes, &error), TB_OK);
	assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223"
				    "b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(bytes, 3);
	unlink(path);
	assert_int_equal(tb_digest_files(&stream, 1, digest, &bytes, &error), TB_OK);
	assert_string_equal(digest, "");
	assert_int_equal(tb_digest_files(&name, 1, digest, &bytes, &error), TB_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_box_stands_by_level_and_index),
		cmocka_unit_test(a_number_is_the_wait_of_the_link_that_comes_in_there),
		cmocka_unit_test(every_link_has_one_number_and_sums_add_up),
		cmocka_unit_test(the_most_loaded_is_100_percent_and_an_idle_window_0),
		cmocka_unit_test(hot_links_come_hottest_first),
		cmocka_unit_test(metrics_go_by_the_names_that_people_type),
		cmocka_unit_test(packet_rates_are_packets_by_the_time_of_the_window),
		cmocka_unit_test(digests_are_those_of_sha256sum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
