// The form of a trace: which rows it has, and what its rows come to as options.
#include "opening_form.h"
#include "library.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int read_calls(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	(void)calls, (void)reading, (void)paths, (void)n, (void)made, (void)error;
	return TB_EFOREIGN;
}

static const struct tb_trace_reader of_captures = {.kind = TB_TRACE_PACKETS};
static const struct tb_trace_reader of_calls = {
	.kind = TB_TRACE_JOB, .calls = read_calls};
static const struct tb_trace_reader of_jobs = {.kind = TB_TRACE_JOB};

// joined returns the options of a form in one line.
static const char *joined(const struct tb_opening_form *form, bool of_info)
{
	static char text[512];
	struct tb_form_words words;
	tb_opening_form_words(form, of_info, &words);
	text[0] = '\0';
	for (size_t i = 0; i < words.n; i++) {
		size_t n = strlen(text);
		snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", words.words[i]);
	}
	return text;
}

static void type(struct tb_opening_form *form, const char *text)
{
	for (; *text; text++)
		assert_true(tb_opening_form_key(form, (const char[]){*text, '\0'}));
}

static void every_library_can_be_chosen(void **state)
{
	(void)state;
	struct tb_opening_form form;
	tb_opening_form_init(&form, &of_calls, NULL, 0);
	while (form.row != TB_FORM_LIBRARY)
		tb_opening_form_key(&form, "Down");
	for (size_t i = 0; tb_library_number(i); i++) {
		char wanted[64];
		tb_opening_form_key(&form, "Right");
		snprintf(wanted, sizeof wanted, "--library=%s", tb_library_number(i));
		assert_string_equal(joined(&form, false), wanted);
	}
}

static void a_trace_has_the_rows_of_its_kind(void **state)
{
	(void)state;
	struct tb_opening_form form;
	tb_opening_form_init(&form, &of_jobs, NULL, 0);
	assert_false(tb_opening_form_has(&form, TB_FORM_SCALE));
	assert_false(tb_opening_form_has(&form, TB_FORM_LIBRARY));
	tb_opening_form_key(&form, "Up");
	assert_int_equal(form.row, TB_FORM_NODES);
	tb_opening_form_init(&form, &of_calls, NULL, 0);
	assert_false(tb_opening_form_has(&form, TB_FORM_FROM));
	tb_opening_form_key(&form, "Up");
	assert_int_equal(form.row, TB_FORM_LENIENT);
	tb_opening_form_init(&form, &of_captures, NULL, 0);
	assert_true(tb_opening_form_has(&form, TB_FORM_LOOP));
	assert_false(tb_opening_form_has(&form, TB_FORM_CLONES));
	assert_string_equal(joined(&form, false), "");
}

static void given_options_come_back(void **state)
{
	(void)state;
	struct tb_opening_form form;
	static const char *const words[] = {"--closed-loop", "--from=1.5s", "--dedup",
		"--time-scale=0.25", "--network=ethernet,rate=50Mbit/s"};
	char text[64];
	tb_opening_form_init(&form, &of_captures, words, 5);
	assert_string_equal(joined(&form, false),
		"--time-scale=0.25 --closed-loop --from=1.5s --dedup");
	assert_string_equal(joined(&form, true), "--from=1.5s");
	assert_string_equal(tb_opening_form_network(&form, text, sizeof text),
		"ethernet,rate=50Mbit/s");
	assert_int_equal(tb_opening_form_n_nodes(&form), 0);
	// Nothing is behind it; back to the presets, and forth.
	tb_opening_form_step(&form, TB_FORM_NETWORK, 1);
	tb_opening_form_step(&form, TB_FORM_NETWORK, -1);
	assert_null(strchr(tb_opening_form_network(&form, text, sizeof text), '/'));
	tb_opening_form_step(&form, TB_FORM_NETWORK, 1);
	assert_string_equal(tb_opening_form_network(&form, text, sizeof text),
		"ethernet,rate=50Mbit/s");
	static const char *const twice[] = {
		"--collective=allreduce=ring", "--collective=barrier=tree", "--lenient"};
	tb_opening_form_init(&form, &of_calls, twice, 3);
	assert_string_equal(joined(&form, false),
		"--collective=allreduce=ring --lenient --collective=barrier=tree");
}

static void the_network_that_was_recorded_comes_first(void **state)
{
	(void)state;
	struct tb_opening_form form;
	char text[64];
	struct tb_glance_answer answer = {.is_capture = true,
		.n_nodes = 8,
		.network = "ethernet,rate=25000000B/s,burst=2647"};
	tb_opening_form_init(&form, &of_captures, NULL, 0);
	tb_opening_form_take(&form, &answer);
	assert_string_equal(
		tb_opening_form_network(&form, text, sizeof text), answer.network);
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NETWORK, text, sizeof text),
		"as recorded");
	assert_string_equal(tb_opening_form_hint(&form, TB_FORM_NETWORK), answer.network);
	// What the user chooses stays, and so does what a command gave.
	tb_opening_form_step(&form, TB_FORM_NETWORK, -1);
	const char *chosen = tb_opening_form_chosen(&form);
	tb_opening_form_take(&form, &answer);
	assert_ptr_equal(tb_opening_form_chosen(&form), chosen);
	static const char *const words[] = {"--network=roce-100"};
	tb_opening_form_init(&form, &of_captures, words, 1);
	tb_opening_form_take(&form, &answer);
	assert_string_equal(tb_opening_form_chosen(&form), "roce-100");
	// Where the packets do not tell it, it is a preset.
	snprintf(answer.network, sizeof answer.network, "ethernet");
	tb_opening_form_init(&form, &of_captures, NULL, 0);
	tb_opening_form_take(&form, &answer);
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NETWORK, text, sizeof text),
		"ethernet");
}

static void rows_are_typed_and_stepped(void **state)
{
	(void)state;
	struct tb_opening_form form;
	tb_opening_form_init(&form, &of_calls, NULL, 0);
	assert_false(tb_opening_form_key(&form, "q"));
	tb_opening_form_choose(&form, TB_FORM_CLONES);
	type(&form, "16");
	tb_opening_form_key(&form, "Backspace");
	assert_false(tb_opening_form_key(&form, "q"));
	tb_opening_form_choose(&form, TB_FORM_COLLECTIVE);
	type(&form, "allreduce=ring");
	tb_opening_form_step(&form, TB_FORM_LIBRARY, 1);
	tb_opening_form_step(&form, TB_FORM_LIBRARY, 1);
	tb_opening_form_step(&form, TB_FORM_LENIENT, 1);
	tb_opening_form_step(&form, TB_FORM_LENIENT, 1);
	assert_string_equal(joined(&form, false),
		"--library=openmpi4.0 --collective=allreduce=ring "
		"--clone-ranks=1 --lenient");
	assert_string_equal(joined(&form, true), joined(&form, false));
	tb_opening_form_step(&form, TB_FORM_LENIENT, -1);
	tb_opening_form_choose(&form, TB_FORM_COLLECTIVE);
	type(&form, "x");
	assert_string_equal(joined(&form, false),
		"--library=openmpi4.0 --collective=x --clone-ranks=1");
}

static void a_closed_loop_has_no_load_to_scale(void **state)
{
	(void)state;
	struct tb_opening_form form;
	char scale[16];
	const struct tb_glance_answer answer = {.is_capture = true,
		.n_nodes = 40,
		.busiest_share = 0.001,
		.half_scale = 0.002};
	tb_opening_form_init(&form, &of_captures, NULL, 0);
	tb_opening_form_take(&form, &answer);
	assert_true(tb_opening_form_n_nodes(&form) >= 40);
	assert_string_equal(
		tb_opening_form_suggestion(&form, scale, sizeof scale), "0.002");
	tb_opening_form_step(&form, TB_FORM_LOOP, 1);
	assert_string_equal(tb_opening_form_suggestion(&form, scale, sizeof scale), "");
}

// step_to steps the network on until a value stands there; how often, or -1.
static int step_to(struct tb_opening_form *form, const char *wanted)
{
	char text[64];
	for (int i = 0; i < 40; i++) {
		if (strcmp(tb_opening_form_value(
				   form, TB_FORM_NETWORK, text, sizeof text),
			    wanted) == 0)
			return i;
		tb_opening_form_step(form, TB_FORM_NETWORK, 1);
	}
	return -1;
}

static void write_preset(const char *path, const char *network)
{
	struct tb_network_params params;
	struct tb_error error;
	if (tb_network_preset(&params, network, &error) != TB_OK)
		fail_msg("%s", error.text);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	tb_preset_write(&params, file);
	assert_int_equal(fclose(file), 0);
}

static void own_presets_stand_behind_those_built_in(void **state)
{
	(void)state;
	static const char *const own[] = {"shaped.ini", "./levels.ini", "./gone.ini"};
	static const char *const given[] = {"--network=./levels.ini"};
	struct tb_opening_form form;
	char text[256];
	write_preset("shaped.ini", "qsnet,shape=pgft(2;4,4;1,2;1,1)");
	write_preset("levels.ini", "qsnet,arity=3,levels=3");
	tb_opening_form_init(&form, &of_jobs, NULL, 0);
	tb_opening_form_offer(&form, own, 3);
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NETWORK, text, sizeof text),
		"qsnet");
	assert_true(step_to(&form, "levels.ini") > 1);
	assert_string_equal(tb_opening_form_chosen(&form), "./levels.ini");
	assert_string_equal(tb_opening_form_hint(&form, TB_FORM_NETWORK), "./levels.ini");
	assert_int_equal(tb_opening_form_n_nodes(&form), 27);
	tb_opening_form_step(&form, TB_FORM_NODES, 1);
	assert_string_equal(tb_opening_form_network(&form, text, sizeof text),
		"./levels.ini,levels=4");
	// One that cannot be read has its nodes, and so has one with a shape; there is
	// nothing behind the last.
	assert_int_equal(step_to(&form, "gone.ini"), 1);
	tb_opening_form_step(&form, TB_FORM_NETWORK, 1);
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NETWORK, text, sizeof text),
		"gone.ini");
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NODES, text, sizeof text),
		"as it has");
	tb_opening_form_step(&form, TB_FORM_NETWORK, -1);
	tb_opening_form_step(&form, TB_FORM_NETWORK, -1);
	assert_string_equal(tb_opening_form_chosen(&form), "shaped.ini");
	assert_string_equal(
		tb_opening_form_network(&form, text, sizeof text), "shaped.ini");
	// What is given on the command line is found among them.
	tb_opening_form_init(&form, &of_jobs, given, 1);
	tb_opening_form_offer(&form, own, 3);
	assert_string_equal(
		tb_opening_form_value(&form, TB_FORM_NETWORK, text, sizeof text),
		"levels.ini");
	unlink("shaped.ini");
	unlink("levels.ini");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_has_the_rows_of_its_kind),
		cmocka_unit_test(every_library_can_be_chosen),
		cmocka_unit_test(given_options_come_back),
		cmocka_unit_test(own_presets_stand_behind_those_built_in),
		cmocka_unit_test(the_network_that_was_recorded_comes_first),
		cmocka_unit_test(rows_are_typed_and_stepped),
		cmocka_unit_test(a_closed_loop_has_no_load_to_scale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
