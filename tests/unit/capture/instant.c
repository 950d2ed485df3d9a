// Instants that users name: by the capture's clock, or from its beginning.
#include "instant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_instant(const char *text, enum tb_instant_kind kind, int64_t ns)
{
	struct tb_instant instant = {TB_INSTANT_NONE, -1};
	assert_int_equal(tb_instant_parse(text, &instant), TB_OK);
	assert_int_equal(instant.kind, kind);
	assert_int_equal(instant.ns, ns);
}

static void a_time_with_a_unit_counts_from_the_first_record(void **state)
{
	(void)state;
	assert_instant("1.5s", TB_INSTANT_RELATIVE, 1500000000);
	assert_instant("0", TB_INSTANT_RELATIVE, 0);
	assert_instant("200ms", TB_INSTANT_RELATIVE, 200000000);
}

static void numbers_are_seconds_or_nanoseconds_since_1970(void **state)
{
	(void)state;
	assert_instant("1795318740", TB_INSTANT_ABSOLUTE, 1795318740000000000);
	assert_instant("1795318740.807328124", TB_INSTANT_ABSOLUTE, 1795318740807328124);
	assert_instant("1795318740.5", TB_INSTANT_ABSOLUTE, 1795318740500000000);
	assert_instant("1795319382938173004", TB_INSTANT_ABSOLUTE, 1795319382938173004);
}

static void dates_are_utc(void **state)
{
	(void)state;
	assert_instant("1970-01-01T00:00:00", TB_INSTANT_ABSOLUTE, 0);
	assert_instant(
		"2026-11-22T12:19:00.807Z", TB_INSTANT_ABSOLUTE, 1795349940807000000);
	assert_instant("2000-02-29 23:59:59", TB_INSTANT_ABSOLUTE, 951868799000000000);
	assert_instant("2000-03-01T00:00:00", TB_INSTANT_ABSOLUTE, 951868800000000000);
}

static void all_else_is_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"", "now", "-1s", "1795318740.",
		"2026-13-01T00:00:00", "2026-11-22", "2026-11-22T12:19", "99999999999",
		"99999999999999999999", "2026-11-22T12:19:00x", "1.5.5"};
	struct tb_instant instant;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(tb_instant_parse(wrong[i], &instant), TB_EUSAGE);
}

static void instants_are_found_on_the_captures_clock(void **state)
{
	(void)state;
	const struct tb_instant none = {TB_INSTANT_NONE, 0};
	const struct tb_instant relative = {TB_INSTANT_RELATIVE, 5};
	const struct tb_instant absolute = {TB_INSTANT_ABSOLUTE, 7};
	assert_int_equal(tb_instant_at(&none, 100, -1), -1);
	assert_int_equal(tb_instant_at(&relative, 100, -1), 105);
	assert_int_equal(tb_instant_at(&absolute, 100, -1), 7);
}

static void what_is_written_reads_back(void **state)
{
	(void)state;
	static const int64_t instants[] = {0, 1795318740807328124, 951782400000000001};
	struct tb_instant instant;
	char text[48];
	for (size_t i = 0; i < sizeof instants / sizeof *instants; i++) {
		tb_instant_format(instants[i], text, sizeof text);
		assert_int_equal(tb_instant_parse(text, &instant), TB_OK);
		assert_int_equal(instant.kind, TB_INSTANT_ABSOLUTE);
		assert_int_equal(instant.ns, instants[i]);
	}
	assert_string_equal(tb_instant_format(951782400000000001, text, sizeof text),
		"2000-02-29T00:00:00.000000001");
	assert_string_equal(tb_instant_format(-1, text, sizeof text),
		"1969-12-31T23:59:59.999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_with_a_unit_counts_from_the_first_record),
		cmocka_unit_test(numbers_are_seconds_or_nanoseconds_since_1970),
		cmocka_unit_test(dates_are_utc),
		cmocka_unit_test(all_else_is_refused),
		cmocka_unit_test(instants_are_found_on_the_captures_clock),
		cmocka_unit_test(what_is_written_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
