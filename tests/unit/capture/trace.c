// A trace is recognised by its first bytes, whatever its name and compression; the error
// for other files lists all formats.
#include "trace.h"
#include "../../support/job_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "trace_XXXXXX";
static struct tb_error error;

static void put(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

// found returns the format of these bytes, NULL when they have none.
static const char *found(const void *bytes, size_t n)
{
	const struct tb_trace_reader *reader;
	put(bytes, n);
	error = (struct tb_error){0};
	if (tb_trace_find(&reader, path, &error) != TB_OK)
		return NULL;
	// The format must be the same when the file is compressed.
	char command[100];
	snprintf(command, sizeof command, "xz -f %s && mv %s.xz %s", path, path, path);
	assert_int_equal(system(command), 0);
	const struct tb_trace_reader *compressed;
	assert_int_equal(tb_trace_find(&compressed, path, &error), TB_OK);
	assert_ptr_equal(compressed, reader);
	return reader->name;
}

static const char *found_text(const char *text)
{
	return found(text, strlen(text));
}

static void assert_none(const void *bytes, size_t n)
{
	assert_null(found(bytes, n));
	assert_int_equal(error.code, TB_EFOREIGN);
	assert_string_equal(error.file, path);
	assert_ptr_equal(strstr(error.text, "neither a packet capture (pcap, pcapng) nor "
					    "a job (GOAL, flow list, "),
		error.text);
}

static void captures_are_known_by_four_bytes(void **state)
{
	(void)state;
	static const char *const magics[] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1",
		"\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1", "\xa1\xb2\xcd\x34",
		"\x34\xcd\xb2\xa1"};
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(found(magics[i], 4), "pcap");
	assert_string_equal(found("\n\r\r\n", 4), "pcapng");
	assert_none(magics[0], 3);
	assert_none("\xa1\xb2\xc3\xd5", 4);
}

static void jobs_are_known_behind_blanks_and_comments(void **state)
{
	(void)state;
	assert_string_equal(found_text("num_ranks 2"), "GOAL");
	assert_string_equal(found_text("\r\n\t // a\n/* b\n// */ num_ranks"), "GOAL");
	assert_string_equal(found_text("Nodes 3\n"), "flow list");
	assert_string_equal(found_text("# num_ranks 2\n\n#\nNodes 3\n"), "flow list");
	assert_string_equal(found("\x7f\x10\0\0\0\0\0\0", 8), "GOAL");
	assert_none("\x7f\x10\0\0\0\0\0", 7);
	assert_none("# Nodes", 7);
	assert_none("// num_ranks 2", 14);
	assert_none("# num_ranks\nnum_ranks 2", 23);
	assert_none("/* num_ranks", 12);
	assert_none("\0num_ranks 2", 12);
	assert_none("num_rank", 8);
}

static void traces_of_calls_are_known_by_their_bytes(void **state)
{
	(void)state;
	assert_string_equal(
		found_text("#Paraver (01/01/26 at 00:00):10:1(1):1:1(1:1)"), "Paraver");
	assert_string_equal(found_text("{\"workload_graph\": []}"), "Chakra");
	assert_string_equal(found_text("hello\nn01:1:1 [0] NCCL INFO Using network IB\n"),
		"NCCL log");
	assert_string_equal(found_text("\x07\x0a\x05"
				       "0.0.4"),
		"Chakra");
	assert_none("\x07\x0a\x05", 3);
}

static void a_comment_longer_than_what_is_looked_at_may_be_either(void **state)
{
	(void)state;
	static char text[20000];
	memset(text, '#', sizeof text);
	assert_string_equal(found(text, sizeof text), "flow list");
	text[0] = text[1] = '/';
	assert_string_equal(found(text, sizeof text), "GOAL");
	// The word itself may be cut off.
	memset(text, ' ', sizeof text);
	memcpy(text + 4090, "num_ranks 2\n", 12);
	assert_string_equal(found(text, sizeof text), "GOAL");
	memcpy(text + 4080, "other", 5);
	assert_none(text, sizeof text);
	// Where all is blank the first reader gets it.
	memset(text, ' ', sizeof text);
	assert_string_equal(found(text, sizeof text), "GOAL");
}

static void a_job_is_read_by_its_reader(void **state)
{
	(void)state;
	struct tb_job *job;
	put("num_ranks 2\n", 12);
	assert_int_equal(job_read(&job, path, &error), TB_OK);
	assert_string_equal(job->form, "GOAL");
	tb_job_free(job);
	put("Nodes 2\n0->1 id 1 start 0 size 8\n", 33);
	assert_int_equal(job_read(&job, path, &error), TB_OK);
	assert_string_equal(job->form, "flow list");
	tb_job_free(job);
}

static void packets_are_opened_when_asked_for(void **state)
{
	(void)state;
	static const unsigned char empty[24] = {
		0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [18] = 4, [20] = 1};
	struct tb_trace trace;
	const struct tb_packets_options options = {0};
	const char *paths[] = {path, path};
	struct tb_trace_request request = {.paths = paths, .n = 2};
	put(empty, sizeof empty);
	assert_int_equal(tb_trace_read(&trace, &request, &error), TB_OK);
	assert_int_equal(trace.reader->kind, TB_TRACE_PACKETS);
	assert_null(trace.packets);
	assert_null(trace.job);
	request.packets = &options;
	assert_int_equal(tb_trace_read(&trace, &request, &error), TB_OK);
	assert_non_null(trace.packets);
	tb_packets_free(trace.packets);
	put("num_ranks 2\n", 12);
	assert_int_equal(tb_trace_read(&trace, &request, &error), TB_EUSAGE);
}

static void what_is_not_there_is_no_other_format(void **state)
{
	(void)state;
	assert_null(found("", 0));
	assert_int_equal(error.code, TB_EFORMAT);
	assert_ptr_equal(strstr(error.text, "is empty: expected a packet capture (pcap, "
					    "pcapng) or a job (GOAL, flow list, "),
		error.text);
	const struct tb_trace_reader *reader;
	assert_int_equal(tb_trace_find(&reader, "/", &error), TB_EFOREIGN);
	assert_non_null(strstr(error.text, "a folder without a trace: expected"));
	assert_int_equal(tb_trace_find(&reader, "no/such/file", &error), TB_EIO);
	put("\x1f\x8b\x08", 3);
	assert_int_equal(tb_trace_find(&reader, path, &error), TB_EFORMAT);
	assert_string_equal(error.text, "the gzip data is cut short");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_are_known_by_four_bytes),
		cmocka_unit_test(jobs_are_known_behind_blanks_and_comments),
		cmocka_unit_test(traces_of_calls_are_known_by_their_bytes),
		cmocka_unit_test(a_comment_longer_than_what_is_looked_at_may_be_either),
		cmocka_unit_test(a_job_is_read_by_its_reader),
		cmocka_unit_test(packets_are_opened_when_asked_for),
		cmocka_unit_test(what_is_not_there_is_no_other_format),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}
