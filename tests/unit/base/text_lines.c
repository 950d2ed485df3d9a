// Lines of text: their ends, the limit on their length, and what is no end of the file.
#include "text_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// Under AddressSanitizer memory is limited by its allocator, else by the system.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=8";
}

static struct tb_text_lines lines;
static struct tb_error error;
static FILE *stream;

static void begin(const char *text, size_t n)
{
	stream = tmpfile();
	assert_non_null(stream);
	assert_int_equal(fwrite(text, 1, n, stream), n);
	rewind(stream);
	error = (struct tb_error){0};
	tb_text_lines_init(&lines, stream, "a.txt", &error);
}

static void end(void)
{
	tb_text_lines_fini(&lines);
	fclose(stream);
}

static void assert_line(const char *text, uint64_t number, bool is_ended)
{
	assert_int_equal(tb_text_lines_next(&lines), 1);
	assert_string_equal(lines.text, text);
	assert_int_equal(lines.length, strlen(text));
	assert_int_equal(lines.number, number);
	assert_int_equal(lines.is_ended, is_ended);
}

static void assert_fails(int code, const char *message)
{
	char text[800];
	assert_int_equal(tb_text_lines_next(&lines), code);
	assert_int_equal(lines.status, code);
	assert_string_equal(tb_error_format(&error, text, sizeof text), message);
	assert_int_equal(tb_text_lines_next(&lines), code); // for good
}

static void lines_lose_their_ends(void **state)
{
	(void)state;
	static const char text[] = "one\n\ntwo\r\n\r\nth\rree\r";
	begin(text, sizeof text - 1);
	assert_line("one", 1, true);
	assert_line("", 2, true);
	assert_line("two", 3, true);
	assert_line("", 4, true);
	assert_line("th\rree\r", 5, false);
	assert_int_equal(tb_text_lines_next(&lines), 0);
	assert_int_equal(tb_text_lines_next(&lines), 0);
	assert_int_equal(lines.status, TB_OK);
	end();
	begin("", 0);
	assert_int_equal(tb_text_lines_next(&lines), 0);
	end();
}

// Lines of every length cross the blocks that are read at a time.
static void lines_cross_blocks(void **state)
{
	(void)state;
	enum { N = 900 };
	static char text[N * N / 2 + N + 1];
	size_t n = 0;
	for (size_t i = 0; i < N; i++) {
		memset(text + n, 'a' + (int)(i % 26), i);
		n += i;
		text[n++] = '\n';
	}
	begin(text, n);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(tb_text_lines_next(&lines), 1);
		assert_int_equal(lines.length, i);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(lines.text[k], 'a' + (int)(i % 26));
	}
	assert_int_equal(tb_text_lines_next(&lines), 0);
	end();
}

static void a_line_has_a_longest(void **state)
{
	(void)state;
	begin("1234\n12345\n", 11);
	lines.most = 4;
	assert_line("1234", 1, true);
	assert_fails(TB_EFORMAT,
		"a.txt:2: the line is longer than 4 B, the most that is read");
	end();
	begin("12345", 5);
	lines.most = 4;
	assert_fails(TB_EFORMAT,
		"a.txt:1: the line is longer than 4 B, the most that is read");
	end();
	begin("1234", 4);
	lines.most = 4;
	assert_line("1234", 1, false);
	end();
}

// No more than the limit is ever read into memory of a line without end.
static void a_line_without_end_is_not_read_to_its_end(void **state)
{
	(void)state;
	stream = fopen("/dev/zero", "rb");
	assert_non_null(stream);
	tb_text_lines_init(&lines, stream, "zero", &error);
	lines.most = 1 << 20;
	assert_fails(TB_EFORMAT,
		"zero:1: the line is longer than 1 MiB, the most that is read");
	end();
}

static void a_byte_0_is_no_text(void **state)
{
	(void)state;
	begin("one\nt\0wo\n", 9);
	assert_line("one", 1, true);
	assert_fails(TB_EFORMAT, "a.txt:2: the line has a byte 0: expected text");
	end();
}

static void a_failed_read_is_no_end(void **state)
{
	(void)state;
	stream = fopen(".", "r"); // opens, but cannot be read
	assert_non_null(stream);
	tb_text_lines_init(&lines, stream, "a.txt", &error);
	assert_fails(TB_EIO, "a.txt: cannot be read: Is a directory");
	end();
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	unsigned long pages = 0;
	FILE *own = fopen("/proc/self/statm", "r");
	if (!own || fscanf(own, "%lu", &pages) != 1)
		_exit(2);
	fclose(own);
	rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
	const struct rlimit limit = {bytes, bytes};
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		_exit(2);
#endif
}

// In a process of its own, for which memory ends at 8 MiB: the line has 32.
static void missing_memory_is_no_end(void **state)
{
	(void)state;
	int ended = 0;
	stream = tmpfile();
	assert_non_null(stream);
	assert_int_equal(ftruncate(fileno(stream), 32 << 20), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char text[800];
		limit_memory();
		tb_text_lines_init(&lines, stream, "a.txt", &error);
		int status = tb_text_lines_next(&lines);
		tb_error_format(&error, text, sizeof text);
		_exit(status == TB_ENOMEM &&
					strcmp(text, "a.txt: no memory for line 1") == 0
				? 0
				: 1);
	}
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	fclose(stream);
}

static void inih_gets_lines_as_by_fgets(void **state)
{
	(void)state;
	char to[8];
	begin("123456\n12345\r\n1234567\n", 22);
	assert_ptr_equal(tb_text_lines_give(to, sizeof to, &lines), to);
	assert_string_equal(to, "123456\n");
	assert_non_null(tb_text_lines_give(to, sizeof to, &lines));
	assert_string_equal(to, "12345\n");
	assert_null(tb_text_lines_give(to, sizeof to, &lines));
	assert_int_equal(lines.status, TB_EFORMAT);
	assert_string_equal(
		error.text, "the line is longer than 6 bytes: go on in an indented line");
	assert_null(tb_text_lines_give(to, sizeof to, &lines));
	end();
	begin("", 0);
	assert_null(tb_text_lines_give(to, sizeof to, &lines));
	assert_int_equal(lines.status, TB_OK);
	end();
}

static void a_byte_order_mark_is_no_part_of_the_first_line(void **state)
{
	(void)state;
	begin("\xef\xbb\xbf"
	      "one\n"
	      "\xef\xbb\xbf"
	      "two\n",
		14);
	assert_line("one", 1, true);
	assert_line("\xef\xbb\xbf"
		    "two",
		2, true);
	end();
	begin("\xef\xbb\xbf", 3);
	assert_line("", 1, false);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_order_mark_is_no_part_of_the_first_line),
		cmocka_unit_test(lines_lose_their_ends),
		cmocka_unit_test(lines_cross_blocks),
		cmocka_unit_test(a_line_has_a_longest),
		cmocka_unit_test(a_line_without_end_is_not_read_to_its_end),
		cmocka_unit_test(a_byte_0_is_no_text),
		cmocka_unit_test(a_failed_read_is_no_end),
		cmocka_unit_test(missing_memory_is_no_end),
		cmocka_unit_test(inih_gets_lines_as_by_fgets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
