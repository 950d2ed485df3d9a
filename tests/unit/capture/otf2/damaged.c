// OTF2 archives that lack files, or of which files break off.
#include "../../../support/otf2_read.h"

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
}

static void two_ranks(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		otf2_location(&out);
		for (uint64_t k = 0; k < 200; k++)
			OTF2_DO(OTF2_EvtWriter_MpiSend(
				out.events, NULL, 100 * k, 1 - i, 0, 0, 5));
		otf2_location_end(&out);
	}
	otf2_end(&out, world, NULL);
}

static void missing_ranks_are_named(void **state)
{
	(void)state;
	char path[100];
	two_ranks();
	path_of(path, sizeof path, "traces/1.evt");
	assert_int_equal(remove(path), 0);
	refuse(TB_EFORMAT, "the events of rank 1 are missing");
	assert_non_null(strstr(error.file, "traces/1.evt"));
	assert_int_equal(read_it(true), TB_OK);
	call(0, 0, 200);
	assert_true(has_note("the events of 1 location are missing"));
}

// Whatever an archive is cut to, it is refused in a sentence or read; lenient too.
static void cut_files_are_refused(void **state)
{
	(void)state;
	static const char *const names[] = {
		"traces.otf2", "traces.def", "traces/0.def", "traces/1.evt"};
	two_ranks();
	for (int k = 0; k < 4; k++) {
		char path[100];
		static char bytes[1 << 16];
		path_of(path, sizeof path, names[k]);
		FILE *file = fopen(path, "rb");
		size_t n = fread(bytes, 1, sizeof bytes, file);
		fclose(file);
		assert_true(n > 0 && n < sizeof bytes);
		for (size_t cut = 0; cut < n; cut += 1 + n / 40) {
			assert_int_equal(truncate(path, (off_t)cut), 0);
			error = (struct tb_error){0};
			int status = read_it(cut % 2 == 0);
			assert_true(status == TB_OK || error.text[0] != '\0');
			if (k < 2 && cut < n - n / 10) // it ends with what nobody reads
				assert_int_not_equal(status, TB_OK);
			tb_calls_free(calls);
			calls = NULL;
			file = fopen(path, "wb");
			assert_int_equal(fwrite(bytes, 1, n, file), n);
			fclose(file);
		}
	}
}

static off_t size_of(const char *path)
{
	struct stat entry;
	assert_int_equal(stat(path, &entry), 0);
	return entry.st_size;
}

static void what_is_whole_of_a_rank_is_taken(void **state)
{
	(void)state;
	char path[100];
	uint32_t n;
	two_ranks();
	path_of(path, sizeof path, "traces/1.evt");
	assert_int_equal(truncate(path, size_of(path) / 2), 0);
	refuse(TB_EFORMAT, " of 200");
	assert_non_null(strstr(error.text, "(--lenient takes what is whole)"));
	assert_non_null(strstr(error.file, "traces/1.evt"));
	assert_int_equal(read_it(true), TB_OK);
	call(0, 0, 200);
	(void)tb_calls_of(calls, 1, &n);
	assert_in_range(n, 50, 150);
	assert_true(has_note("the events of 1 location are missing or break off"));
}

// Its references would mean something else without them.
static void a_rank_without_its_definitions_is_left_out(void **state)
{
	(void)state;
	char path[100];
	uint32_t n;
	two_ranks();
	path_of(path, sizeof path, "traces/1.def");
	assert_int_equal(truncate(path, size_of(path) / 2), 0);
	refuse(TB_EFORMAT, "the definitions of rank 1 break off");
	assert_non_null(strstr(error.file, "traces/1.def"));
	assert_int_equal(read_it(true), TB_OK);
	call(0, 0, 200);
	(void)tb_calls_of(calls, 1, &n);
	assert_int_equal(n, 0);
}

static void two_comms(struct otf2_archive *to)
{
	world(to);
	// Much of it, so that the file can be cut between the two.
	for (int i = 0; i < 1000; i++)
		otf2_string(
			to, "the second communicator is defined far behind the first");
	otf2_comm(to, 1, "second", 1);
}

static void what_is_in_undefined_communicators_is_left_out(void **state)
{
	(void)state;
	char path[100];
	otf2_location(&out);
	for (uint32_t comm = 0; comm < 2; comm++) {
		OTF2_DO(OTF2_EvtWriter_MpiIsend(
			out.events, NULL, 100 * comm, 1, comm, 0, 5 + comm, comm));
		OTF2_DO(OTF2_EvtWriter_MpiIrecvRequest(
			out.events, NULL, 100 * comm + 20, 8 + comm));
		OTF2_DO(OTF2_EvtWriter_MpiIrecv(
			out.events, NULL, 100 * comm + 30, 1, comm, 0, 7, 8 + comm));
	}
	otf2_location_end(&out);
	empty_location();
	otf2_end(&out, two_comms, NULL);
	path_of(path, sizeof path, "traces.def");
	assert_int_equal(truncate(path, size_of(path) / 2), 0);
	refuse(TB_EFORMAT, "the archive's definitions break off");
	assert_non_null(strstr(error.text, "(--lenient takes what is whole)"));
	assert_int_equal(read_it(true), TB_OK);
	assert_int_equal(call(0, 0, 3)->bytes, 5);
	assert_int_equal(call(0, 1, 3)->bytes, 7);
	assert_true(has_note("2 messages and collective calls in communicators"));
	assert_true(has_note("the archive's definitions break off"));
	assert_int_equal(truncate(path, 200), 0); // before the first communicator
	assert_int_equal(read_it(true), TB_EFORMAT);
	assert_null(strstr(error.text, "--lenient"));
}

static void folders_and_anchors_are_recognised(void **state)
{
	(void)state;
	char path[100];
	two_ranks();
	assert_true(tb_otf2_probe(folder, true, NULL, 0));
	path_of(path, sizeof path, "traces");
	assert_false(tb_otf2_probe(path, true, NULL, 0));
	assert_false(tb_otf2_probe("x", false, (const uint8_t *)"OTF2OTF", 7));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(missing_ranks_are_named),
		TEST(what_is_whole_of_a_rank_is_taken),
		TEST(a_rank_without_its_definitions_is_left_out),
		TEST(what_is_in_undefined_communicators_is_left_out),
		TEST(cut_files_are_refused),
		TEST(folders_and_anchors_are_recognised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
