// What ranks wrote (tbt_records.h) is merged (tbt_merge.h) and read as their calls
// (tbt_read.h), as far as they came.
#include "tbt_merge.h"

#include "input_files.h"
#include "tbt_read.h"
#include "tbt_records.h"

#include "../../../support/tbt_lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static char folder[] = "tbt_XXXXXX";
static char merged[64];
static struct tb_error error;
static struct tbt_lane lane;

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "tbt_XXXXXX");
	error = (struct tb_error){0};
	if (!mkdtemp(folder))
		return -1;
	snprintf(merged, sizeof merged, "%s/job.tbt", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	char command[64];
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static bool by_sockets; // files are those of processes with sockets

static const char *path_of(uint32_t rank)
{
	static char path[64];
	if (by_sockets)
		snprintf(path, sizeof path, "%s/socket-%u-%016x.tbr", folder, 100 + rank,
			0xab00 + rank);
	else
		snprintf(path, sizeof path, "%s/rank-%u.tbr", folder, rank);
	return path;
}

static void put(uint8_t *header, size_t at, uint64_t value, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		header[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_text(uint8_t *header, size_t at, const char *text)
{
	put(header, at, strlen(text), 2);
	memcpy(header + at + 2, text, strlen(text));
}

// write_rank writes the lane as a rank's only one. Each rank is a machine whose clock
// began `rank` seconds earlier, all with the same time of day.
static bool records_any;

static void write_rank(uint32_t rank, uint32_t n_ranks, enum tb_tbt_state state)
{
	static uint8_t bytes[TB_TBT_HEADER_BYTES + TB_TBT_BLOCK_BYTES];
	uint8_t *block = bytes + TB_TBT_HEADER_BYTES;
	char name[32];
	memset(bytes, 0, sizeof bytes);
	memcpy(bytes, TB_TBT_RANK_MAGIC, TB_TBT_MAGIC_BYTES);
	put(bytes, TB_TBT_AT_RANK, by_sockets ? 0 : rank, 4);
	put(bytes, TB_TBT_AT_N_RANKS, n_ranks, 4);
	put(bytes, TB_TBT_AT_MPI, by_sockets ? TB_TBT_SOCKETS : TB_TBT_MPICH, 4);
	put(bytes, TB_TBT_AT_STATE, (uint64_t)state, 4);
	put(bytes, TB_TBT_AT_RECORDS_ANY, records_any, 4);
	put(bytes, TB_TBT_AT_MONO_BEGIN, (10 + rank) * SECOND, 8);
	put(bytes, TB_TBT_AT_REAL_BEGIN, 1000 * SECOND, 8);
	if (state == TB_TBT_FINISHED) {
		put(bytes, TB_TBT_AT_MONO_END, (11 + rank) * SECOND, 8);
		put(bytes, TB_TBT_AT_REAL_END, 1001 * SECOND, 8);
	}
	snprintf(name, sizeof name, "n%02u", rank);
	put_text(bytes, TB_TBT_AT_CLOCK, name);
	put_text(bytes, TB_TBT_AT_HOST, name);
	put_text(bytes, TB_TBT_AT_VERSION, "4.0");
	put(block, 0, TB_TBT_BLOCK_MAGIC, 4);
	memcpy(block + TB_TBT_BLOCK_HEADER, lane.bytes, lane.n);
	FILE *file = fopen(path_of(rank), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
	assert_int_equal(fclose(file), 0);
}

// make_lane: rank 0 sends to rank 1 and both meet, and one computes 1 ms between.
static void make_lane(uint32_t rank, uint32_t n_ranks)
{
	uint64_t at = (10 + rank) * SECOND;
	const uint64_t comm[] = {0, 0, TB_TBT_FOUND, 0, n_ranks, n_ranks};
	const uint64_t message[] = {0, 1 - rank, 7, 4096};
	const uint64_t barrier[] = {TB_TBT_BARRIER, 0, 0, 0, 0};
	tbt_begin(&lane, at);
	tbt_put(&lane, TB_TBT_COMM, at, at, 6, comm);
	tbt_list(&lane, 2, (const uint64_t[]){0, n_ranks});
	if (rank < 2)
		tbt_put(&lane, rank == 0 ? TB_TBT_SEND : TB_TBT_RECV, at + 1000,
			at + 5000, 4, message);
	tbt_put(&lane, TB_TBT_COLL, at + 1005000, at + 1009000, 5, barrier);
	tbt_list(&lane, 0, NULL);
}

static void finish_lane(uint32_t rank)
{
	uint64_t at = (10 + rank) * SECOND + 2000000;
	tbt_put(&lane, TB_TBT_FINALIZE, at, at, 0, NULL);
}

static int merge(struct tb_tbt_summary *summary)
{
	FILE *out = fopen(merged, "wb");
	assert_non_null(out);
	int status = tb_tbt_merge(folder, NULL, out, summary, &error);
	assert_int_equal(fclose(out), 0);
	return status;
}

static int read_merged(struct tb_calls **calls)
{
	const char *path = merged, *made;
	const struct tb_reading reading = {0};
	return tb_tbt_read(calls, &reading, &path, 1, &made, &error);
}

static void what_ranks_wrote_are_their_calls(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_calls *calls;
	for (uint32_t rank = 0; rank < 2; rank++) {
		make_lane(rank, 2);
		finish_lane(rank);
		write_rank(rank, 2, TB_TBT_FINISHED);
	}
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_ranks, 2);
	assert_int_equal(summary.n_clocks, 2);
	assert_int_equal(summary.n_unlinked + summary.n_missing + summary.n_early, 0);
	assert_int_equal(read_merged(&calls), TB_OK);
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t n;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		assert_true(n >= 2);
		assert_int_equal(of[0].kind, rank == 0 ? TB_CALL_SEND : TB_CALL_RECV);
		assert_int_equal(of[0].bytes, 4096);
		assert_int_equal(of[0].tag, 7);
		assert_int_equal(of[1].kind, TB_CALL_COLLECTIVE);
		assert_int_equal(of[1].op, TB_COLL_BARRIER);
		assert_int_equal(of[1].calc_ns, 1000000);
		assert_string_equal(
			tb_calls_host_of(calls, rank), rank == 0 ? "n00" : "n01");
	}
	tb_calls_free(calls);
}

// Where one rank's file is of a tracer that did not record MPI_ANY_SOURCE, a note says
// so.
static void older_files_do_not_tell_of_any_source(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_calls *calls;
	for (int newer = 0; newer < 2; newer++) {
		for (uint32_t rank = 0; rank < 2; rank++) {
			make_lane(rank, 2);
			finish_lane(rank);
			records_any = rank == 0 || newer;
			write_rank(rank, 2, TB_TBT_FINISHED);
		}
		assert_int_equal(merge(&summary), TB_OK);
		assert_int_equal(read_merged(&calls), TB_OK);
		const char *note = tb_calls_note_at(calls, 0);
		if (newer)
			assert_null(note);
		else
			assert_non_null(strstr(note, "MPI_ANY_SOURCE was not recorded"));
		tb_calls_free(calls);
	}
	records_any = false;
}

static void ranks_that_were_killed_count_as_far_as_they_came(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_tbt_rank rank = {0};
	make_lane(0, 3);
	size_t whole = lane.n;
	// Its last record is not written to the end: its kind is still 0.
	finish_lane(0);
	lane.bytes[whole] = 0;
	write_rank(0, 3, TB_TBT_RUNNING);
	assert_int_equal(tb_tbt_rank_read(&rank, path_of(0), &error), TB_OK);
	assert_int_equal(rank.n_lanes, 1);
	assert_int_equal(rank.lanes[0].n, whole);
	tb_tbt_rank_fini(&rank);
	make_lane(1, 3);
	finish_lane(1);
	write_rank(1, 3, TB_TBT_FINISHED);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_early, 1);
	assert_int_equal(summary.first_early, 0);
	assert_int_equal(summary.n_missing, 1); // rank 2
}

// end_early writes a rank of 4 that ended early, `late_ns` after the first.
static void end_early(uint32_t rank, enum tb_tbt_state state, uint64_t late_ns)
{
	const uint64_t left_out[] = {1};
	make_lane(rank, 4);
	uint64_t at = lane.now_ns + late_ns;
	tbt_put(&lane, TB_TBT_LEFT_OUT, at, at, 1, left_out);
	tbt_list(&lane, 0, NULL);
	write_rank(rank, 4, state);
}

// By the common clock: rank r's own is r seconds ahead of rank 0's.
static void the_first_that_ends_early_is_so_in_time(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	for (uint32_t rank = 0; rank < 4; rank++)
		end_early(rank, TB_TBT_RUNNING, rank == 2 ? 0 : SECOND / 5);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_early, 4);
	assert_int_equal(summary.first_early, 2);
	// What aborts ends the others, wherever they waited.
	end_early(3, TB_TBT_ABORTED, SECOND);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.first_early, 3);
	end_early(1, TB_TBT_ABORTED, SECOND / 2);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.first_early, 1);
}

static void files_that_are_none_are_named(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_tbt_rank rank = {0};
	assert_int_equal(merge(&summary), TB_EFOREIGN); // nothing there
	make_lane(0, 2);
	finish_lane(0);
	write_rank(0, 2, TB_TBT_FINISHED);
	write_rank(1, 2, TB_TBT_FINISHED);
	assert_int_equal(truncate(path_of(1), 100), 0);
	int status = tb_tbt_rank_peek(&rank, path_of(1), &error);
	assert_true(status == TB_EFORMAT || status == TB_EFOREIGN);
	assert_non_null(strstr(error.file, "rank-1.tbr"));
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_missing, 1);
	assert_non_null(strstr(summary.unread[0].file, "rank-1.tbr"));
}

// damage_rank overwrites four bytes of a rank's file.
static void damage_rank(uint32_t rank, long at, uint32_t value)
{
	FILE *file = fopen(path_of(rank), "rb+");
	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(&value, 1, sizeof value, file), sizeof value);
	assert_int_equal(fclose(file), 0);
}

// A header that cannot be, a lane that cannot be, and a communicator that was made of
// none: each is named, and the others are merged.
static void damaged_files_are_left_out_and_named(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_calls *calls = NULL;
	const uint64_t strange[] = {5, 3, 1, 0, 2, 2};
	for (uint32_t rank = 0; rank < 4; rank++) {
		make_lane(rank, 4);
		if (rank == 3) {
			tbt_put(&lane, TB_TBT_COMM, 14 * SECOND, 14 * SECOND, 6, strange);
			tbt_list(&lane, 2, (const uint64_t[]){0, 2});
		}
		finish_lane(rank);
		write_rank(rank, 4, TB_TBT_FINISHED);
	}
	damage_rank(1, TB_TBT_AT_N_RANKS, 0);
	damage_rank(2, TB_TBT_HEADER_BYTES + 4, UINT32_MAX);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_missing, 3);
	for (uint32_t i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "rank-%u.tbr", i + 1);
		assert_non_null(strstr(summary.unread[i].file, name));
		assert_int_equal(summary.unread[i].code, TB_EFORMAT);
	}
	assert_int_equal(read_merged(&calls), TB_OK);
	tb_calls_free(calls);
	damage_rank(0, TB_TBT_HEADER_BYTES + 4, UINT32_MAX);
	assert_int_equal(merge(&summary), TB_EFORMAT);
	assert_non_null(strstr(error.file, ".tbr"));
}

static void files_of_ranks_are_spared(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct stat file;
	make_lane(0, 1);
	finish_lane(0);
	write_rank(0, 1, TB_TBT_FINISHED);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(stat(path_of(0), &file), 0);
	assert_int_equal(tb_input_spare("out", &file, NULL), TB_EUSAGE);
}

// A pipe that is called like a rank's file is not waited for.
static void pipes_among_the_files_are_named(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	make_lane(0, 2);
	finish_lane(0);
	write_rank(0, 2, TB_TBT_FINISHED);
	assert_int_equal(mkfifo(path_of(1), 0666), 0);
	assert_int_equal(merge(&summary), TB_OK);
	assert_int_equal(summary.n_missing, 1);
	assert_string_equal(
		summary.unread[0].text, "is not what a rank of a traced program writes");
}

// Wherever a merged file is cut, a sentence names it.
static void cut_traces_are_refused(void **state)
{
	(void)state;
	static uint8_t bytes[1 << 16];
	struct tb_tbt_summary summary;
	for (uint32_t rank = 0; rank < 2; rank++) {
		make_lane(rank, 2);
		finish_lane(rank);
		write_rank(rank, 2, TB_TBT_FINISHED);
	}
	assert_int_equal(merge(&summary), TB_OK);
	FILE *file = fopen(merged, "rb");
	size_t n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	for (size_t cut = TB_TBT_MAGIC_BYTES; cut < n; cut++) {
		struct tb_calls *calls;
		file = fopen(merged, "wb");
		assert_int_equal(fwrite(bytes, 1, cut, file), cut);
		fclose(file);
		error = (struct tb_error){0};
		assert_int_equal(read_merged(&calls), TB_EFORMAT);
		assert_non_null(strstr(error.file, "job.tbt"));
		assert_true(error.text[0] != '\0');
	}
}

// socket_lane: ranks 0 and 1 send each other 10 bytes over a connection, twice. Each
// takes 100 us, by the clock of rank 0; that of rank 1 is 5 ms ahead, though its time of
// day says not.
static void socket_lane(uint32_t rank)
{
	uint64_t at = (10 + rank) * SECOND + rank * UINT64_C(5000000);
	const uint64_t process[] = {100 + rank, 1, 7, 0}, socket[] = {1, 0, 50};
	const uint64_t address[] = {0, 0xffff0a000001, 5000, 0, 0xffff0a000002, 80};
	const uint64_t moved[8] = {1, 10};
	tbt_begin(&lane, at);
	tbt_put(&lane, TB_TBT_PROCESS, at, at, 4, process);
	if (rank == 2) // has no sockets, and made no process that has
		return;
	tbt_put(&lane, TB_TBT_SOCKET, at, at, 3, socket);
	uint64_t list[6];
	for (size_t i = 0; i < 6; i++)
		list[i] = address[(i + 3 * rank) % 6];
	tbt_list(&lane, 6, list);
	for (uint32_t i = 0; i < 4; i++, at += 200000)
		if (i % 2 == rank)
			tbt_put(&lane, TB_TBT_WRITE, at, at, 8, moved);
		else
			tbt_put(&lane, TB_TBT_READ, lane.now_ns, at + 100000, 8, moved);
}

static void clocks_are_related_by_sockets(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	struct tb_tbt_worlds worlds = {0};
	struct tb_calls *calls;
	by_sockets = true;
	for (uint32_t rank = 0; rank < 3; rank++) {
		socket_lane(rank);
		write_rank(rank, 1, TB_TBT_FINISHED);
	}
	by_sockets = false;
	FILE *out = fopen(merged, "wb");
	assert_int_equal(tb_tbt_worlds_find(&worlds, folder, &error), TB_OK);
	assert_int_equal(worlds.n, 1);
	assert_true(worlds.items[0].sockets);
	assert_int_equal(
		tb_tbt_merge(folder, &worlds.items[0], out, &summary, &error), TB_OK);
	fclose(out);
	assert_int_equal(summary.n_ranks, 2);
	assert_int_equal(summary.n_clocks, 2);
	assert_int_equal(summary.n_unlinked, 0);
	assert_int_equal(read_merged(&calls), TB_OK);
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t n;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		assert_int_equal(n, 4);
		assert_string_equal(tb_calls_host_of(calls, rank), rank ? "n01" : "n00");
		for (uint32_t i = 0; i < n; i++) {
			bool sends = i % 2 == rank;
			assert_int_equal(of[i].kind, sends ? TB_CALL_SEND : TB_CALL_RECV);
			assert_int_equal(of[i].leave_ns, of[0].leave_ns + 200000 * i +
								 (sends ? 0 : 100000) -
								 (rank ? 100000 : 0));
		}
	}
	const struct tb_call *first = tb_calls_of(calls, 0, &(uint32_t){0});
	const struct tb_call *second = tb_calls_of(calls, 1, &(uint32_t){0});
	assert_int_equal(second->leave_ns - first->leave_ns, 100000);
	tb_calls_free(calls);
	tb_tbt_worlds_fini(&worlds);
}

// merge_processes merges the files of processes, `is_tcp` those that have such sockets.
static void merge_processes(bool is_tcp, struct tb_tbt_summary *summary)
{
	enum { TCP = 9 };
	static const struct {
		uint64_t pid, parent, sockets[2]; // pipes, TCP
	} all[] = {{100, 1, {1}},		  // a shell that ran two that are traced
		{101, 100, {2, 3}},		  // a wrapper, before its exec
		{101, 100, {TCP}},		  // and after
		{103, 101, {2, 3}},		  // the wrapper's helpers
		{104, 101, {2, 3}},		  //
		{105, 1, {TCP, 5}},		  // a pipe goes from here by
		{106, 1, {5, 6}},		  // two filters
		{107, 1, {6, 7}},		  //
		{108, 100, {TCP, 7}}};		  // to here
	struct tb_tbt_worlds worlds = {0};
	by_sockets = true;
	for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint64_t at = (10 + i) * SECOND;
		tbt_begin(&lane, at);
		tbt_put(&lane, TB_TBT_PROCESS, at, at, 4,
			(const uint64_t[]){all[i].pid, all[i].parent, 7, 0});
		for (uint64_t k = 0; k < 2; k++) {
			uint64_t id = all[i].sockets[k];
			uint64_t local = id == TCP && is_tcp ? 0 : TB_TBT_LOCAL;
			if (id == 0)
				continue;
			tbt_put(&lane, TB_TBT_SOCKET, at, at, 3,
				(const uint64_t[]){k + 1, 0, 50 + 2 * i + k});
			tbt_list(
				&lane, 6, (const uint64_t[]){local, id, 0, local, id, 1});
		}
		write_rank(i, 1, TB_TBT_FINISHED);
	}
	by_sockets = false;
	FILE *out = fopen(merged, "wb");
	assert_int_equal(tb_tbt_worlds_find(&worlds, folder, &error), TB_OK);
	assert_int_equal(
		tb_tbt_merge(folder, &worlds.items[0], out, summary, &error), TB_OK);
	fclose(out);
	tb_tbt_worlds_fini(&worlds);
}

static void processes_between_those_with_sockets_are_ranks(void **state)
{
	(void)state;
	struct tb_tbt_summary summary;
	merge_processes(true, &summary);
	assert_int_equal(summary.n_ranks, 6);
	assert_int_equal(summary.n_left_out, 3);
	merge_processes(false, &summary);
	assert_int_equal(summary.n_ranks, 9);
	assert_int_equal(summary.n_left_out, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_ranks_wrote_are_their_calls),
		TEST(older_files_do_not_tell_of_any_source),
		TEST(ranks_that_were_killed_count_as_far_as_they_came),
		TEST(the_first_that_ends_early_is_so_in_time),
		TEST(files_that_are_none_are_named),
		TEST(cut_traces_are_refused),
		TEST(damaged_files_are_left_out_and_named),
		TEST(files_of_ranks_are_spared),
		TEST(pipes_among_the_files_are_named),
		TEST(clocks_are_related_by_sockets),
		TEST(processes_between_those_with_sockets_are_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
