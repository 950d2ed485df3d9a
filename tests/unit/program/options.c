// Options are stored where their rows say, in every kind and from included tables too.
#include "options.h"

#include "format.h"
#include "units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum fruit { APPLE, PEAR, PLUM };

struct inner {
	uint32_t count;
	bool given;
};

struct arguments {
	bool flag;
	const char *text, *store;
	struct tb_texts texts;
	int64_t run;
	double share;
	uint64_t bytes, nanoseconds;
	tb_time_ps time;
	enum fruit fruit;
	bool second;
	enum tb_format format;
	struct inner inner;
};

#define AT(member) TB_AT(struct arguments, member)

static const char *const fruits[] = {"apple", "pear", "plum", NULL};
static const char *const sides[] = {"first", "second", NULL};

static const struct tb_option inner_rows[] = {
	{"count", 0, "N", "Count", TB_COUNT, TB_AT(struct inner, count),
		TB_SET(struct inner, given), .min = 2, .max = 9},
	{0},
};

static const struct tb_option rows[] = {
	{"flag", 'q', NULL, "Flag", TB_FLAG, AT(flag)},
	{"text", 0, "TEXT", "Text", TB_TEXT, AT(text)},
	{"texts", 0, "TEXT", "Texts", TB_TEXTS, AT(texts)},
	TB_RUN_OPTION(struct arguments, run),
	{"share", 0, "F", "Share", TB_REAL, AT(share), .least = 0.5, .most = 4},
	{"bytes", 0, "BYTES", "Bytes", TB_SIZE, AT(bytes), .min = 1},
	{"ns", 0, "TIME", "Time", TB_NS, AT(nanoseconds)},
	{"time", 0, "TIME", "Time", TB_TIME, AT(time), .min = 1},
	{.help = "Words:"},
	{"fruit", 'x', "FRUIT", "%s", TB_WORD, AT(fruit), .optional = true,
		.otherwise = PLUM, .list = fruits},
	{"side", 0, "SIDE", "%s", TB_WORD, AT(second), .list = sides},
	{"format", 'f', "FORMAT", "%s", TB_FORMAT, AT(format),
		.formats = 1u << TB_FORMAT_TEXT | 1u << TB_FORMAT_JSON},
	TB_INCLUDE(inner_rows, struct arguments, inner),
	{0},
};

static const struct tb_options table = {.rows = rows,
	.doc = "Test.",
	.operand = TB_STORE_OPERAND(struct arguments, store)};

#define PARSE(args, given, ...)                                                          \
	do {                                                                             \
		char *argv[] = {"test", __VA_ARGS__, NULL};                              \
		tb_options_parse(&table, (int)(sizeof argv / sizeof *argv) - 1, argv,    \
			args, given);                                                    \
	} while (0)

static void values_reach_their_targets(void **state)
{
	struct arguments args = {0};
	(void)state;
	PARSE(&args, NULL, "-q", "--text=a", "--texts", "b", "run.db", "--texts=c",
		"--run=7", "--share=0.5", "--bytes=2K", "--ns=3us", "--time=2ns",
		"-xpear", "--side=second", "-f", "json", "--count=9");
	assert_true(args.flag);
	assert_string_equal(args.text, "a");
	assert_int_equal(args.texts.n, 2);
	assert_string_equal(args.texts.of[0], "b");
	assert_string_equal(args.texts.of[1], "c");
	assert_int_equal(args.run, 7);
	assert_true(args.share == 0.5);
	assert_int_equal(args.bytes, 2048);
	assert_int_equal(args.nanoseconds, 3000);
	assert_int_equal(args.time, 2 * TB_PS_PER_NS);
	assert_int_equal(args.fruit, PEAR);
	assert_true(args.second);
	assert_int_equal(args.format, TB_FORMAT_JSON);
	assert_string_equal(args.store, "run.db");
	tb_texts_fini(&args.texts);
}

static void a_table_in_a_table_stores_from_its_own_base(void **state)
{
	struct arguments args = {0};
	(void)state;
	PARSE(&args, NULL, "run.db", "--count=2");
	assert_int_equal(args.inner.count, 2);
	assert_true(args.inner.given);
}

static void a_word_that_is_left_out_has_its_default(void **state)
{
	struct arguments args = {.fruit = APPLE};
	(void)state;
	PARSE(&args, NULL, "run.db", "--fruit");
	assert_int_equal(args.fruit, PLUM);
}

static void given_options_are_listed_in_order(void **state)
{
	static const char *const effective[] = {"count", "text", "flag", NULL};
	struct arguments args = {0};
	struct tb_given given = {0};
	(void)state;
	PARSE(&args, &given, "run.db", "--count=3", "-q", "--text", "a");
	assert_int_equal(given.names.n, 3);
	assert_string_equal(given.names.of[1], "flag");
	assert_null(given.values.of[1]);
	assert_string_equal(given.values.of[2], "a");
	assert_true(tb_is_given(&given, "count"));
	assert_false(tb_is_given(&given, "run"));
	assert_string_equal(tb_given_of(&given, inner_rows), "count");
	assert_int_equal(tb_given_settle(&given, "test", effective, "--list"), 0);
	assert_int_equal(tb_given_settle(&given, "test", effective + 1, "--list"), 2);
	tb_given_fini(&given);
	assert_null(tb_given_of(&given, inner_rows));
}

// exit_code returns how a process ends that parses an option and the operand.
static int exit_code(char *option, char *operand)
{
	struct arguments args = {0};
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		PARSE(&args, NULL, option, operand);
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_is_out_of_range_ends_with_2(void **state)
{
	static const char *const wrong[] = {"--count=1", "--count=10", "--count=x",
		"--run=0", "--share=0.4", "--share=4.1", "--bytes=0", "--bytes=1X",
		"--ns=70ps", "--time=0ns", "--time=5", "--fruit=fig", "--format=svg",
		"--none", "second.db"};
	char option[32], store[] = "run.db", right[] = "--count=2";
	(void)state;
	assert_int_equal(exit_code(right, store), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		strncpy(option, wrong[i], sizeof option - 1);
		option[sizeof option - 1] = '\0';
		assert_int_equal(exit_code(option, store), 2);
	}
	assert_int_equal(exit_code(right, right), 2); // no store
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_reach_their_targets),
		cmocka_unit_test(a_table_in_a_table_stores_from_its_own_base),
		cmocka_unit_test(a_word_that_is_left_out_has_its_default),
		cmocka_unit_test(given_options_are_listed_in_order),
		cmocka_unit_test(what_is_out_of_range_ends_with_2),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
