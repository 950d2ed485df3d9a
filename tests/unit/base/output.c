// What is written: names of formats, text within markup and CSV, error messages, and the
// line of progress.
#include "format.h"
#include "markup.h"
#include "outfile.h"
#include "progress.h"
#include "status.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void the_ending_of_a_file_asks_for_a_format(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum tb_format format;
	} rows[] = {{"a.txt", TB_FORMAT_TEXT}, {"a.md", TB_FORMAT_MARKDOWN},
		{"a.htm", TB_FORMAT_HTML}, {"a.html", TB_FORMAT_HTML},
		{"a.b.csv", TB_FORMAT_CSV}, {"./b.d/a.json", TB_FORMAT_JSON},
		{"a.svg", TB_FORMAT_SVG}, {"a.png", TB_FORMAT_PNG},
		{"a.pdf", TB_FORMAT_PDF}, {"a.topo", TB_FORMAT_IBNETDISCOVER},
		{"a.edges", TB_FORMAT_EDGES}, {"a.gv", TB_FORMAT_DOT},
		{"a.graph", TB_FORMAT_GRAPH}, {"a.ini", TB_FORMAT_INI},
		{"a.lfts", TB_FORMAT_LFTS}};
	const unsigned all = (1u << TB_N_FORMATS) - 1;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum tb_format format = TB_N_FORMATS;
		assert_int_equal(tb_format_of_file(rows[i].file, all, &format), TB_OK);
		assert_int_equal(format, rows[i].format);
		assert_int_equal(
			tb_format_parse(tb_format_name(format), all, &format), TB_OK);
		assert_int_equal(format, rows[i].format);
	}
}

static void formats_that_are_not_allowed_are_refused(void **state)
{
	(void)state;
	static const char *const files[] = {"a.svg", "a", "csv", "a.csv/b", "a.yaml", ""};
	enum tb_format format = TB_N_FORMATS;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		assert_int_equal(
			tb_format_of_file(files[i], TB_FORMATS_OF_LISTS, &format),
			TB_EUSAGE);
	assert_int_equal(format, TB_N_FORMATS);
}

// written returns what `put` makes of a text.
static const char *written(void (*put)(FILE *stream, const char *text), const char *text)
{
	static char buffer[128];
	FILE *stream = fmemopen(buffer, sizeof buffer, "w");
	put(stream, text);
	fclose(stream);
	return buffer;
}

static void text_reads_as_itself_within_markup_and_csv(void **state)
{
	(void)state;
	assert_string_equal(written(tb_markup_put, "a<b> & \"c\" 'd'"),
		"a&lt;b&gt; &amp; &quot;c&quot; 'd'");
	assert_string_equal(written(tb_csv_put, "plain > text"), "plain > text");
	assert_string_equal(written(tb_csv_put, "a,b"), "\"a,b\"");
	assert_string_equal(written(tb_csv_put, "say \"a\""), "\"say \"\"a\"\"\"");
	assert_string_equal(written(tb_csv_put, "two\nlines"), "\"two\nlines\"");
	assert_string_equal(written(tb_csv_put, "=1+1"), "'=1+1");
	assert_string_equal(written(tb_csv_put, "=A(1,2)"), "\"'=A(1,2)\"");
	assert_string_equal(written(tb_csv_put, "-1+cmd|x"), "'-1+cmd|x");
	assert_string_equal(written(tb_csv_put, "@SUM(A1)"), "'@SUM(A1)");
	assert_string_equal(written(tb_csv_put, "\t=1"), "'\t=1");
	assert_string_equal(written(tb_csv_put, "-12.5e3"), "-12.5e3");
	assert_string_equal(written(tb_csv_put, "+"), "'+");
	assert_string_equal(written(tb_csv_put, "a=b"), "a=b");
}

static void errors_name_the_file_and_the_place(void **state)
{
	(void)state;
	static const struct {
		enum tb_place place;
		const char *text;
	} rows[] = {{TB_PLACE_NONE, "a.goal: broken"},
		{TB_PLACE_LINE, "a.goal:7: broken"},
		{TB_PLACE_OFFSET, "a.goal: offset 7: broken"},
		{TB_PLACE_RECORD, "a.goal: record 7: broken"}};
	struct tb_error error;
	char text[256];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(tb_fail_at(&error, TB_EFORMAT, "a.goal", rows[i].place,
					 7, "%s", "broken"),
			TB_EFORMAT);
		assert_string_equal(
			tb_error_format(&error, text, sizeof text), rows[i].text);
	}
	tb_fail(&error, TB_EUSAGE, "wrong");
	assert_string_equal(tb_error_format(&error, text, sizeof text), "wrong");
}

static void missing_memory_is_told_in_one_sentence(void **state)
{
	(void)state;
	struct tb_error error;
	char text[256];
	assert_int_equal(tb_fail_memory(&error, "%d links", 12), TB_ENOMEM);
	assert_int_equal(error.code, TB_ENOMEM);
	assert_string_equal(
		tb_error_format(&error, text, sizeof text), "no memory for 12 links");
	assert_int_equal(tb_fail_memory_in(&error, "a.goal", "it"), TB_ENOMEM);
	assert_string_equal(
		tb_error_format(&error, text, sizeof text), "a.goal: no memory for it");
	assert_int_equal(tb_fail_memory(NULL, "curves"), TB_ENOMEM);
}

static void of_a_long_path_the_end_is_kept(void **state)
{
	(void)state;
	char path[2000];
	struct tb_error error;
	memset(path, 'x', sizeof path);
	strcpy(path + sizeof path - 8, "/a.goal");
	tb_fail_in(&error, TB_EIO, path, "lost");
	size_t n = strlen(error.file);
	assert_int_equal(n, sizeof error.file - 1);
	assert_string_equal(error.file + n - 7, "/a.goal");
}

// What could not be written long ago counts, even where the end of the file can be.
static void an_early_write_error_is_kept_to_the_end(void **state)
{
	(void)state;
	struct tb_outfile out;
	struct tb_error error = {0};
	assert_int_equal(tb_outfile_open(&out, "/dev/full", &error), TB_OK);
	setvbuf(out.stream, NULL, _IONBF, 0);
	fputs("lost", out.stream);
	assert_int_equal(tb_outfile_commit(&out, &error), TB_EIO);
	assert_string_equal(error.text, "writing failed: No space left on device");
}

// A pipe takes what is drawn; reading it gives what came since the last look.
static const char *drawn(int fd)
{
	static char text[128];
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

// What is left runs with the clock, so this machine may be late by a second or more.
static void shows_a_minute_less(struct tb_progress *progress, int fd)
{
	char wanted[64];
	progress->started_s -= 60;
	progress->changed_s -= 60;
	tb_progress_show(progress, 0.99, "reading");
	double late_s = tb_clock_s() - (progress->changed_s + 60);
	const char *got = drawn(fd);
	bool found = false;
	for (int left = 31; left >= 31 - (int)late_s - 1 && left >= 0; left--) {
		snprintf(wanted, sizeof wanted, "\r\033[Kreading  99 %%  0:%02d left",
			left);
		found |= strcmp(got, wanted) == 0;
	}
	assert_true(found);
}

static void progress_says_how_far_and_how_long(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	// 9009 s for 99 % leave 91 s for the rest, within half a second for 49 s.
	struct tb_progress progress = {.fd = ends[1], .started_s = tb_clock_s() - 9009};
	assert_true(tb_progress_due(&progress));
	tb_progress_show(&progress, 0.99, "reading");
	assert_string_equal(drawn(ends[0]), "\r\033[Kreading  99 %  1:31 left");
	progress.next_s += 3600;
	assert_false(tb_progress_due(&progress));
	// A minute later the same share leaves a minute less; 10 hours later nothing.
	shows_a_minute_less(&progress, ends[0]);
	progress.started_s -= 36000;
	progress.changed_s -= 36000;
	tb_progress_show(&progress, 0.99, "reading");
	assert_string_equal(drawn(ends[0]), "\r\033[Kreading  99 %  0:00 left");
	// Nearer to 6 s than to 5.
	progress.started_s = tb_clock_s() - 564.3;
	tb_progress_show(&progress, 0.99 + 1e-12, "reading");
	assert_string_equal(drawn(ends[0]), "\r\033[Kreading  99 %  0:06 left");
	tb_progress_done(&progress);
	tb_progress_done(&progress);
	assert_string_equal(drawn(ends[0]), "\r\033[K");
	tb_progress_show(&progress, -1, "?");
	assert_string_equal(drawn(ends[0]), "\r\033[K?");
	close(ends[0]);
	close(ends[1]);
}

static void no_terminal_gets_no_progress(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	struct tb_progress progress;
	tb_progress_init(&progress, ends[1]);
	tb_progress_show(&progress, 0.5, "reading");
	assert_false(tb_progress_due(&progress));
	tb_progress_done(&progress);
	assert_string_equal(drawn(ends[0]), "");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ending_of_a_file_asks_for_a_format),
		cmocka_unit_test(formats_that_are_not_allowed_are_refused),
		cmocka_unit_test(text_reads_as_itself_within_markup_and_csv),
		cmocka_unit_test(errors_name_the_file_and_the_place),
		cmocka_unit_test(missing_memory_is_told_in_one_sentence),
		cmocka_unit_test(of_a_long_path_the_end_is_kept),
		cmocka_unit_test(an_early_write_error_is_kept_to_the_end),
		cmocka_unit_test(progress_says_how_far_and_how_long),
		cmocka_unit_test(no_terminal_gets_no_progress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
