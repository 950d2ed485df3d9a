// Packet traces from several captures, of all kinds, and from broken ones.
#include "../../support/packets_read.h"

#include "packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

static void standard_input_reads_as_a_file_does(void **state)
{
	(void)state;
	struct capture capture;
	capture_ng_begin(&capture);
	capture_ng_interface(&capture, 1, 262144);
	capture_ng_tcp(&capture, 0, 1000, 1, 2, 1000, 10);
	capture_end(&capture, path);
	int kept = dup(STDIN_FILENO);
	assert_non_null(freopen(path, "rb", stdin));
	const char *dash[] = {"-"};
	assert_int_equal(read_paths(dash, 1, NULL), 0);
	assert_int_equal(n_got, 1);
	assert_true(tb_packets_fraction(packets) == 1);
	assert_int_not_equal(dup2(kept, STDIN_FILENO), -1);
	close(kept);
}

static void time_beyond_106_days_is_refused(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 1);
	capture_tcp(&capture, UINT64_C(1000000000) * 80000, 1, 2, 1, 1001, 1);
	capture_end(&capture, path);
	const struct tb_packets_options slow = {.time_scale = 1000};
	assert_int_equal(read_path(&slow), TB_ECAPACITY);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(got[1].at_ps, 80000 * TB_PS_PER_S);
}

static void inputs_merge_by_time_and_copies_count_once(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1000, 1, 2, 1, 1000, 10);
	capture_tcp(&capture, 9000, 1, 2, 1, 1010, 30);
	capture_end(&capture, path);
	capture_begin(&capture, 1);
	capture_tcp(&capture, 1500, 1, 2, 1, 1000, 10); // the first, a moment later
	capture_tcp(&capture, 5000, 2, 1, 1, 1000, 20);
	capture_end(&capture, other);
	const char *both[] = {path, other};
	assert_int_equal(read_paths(both, 2, NULL), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(got[1].payload_bytes, 20);
	assert_int_equal(got[2].payload_bytes, 30);
	assert_int_equal(summary->n_duplicates, 1);
	const struct tb_packets_options all = {
		.dedup = TB_NO, .keep_retransmissions = true};
	assert_int_equal(read_paths(both, 2, &all), 0);
	assert_int_equal(n_got, 4);
}

static void of_equal_stamps_the_first_input_comes_first(void **state)
{
	(void)state;
	struct capture capture;
	const char *const names[] = {other, path};
	for (uint32_t i = 0; i < 2; i++) {
		capture_begin(&capture, 1);
		capture_tcp(&capture, 1000, 1, 2, (uint16_t)(i + 1), 1000, 10 + i);
		capture_end(&capture, names[i]);
	}
	assert_int_equal(read_paths(names, 2, NULL), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(got[0].payload_bytes, 10);
	assert_int_equal(got[1].payload_bytes, 11);
}

static void alike_frames_of_one_point_are_no_copies(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_udp(&capture, 1000, 1, 2, 100);
	capture_udp(&capture, 2000, 1, 2, 100);
	capture_end(&capture, path);
	capture_begin(&capture, 1);
	capture_udp(&capture, 1100, 1, 2, 100);
	capture_udp(&capture, 2100, 1, 2, 100);
	capture_end(&capture, other);
	const char *both[] = {path, other};
	assert_int_equal(read_paths(both, 2, NULL), 0);
	assert_int_equal(n_got, 2);
	const struct tb_packets_options always = {.dedup = TB_YES};
	assert_int_equal(read_path(&always), 0);
	assert_int_equal(n_got, 1);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2);
}

static void both_magics_and_byte_orders_read(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++)
		for (int nano = 0; nano < 2; nano++) {
			struct capture capture;
			capture_begin(&capture, 1);
			capture.micro = !nano;
			capture.swapped = swapped;
			capture_tcp(&capture, 1000000, 1, 2, 1, 1000, 10);
			capture_tcp(&capture, 1003000, 1, 2, 1, 1010, 10);
			capture_end(&capture, path);
			assert_int_equal(read_path(NULL), 0);
			assert_int_equal(n_got, 2);
			assert_int_equal(got[1].at_ps, 3 * TB_PS_PER_US);
		}
}

// Where the next number of 4 bytes goes, in the byte order of the file.
static void capture_patch(struct capture *capture, size_t at, uint32_t value)
{
	size_t n = capture->n;
	capture->n = at;
	capture_word(capture, value, 4);
	capture->n = n;
}

// Files of this byte order and version are read without libpcap, those of the other one
// with it. What is wrong in the second of two records, both tell in the same words.
static void libpcap_and_the_own_reader_tell_the_same(void **state)
{
	(void)state;
	static const struct {
		size_t less, at; // bytes cut off at the end; where a number is put
		uint32_t value;
		size_t n_records;
		const char *says; // NULL: it reads
	} cases[] = {
		{0, 16, 20, 2, NULL},	    // the file's limit is below what it holds
		{0, 106 + 12, 60, 2, NULL}, // longer than it was on the wire
		{0, 106 + 4, 1000000000, 1, "its part of a second"},
		{0, 106 + 4, UINT32_MAX, 1, "its part of a second"},
		{0, 106 + 8, 262145, 1, "length 262145, bigger than"},
		{0, 106 + 8, UINT32_MAX, 1, "length 4294967295, bigger than"},
		{0, 106 + 8, 67, 1, "read 67 captured bytes, only got 66"},
		{0, 106 + 8, 262144, 1, "read 262144 captured bytes, only got 66"},
		{1, 16, 262144, 1, "read 66 captured bytes, only got 65"},
		{66, 16, 262144, 1, "read 66 captured bytes, only got 0"},
		{67, 16, 262144, 1, "read 16 header bytes, only got 15"},
		{81, 16, 262144, 1, "read 16 header bytes, only got 1"},
		{82, 16, 262144, 1, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char said[sizeof error.text] = "";
		for (int swapped = 0; swapped < 2; swapped++) {
			struct capture capture;
			capture_begin(&capture, 1);
			capture.swapped = swapped;
			capture_tcp(&capture, 1000, 1, 2, 1, 1000, 10);
			capture_tcp(&capture, 2000, 1, 2, 1, 1010, 10);
			capture_head(&capture);
			capture_patch(&capture, cases[i].at, cases[i].value);
			capture.n -= cases[i].less;
			capture_end(&capture, path);
			assert_int_equal(
				read_path(NULL), cases[i].says ? TB_EFORMAT : TB_OK);
			assert_int_equal(summary->n_records, cases[i].n_records);
			assert_int_equal(summary->n_undecodable, i == 0 ? 2 : 0);
			if (cases[i].says)
				assert_non_null(strstr(error.text, cases[i].says));
			assert_int_equal(error.at, cases[i].says ? 2 : 0);
			// What the limit is called depends on libpcap's version.
			char *limit = strstr(error.text, "bigger than");
			if (limit)
				*limit = '\0';
			if (swapped)
				assert_string_equal(error.text, said);
			snprintf(said, sizeof said, "%s", error.text);
		}
	}
}

static void interfaces_of_different_link_types_read(void **state)
{
	(void)state;
	struct capture capture;
	capture_ng_begin(&capture);
	capture_ng_interface(&capture, 1, 262144);   // Ethernet
	capture_ng_interface(&capture, 101, 100);    // raw IP
	capture_ng_interface(&capture, 105, 262144); // wireless: not read
	capture_ng_tcp(&capture, 0, 1000, 1, 2, 1000, 10);
	capture_ng_tcp(&capture, 1, 1500, 1, 2, 1000, 10);
	capture_ng_tcp(&capture, 1, 3000, 2, 1, 1000, 20);
	capture_ng_tcp(&capture, 2, 4000, 2, 1, 1020, 20);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(summary->n_duplicates, 1);
	assert_int_equal(summary->n_undecodable, 1);
	assert_int_equal(got[1].payload_bytes, 20);
	assert_int_equal(got[1].wire_bytes, 20 + 66);
	assert_int_equal(got[1].at_ps, 2 * TB_PS_PER_US);
}

static void a_cut_capture_gives_what_is_whole_then_names_the_record(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_tcp(&capture, 0, 1, 2, 1, 1000, 10);
	capture_tcp(&capture, 10, 1, 2, 1, 1010, 10);
	capture.n -= 20;
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_int_equal(n_got, 1);
	assert_int_equal(error.place, TB_PLACE_RECORD);
	assert_int_equal(error.at, 2);
	assert_non_null(strstr(error.text, "mid-packet"));
	assert_string_equal(error.file, path);
	// Together with an undamaged file, that one is read to its end first.
	capture_begin(&capture, 1);
	capture_tcp(&capture, 5000, 2, 1, 1, 1000, 10);
	capture_end(&capture, other);
	const char *both[] = {path, other};
	assert_int_equal(read_paths(both, 2, NULL), TB_EFORMAT);
	assert_int_equal(n_got, 2);
}

static void a_broken_block_ends_a_pcapng_where_it_is(void **state)
{
	(void)state;
	struct capture capture;
	capture_ng_begin(&capture);
	capture_ng_interface(&capture, 1, 262144);
	capture_ng_tcp(&capture, 0, 1000, 1, 2, 1000, 10);
	size_t second = capture.n;
	capture_ng_tcp(&capture, 0, 2000, 1, 2, 1010, 10);
	capture_ng_tcp(&capture, 0, 3000, 1, 2, 1020, 10);
	capture.bytes[second + 20] = 200; // more captured bytes than the block has
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_int_equal(n_got, 1);
	assert_int_equal(error.at, 2);
	assert_non_null(strstr(error.text, "200 captured bytes"));
	capture.bytes[second + 20] = 66;
	capture.n -= 30;
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_int_equal(n_got, 2);
	assert_int_equal(error.at, 3);
	assert_non_null(strstr(error.text, "mid-block"));
}

static void cut_and_corrupt_compression_is_reported(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	for (uint32_t i = 0; i < 50; i++)
		capture_tcp(&capture, i, 1, 2, 1, 1000 + i * 10, 10);
	capture_head(&capture);
	uint8_t packed[sizeof capture.bytes];
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	z.next_in = capture.bytes;
	z.avail_in = (uInt)capture.n;
	z.next_out = packed;
	z.avail_out = sizeof packed;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t n = z.total_out;
	deflateEnd(&z);
	memcpy(capture.bytes, packed, n);
	capture.n = n;
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), 0);
	assert_int_equal(n_got, 50);
	capture.n = n / 2;
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "gzip"));
}

static void foreign_empty_and_broken_inputs_are_refused(void **state)
{
	(void)state;
	struct capture capture;
	write_text(path, "num_ranks 2\n");
	assert_int_equal(read_path(NULL), TB_EFOREIGN);
	write_text(path, "");
	assert_int_equal(read_path(NULL), TB_EFOREIGN);
	write_text(path, "\x1f\x8b");
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	capture_begin(&capture, 1);
	capture.n = 10;
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	capture_begin(&capture, 147);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_non_null(strstr(error.text, "link type 147 (USER0)"));
	capture_ng_begin(&capture);
	capture.bytes[8] = 0; // the byte order
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	capture_ng_begin(&capture);
	capture_ng_interface(&capture, 1, 0);
	capture_ng_tcp(&capture, 0, 1, 1, 2, 1000, 10);
	capture.bytes[capture.n - 3] = 0xff; // the last block's trailing length
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_int_equal(error.at, 1);
	const char *none[] = {"no/such/file"};
	assert_int_equal(read_paths(none, 1, NULL), TB_EIO);
	assert_int_equal(read_paths(none, 0, NULL), TB_EUSAGE);
	const struct tb_packets_options wild = {.time_scale = -1};
	assert_int_equal(read_path(&wild), TB_EUSAGE);
}

static void a_capture_without_packets_is_refused(void **state)
{
	(void)state;
	struct capture capture;
	capture_begin(&capture, 1);
	capture_end(&capture, path);
	assert_int_equal(read_path(NULL), TB_EFORMAT);
	assert_int_equal(summary->n_records, 0);
	assert_true(
		tb_packets_load(packets, (struct tb_packets_rate){1e9, 0}).half_scale ==
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_input_reads_as_a_file_does),
		cmocka_unit_test(time_beyond_106_days_is_refused),
		cmocka_unit_test(inputs_merge_by_time_and_copies_count_once),
		cmocka_unit_test(of_equal_stamps_the_first_input_comes_first),
		cmocka_unit_test(alike_frames_of_one_point_are_no_copies),
		cmocka_unit_test(both_magics_and_byte_orders_read),
		cmocka_unit_test(libpcap_and_the_own_reader_tell_the_same),
		cmocka_unit_test(interfaces_of_different_link_types_read),
		cmocka_unit_test(a_cut_capture_gives_what_is_whole_then_names_the_record),
		cmocka_unit_test(a_broken_block_ends_a_pcapng_where_it_is),
		cmocka_unit_test(cut_and_corrupt_compression_is_reported),
		cmocka_unit_test(foreign_empty_and_broken_inputs_are_refused),
		cmocka_unit_test(a_capture_without_packets_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
