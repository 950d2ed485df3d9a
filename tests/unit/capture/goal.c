// GOAL: what is read, what is written, and the messages for broken input.
#include "goal.h"
#include "../../support/job_read.h"
#include "trace.h"

#include "../../job_equal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int read_bytes(
	struct tb_job **job, const void *bytes, size_t n, struct tb_error *error)
{
	*job = NULL;
	*error = (struct tb_error){0};
	FILE *stream = fmemopen((void *)(uintptr_t)bytes, n, "rb");
	assert_non_null(stream);
	bool binary = n > 0 && *(const char *)bytes == 0x7f;
	int status = binary ? tb_goal_binary_read(job, stream, "job", error)
			    : tb_goal_text_read(job, stream, "job", error);
	fclose(stream);
	assert_int_equal(status, error->code);
	return status;
}

static struct tb_job *assert_reads(const char *text)
{
	struct tb_job *job;
	struct tb_error error;
	if (read_bytes(&job, text, strlen(text), &error) != TB_OK)
		fail_msg("line %" PRIu64 ": %s", error.at, error.text);
	return job;
}

static void assert_refuses(const char *text, const char *message)
{
	struct tb_job *job;
	struct tb_error error;
	char formatted[1024];
	assert_int_not_equal(read_bytes(&job, text, strlen(text), &error), TB_OK);
	assert_string_equal(
		tb_error_format(&error, formatted, sizeof formatted), message);
	assert_null(job);
}

static void every_part_of_the_syntax_is_read(void **state)
{
	(void)state;
	struct tb_job *job = assert_reads("// a comment\n"
					  "/* another,\n over lines */ num_ranks 3\n"
					  "rank 1\n{\n"
					  "a_1: recv 8b from 0 tag 7 cpu 1 nic 2\r\n"
					  "b : calc 123 cpu 3 // behind\n"
					  "\tc:send 9 b to 0 nic 1\n"
					  "recv 5b from -1 tag -1\n"
					  "b requires a_1\n"
					  "c irequires b }\n"
					  "rank 0 { l1: send 8b to 1 tag 7\n"
					  "send 5b to 1\n"
					  "l2: recv 9b from 1 } rank 2 { }");
	assert_int_equal(job->n_ranks, 3);
	assert_int_equal(job->n_ops, 7);
	assert_int_equal(job->n_cpus, 4);
	assert_int_equal(job->n_nics, 3);
	const struct tb_op *ops = job->ops + job->first_op[1];
	static const struct tb_op expected[] = {
		{.kind = TB_OP_RECV,
			.amount = 8,
			.peer = 0,
			.tag = 7,
			.cpu = 1,
			.nic = 2},
		{.kind = TB_OP_CALC, .amount = 123, .cpu = 3},
		{.kind = TB_OP_SEND, .amount = 9, .peer = 0, .nic = 1},
		{.kind = TB_OP_RECV, .amount = 5, .peer = TB_ANY, .tag = TB_ANY},
	};
	assert_memory_equal(ops, expected, sizeof expected);
	uint32_t base = job->first_op[1];
	assert_int_equal(job->successors[job->first_successor[base]], base + 1);
	assert_int_equal(job->successors[job->first_successor[base + 1]],
		(base + 2) | TB_DEP_START);
	tb_job_free(job);
}

static void numbers_reach_to_their_bounds(void **state)
{
	(void)state;
	struct tb_job *job = assert_reads(
		"num_ranks 1\nrank 0 {\ncalc 9223372036854775807 cpu 255 nic 255\n}\n");
	assert_int_equal(job->ops[0].amount, INT64_MAX);
	assert_int_equal(job->n_cpus, 256);
	assert_int_equal(job->n_nics, 256);
	tb_job_free(job);
	assert_refuses("num_ranks 1\nrank 0 { calc 9223372036854775808 }",
		"job:2: a time in ns must be at most 9223372036854775807");
}

static void comments_of_their_own_mark_planned_messages(void **state)
{
	(void)state;
	struct tb_job *job = assert_reads("num_ranks 2\n"
					  "rank 0 {\n"
					  "send 1b to 1\n"
					  "// planned\n"
					  "send 2b to 1 // not planned\n"
					  "calc 3\n"
					  "/* no mark:\n"
					  "// not planned\n"
					  "*/ recv 4b from 1\n"
					  "// not planned\r\n"
					  "send 5b to 1\n"
					  "// planned\n"
					  "}\n"
					  "rank 1 {\n"
					  "recv 1b from 0\n"
					  " // planned\n"
					  "recv 2b from 0\n"
					  "recv 5b from 0\n"
					  "// planned\n"
					  "send 4b to 0\n"
					  "}\n");
	static const uint8_t planned[] = {0, 1, 0, 1, 0, 0, 0, 0, 1};
	assert_int_equal(job->n_ops, sizeof planned);
	for (uint32_t i = 0; i < job->n_ops; i++)
		assert_int_equal(job->ops[i].planned, planned[i]);
	tb_job_free(job);
}

static void broken_text_is_reported_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "job: is empty: expected 'num_ranks'"},
		{"// nothing\n", "job: is empty: expected 'num_ranks'"},
		{"\nhello", "job:2: expected 'num_ranks', found 'hello'"},
		{"num_ranks",
			"job:1: expected a number of ranks, found the end of the line"},
		{"num_ranks 0", "job:1: a job has at least one rank"},
		{"num_ranks 99999999",
			"job:1: a number of ranks must be at most 16777216"},
		{"num_ranks 2 send", "job:1: expected 'rank', found 'send'"},
		{"num_ranks 2\nrank 2 {",
			"job:2: rank 2 is out of range: the job has ranks 0 to 1"},
		{"num_ranks 2\nrank 0", "job:2: expected '{', found the end of the line"},
		{"num_ranks 2\nrank 0 {\n\n", "job:3: the file ends within rank 0, which "
					      "began in line 2: expected '}'"},
		{"num_ranks 2\nrank 0 {}\nrank 0 {}", "job:3: rank 0 has a second block"},
		{"num_ranks 1 /* x", "job:1: the comment is not closed with '*/'"},
		{"num_ranks 2\nrank 0 { send 8 to 1",
			"job:2: expected 'b' behind the size, found 'to'"},
		{"num_ranks 2\nrank 0 { send 8b from 1",
			"job:2: expected 'to', found 'from'"},
		{"num_ranks 2\nrank 0 { send 8b to 5",
			"job:2: rank 5 is out of range: the job has ranks 0 to 1"},
		{"num_ranks 2\nrank 0 { send 8b to -1",
			"job:2: expected a rank, found '-1'"},
		{"num_ranks 2\nrank 0 { send 8b to 1 tag -1",
			"job:2: expected a tag, found '-1'"},
		{"num_ranks 2\nrank 0 { send 8b to 1 tag 1 tag 2",
			"job:2: expected 'tag', 'cpu', 'nic' or the end of the line, "
			"found 'tag'"},
		{"num_ranks 2\nrank 0 { send 8b to 1 tag 4294967295",
			"job:2: a tag must be at most 4294967294"},
		{"num_ranks 2\nrank 0 { calc 99999999999999999999",
			"job:2: a time in ns must be at most 9223372036854775807"},
		{"num_ranks 2\nrank 0 { calc 1 cpu 256",
			"job:2: a cpu must be at most 255"},
		{"num_ranks 2\nrank 0 { calc -5",
			"job:2: expected a time in ns, found '-5'"},
		{"num_ranks 2\nrank 0 { l1 calc 5", "job:2: expected ':', 'requires' or "
						    "'irequires' behind the label, "
						    "found 'calc'"},
		{"num_ranks 2\nrank 0 { l1: jump 5",
			"job:2: expected 'send', 'recv' or 'calc', found 'jump'"},
		{"num_ranks 2\nrank 0 {\nl1: calc 5\nl1: calc 6",
			"job:4: rank 0 has a second label 'l1'"},
		{"num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l2",
			"job:4: no operation of rank 0 above has label 'l2'"},
		{"num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires 2",
			"job:4: expected a label, found '2'"},
		{"num_ranks 2\nrank 0 {\nl1: calc 5\n}\nrank 1 {\nl1 requires l1\n}",
			"job:6: no operation of rank 1 above has label 'l1'"},
		{"num_ranks 2\nrank 0 {\n\x01",
			"job:3: expected an operation, a label or "
			"'}', found the byte 0x01"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\n}",
			"job:3: rank 0 operation 1 (send 8b to 1 tag 0) finds no "
			"partner: rank 0 "
			"sends "
			"1 of tag 0 to rank 1, which receives 0"},
		{"num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb irequires "
		 "a\n}",
			"job:3: rank 0 operation 1 (calc 1) waits for rank 0 operation 2 "
			"(calc 2) of line "
			"4, "
			"which waits for the first: none can start"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_refuses(cases[i].text, cases[i].message);
}

static void foreign_input_is_not_broken_input(void **state)
{
	(void)state;
	struct tb_job *job;
	struct tb_error error;
	static const char pcap[] = "\xd4\xc3\xb2\xa1\x02\x00\x04\x00";
	assert_int_equal(read_bytes(&job, pcap, sizeof pcap, &error), TB_EFOREIGN);
	assert_int_equal(read_bytes(&job, "<html>", 6, &error), TB_EFOREIGN);
	assert_int_equal(
		read_bytes(&job, "\x7f\x45LF...........", 15, &error), TB_EFOREIGN);
	assert_int_equal(read_bytes(&job, "num_ranks x", 11, &error), TB_EFOREIGN);
	size_t n = 1 << 20;
	char *zeros = calloc(n, 1);
	assert_int_equal(read_bytes(&job, zeros, n, &error), TB_EFOREIGN);
	free(zeros);
}

static void a_line_may_be_long_but_not_endless(void **state)
{
	(void)state;
	size_t n = 1 << 20;
	char *text = malloc(n + 1);
	memset(text, ' ', n);
	text[n] = '\0';
	memcpy(text, "num_ranks 1\n", 12);
	memcpy(text + 100000, "\nrank 0 { calc 5 }\n", 19);
	memset(text + 200000, '\n', n - 200000);
	tb_job_free(assert_reads(text));
	memset(text + 100100, ' ', n - 100100);
	assert_refuses(
		text, "job:4: the line is longer than 128 KiB, the most that is read");
	free(text);
}

static void many_lines_cross_the_blocks_of_the_reader(void **state)
{
	(void)state;
	char *text = NULL;
	size_t n;
	FILE *stream = open_memstream(&text, &n);
	fputs("num_ranks 1\nrank 0 {\n", stream);
	for (int i = 0; i < 60000; i++)
		fprintf(stream, "a_rather_long_label_%d: calc %d\n", i, i);
	for (int i = 1; i < 60000; i++)
		fprintf(stream,
			"a_rather_long_label_%d requires a_rather_long_label_%d\n", i,
			i / 2);
	fputs("}\n", stream);
	fclose(stream);
	struct tb_job *job = assert_reads(text);
	assert_int_equal(job->n_ops, 60000);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		assert_int_equal(job->ops[i].amount, i);
		assert_int_equal(job->n_predecessors[i], i > 0);
	}
	tb_job_free(job);
	free(text);
}

// The whole file under tests/data, or NULL.
static char *load(const char *name, size_t *n)
{
	const char *source = getenv("TB_SOURCE");
	char path[1024];
	snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", name);
	FILE *file = fopen(path, "rb");
	char *bytes = calloc(1, 1 << 16);
	*n = file ? fread(bytes, 1, (1 << 16) - 1, file) : 0;
	if (file)
		fclose(file);
	return bytes;
}

static void the_forms_of_a_real_schedule_are_equal(void **state)
{
	(void)state;
	size_t n_text, n_binary;
	char *text = load("binary_tree_32.goal", &n_text);
	char *binary = load("binary_tree_32.bin", &n_binary);
	struct tb_job *a, *b;
	struct tb_error error;
	assert_int_equal(read_bytes(&a, text, n_text, &error), TB_OK);
	assert_int_equal(read_bytes(&b, binary, n_binary, &error), TB_OK);
	assert_true(job_equal(a, b));
	struct tb_job_summary summary;
	tb_job_summarize(a, &summary);
	assert_int_equal(summary.n_sends, 31);
	assert_int_equal(summary.n_recvs, 31);
	assert_int_equal(summary.n_pairs, 31);
	// LogGOPSim's tools wrote the file; this program must write the same bytes.
	char *written = NULL;
	size_t n_written;
	FILE *stream = open_memstream(&written, &n_written);
	assert_int_equal(tb_goal_binary_write(a, stream, NULL), TB_OK);
	fclose(stream);
	assert_int_equal(n_written, n_binary);
	assert_memory_equal(written, binary, n_binary);
	free(written);
	stream = open_memstream(&written, &n_written);
	assert_int_equal(tb_goal_text_write(b, stream, NULL), TB_OK);
	fclose(stream);
	assert_int_equal(n_written, n_text);
	assert_memory_equal(written, text, n_text);
	free(written);
	tb_job_free(a);
	tb_job_free(b);
	free(text);
	free(binary);
}

static void a_binary_cut_anywhere_is_refused(void **state)
{
	(void)state;
	size_t n;
	char *bytes = load("binary_tree_32.bin", &n);
	assert_true(n > 1000);
	for (size_t cut = 1; cut < n; cut++) {
		struct tb_job *job;
		struct tb_error error;
		char *exact = malloc(cut); // so that a sanitizer sees reads past its end
		memcpy(exact, bytes, cut);
		int status = read_bytes(&job, exact, cut, &error);
		assert_int_equal(status, cut < 8 ? TB_EFOREIGN : TB_EFORMAT);
		free(exact);
	}
	free(bytes);
}

static void broken_binaries_are_reported_with_their_offset(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		unsigned char byte;
		const char *message;
	} cases[] = {
		{8, 0, "job: offset 8: expected 1 to 16777216 ranks, found 0"},
		{14, 0xff,
			"job: offset 14: rank 0 lies from 767 to 741, where there are "
			"0 to 3440"},
		{526, 9,
			"job: offset 526: rank 0 has no room for 9 operations and 5 "
			"roots in "
			"215 bytes"},
		{558, 7, "job: offset 558: an operation is of kind 1, 2 or 3, not 7"},
		{559, 77,
			"job: offset 554: peer 77 is out of range: the job has ranks 0 "
			"to 31"},
		{570, 0x80,
			"job: offset 563: the size 9223372036854775809 is out of range"},
		{577, 1,
			"job: offset 554: rank 0 has room for 0 dependants, but its "
			"operations have 1 dependants and 0 predecessors"},
		{788, 9,
			"job: offset 784: dependants 9 to 13 are out of range: rank 1 "
			"has 4"},
		{554, 1,
			"job: offset 554: rank 0 has room for 0 dependants, but its "
			"operations have 0 dependants and 1 predecessors"},
		{964, 9, "job: offset 964: rank 1 has no operation 9"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n;
		char *bytes = load("binary_tree_32.bin", &n);
		bytes[cases[i].at] = (char)cases[i].byte;
		struct tb_job *job;
		struct tb_error error;
		char message[1024];
		assert_int_equal(read_bytes(&job, bytes, n, &error), TB_EFORMAT);
		assert_string_equal(tb_error_format(&error, message, sizeof message),
			cases[i].message);
		free(bytes);
	}
}

static void files_are_read_plain_and_compressed_and_written_whole(void **state)
{
	(void)state;
	struct tb_job *job = assert_reads("num_ranks 2\nrank 0 { send 8b to 1 }\n"
					  "rank 1 { recv 8b from 0 }");
	struct tb_job *back = NULL;
	struct tb_error error;
	assert_int_equal(tb_job_write_text(job, "goal_test.goal", &error), TB_OK);
	assert_int_equal(job_read(&back, "goal_test.goal", &error), TB_OK);
	assert_true(job_equal(job, back));
	assert_string_equal(back->name, "goal_test.goal");
	tb_job_free(back);
	unlink("goal_test.goal"); // what was read is not replaced
	assert_int_equal(tb_job_write_binary(job, "goal_test.goal", &error), TB_OK);
	assert_int_equal(system("gzip -kf goal_test.goal && zstd -qf goal_test.goal"), 0);
	static const char *const names[] = {
		"goal_test.goal", "goal_test.goal.gz", "goal_test.goal.zst"};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(job_read(&back, names[i], &error), TB_OK);
		assert_true(job_equal(job, back));
		tb_job_free(back);
	}
	assert_int_equal(truncate("goal_test.goal.gz", 40), 0);
	back = NULL;
	assert_int_equal(job_read(&back, "goal_test.goal.gz", &error), TB_EFORMAT);
	assert_string_equal(error.text, "the gzip data is cut short");
	assert_null(back);
	for (int i = 0; i < 3; i++)
		unlink(names[i]);
	assert_int_equal(tb_job_write_text(job, "no/such/folder.goal", &error), TB_EIO);
	assert_int_equal(job_read(&back, "goal_test.goal", &error), TB_EIO);
	tb_job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_of_the_syntax_is_read),
		cmocka_unit_test(numbers_reach_to_their_bounds),
		cmocka_unit_test(comments_of_their_own_mark_planned_messages),
		cmocka_unit_test(broken_text_is_reported_with_its_line),
		cmocka_unit_test(foreign_input_is_not_broken_input),
		cmocka_unit_test(a_line_may_be_long_but_not_endless),
		cmocka_unit_test(many_lines_cross_the_blocks_of_the_reader),
		cmocka_unit_test(the_forms_of_a_real_schedule_are_equal),
		cmocka_unit_test(a_binary_cut_anywhere_is_refused),
		cmocka_unit_test(broken_binaries_are_reported_with_their_offset),
		cmocka_unit_test(files_are_read_plain_and_compressed_and_written_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
