// Reports: JSON against its published schema, and every format on odd runs.
#include "../../analyze_fixture.h"

#include "flows.h"
#include "report.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

// A validator of the part of JSON Schema (draft 2020-12) that the schema uses. A keyword
// that it does not know is a failure, so that the schema cannot outgrow it.
static void validate(json_t *root, json_t *schema, json_t *value, const char *where);

static bool is_type(json_t *value, const char *type)
{
	if (strcmp(type, "null") == 0)
		return json_is_null(value);
	if (strcmp(type, "object") == 0)
		return json_is_object(value);
	if (strcmp(type, "array") == 0)
		return json_is_array(value);
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(value);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(value);
	return strcmp(type, "number") == 0 && json_is_number(value);
}

static bool is_one_of(json_t *value, json_t *types)
{
	if (json_is_string(types))
		return is_type(value, json_string_value(types));
	json_t *type;
	size_t i;
	json_array_foreach(types, i, type)
	{
		if (is_type(value, json_string_value(type)))
			return true;
	}
	return false;
}

static void validate_object(
	json_t *root, json_t *schema, json_t *value, const char *where)
{
	json_t *properties = json_object_get(schema, "properties"), *member, *name;
	json_t *others = json_object_get(schema, "additionalProperties");
	const char *key;
	size_t i;
	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		if (!json_object_get(value, json_string_value(name)))
			fail_msg("%s has no '%s'", where, json_string_value(name));
	}
	json_object_foreach(value, key, member)
	{
		char inner[256];
		snprintf(inner, sizeof inner, "%.200s.%.40s", where, key);
		json_t *known = json_object_get(properties, key);
		if (known)
			validate(root, known, member, inner);
		else if (json_is_false(others))
			fail_msg("%s is not in the schema", inner);
		else if (others)
			validate(root, others, member, inner);
	}
}

static json_t *resolve(json_t *root, const char *reference)
{
	static const char prefix[] = "#/$defs/";
	assert_true(strncmp(reference, prefix, sizeof prefix - 1) == 0);
	json_t *found = json_object_get(
		json_object_get(root, "$defs"), reference + sizeof prefix - 1);
	if (!found)
		fail_msg("the schema lacks %s", reference);
	return found;
}

static void check_keyword(
	json_t *root, const char *keyword, json_t *rule, json_t *value, const char *where)
{
	static const char *const elsewhere[] = {"$schema", "$id", "title", "description",
		"$defs", "required", "properties", "additionalProperties"};
	if (strcmp(keyword, "$ref") == 0) {
		validate(root, resolve(root, json_string_value(rule)), value, where);
	} else if (strcmp(keyword, "type") == 0) {
		if (!is_one_of(value, rule))
			fail_msg("%s is of the wrong type", where);
	} else if (strcmp(keyword, "minimum") == 0) {
		if (json_number_value(value) < json_number_value(rule))
			fail_msg("%s is too small", where);
	} else if (strcmp(keyword, "maximum") == 0) {
		if (json_number_value(value) > json_number_value(rule))
			fail_msg("%s is too large", where);
	} else if (strcmp(keyword, "enum") == 0) {
		json_t *allowed;
		size_t i;
		json_array_foreach(
			rule, i, allowed) if (json_equal(allowed, value)) return;
		fail_msg("%s is none of the values allowed", where);
	} else if (strcmp(keyword, "items") == 0) {
		json_t *item;
		size_t i;
		json_array_foreach(value, i, item) validate(root, rule, item, where);
	} else {
		for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
			if (strcmp(keyword, elsewhere[i]) == 0)
				return;
		fail_msg("the schema uses '%s', which this test does not know", keyword);
	}
}

static void validate(json_t *root, json_t *schema, json_t *value, const char *where)
{
	const char *keyword;
	json_t *rule;
	json_object_foreach(schema, keyword, rule)
		check_keyword(root, keyword, rule, value, where);
	if (json_is_object(value))
		validate_object(root, schema, value, where);
}

// written returns what a report writes; the caller frees.
static char *written(const char *path, uint32_t top, enum tb_format format)
{
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	struct tb_report *report = NULL;
	char *text = NULL;
	size_t n = 0;
	if (tb_run_open(&run, path, 0, &error) ||
		tb_report_new(&report, run, top, &error))
		fixture_fail("report", &error);
	FILE *stream = open_memstream(&text, &n);
	if (tb_report_write(report, format, NULL, stream, &error))
		fixture_fail("write", &error);
	fclose(stream);
	tb_report_free(report);
	tb_run_free(run);
	return text;
}

static void check_json(const char *path, uint32_t top)
{
	json_error_t problem;
	char *text = written(path, top, TB_FORMAT_JSON);
	char name[1024];
	snprintf(name, sizeof name, "%s/schemas/report.schema.json", getenv("TB_SOURCE"));
	json_t *schema = json_load_file(name, 0, &problem);
	json_t *report = json_loads(text, 0, &problem);
	assert_non_null(schema);
	assert_non_null(report);
	validate(schema, schema, report, "report");
	json_decref(schema);
	json_decref(report);
	free(text);
}

static void json_is_as_its_schema_says(void **state)
{
	(void)state;
	struct fixture fixture;
	fixture_init(&fixture);
	fixture_store(&fixture, 20, 7);
	check_json(fixture.path, 0);
	check_json(fixture.path, 5);
	fixture_fini(&fixture);
}

static void a_run_in_which_nothing_happened_has_a_report(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	struct tb_store *store = NULL;
	struct tb_run_config config = {0};
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_OK);
	tb_store_free(store);
	for (enum tb_format f = TB_FORMAT_TEXT; f <= TB_FORMAT_HTML; f++) {
		char *text = written(fixture.path, 0, f);
		if (f == TB_FORMAT_TEXT) {
			assert_non_null(strstr(text, "incomplete"));
			assert_non_null(strstr(text, "packet waited for"));
		}
		free(text);
	}
	fixture_fini(&fixture);
}

static void what_is_foreign_is_escaped(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	fixture_init(&fixture);
	struct tb_store *store = NULL;
	struct tb_run_config config = {
		.input_name = "<script>alert(1)</script>\x1b[31m\xff\"'&.pcap"};
	assert_int_equal(tb_store_create(&store, fixture.path, &error), TB_OK);
	assert_int_equal(
		tb_store_begin_run(store, fixture.network, &config, &error), TB_OK);
	struct tb_run_result result = {.input_summary = "[not an object"};
	assert_int_equal(tb_store_end_run(store, &result, &error), TB_OK);
	tb_store_free(store);
	char *page = written(fixture.path, 0, TB_FORMAT_HTML);
	assert_null(strstr(page, "<script>alert"));
	assert_non_null(strstr(page, "\\x1b[31m\\xff&quot;'&amp;.pcap"));
	free(page);
	char *text = written(fixture.path, 0, TB_FORMAT_TEXT);
	assert_null(strchr(text, '\x1b'));
	free(text);
	json_error_t problem;
	char *data = written(fixture.path, 0, TB_FORMAT_JSON);
	json_t *json = json_loads(data, 0, &problem);
	assert_non_null(json);
	json_decref(json);
	free(data);
	fixture_fini(&fixture);
}

static void flows_come_slowest_first(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	struct tb_flow *flows = NULL;
	uint32_t n = 0;
	uint64_t n_all = 0;
	fixture_init(&fixture);
	fixture_store(&fixture, 2, 7);
	assert_int_equal(tb_run_open(&run, fixture.path, 0, &error), TB_OK);
	assert_int_equal(tb_flows_count(run, &n_all, &error), TB_OK);
	assert_int_equal(n_all, 24);
	assert_int_equal(tb_flows_slowest(run, 7, &flows, &n, &error), TB_OK);
	assert_int_equal(n, 7);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(i == 0 || flows[i - 1].slowdown >= flows[i].slowdown);
		assert_true(flows[i].slowdown > 1);
		assert_true(flows[i].mean_latency_ps ==
			    (double)flows[i].sample.latency_ps / 4);
	}
	free(flows);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_as_its_schema_says),
		cmocka_unit_test(a_run_in_which_nothing_happened_has_a_report),
		cmocka_unit_test(what_is_foreign_is_escaped),
		cmocka_unit_test(flows_come_slowest_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
