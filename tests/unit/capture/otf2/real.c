// The real OTF2 archives hold what data/README.md says of them, and become jobs. Skipped
// where they are absent.
#include "calls_job.h"
#include "otf2_trace.h"
#include "packets.h"
#include "real_input.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char data[4096];
static struct tb_calls *calls;

struct figures {
	uint64_t n_sends, bytes, n_receives, n_collectives;
};

static struct figures count(void)
{
	struct figures sum = {0};
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		for (uint32_t i = 0; i < n; i++) {
			sum.n_sends += of[i].kind == TB_CALL_SEND;
			sum.bytes += of[i].kind == TB_CALL_SEND ? of[i].bytes : 0;
			sum.n_receives += of[i].kind == TB_CALL_RECV;
			sum.n_collectives += of[i].kind == TB_CALL_COLLECTIVE;
		}
	}
	return sum;
}

static void open_archive(const char *name, uint32_t n_ranks)
{
	char path[4200];
	const char *paths = path, *made;
	struct tb_error error = {0};
	struct tb_reading reading = {0};
	snprintf(path, sizeof path, "%s/%s", data, name);
	int status = tb_otf2_read(&calls, &reading, &paths, 1, &made, &error);
	if (status != TB_OK)
		print_error("%s: %s\n", error.file, error.text);
	assert_int_equal(status, TB_OK);
	assert_int_equal(tb_calls_n_ranks(calls), n_ranks);
	for (size_t i = 0; tb_calls_note_at(calls, i); i++)
		print_message("%s: %s\n", name, tb_calls_note_at(calls, i));
}

// become makes a job, whose operations are the trace's own and those of its collectives.
static void become(bool lenient)
{
	struct tb_job *job = NULL;
	struct tb_error error = {0};
	struct tb_reading reading = {.lenient = lenient};
	int status = tb_calls_job(calls, "trace", NULL, &reading, &job, &error);
	if (status != TB_OK)
		print_error("%s: %s\n", error.file, error.text);
	assert_int_equal(status, TB_OK);
	tb_job_free(job);
	tb_calls_free(calls);
	calls = NULL;
}

static void sstmacro_on_10_ranks(void **state)
{
	(void)state;
	open_archive("sstmacro-10", 10);
	struct figures sum = count();
	assert_int_equal(sum.n_sends, 1440);
	assert_int_equal(sum.bytes, 23592600);
	assert_int_equal(sum.n_receives, 1440);
	assert_int_equal(sum.n_collectives, 1200);
	assert_string_equal(tb_calls_host_of(calls, 9), "kn10.eth");
	become(false);
}

static void tracer_on_32_ranks(void **state)
{
	(void)state;
	open_archive("tracer-32", 32);
	struct figures sum = count();
	assert_int_equal(sum.n_sends, 512);
	assert_int_equal(sum.bytes, 67108864);
	assert_int_equal(sum.n_collectives, 96);
	assert_string_equal(tb_calls_host_of(calls, 3), "quartz2");
	become(false);
}

static void pingpong_on_2_ranks(void **state)
{
	(void)state;
	open_archive("pipit-pingpong/traces.otf2", 2);
	struct figures sum = count();
	assert_int_equal(sum.n_sends, 16);
	assert_int_equal(sum.bytes, 8355840);
	become(false);
}

static void hpc_challenge_on_4_ranks(void **state)
{
	(void)state;
	if (!real_input_is_there("otf2/hpcc4"))
		skip();
	open_archive("hpcc4", 4);
	struct figures sum = count();
	assert_int_equal(sum.n_sends, 14661);
	assert_int_equal(sum.bytes, 1792809092);
	assert_int_equal(sum.n_receives, 14661);
	assert_int_equal(sum.n_collectives, 4782);
	become(false);
}

// Of EZTrace's receives only the beginning is recorded. Those after the place where the
// events of another rank break off would get other messages, and wait for each other.
static void a_rank_of_hpc_challenge_that_breaks_off(void **state)
{
	(void)state;
	if (!real_input_is_there("otf2/hpcc4"))
		skip();
	char folder[] = "hpcc4_XXXXXX", command[9000];
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof command,
		"cp -r '%s/hpcc4/.' %s && cd %s/eztrace_log && chmod u+w . "
		"1073741822.evt && "
		"truncate -s $(($(stat -c %%s 1073741822.evt) / 2)) 1073741822.evt",
		data, folder, folder);
	assert_int_equal(system(command), 0);
	const char *path = folder, *made;
	struct tb_error error = {0};
	const struct tb_reading reading = {.lenient = true};
	int status = tb_otf2_read(&calls, &reading, &path, 1, &made, &error);
	snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", folder, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, TB_OK);
	struct figures sum = count();
	assert_in_range(sum.n_sends, 1000, 2000);
	become(true);
}

// What HPC Challenge's job sends by pair: its calls and collectives, and MPI_Sendrecv,
// which EZTrace does not record. Its ring benchmark, from which nearly all bytes come,
// sends each length once by MPI_Sendrecv and once by MPI_Isend.
static void sum_pairs(uint64_t sent[4][4])
{
	struct tb_job *job = NULL;
	const struct tb_reading reading = {0};
	assert_int_equal(tb_calls_job(calls, "trace", NULL, &reading, &job, NULL), TB_OK);
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t n;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		for (uint32_t i = 0; i < n; i++)
			if (of[i].kind == TB_CALL_SEND && of[i].starts)
				sent[rank][of[i].peer] += of[i].bytes;
		for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++)
			if (job->ops[i].kind == TB_OP_SEND)
				sent[rank][job->ops[i].peer] += job->ops[i].amount;
	}
	tb_job_free(job);
	tb_calls_free(calls);
	calls = NULL;
}

static void hpc_challenge_was_captured_by_pair(void **state)
{
	(void)state;
	static uint64_t sent[4][4];
	char paths[4][4300];
	const char *list[4];
	struct tb_packets *packets;
	struct tb_captured_packet packet;
	uint32_t n_pairs = 0;
	if (!real_input_is_there("otf2/hpcc4") || !real_input_is_there("captures/hpcc4"))
		skip();
	open_archive("hpcc4", 4);
	sum_pairs(sent);
	for (int i = 0; i < 4; i++) {
		snprintf(paths[i], sizeof paths[i], "%s/../captures/hpcc4/h%d.pcap.gz",
			data, i);
		list[i] = paths[i];
	}
	assert_int_equal(tb_packets_open(&packets, list, 4, NULL, NULL), TB_OK);
	while (tb_packets_next(packets, &packet, NULL) == 1)
		;
	for (uint64_t i = 0; i < tb_packets_summary(packets)->n_pairs; i++) {
		const struct tb_packets_pair *pair = tb_packets_pair(packets, i);
		uint32_t from = pair->source.id, to = pair->destination.id;
		if (from >= 4 || to >= 4) // the launcher
			continue;
		double apart = (double)pair->payload_bytes / (double)sent[from][to] - 1;
		print_message(
			"%" PRIu32 " to %" PRIu32 ": %.2f %%\n", from, to, 100 * apart);
		assert_true(apart > 0 && apart < 0.005);
		n_pairs++;
	}
	assert_int_equal(n_pairs, 12);
	tb_packets_free(packets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sstmacro_on_10_ranks),
		cmocka_unit_test(tracer_on_32_ranks),
		cmocka_unit_test(pingpong_on_2_ranks),
		cmocka_unit_test(hpc_challenge_on_4_ranks),
		cmocka_unit_test(a_rank_of_hpc_challenge_that_breaks_off),
		cmocka_unit_test(hpc_challenge_was_captured_by_pair),
	};
	const char *shared = getenv("TB_SHARED");
	snprintf(data, sizeof data, "%s/data/otf2", shared ? shared : "");
	if (!shared || access(data, R_OK) != 0) {
		printf("skipped: no archives in %s\n", data);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
