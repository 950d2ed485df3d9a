// Units, as people write them.
#include "units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void sizes_count_in_powers_of_1024(void **state)
{
	(void)state;
	uint64_t bytes;
	assert_int_equal(tb_parse_size("256K", &bytes), TB_OK);
	assert_int_equal(bytes, 262144);
	assert_int_equal(tb_parse_size("1M", &bytes), TB_OK);
	assert_int_equal(bytes, 1048576);
	assert_int_equal(tb_parse_size("0.5K", &bytes), TB_OK);
	assert_int_equal(bytes, 512);
	assert_int_equal(tb_parse_size("2 GiB", &bytes), TB_OK);
	assert_true(bytes == UINT64_C(2) << 30);
}

static void rates_count_in_powers_of_1000_and_bits_are_eighths(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes_per_s;
	} rates[] = {{"1B/s", 1}, {"2KB/s", 2000}, {"338.6MB/s", 338600000},
		{"1.2GB/s", 1200000000}, {"8 bit/s", 1}, {"8Kbit/s", 1000},
		{"100Mbit/s", 12500000}, {"10Gbit/s", 1250000000},
		{"400Gb/s", UINT64_C(50000000000)}, {"400Gbps", UINT64_C(50000000000)},
		{"8b/s", 1}, {"100Mbps", 12500000}, {"12.5gB/s", UINT64_C(12500000000)}};
	uint64_t rate = 0;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		assert_int_equal(tb_parse_rate(rates[i].text, &rate), TB_OK);
		assert_true(rate == rates[i].bytes_per_s);
	}
	assert_int_equal(tb_parse_rate("0.5B/s", &rate), TB_EUSAGE);
	assert_int_equal(tb_parse_rate("5", &rate), TB_EUSAGE);
	assert_int_equal(tb_parse_rate("400gb/s", &rate), TB_EUSAGE); // bits, or bytes?
	assert_int_equal(tb_parse_rate("400mbps", &rate), TB_EUSAGE);
}

static void bounds_are_allowed_themselves(void **state)
{
	(void)state;
	uint64_t count = 0, bytes = 0;
	double real = 0;
	tb_time_ps time = 0;
	assert_int_equal(tb_parse_count("3", 3, 5, &count), TB_OK);
	assert_int_equal(tb_parse_count("5", 3, 5, &count), TB_OK);
	assert_int_equal(tb_parse_count("2", 3, 5, &count), TB_EUSAGE);
	assert_int_equal(tb_parse_count("6", 3, 5, &count), TB_EUSAGE);
	assert_int_equal(count, 5);
	assert_int_equal(
		tb_parse_count("18446744073709551615", 0, UINT64_MAX, &count), TB_OK);
	assert_int_equal(
		tb_parse_count("18446744073709551616", 0, UINT64_MAX, &count), TB_EUSAGE);
	assert_int_equal(tb_parse_real("0.5", 0.5, 2, &real), TB_OK);
	assert_int_equal(tb_parse_real("2", 0.5, 2, &real), TB_OK);
	assert_int_equal(tb_parse_real("0.4999", 0.5, 2, &real), TB_EUSAGE);
	assert_int_equal(tb_parse_real("2.001", 0.5, 2, &real), TB_EUSAGE);
	assert_true(real == 2);
	// Sizes end where doubles are no longer whole, times at 9.2e18 ps.
	assert_int_equal(tb_parse_size("9007199254740991", &bytes), TB_OK);
	assert_int_equal(tb_parse_size("9007199254740992", &bytes), TB_EUSAGE);
	assert_int_equal(tb_parse_time("9199999s", &time), TB_OK);
	assert_int_equal(tb_parse_time("9200000s", &time), TB_EUSAGE);
}

static void nonsense_is_refused_and_leaves_the_result(void **state)
{
	(void)state;
	uint64_t bytes = 7;
	static const char *const wrong[] = {
		"", "-1", "x", "1Q", "0x10", "nan", "inf", "1.5", "1e99G", " 5", "5 5"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(tb_parse_size(wrong[i], &bytes), TB_EUSAGE);
	assert_int_equal(bytes, 7);
	tb_time_ps time;
	assert_int_equal(tb_parse_time("5", &time), TB_EUSAGE);
	assert_int_equal(tb_parse_time("200d", &time), TB_EUSAGE);
}

static void times_keep_the_picosecond(void **state)
{
	(void)state;
	tb_time_ps time;
	assert_int_equal(tb_parse_time("2.2us", &time), TB_OK);
	assert_int_equal(time, 2200000);
	assert_int_equal(tb_parse_time("1ps", &time), TB_OK);
	assert_int_equal(time, 1);
	assert_int_equal(tb_parse_time("0", &time), TB_OK);
	assert_int_equal(time, 0);
}

static void numbers_are_shown_with_four_digits_and_a_unit(void **state)
{
	(void)state;
	char text[32];
	assert_string_equal(tb_format_time(1234567, text, sizeof text), "1.235 us");
	assert_string_equal(tb_format_time(999999, text, sizeof text), "1.000 us");
	assert_string_equal(tb_format_size(262144, text, sizeof text), "256 KiB");
	assert_string_equal(
		tb_format_time_as(870200000, 1000000000, text, sizeof text), "0.870 ms");
	assert_string_equal(
		tb_format_time_as(3401000000, 870200000, text, sizeof text), "3401 us");
	assert_string_equal(
		tb_format_time_as(7, 1000000000, text, sizeof text), "<0.001 ms");
	assert_string_equal(tb_format_time_as(0, 1000000000, text, sizeof text), "0 ms");
	assert_string_equal(
		tb_format_size_as(1048576, 1024, text, sizeof text), "1024 KiB");
	assert_string_equal(tb_format_rate(338.62e6, text, sizeof text), "338.6 MB/s");
	assert_string_equal(tb_format_count(1234567, text, sizeof text), "1,234,567");
	assert_string_equal(tb_format_count(123456, text, sizeof text), "123,456");
	assert_string_equal(tb_format_count(999, text, sizeof text), "999");
}

static void shares_are_shown_without_powers_of_ten(void **state)
{
	(void)state;
	char text[40];
	assert_string_equal(tb_format_percent(12.345, text, sizeof text), "12.3 %");
	assert_string_equal(tb_format_percent(0.000136, text, sizeof text), "0.000136 %");
	assert_string_equal(tb_format_percent(999.7, text, sizeof text), "1,000 %");
	assert_string_equal(tb_format_percent(2664.2, text, sizeof text), "2,664 %");
	assert_string_equal(tb_format_percent(1e300, text, sizeof text), "1e+300 %");
}

static void counted_things_have_their_plural(void **state)
{
	(void)state;
	static const struct {
		uint64_t count;
		const char *noun, *text;
	} things[] = {{0, "packet", "0 packets"}, {1, "packet", "1 packet"},
		{1234, "packet", "1,234 packets"}, {1, "switch|switches", "1 switch"},
		{2, "switch|switches", "2 switches"}};
	char text[48];
	for (size_t i = 0; i < sizeof things / sizeof *things; i++)
		assert_string_equal(tb_format_counted(things[i].count, things[i].noun,
					    text, sizeof text),
			things[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_things_have_their_plural),
		cmocka_unit_test(sizes_count_in_powers_of_1024),
		cmocka_unit_test(rates_count_in_powers_of_1000_and_bits_are_eighths),
		cmocka_unit_test(bounds_are_allowed_themselves),
		cmocka_unit_test(nonsense_is_refused_and_leaves_the_result),
		cmocka_unit_test(times_keep_the_picosecond),
		cmocka_unit_test(numbers_are_shown_with_four_digits_and_a_unit),
		cmocka_unit_test(shares_are_shown_without_powers_of_ten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
