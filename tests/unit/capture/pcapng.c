// Records of pcapng have the stamps, sizes and interfaces of their blocks, in either byte
// order, and impossible values are an error at their record.
#include "capture_file.h"

#include "../../capture_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/dlt.h>

static char path[] = "pcapng_XXXXXX";
static struct capture capture;
static struct tb_record got[8];
static size_t n_got;
static struct tb_error error;

// begin_block and end_block write what surrounds a block's body.
static size_t begin_block(uint32_t type)
{
	size_t at = capture.n;
	capture_word(&capture, type, 4);
	capture_word(&capture, 0, 4);
	return at;
}

static void end_block(size_t at)
{
	while (capture.n % 4 != 0)
		capture.bytes[capture.n++] = 0;
	uint32_t length = (uint32_t)(capture.n - at + 4);
	capture_word(&capture, length, 4);
	size_t end = capture.n;
	capture.n = at + 4;
	capture_word(&capture, length, 4);
	capture.n = end;
}

static void section(bool swapped, uint16_t minor)
{
	capture.swapped = swapped;
	size_t at = begin_block(0x0a0d0d0a);
	capture_word(&capture, 0x1a2b3c4d, 4);
	capture_word(&capture, 1, 2);
	capture_word(&capture, minor, 2);
	capture_word(&capture, UINT64_MAX, 8);
	end_block(at);
}

static void interface(uint16_t link_type, uint32_t snapshot_bytes)
{
	size_t at = begin_block(1);
	capture_word(&capture, link_type, 2);
	capture_word(&capture, 0, 2);
	capture_word(&capture, snapshot_bytes, 4);
	end_block(at);
}

static void timed_interface(uint8_t resolution, int64_t offset_s)
{
	size_t at = begin_block(1);
	capture_word(&capture, 1, 2);
	capture_word(&capture, 0, 2);
	capture_word(&capture, 0, 4);
	capture_word(&capture, 2, 2); // its name, which the reader skips
	capture_word(&capture, 3, 2);
	memcpy(capture.bytes + capture.n, "lo0", 4);
	capture.n += 4;
	capture_word(&capture, 9, 2);
	capture_word(&capture, 1, 2);
	capture.bytes[capture.n] = resolution;
	capture.n += 4;
	capture_word(&capture, 14, 2);
	capture_word(&capture, 8, 2);
	capture_word(&capture, (uint64_t)offset_s, 8);
	capture_word(&capture, 0, 4);
	end_block(at);
}

// packet writes an enhanced block, or an obsolete one, whose interface has 16 bits, with
// `captured` bytes of data: 0, 1, 2 and so on.
static void packet(uint32_t type, uint32_t number, uint64_t ticks, uint8_t captured)
{
	size_t at = begin_block(type);
	capture_word(&capture, number, type == 2 ? 2 : 4);
	if (type == 2)
		capture_word(&capture, 7, 2); // drops
	capture_word(&capture, ticks >> 32, 4);
	capture_word(&capture, ticks & UINT32_MAX, 4);
	capture_word(&capture, captured, 4);
	capture_word(&capture, captured + 1000, 4);
	for (uint8_t i = 0; i < captured; i++)
		capture.bytes[capture.n++] = i;
	end_block(at);
}

static void begin(void)
{
	memset(&capture, 0, sizeof capture);
	capture.ng = true;
	section(false, 0);
}

// take reads the file that was written, and returns how that ended.
static int take(void)
{
	struct tb_capture_file *file;
	capture_end(&capture, path);
	n_got = 0;
	error = (struct tb_error){0};
	int status = tb_capture_file_open(&file, path, NULL, &error);
	if (status != TB_OK)
		return status;
	while (n_got < 8 &&
		(status = tb_capture_file_next(file, &got[n_got], &error)) == 1) {
		for (size_t i = 0; i < got[n_got].bytes.n; i++)
			assert_int_equal(got[n_got].bytes.data[i], i);
		n_got++;
	}
	tb_capture_file_free(file);
	return status;
}

static void sections_have_their_own_interfaces_and_byte_orders(void **state)
{
	(void)state;
	begin();
	interface(1, 0);
	packet(6, 0, 5, 61);
	interface(101, 0);
	packet(2, 1, 6, 62);
	section(true, 2); // version 1.2 is 1.0
	interface(113, 0);
	packet(6, 0, 7, 63);
	packet(2, 0, 8, 64);
	section(false, 0);
	interface(1, 0);
	packet(6, 0, 9, 65);
	assert_int_equal(take(), 0);
	assert_int_equal(n_got, 5);
	static const int types[] = {
		DLT_EN10MB, DLT_RAW, DLT_LINUX_SLL, DLT_LINUX_SLL, DLT_EN10MB};
	static const uint32_t interfaces[] = {0, 1, 2, 2, 3};
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(got[i].at_ns, 5000 + 1000 * i);
		assert_int_equal(got[i].bytes.n, 61 + i);
		assert_int_equal(got[i].wire_bytes, 1061 + i);
		assert_int_equal(got[i].link_type, types[i]);
		assert_int_equal(got[i].interface, interfaces[i]);
	}
}

static void stamps_of_any_resolution_are_nanoseconds(void **state)
{
	(void)state;
	static const struct {
		uint8_t resolution;
		int64_t offset_s;
		uint64_t ticks;
		int64_t at_ns;
	} rows[] = {{6, 0, 1700000000123456, 1700000000123456000},
		{9, 0, 1700000000123456789, 1700000000123456789}, {0, 0, 3, 3000000000},
		{3, 7, 1500, 8500000000}, {12, 0, 1234567891234, 1234567891},
		{19, 1, 15000000000000000000u, 2500000000}, {0x80, 0, 2, 2000000000},
		{0x80 | 10, 0, 1536, 1500000000},
		{0x80 | 63, 1, (uint64_t)3 << 61, 1750000000}, {9, -1, 1000000005, 5},
		{0, INT64_MAX, 9, INT64_C(9000000000000000000)},
		{0, 0, UINT64_MAX, INT64_C(9000000000000000000)}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int swapped = 0; swapped < 2; swapped++) {
			begin();
			section(swapped, 0);
			timed_interface(rows[i].resolution, rows[i].offset_s);
			packet(6, 0, rows[i].ticks, 60);
			assert_int_equal(take(), 0);
			assert_int_equal(n_got, 1);
			assert_int_equal(got[0].at_ns, rows[i].at_ns);
		}
}

static void a_simple_packet_has_the_first_interfaces_length(void **state)
{
	(void)state;
	begin();
	interface(1, 20);
	for (uint32_t wire = 19; wire < 22; wire++) {
		size_t at = begin_block(3);
		capture_word(&capture, wire, 4);
		for (uint8_t i = 0; i < 20 && i < wire; i++)
			capture.bytes[capture.n++] = i;
		end_block(at);
	}
	assert_int_equal(take(), 0);
	assert_int_equal(n_got, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(got[i].bytes.n, i == 0 ? 19 : 20);
		assert_int_equal(got[i].wire_bytes, 19 + i);
		assert_int_equal(got[i].at_ns, 0);
		assert_true(got[i].untimed);
	}
}

static void a_packet_without_time_has_that_of_the_one_before(void **state)
{
	(void)state;
	begin();
	interface(1, 20);
	packet(6, 0, 5000000, 4);
	size_t at = begin_block(3);
	capture_word(&capture, 1, 4);
	capture_word(&capture, 0, 4);
	end_block(at);
	packet(6, 0, 5000001, 4);
	assert_int_equal(take(), 0);
	assert_int_equal(n_got, 3);
	static const int64_t at_ns[] = {5000000000, 5000000000, 5000001000};
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(got[i].at_ns, at_ns[i]);
		assert_int_equal(got[i].untimed, i == 1);
	}
}

static void other_blocks_are_passed_over(void **state)
{
	(void)state;
	static const uint32_t types[] = {4, 5, 10, 0xbad, 0x80000001};
	begin();
	interface(1, 0);
	for (size_t i = 0; i < 5; i++) {
		size_t at = begin_block(types[i]);
		capture.n += 4 * i;
		end_block(at);
	}
	packet(6, 0, 1, 60);
	assert_int_equal(take(), 0);
	assert_int_equal(n_got, 1);
}

static void a_capture_without_interfaces_is_empty(void **state)
{
	(void)state;
	begin();
	assert_int_equal(take(), 0);
	assert_int_equal(n_got, 0);
}

static void assert_fails_at(uint64_t record, const char *text)
{
	assert_int_equal(take(), TB_EFORMAT);
	assert_int_equal(n_got, record - 1);
	assert_int_equal(error.at, record);
	if (!strstr(error.text, text))
		fail_msg("'%s' is not in '%s'", text, error.text);
}

static void what_cannot_be_is_an_error_at_its_record(void **state)
{
	(void)state;
	begin();
	packet(6, 0, 1, 60);
	assert_fails_at(1, "names interface 0, but its section has 0");
	begin();
	interface(1, 0);
	packet(6, 0, 1, 60);
	packet(6, 1, 1, 60);
	assert_fails_at(2, "names interface 1, but its section has 1");
	begin();
	interface(1, 0);
	section(false, 0);
	packet(2, 0, 1, 60);
	assert_fails_at(1, "names interface 0");
	begin();
	timed_interface(20, 0);
	assert_fails_at(1, "10 to the -20: expected at most 19");
	begin();
	timed_interface(0x80 | 64, 0);
	assert_fails_at(1, "2 to the -64: expected at most 63");
	begin();
	interface(1, 0);
	section(false, 1);
	assert_fails_at(1, "version 1.1");
	for (uint32_t type = 1; type <= 6; type++) {
		begin();
		end_block(begin_block(type));
		if (type == 4 || type == 5)
			assert_int_equal(take(), 0);
		else
			assert_fails_at(1, "too short");
	}
}

static void dates_before_1970_are_refused(void **state)
{
	(void)state;
	begin();
	timed_interface(9, -2);
	packet(6, 0, 2000000000, 60);
	packet(6, 0, 1999999999, 60);
	assert_fails_at(2, "is dated before 1970: expected a date since then");
	assert_int_equal(got[0].at_ns, 0);
}

// libpcap takes the seconds of pcap for signed.
static void seconds_of_pcap_go_on_after_2038(void **state)
{
	(void)state;
	static const uint64_t at_s[] = {INT32_MAX, UINT64_C(1) << 31, UINT32_MAX};
	uint8_t frame[60];
	for (uint8_t i = 0; i < sizeof frame; i++)
		frame[i] = i;
	for (int swapped = 0; swapped < 4; swapped++) {
		capture_begin(&capture, DLT_EN10MB);
		capture.swapped = swapped & 1;
		capture.micro = swapped & 2;
		for (size_t i = 0; i < 3; i++)
			capture_record(&capture, at_s[i] * 1000000000 + 7000, frame,
				sizeof frame, sizeof frame);
		assert_int_equal(take(), 0);
		assert_int_equal(n_got, 3);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(got[i].at_ns, at_s[i] * 1000000000 + 7000);
	}
}

static void an_option_beyond_its_block_is_an_error(void **state)
{
	(void)state;
	begin();
	size_t at = begin_block(1);
	capture_word(&capture, 1, 8);
	capture_word(&capture, 2, 2);
	capture_word(&capture, 5, 2); // but only 4 bytes are left
	capture_word(&capture, 0, 4);
	end_block(at);
	assert_fails_at(1, "too short");
}

static void a_cut_is_an_error_wherever_it_is(void **state)
{
	(void)state;
	begin();
	interface(1, 0);
	packet(6, 0, 1, 60);
	size_t first = capture.n;
	packet(6, 0, 1, 60);
	for (size_t n = capture.n - 1; n > first; n--) {
		capture.n = n;
		assert_fails_at(2, "ends in mid-block");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_have_their_own_interfaces_and_byte_orders),
		cmocka_unit_test(stamps_of_any_resolution_are_nanoseconds),
		cmocka_unit_test(a_simple_packet_has_the_first_interfaces_length),
		cmocka_unit_test(a_packet_without_time_has_that_of_the_one_before),
		cmocka_unit_test(other_blocks_are_passed_over),
		cmocka_unit_test(a_capture_without_interfaces_is_empty),
		cmocka_unit_test(what_cannot_be_is_an_error_at_its_record),
		cmocka_unit_test(dates_before_1970_are_refused),
		cmocka_unit_test(seconds_of_pcap_go_on_after_2038),
		cmocka_unit_test(an_option_beyond_its_block_is_an_error),
		cmocka_unit_test(a_cut_is_an_error_wherever_it_is),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}
