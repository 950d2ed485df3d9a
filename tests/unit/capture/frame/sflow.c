// Datagrams of sFlow version 5, written word by word.
#include "sflow.h"

#include "../../../support/frame_hex.h"

#define AGENT	 "00000005 00000001 0a000009 00000000 0000004d 000186a0 "
#define COUNTERS "00000002 0000000c 00000001 00000002 00000000 "
#define SWITCHED "000003e9 00000010 00000001 00000000 00000002 00000000 "
#define FRAME_64                                                                         \
	"024d00000002 024d00000001 0800 4500 05dc 1234 4000 40 06 0e4c 0a4d0001 "        \
	"0a4d0002 "                                                                      \
	"9c40 1389 00000064 00000001 5018 0100 0000 0000 0000 00000000 00000000 "
#define HEADER(protocol, length)                                                         \
	"00000001 00000050 " protocol " " length " 00000004 00000040 " FRAME_64
#define FIELDS_4                                                                         \
	"00000003 00000020 000005dc 00000006 0a4d0001 0a4d0002 00009c40 00001389 "       \
	"00000010 00000000 "
#define FIELDS_6                                                                         \
	"00000004 00000038 00000578 00000011 fd000000000000000000000000000001 "          \
	"fd000000000000000000000000000002 000003e8 000007d0 00000000 00000000 "

// A flow sample of one or two records; `length` is that of all that follows it.
#define FLOW(length, rate, n, records)                                                   \
	"00000001 " length " 00000007 00000003 " rate " 00002328 00000000 00000001 "     \
	"00000002 " n " " records
#define EXPANDED(length, rate, n, records)                                               \
	"00000003 " length " 00000007 00000000 00000003 " rate " 00002328 00000000 "     \
	"00000000 00000001 00000000 00000002 " n " " records

static uint8_t bytes[1024];
static struct tb_sflow sflow;
static struct tb_sflow_sample sample;

// begin begins a datagram of which all but the last `cut` bytes were captured.
static bool begin(const char *hex, size_t cut)
{
	size_t n = 0;
	for (; *hex; hex += *hex == ' ' ? 1 : 2) {
		char digits[3] = {hex[0], hex[1], 0};
		if (*hex != ' ')
			bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return tb_sflow_begin(&sflow, (struct tb_bytes){bytes, n - cut});
}

static void check_sample(uint32_t stands_for, uint32_t payload, const char *source)
{
	struct tb_frame frame;
	struct tb_frame_ends ends;
	char text[TB_ADDRESS_TEXT_SIZE];
	assert_true(tb_sflow_next(&sflow, &sample));
	assert_int_equal(sample.stands_for, stands_for);
	tb_frame_decode(
		&frame, &ends, sample.link_type, sample.bytes, sample.wire_bytes, true);
	assert_int_equal(frame.kind, TB_FRAME_DATA);
	assert_false(frame.sliced);
	assert_int_equal(frame.payload_bytes, payload);
	assert_string_equal(tb_address_format(&ends.source, text, sizeof text), source);
}

static void headers_of_packets_are_read_with_their_rates(void **state)
{
	(void)state;
	assert_true(begin(AGENT "00000003 " FLOW("00000090", "000003e8", "00000002",
				  SWITCHED HEADER("00000001", "000005ee"))
				  COUNTERS EXPANDED("00000084", "00000200", "00000001",
					  HEADER("00000001", "000005ee")),
		0));
	check_sample(1000, 1460, "10.77.0.1");
	assert_int_equal(sample.wire_bytes, 1514); // without the FCS
	check_sample(512, 1460, "10.77.0.1");
	assert_false(tb_sflow_next(&sflow, &sample));
}

static void fields_of_ip_are_read_where_there_is_no_header(void **state)
{
	(void)state;
	assert_true(begin("00000005 00000002 20010000000000000000000000000001 00000000 "
			  "0000004d 000186a0 00000002 " FLOW(
				  "00000060", "00000064", "00000002", SWITCHED FIELDS_4)
				  FLOW("00000060", "00000000", "00000001", FIELDS_6),
		0));
	check_sample(100, 1460, "10.77.0.1");
	check_sample(1, 1352, "fd00::1"); // a rate of 0 is none
	assert_false(tb_sflow_next(&sflow, &sample));
}

static void what_is_cut_off_ends_the_datagram(void **state)
{
	(void)state;
	for (size_t cut = 1; cut < 150; cut++) {
		assert_true(
			begin(AGENT "00000001 " FLOW("00000090", "000003e8", "00000002",
				      SWITCHED HEADER("00000001", "000005ee")),
				cut));
		while (tb_sflow_next(&sflow, &sample))
			assert_true(sample.bytes.n <= 64 - (cut < 64 ? cut : 64));
	}
	assert_false(begin(AGENT, 0));
	assert_false(begin("00000004 00000001 0a000009 00000000 00000001 ", 0));
	assert_false(begin("00000005 00000003 0a000009 00000000 00000001 ", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_packets_are_read_with_their_rates),
		cmocka_unit_test(fields_of_ip_are_read_where_there_is_no_header),
		cmocka_unit_test(what_is_cut_off_ends_the_datagram),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
