// Packet traces from captures written here byte by byte: cutting, cleaning, order, time
// and nodes.
#include "../../support/packets_read.h"

#include "map_file.h"
#include "packets.h"
#include "packets_text.h"
#include "survey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

static void packets_carry_time_nodes_and_sizes(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 5000, 3, 1, 1, 1000, 100);
	capture_tcp(&capture, 7500, 1, 3, 1, 500, 1448);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[0].at_ps, 0);
	assert_int_equal(got[1].at_ps, 2500 * TB_PS_PER_NS);
	assert_int_equal(got[0].source.id, 1); // 10.77.0.3 sorts after 10.77.0.1
	assert_int_equal(got[0].destination.id, 0);
	assert_int_equal(got[0].payload_bytes, 100);
	assert_int_equal(got[1].wire_bytes, 1448 + 66);
	assert_string_equal(
		tb_packets_node_name(packets, (struct tb_node){1}), "10.77.0.3");
	assert_string_equal(tb_packets_node_name(packets, (struct tb_node){2}), "");
	assert_int_equal(tb_packets_n_jobs(packets), 1);
	assert_string_equal(tb_packets_job_name(packets, 0), "trace");
	assert_int_equal(summary->n_pairs, 2);
}

static void a_large_frame_is_cut_at_the_segment_size(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 4000);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(got[0].payload_bytes, 1448);
	assert_int_equal(got[1].payload_bytes, 1448);
	assert_int_equal(got[2].payload_bytes, 4000 - 2 * 1448);
	assert_int_equal(got[2].wire_bytes, 4000 - 2 * 1448 + 66);
	assert_int_equal(got[2].at_ps, 0);
	assert_int_equal(summary->n_offloaded, 1);
	assert_int_equal(summary->n_replayed_records, 1);
	assert_int_equal(summary->payload_bytes, 4000);
}

static void the_segment_size_is_that_of_the_connection(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_syn(&capture, 0, 1, 2, 999, 8960);
	capture_syn(&capture, 10, 2, 1, 499, 4010);
	capture_tcp(&capture, 20, 1, 2, 1, 1000, 8000);
	// Without a SYN, the size is learned from a full frame.
	capture_tcp(&capture, 30, 3, 4, 1, 1000, 1240);
	capture_tcp(&capture, 40, 3, 4, 1, 2240, 2480);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2 + 3 + 1 + 2);
	assert_int_equal(got[2].payload_bytes, 4010 - 12);
	assert_int_equal(got[4].payload_bytes, 8000 - 2 * (4010 - 12));
	assert_int_equal(got[6].payload_bytes, 1240);
	assert_int_equal(got[7].payload_bytes, 1240);
}

static void what_was_sent_again_is_dropped(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 1000);
	capture_tcp(&capture, 10, 1, 2, 1, 3000, 1000);
	capture_tcp(&capture, 20, 1, 2, 1, 1000, 1000); // repeats all of it
	capture_tcp(&capture, 30, 1, 2, 1, 1500, 1000); // repeats half of it
	capture_tcp(&capture, 40, 1, 2, 1, 2500, 500);	// fills the hole
	capture_tcp(&capture, 50, 1, 2, 1, 500, 500);	// from before the capture
	capture_tcp(&capture, 60, 1, 2, 9, 1000, 1000); // another connection
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(summary->n_retransmissions, 1);
	assert_int_equal(summary->payload_bytes, 1000 + 1000 + 500 + 500 + 500 + 1000);
	assert_int_equal(got[2].payload_bytes, 500);
	assert_int_equal(got[2].wire_bytes, 500 + 66);
	const struct tb_packets_options keep = {.keep_retransmissions = true};
	assert_int_equal(read_path(&keep), 0);
	assert_int_equal(summary->n_retransmissions, 0);
	assert_int_equal(summary->payload_bytes, 6000);
}

static void a_new_connection_on_old_ports_is_new(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_syn(&capture, 0, 1, 2, 999, 1460);
	capture_tcp(&capture, 10, 1, 2, 1, 1000, 1000);
	capture_syn(&capture, 20, 1, 2, 499, 1460);
	capture_syn(&capture, 30, 1, 2, 499, 1460); // sent again
	capture_tcp(&capture, 40, 1, 2, 1, 500, 1000);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(summary->n_retransmissions, 1);
	assert_int_equal(summary->payload_bytes, 2000);
}

static void acknowledgements_are_dropped_unless_kept(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 100);
	capture_tcp(&capture, 10, 2, 1, 1, 1000, 0);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 1);
	assert_int_equal(summary->n_acks, 1);
	const struct tb_packets_options keep = {.keep_acks = true};
	assert_int_equal(read_path(&keep), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[1].payload_bytes, 0);
}

static void records_are_put_in_order_within_the_window(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 3000000, 1, 2, 1, 1000, 1);
	capture_tcp(&capture, 5000000, 1, 2, 1, 1001, 2);
	capture_tcp(&capture, 4000000, 1, 2, 1, 1003, 3);
	capture_tcp(&capture, 3500000, 1, 2, 1, 1006, 4);
	capture_tcp(&capture, 9000000, 1, 2, 1, 1010, 5);
	capture_tcp(&capture, 6000000, 1, 2, 1, 1015, 6); // 3 ms late
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	static const uint32_t order[] = {1, 4, 3, 2, 6, 5};
	static const tb_time_ps at_us[] = {0, 500, 1000, 2000, 4000, 6000};
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(got[i].payload_bytes, order[i]);
		assert_int_equal(got[i].at_ps, at_us[i] * TB_PS_PER_US);
	}
	assert_int_equal(summary->n_reordered, 3);
	assert_int_equal(summary->n_late, 1);
	assert_int_equal(summary->peak_reorder_ps, 3 * TB_PS_PER_MS);
}

static void a_span_is_cut_out_without_forgetting_what_came_before(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 1, 1000, 10);
	capture_tcp(&capture, 2000, 1, 2, 1, 1010, 10);
	capture_tcp(&capture, 3000, 1, 2, 1, 1000, 10); // again
	capture_tcp(&capture, 4000, 1, 2, 1, 1020, 10);
	capture_tcp(&capture, 5000, 1, 2, 1, 1030, 10);
	capture_end(&capture, path);
	const struct tb_packets_options span = {
		.from = {TB_INSTANT_RELATIVE, 1000}, .to = {TB_INSTANT_RELATIVE, 3000}};
	assert_int_equal(read_path(&span), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[1].at_ps, 2000 * TB_PS_PER_NS);
	assert_int_equal(summary->n_outside, 2);
	assert_int_equal(summary->n_retransmissions, 1);
	assert_int_equal(summary->n_records, 5);
	const struct tb_packets_options backwards = {
		.from = {TB_INSTANT_RELATIVE, 3}, .to = {TB_INSTANT_RELATIVE, 2}};
	assert_int_equal(read_path(&backwards), TB_EUSAGE);
	assert_int_equal(n_got, 0);
	const struct tb_packets_options behind = {.from = {TB_INSTANT_RELATIVE, 5000}};
	assert_int_equal(read_path(&behind), TB_EUSAGE);
	const struct tb_packets_options before = {.to = {TB_INSTANT_ABSOLUTE, 0}};
	assert_int_equal(read_path(&before), TB_EUSAGE);
}

// Two captures in the wrong order, and the clock set to 1970 in the second.
static void a_clock_set_back_begins_a_new_stretch(void **state)
{
	(void)state;
	static const uint64_t s = 1000000000;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 7200 * s, 1, 2, 1, 1000, 10);
	capture_tcp(&capture, 7201 * s, 1, 2, 1, 1010, 10);
	capture_tcp(&capture, 3600 * s, 1, 2, 2, 1000, 10);
	capture_tcp(&capture, 3602 * s, 1, 2, 2, 1010, 10);
	capture_tcp(&capture, 0, 1, 2, 2, 1020, 10);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	static const tb_time_ps at_s[] = {0, 1, 2, 4, 5};
	assert_int_equal(n_got, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(got[i].at_ps, at_s[i] * TB_PS_PER_S);
	assert_int_equal(summary->n_clock_steps, 2);
	assert_int_equal(summary->peak_step_ps, 3602 * TB_PS_PER_S);
	assert_int_equal(summary->n_late, 0);
	assert_int_equal(summary->first_at_ns, 0);
	assert_int_equal(summary->last_at_ns, 7201 * s);
	// A date is one of the clock, a time since the first record is not.
	const struct tb_packets_options date = {
		.from = {TB_INSTANT_ABSOLUTE, (int64_t)(3600 * s)},
		.to = {TB_INSTANT_ABSOLUTE, (int64_t)(3602 * s)}};
	assert_int_equal(read_path(&date), 0);
	assert_int_equal(n_got, 2);
	const struct tb_packets_options since = {
		.from = {TB_INSTANT_RELATIVE, (int64_t)(1 * s)},
		.to = {TB_INSTANT_RELATIVE, (int64_t)(2 * s)}};
	assert_int_equal(read_path(&since), 0);
	assert_int_equal(n_got, 2);
}

// Without its length on the wire, a frame has the one that its headers state.
static void sliced_records_are_counted(void **state)
{
	(void)state;
	struct capture capture;
	uint8_t frame[80];
	capture_begin(&capture, 1);
	for (uint32_t i = 0; i < 3; i++) {
		capture_segment(&capture, frame, 1, 2, 1, 1000 + i * 1448, 1448);
		capture_record(&capture, i * 1000, frame, 66, 66);
	}
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(summary->n_sliced, 3);
	assert_int_equal(summary->wire_bytes, 3 * 1514);
	assert_int_equal(summary->payload_bytes, 3 * 1448);
}

// Of every four packets one was captured: of 1 > 2 every 4 ms, of 1 > 3 one.
static void a_sampled_packet_stands_for_several(void **state)
{
	(void)state;
	static const uint64_t ms = 1000000;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 10);
	capture_tcp(&capture, 1 * ms, 1, 3, 2, 1000, 20);
	capture_tcp(&capture, 4 * ms, 1, 2, 1, 1400, 10);
	capture_tcp(&capture, 8 * ms, 1, 2, 1, 1800, 30);
	capture_end(&capture, path);
	const struct tb_packets_options four = {.sampled = 4};
	assert_int_equal(read_path(&four), 0);
	static const int64_t at_us[] = {0, 1000, 1000, 2000, 3000, 3000, 4000, 5000, 5000,
		6000, 7000, 7000, 8000, 10000, 12000, 14000};
	assert_int_equal(n_got, 16);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(got[i].at_ps, at_us[i] * TB_PS_PER_US);
	assert_int_equal(summary->payload_bytes, 4 * (10 + 20 + 10 + 30));
	assert_int_equal(summary->n_records, 4);
	assert_int_equal(summary->n_replayed_records, 4);
	assert_int_equal(summary->n_sampled, 4);
	assert_int_equal(summary->sampled_least, 4);
	assert_int_equal(summary->last_at_ns, 8 * ms);
	// A job cannot be inferred.
	const char *list[] = {path};
	struct tb_packet_record record;
	tb_packets_free(packets);
	assert_int_equal(tb_packets_open(&packets, list, 1, &four, &error), TB_OK);
	assert_int_equal(tb_packets_next_record(packets, &record, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "is sampled"));
}

// put_sflow puts a datagram with a sample of one packet from node 3 to 4.
static void put_sflow(struct capture *capture, uint64_t at_ns, uint32_t rate)
{
	uint8_t frame[42 + 28 + 8 + 32 + 24 + 66 + 2] = {0}, sampled[80];
	const uint32_t words[] = {5, 1, 0x0a000009, 0, 1, 1000, 1, 1, 32 + 24 + 68, 7, 3,
		rate, 9, 0, 1, 2, 1, 1, 16 + 68, 1, 1518, 4, 66};
	const size_t n = sizeof words / sizeof *words;
	capture_ip(capture, frame, 1, 2, 17, sizeof frame - 34);
	capture_put(frame + 34, 700, 2);
	capture_put(frame + 36, 6343, 2);
	capture_put(frame + 38, sizeof frame - 34, 2);
	for (size_t i = 0; i < n; i++)
		capture_put(frame + 42 + i * 4, words[i], 4);
	capture_segment(capture, sampled, 3, 4, 1, (uint32_t)at_ns * 1448, 1448);
	memcpy(frame + 42 + n * 4, sampled, 66);
	capture_record(capture, at_ns, frame, sizeof frame, sizeof frame);
}

static void sflow_samples_packets_unless_the_traffic_is_there(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	put_sflow(&capture, 1000, 100);
	put_sflow(&capture, 2000, 50);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 150);
	assert_int_equal(summary->wire_bytes, 150 * 1514);
	assert_int_equal(summary->n_records, 4); // two datagrams, two samples
	assert_int_equal(summary->n_non_ip, 2);
	assert_int_equal(summary->n_replayed_records, 1 + 1);
	assert_int_equal(summary->sampled_least, 50);
	assert_int_equal(summary->sampled_most, 100);
	assert_int_equal(summary->n_endpoints, 2);
	assert_string_equal(
		tb_packets_node_name(packets, (struct tb_node){0}), "10.77.0.3");
	capture_begin(&capture, 1);
	capture_tcp(&capture, 500, 3, 4, 1, 1000, 10);
	put_sflow(&capture, 1000, 100);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(summary->n_sampled, 0);
	assert_int_equal(summary->n_sflow, 1);
}

static void time_is_squeezed_then_scaled(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 1);
	capture_tcp(&capture, 10000000, 1, 2, 1, 1001, 1);
	capture_tcp(&capture, 10001000, 1, 2, 1, 1002, 1);
	capture_end(&capture, path);
	const struct tb_packets_options options = {
		.squeeze_idle = TB_PS_PER_MS, .time_scale = 0.5};
	assert_int_equal(read_path(&options), 0);
	assert_int_equal(got[1].at_ps, TB_PS_PER_MS / 2);
	assert_int_equal(got[2].at_ps, TB_PS_PER_MS / 2 + TB_PS_PER_US / 2);
	assert_int_equal(summary->squeezed_ps, 9 * TB_PS_PER_MS);
	assert_int_equal(summary->duration_ps, got[2].at_ps);
	// Two thirds of a nanosecond are rounded, not cut off.
	const struct tb_packets_options third = {.time_scale = 2.0 / 3};
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 1);
	capture_tcp(&capture, 1, 1, 2, 1, 1001, 1);
	capture_end(&capture, path);
	assert_int_equal(read_path(&third), 0);
	assert_int_equal(got[1].at_ps, 667);
}

static void the_load_names_the_scale_that_halves_it(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 934); // 1000 on the wire
	capture_tcp(&capture, 1000000, 1, 3, 1, 1000, 934);
	capture_end(&capture, path);
	const struct tb_packets_options options = {.time_scale = 2};
	assert_int_equal(read_path(&options), 0);
	// 2000 bytes in 1 ms, at 10 MB/s: a fifth of what the node takes, then a tenth.
	struct tb_packets_load load =
		tb_packets_load(packets, (struct tb_packets_rate){10e6, 0});
	assert_int_equal(load.busiest.id, 0);
	assert_true(load.busiest_share > 0.0999 && load.busiest_share < 0.1001);
	assert_true(load.mean_share > 0.0333 && load.mean_share < 0.0334);
	assert_true(load.half_scale > 0.3999 && load.half_scale < 0.4001);
	// 250 bytes more around each of the two frames.
	load = tb_packets_load(packets, (struct tb_packets_rate){10e6, 250});
	assert_true(load.busiest_share > 0.1249 && load.busiest_share < 0.1251);
	assert_true(load.half_scale > 0.4999 && load.half_scale < 0.5001);
}

static void endpoints_beyond_the_limit_are_counted_and_named(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 3, 1, 1, 1000, 1);
	capture_tcp(&capture, 10, 2, 1, 1, 1000, 1);
	capture_end(&capture, path);
	const struct tb_packets_options two = {.n_nodes_max = 2};
	assert_int_equal(read_path(&two), 0);
	assert_int_equal(n_got, 1);
	assert_int_equal(summary->n_unplaced, 1);
	assert_int_equal(summary->n_endpoints, 2);
	assert_int_equal(summary->n_endpoints_unplaced, 1);
	assert_string_equal(tb_packets_unplaced_name(packets, 0), "10.77.0.3");
	assert_null(tb_packets_unplaced_name(packets, 1));
}

static void a_map_gives_nodes_and_jobs(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 1);
	capture_tcp(&capture, 10, 2, 1, 1, 1000, 1);
	capture_tcp(&capture, 20, 1, 3, 1, 1000, 1); // one node with 1
	capture_tcp(&capture, 30, 1, 4, 1, 1000, 1); // not in the map
	capture_end(&capture, path);
	write_text(map_path,
		"# endpoint node job\n10.77.0.1 5 physics\n\n10.77.0.2\t2 # none\n"
		"10.77.0.3 5\r\n");
	const struct tb_packets_options mapped = {.map_file = map_path};
	assert_int_equal(read_path(&mapped), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[0].source.id, 5);
	assert_int_equal(got[0].destination.id, 2);
	assert_int_equal(summary->n_nodes, 6);
	assert_int_equal(summary->n_local, 1);
	assert_int_equal(summary->n_unplaced, 1);
	assert_int_equal(tb_packets_n_jobs(packets), 2);
	assert_string_equal(tb_packets_job_name(packets, got[0].job), "physics");
	assert_string_equal(tb_packets_job_name(packets, got[1].job), "trace");
	struct tb_map_file *map;
	assert_int_equal(tb_map_file_read(&map, map_path, NULL), TB_OK);
	assert_int_equal(tb_map_file_n_nodes(map), 6);
	assert_int_equal(tb_map_file_n_endpoints(map), 3);
	tb_map_file_free(map);
	write_text(map_path, "10.77.0.1 0\n");
	assert_int_equal(tb_map_file_read(&map, map_path, NULL), TB_OK);
	assert_int_equal(tb_map_file_n_nodes(map), 1);
	tb_map_file_free(map);
}

static void a_map_may_name_hosts(void **state)
{
	(void)state;
	struct tb_map_file *map;
	write_text(map_path, "10.77.0.1 n02 a\n10.77.0.2 n01 b\n10.77.0.3 n02 a\n");
	assert_int_equal(tb_map_file_read(&map, map_path, NULL), TB_OK);
	assert_int_equal(tb_map_file_n_nodes(map), 2);
	assert_string_equal(tb_map_file_hosts(map)[0], "n02");
	assert_string_equal(tb_map_file_hosts(map)[1], "n01");
	assert_int_equal(tb_map_file_node_at(map, 2).id, 0);
	assert_string_equal(
		tb_map_file_job_name(map, tb_map_file_job(map, (struct tb_node){1})),
		"b");
	tb_map_file_free(map);
	write_text(map_path, "10.77.0.1 2\n");
	assert_int_equal(tb_map_file_read(&map, map_path, NULL), TB_OK);
	assert_null(tb_map_file_hosts(map));
	tb_map_file_free(map);
}

static void maps_that_make_no_sense_name_the_line(void **state)
{
	(void)state;
	static const struct {
		const char *map;
		uint64_t line;
	} wrong[] = {{"10.77.0.1 0\nnode7 1\n", 2}, {"10.77.0.1\n", 1},
		{"10.77.0.1 -1\n", 1}, {"10.77.0.1 0\n10.77.0.2 n1\n", 2},
		{"10.77.0.1 99999999999\n", 1}, {"10.77.0.1 0\n10.77.0.1 1\n", 2},
		{"#\n10.77.0.1 0 a b\n", 2}, {"10.77.0.1 0 a\n10.77.0.2 0 b\n", 2}};
	struct capture capture;
	capture_begin(&capture, 1);
	capture_end(&capture, path);
	const struct tb_packets_options mapped = {.map_file = map_path};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		write_text(map_path, wrong[i].map);
		assert_int_equal(read_path(&mapped), TB_EUSAGE);
		assert_int_equal(error.place, TB_PLACE_LINE);
		assert_int_equal(error.at, wrong[i].line);
	}
	write_text(map_path, "# nothing\n");
	assert_int_equal(read_path(&mapped), TB_EUSAGE);
	const struct tb_packets_options none = {.map_file = "no/such/map"};
	assert_int_equal(read_path(&none), TB_EIO);
}

// put_roce writes a packet of RoCE v2 that sends 40 bytes by queue pair 18.
static void put_roce(struct capture *capture, uint64_t at_ns, uint32_t sequence)
{
	uint8_t frame[80];
	capture->identification = (uint16_t)sequence;
	capture_ip(capture, frame, 1, 2, 17, 8 + 12 + 40 + 4);
	capture_put(frame + 34, 49152, 2);
	capture_put(frame + 36, 4791, 2);
	capture_put(frame + 38, 8 + 12 + 40 + 4, 2);
	capture_put(frame + 42, 0x0400ffff, 4); // RC, send only
	capture_put(frame + 46, 18, 4);
	capture_put(frame + 50, sequence, 4);
	capture_record(capture, at_ns, frame, 54, 14 + 20 + 64);
}

static void a_queue_pairs_packets_may_pass_each_other(void **state)
{
	(void)state;
	static const uint32_t sequences[] = {0xfffffc, 0xffffff, 0xfffffd, 0, 0};
	struct capture capture;
	capture_begin(&capture, 1);
	for (uint32_t i = 0; i < 5; i++)
		put_roce(&capture, 1000 * i, sequences[i]);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 4);
	assert_int_equal(summary->n_retransmissions, 1);
	assert_int_equal(summary->payload_bytes, 160);
}

// Twelve nodes that all talk to each other, then a chain of sixty, and all that again.
static void many_endpoints_keep_their_pairs(void **state)
{
	(void)state;
	struct capture capture;
	uint64_t at_ns = 0;
	capture_begin(&capture, 1);
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint8_t a = 1; a <= 12; a++)
			for (uint8_t b = 1; b <= 12; b++)
				if (a != b)
					capture_tcp(&capture, at_ns++, a, b, 1,
						1000 + 10 * turn, 10);
		for (uint8_t a = 12; a < 60; a++)
			capture_tcp(&capture, at_ns++, a, (uint8_t)(a + 1), 1,
				1000 + 10 * turn, 10);
	}
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(summary->n_pairs, 12 * 11 + 48);
	for (uint64_t i = 0; i < summary->n_pairs; i++) {
		const struct tb_packets_pair *pair = tb_packets_pair(packets, i);
		assert_int_equal(pair->n_packets, 2);
		assert_int_equal(pair->payload_bytes, 20);
	}
}

static void an_end_that_is_sent_again_is_dropped(void **state)
{
	(void)state;
	struct capture capture;
	uint8_t frame[80];
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 100);
	for (uint64_t i = 1; i < 3; i++) {
		capture_segment(&capture, frame, 1, 2, 1, 1100, 0);
		frame[47] |= 1; // FIN
		capture_record(&capture, 1000 * i, frame, 66, 66);
	}
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(summary->n_retransmissions, 1);
}

static uint32_t job_at(const struct tb_map_file *map, uint32_t node)
{
	return tb_map_file_job(map, (struct tb_node){node});
}

static void those_who_talk_are_one_group(void **state)
{
	(void)state;
	struct capture capture;
	struct tb_map_file *map;
	const char *list[] = {path};
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 6, 4, 1, 1000, 1);
	capture_tcp(&capture, 10, 1, 3, 1, 1000, 1);
	capture_tcp(&capture, 20, 2, 6, 1, 1000, 1);
	capture_tcp(&capture, 30, 5, 3, 1, 1000, 1);
	capture_tcp(&capture, 40, 7, 8, 1, 1000, 1);
	capture_end(&capture, path);
	assert_int_equal(tb_survey(&map, list, 1, NULL, "group", NULL, &error), TB_OK);
	static const uint32_t jobs[] = {0, 1, 0, 1, 0, 1, 2, 2};
	for (uint32_t node = 0; node < 8; node++)
		assert_int_equal(job_at(map, node), jobs[node]);
	assert_string_equal(tb_map_file_job_name(map, 2), "group 3");
	tb_map_file_free(map);
}

// A host captures a packet on the interface of a virtual machine, then on its own.
static void what_a_tunnel_carries_counts_once(void **state)
{
	(void)state;
	struct capture capture;
	capture_ng_begin(&capture);
	capture_ng_interface(&capture, 1, 0);
	capture_ng_interface(&capture, 101, 0);
	capture_ng_interface(&capture, 1, 0);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t sequence = 1000 + i * 100;
		capture_ng_tcp(&capture, 1, i * 1000000, 1, 2, sequence, 100);
		capture_ng_tunnel(&capture, 2, i * 1000000 + 1000, 1, 2, sequence, 100);
	}
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(summary->n_duplicates, 5);
	assert_int_equal(summary->n_packets, 5);
	assert_int_equal(summary->n_nodes, 2);
	assert_string_equal(
		tb_packets_node_name(packets, (struct tb_node){0}), "10.77.0.1");
}

static void the_summary_comes_as_text_and_as_json(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 4000);
	capture_tcp(&capture, 1000000, 2, 1, 1, 1000, 0);
	capture_arp(&capture, 2000000, 1);
	capture_tcp(&capture, 3000000, 3, 1, 1, 1000, 8);
	capture_end(&capture, path);
	const struct tb_packets_options two = {.n_nodes_max = 2};
	assert_int_equal(read_path(&two), 0);
	FILE *stream = open_memstream(&text, &size);
	assert_int_equal(tb_packets_write_summary(
				 stream, packets, "", &(struct tb_packets_against){0}),
		TB_OK);
	fclose(stream);
	assert_string_equal(text,
		"records     4 read, 1 replayed\n"
		"left out    1 only acknowledging\n"
		"            1 of the links' own protocols\n"
		"            1 of endpoints without a node\n"
		"packets     3, 4.100 KiB on the wire, 3.906 KiB of payload\n"
		"time        0 ps\n"
		"endpoints   2 on 2 nodes, 1 ordered pair\n"
		"control     1 EtherType 0x0806 (ARP)\n"
		"no node for 10.77.0.3\n"
		"offloaded   1 record longer than a segment, cut\n");
	free(text);
	json_t *object =
		tb_packets_summary_json(packets, (struct tb_packets_rate){1e9, 0});
	char *json = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	assert_non_null(strstr(json, "\"n_packets\":3,"));
	assert_non_null(
		strstr(json, "\"control\":[{\"protocol\":\"EtherType 0x0806 (ARP)\","
			     "\"n_records\":1}]"));
	assert_non_null(strstr(json, "\"unplaced\":[\"10.77.0.3\"]"));
	assert_non_null(strstr(json, "\"load\":{"));
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_carry_time_nodes_and_sizes),
		cmocka_unit_test(a_large_frame_is_cut_at_the_segment_size),
		cmocka_unit_test(the_segment_size_is_that_of_the_connection),
		cmocka_unit_test(what_was_sent_again_is_dropped),
		cmocka_unit_test(a_new_connection_on_old_ports_is_new),
		cmocka_unit_test(acknowledgements_are_dropped_unless_kept),
		cmocka_unit_test(records_are_put_in_order_within_the_window),
		cmocka_unit_test(a_span_is_cut_out_without_forgetting_what_came_before),
		cmocka_unit_test(a_clock_set_back_begins_a_new_stretch),
		cmocka_unit_test(sliced_records_are_counted),
		cmocka_unit_test(a_sampled_packet_stands_for_several),
		cmocka_unit_test(sflow_samples_packets_unless_the_traffic_is_there),
		cmocka_unit_test(time_is_squeezed_then_scaled),
		cmocka_unit_test(the_load_names_the_scale_that_halves_it),
		cmocka_unit_test(endpoints_beyond_the_limit_are_counted_and_named),
		cmocka_unit_test(a_map_gives_nodes_and_jobs),
		cmocka_unit_test(a_map_may_name_hosts),
		cmocka_unit_test(maps_that_make_no_sense_name_the_line),
		cmocka_unit_test(a_queue_pairs_packets_may_pass_each_other),
		cmocka_unit_test(many_endpoints_keep_their_pairs),
		cmocka_unit_test(an_end_that_is_sent_again_is_dropped),
		cmocka_unit_test(those_who_talk_are_one_group),
		cmocka_unit_test(what_a_tunnel_carries_counts_once),
		cmocka_unit_test(the_summary_comes_as_text_and_as_json),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
