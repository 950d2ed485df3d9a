// JSON of strings that are not UTF-8, of numbers that JSON cannot write, and of long
// lists.
#include "json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(const char *bytes, const char *utf8)
{
	json_t *text = tb_json_text(bytes);
	assert_non_null(text);
	assert_string_equal(json_string_value(text), utf8);
	json_decref(text);
}

static void bytes_that_are_no_utf8_become_replacement_characters(void **state)
{
	(void)state;
	assert_text("plain", "plain");
	assert_text("M\xc3\xbcnchen", "M\xc3\xbcnchen");
	assert_text("M\xfcnchen", "M\xef\xbf\xbdnchen");
	assert_text("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"); // cut off
	assert_text(
		"a\xed\xa0\x80", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); // surrogate
	assert_text("\xf0\x9f\x98\x80\xff", "\xf0\x9f\x98\x80\xef\xbf\xbd");
}

static void what_json_cannot_write_is_null_or_clamped(void **state)
{
	(void)state;
	json_t *nan = tb_json_real(NAN), *most = tb_json_count(UINT64_MAX);
	assert_true(json_is_null(nan));
	assert_true(json_integer_value(most) == INT64_MAX);
	json_decref(nan);
	json_decref(most);
}

static void a_lack_of_memory_is_remembered(void **state)
{
	(void)state;
	struct tb_json_object object = tb_json_object_new();
	tb_json_add(&object, "lost", NULL);
	tb_json_add_count(&object, "kept", 1);
	assert_null(tb_json_object_take(&object));
	assert_null(tb_json_append(json_array(), NULL));
	assert_null(tb_json_append(NULL, json_null()));
	assert_int_equal(tb_json_write(NULL, 6, stderr), TB_ENOMEM);
}

static void rows_stand_on_lines_of_their_own(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct tb_json_rows rows;
	tb_json_rows_begin(&rows, json_pack("{s:s}", "a", "b\"c"), "rows", 3, stream);
	tb_json_rows_put(&rows, json_pack("{s:f}", "x", 2.0 / 3));
	tb_json_rows_put(&rows, json_pack("{s:i}", "x", 2));
	assert_int_equal(tb_json_rows_end(&rows), TB_OK);
	fclose(stream);
	assert_string_equal(text, "{\n  \"a\": \"b\\\"c\",\n  \"rows\": [\n"
				  "    {\"x\": 0.667},\n    {\"x\": 2}\n  ]\n}\n");
	json_t *read = json_loads(text, 0, NULL);
	assert_non_null(read);
	json_decref(read);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_are_no_utf8_become_replacement_characters),
		cmocka_unit_test(what_json_cannot_write_is_null_or_clamped),
		cmocka_unit_test(a_lack_of_memory_is_remembered),
		cmocka_unit_test(rows_stand_on_lines_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
