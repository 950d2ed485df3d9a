// What simulators are given becomes the calls of ranks.
#include "mpi_text.h"
#include "simai.h"
#include "trace_folder.h"

#include <inttypes.h>

static const struct tb_call *call(uint32_t rank, uint32_t index)
{
	uint32_t n;
	const struct tb_call *found = tb_calls_of(calls, rank, &n);
	assert_true(index < n);
	return &found[index];
}

static uint32_t n_calls(uint32_t rank)
{
	uint32_t n;
	(void)tb_calls_of(calls, rank, &n);
	return n;
}

static int read_file(tb_calls_read *read, const char *name)
{
	const char *made, *path = in_folder(name);
	return read(&calls, &reading, &path, 1, &made, &error);
}

static void read_well(tb_calls_read *read, const char *name)
{
	if (read_file(read, name) != TB_OK)
		fail_msg("%s:%d: %s", error.file, (int)error.at, error.text);
}

// waits_for checks that call `index` comes after the calls first and second, alone.
static void waits_for(uint32_t rank, uint32_t index, uint32_t first, uint32_t second)
{
	uint32_t n;
	const uint32_t *on = tb_calls_befores(calls, rank, index, &n);
	assert_int_equal(n, first == second ? 1 : 2);
	assert_int_equal(on[0], first);
	assert_int_equal(on[n - 1], second);
}

#define HEAD(tp, ep, all)                                                                \
	"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: " tp " ep: " ep       \
	" pp: 1 vpp: 1 ga: 1 all_gpus: " all " checkpoints: 0\n"

static void layers_go_forward_and_back(void **state)
{
	(void)state;
	put("w", HEAD("2", "1",
			 "4") "2\n"
			      "a -1 100 ALLREDUCE 64 10 ALLGATHER 64 5 ALLREDUCE 32 7\n"
			      "b -1 200 NONE 0 20 ALLTOALL 64 6 NONE 0 8\n");
	read_well(tb_simai_read, "w");
	assert_int_equal(tb_calls_n_ranks(calls), 4);
	// a forward, b forward, b's input and weight, a's input and weight, end.
	static const struct {
		uint64_t calc_ns, bytes;
		uint8_t kind, op;
	} right[] = {{100, 64, TB_CALL_COLLECTIVE, TB_COLL_ALLREDUCE},
		{200, 0, TB_CALL_JOINT, 0},
		{20, 32, TB_CALL_COLLECTIVE, TB_COLL_ALLTOALL}, {6, 0, TB_CALL_JOINT, 0},
		{10, 32, TB_CALL_COLLECTIVE, TB_COLL_ALLGATHER}, {5, 0, TB_CALL_JOINT, 0},
		{0, 32, TB_CALL_COLLECTIVE, TB_COLL_ALLREDUCE}, {0, 0, TB_CALL_JOINT, 0},
		{15, 0, TB_CALL_JOINT, 0}};
	assert_int_equal(n_calls(3), 9);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(call(3, i)->calc_ns, right[i].calc_ns);
		assert_int_equal(call(3, i)->kind, right[i].kind);
		assert_int_equal(call(3, i)->bytes, right[i].bytes);
		assert_int_equal(call(3, i)->lane, i == 6);
		if (right[i].kind == TB_CALL_COLLECTIVE)
			assert_int_equal(call(3, i)->op, right[i].op);
	}
	waits_for(3, 6, 5, 5);
	waits_for(3, 7, 6, 6);
	// Ranks 2 and 3 are tensor parallel, 1 and 3 data parallel.
	struct tb_group tp = tb_calls_members(calls, call(3, 0)->group);
	struct tb_group dp = tb_calls_members(calls, call(3, 6)->group);
	assert_int_equal(tp.members[0], 2);
	assert_int_equal(tp.members[1], 3);
	assert_int_equal(dp.members[0], 1);
	assert_int_equal(dp.members[1], 3);
}

static void data_parallel_weights_come_before_inputs(void **state)
{
	(void)state;
	put("w", "DATA all_gpus: 2\n1\na -1 1 NONE 0 20 NONE 0 5 ALLREDUCE 32 7\n");
	read_well(tb_simai_read, "w");
	static const uint32_t calc_ns[] = {1, 5, 0, 20, 0, 7},
			      lane[] = {0, 0, 1, 0, 0, 0};
	assert_int_equal(n_calls(0), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(call(0, i)->calc_ns, calc_ns[i]);
		assert_int_equal(call(0, i)->lane, lane[i]);
	}
	waits_for(0, 4, 2, 2);
}

static void expert_groups_are_within_data_parallel_ones(void **state)
{
	(void)state;
	put("w", HEAD("2", "2", "16") "1\nmoe -1 0 ALLTOALL_EP 64 0 NONE 0 0 "
				      "ALLREDUCE_DP_EP 64 0\n");
	read_well(tb_simai_read, "w");
	// Rank 7: tensor place 1, data parallel place 3 of 8: with 5, and with 3, 11, 15.
	struct tb_group ep = tb_calls_members(calls, call(7, 0)->group);
	struct tb_group dp_ep = tb_calls_members(calls, call(7, 2)->group);
	assert_int_equal(ep.n, 2);
	assert_int_equal(ep.members[0], 5);
	assert_int_equal(ep.members[1], 7);
	assert_int_equal(dp_ep.n, 4);
	static const uint32_t right[] = {3, 7, 11, 15};
	assert_memory_equal(dp_ep.members, right, sizeof right);
}

// One program in the three forms: receive and send at once, wait for both, all-reduce.
static void check_program(void)
{
	for (uint32_t rank = 0; rank < 2; rank++) {
		assert_int_equal(n_calls(rank), 4);
		assert_int_equal(call(rank, 0)->kind, TB_CALL_RECV);
		assert_int_equal(call(rank, 1)->kind, TB_CALL_SEND);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(call(rank, i)->bytes, 800);
			assert_int_equal(call(rank, i)->peer, 1 - rank);
			assert_int_equal(call(rank, i)->tag, 5);
			assert_true(call(rank, i)->starts);
		}
		assert_int_equal(call(rank, 2)->kind, TB_CALL_JOINT);
		waits_for(rank, 2, 0, 1);
		assert_int_equal(call(rank, 3)->op, TB_COLL_ALLREDUCE);
		assert_int_equal(call(rank, 3)->bytes, 80);
		assert_int_equal(call(rank, 3)->calc_ns, 100000);
	}
	tb_calls_free(calls);
	calls = NULL;
}

#define TI(me, other)                                                                    \
	me " init\n" me " irecv " other " 5 100 0\n" me " isend " other " 5 100 0\n" me  \
	   " waitall\n" me " compute 1e5\n" me " allreduce 10 0 0\n" me " finalize\n"
#define DUMPI_CALL(name, from, to, arguments)                                            \
	"MPI_" name " entering at walltime 8." from                                      \
	", cputime 0.1 seconds in thread 0.\n" arguments "MPI_" name                     \
	" returning at walltime 8." to ", cputime 0.1 seconds in thread 0.\n"
#define DUMPI_MESSAGE(peer, request)                                                     \
	"int count=100\nMPI_Datatype datatype=11 (MPI_DOUBLE)\nint " peer                \
	"\nint tag=5\nMPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Request request=[" request   \
	"]\n"
#define DUMPI(other)                                                                     \
	DUMPI_CALL("Irecv", "001", "001", DUMPI_MESSAGE("source=" other, "3"))           \
	DUMPI_CALL("Isend", "001", "001", DUMPI_MESSAGE("dest=" other, "4"))             \
	DUMPI_CALL("Waitall", "001", "002",                                              \
		"int count=2\nMPI_Request requests[2]=[3, 4]\n")                         \
	DUMPI_CALL("Allreduce", "0021", "003",                                           \
		"int count=10\nMPI_Datatype datatype=11 (MPI_DOUBLE)\nMPI_Op op=3 "      \
		"(MPI_SUM)\nMPI_Comm comm=2 (MPI_COMM_WORLD)\n")
#define ALLPROF(me, other)                                                               \
	"MPI_Init:1:0:0:2\nMPI_Irecv:10:0x1:100:1,8:" other ":5:0," me                   \
	",2:0x1000:10\nMPI_Isend:10:0x1:100:1,8:" other ":5:0," me                       \
	",2:0x1004:11\nMPI_Waitall:11:2:0x1000:0:20\nMPI_Allreduce:120:0:0:10:1,8:3:"    \
	"0," me ",2:130\n"

static void three_forms_of_a_program_are_one(void **state)
{
	(void)state;
	put("ti", TI("0", "1") TI("1", "0"));
	read_well(tb_ti_read, "ti");
	check_program();
	put("r0", TI("0", "1"));
	put("r1", TI("1", "0"));
	put("list", "r0\nr1\n");
	read_well(tb_ti_read, "list");
	check_program();
	assert_int_equal(mkdir(in_folder("d"), 0700), 0);
	put("d/dumpi-2013.09.26-0000.txt", DUMPI("1"));
	put("d/dumpi-2013.09.26-0001.txt", DUMPI("0"));
	read_well(tb_dumpi_text_read, "d");
	check_program();
	assert_int_equal(mkdir(in_folder("a"), 0700), 0);
	put("a/pmpi-trace-rank-0.txt", ALLPROF("0", "1"));
	put("a/pmpi-trace-rank-1.txt", ALLPROF("1", "0"));
	read_well(tb_allprof_read, "a");
	check_program();
}

static void refused(tb_calls_read *read, const char *text, const char *says)
{
	put("refused-rank-0.txt", text);
	assert_int_not_equal(read_file(read, "refused-rank-0.txt"), TB_OK);
	if (!strstr(error.text, says))
		fail_msg("%s", error.text);
}

// A test of a time-independent trace does not say what it found: a request that was
// tested is waited for where the next of its kind begins, one that was not is not.
static void a_tested_request_ends_before_the_next_like_it(void **state)
{
	(void)state;
	put("ti", "0 init\n0 isend 1 5 100 6\n0 test 0 1 5\n0 isend 1 5 200 6\n"
		  "0 wait 0 1 5\n1 init\n1 irecv 0 5 100 6\n1 irecv 0 5 200 6\n"
		  "1 wait 0 1 5\n1 wait 0 1 5\n");
	read_well(tb_ti_read, "ti");
	assert_int_equal(n_calls(0), 4);
	assert_int_equal(call(0, 1)->kind, TB_CALL_JOINT);
	waits_for(0, 1, 0, 0);
	assert_int_equal(call(0, 2)->bytes, 200);
	waits_for(0, 3, 2, 2);
	waits_for(1, 2, 0, 0);
	waits_for(1, 3, 1, 1);
}

// A program that lost a request may use its handle again.
static void a_handle_is_of_its_newest_request(void **state)
{
	(void)state;
	put("r-0.txt", "MPI_Init:1:0:0:2\nMPI_Isend:10:0x1:100:1,8:1:5:0,0,2:0x1000:10\n"
		       "MPI_Isend:20:0x1:200:1,8:1:5:0,0,2:0x1000:20\n"
		       "MPI_Wait:21:0x1000:0:30\n");
	put("r-1.txt", "MPI_Init:1:0:0:2\n");
	const char *made, *paths[] = {in_folder("r-0.txt"), in_folder("r-1.txt")};
	assert_int_equal(
		tb_allprof_read(&calls, &reading, paths, 2, &made, &error), TB_OK);
	waits_for(0, 2, 1, 1);
}

static void numbers_beyond_a_job_are_refused(void **state)
{
	(void)state;
	refused(tb_ti_read, "0 init\n0 compute 9e15\n0 compute 9e15\n",
		"computes for more than 104 days");
	refused(tb_ti_read, "0 init\n0 reducescatter 9e17 1 6\n",
		"expected sizes from 0 to 1e15 bytes in all");
	refused(tb_allprof_read, "MPI_Init:1:0:0:2\nMPI_Waitall:11:5000:0x1000:0:20\n",
		"waits for more than 4096 requests");
	refused(tb_allprof_read, "MPI_Init:1:0:0:2\nMPI_Barrier:3:0,0,1:8e15\n",
		"last more than 104 days");
	refused(tb_dumpi_text_read,
		DUMPI_CALL("Alltoallv", "001", "002",
			"int sendcounts[1]=[18446744073709551615]\nMPI_Datatype "
			"sendtype=11 (MPI_DOUBLE)\nMPI_Comm comm=2 (MPI_COMM_WORLD)\n"),
		"a count of more than 1e15 elements");
	refused(tb_simai_read,
		HEAD("1", "1",
			"1") "2\na -1 9000000000000000 NONE 0 0 NONE 0 0 NONE 0 0\n"
			     "b -1 1 NONE 0 0 NONE 0 0 NONE 0 0\n",
		"compute for more than 104 days");
}

static void blocks_of_a_reduce_scatter_are_of_all(void **state)
{
	(void)state;
	for (int rank = 0; rank < 2; rank++)
		put(rank ? "d-1.txt" : "d-0.txt",
			DUMPI_CALL("Reduce_scatter_block", "001", "002",
				"int recvcount=100\nMPI_Datatype datatype=11 "
				"(MPI_DOUBLE)\nMPI_Op op=3 (MPI_SUM)\nMPI_Comm comm=2 "
				"(MPI_COMM_WORLD)\n"));
	read_well(tb_dumpi_text_read, "");
	assert_int_equal(call(1, 0)->op, TB_COLL_REDUCE_SCATTER);
	assert_int_equal(call(1, 0)->bytes, 1600);
}

// The status of a receive that takes from anyone names the rank and the tag.
static void a_status_names_the_sender(void **state)
{
	(void)state;
	for (uint32_t rank = 0; rank <= 12; rank++) {
		char name[16], text[1000];
		snprintf(name, sizeof name, "d-%04" PRIu32 ".txt", rank);
		snprintf(text, sizeof text,
			"%s" DUMPI_CALL("Barrier", "002", "003",
				"MPI_Comm comm=2 (MPI_COMM_WORLD)\n"),
			rank == 0    ? DUMPI_CALL("Recv", "001", "002",
					       "int count=100\nMPI_Datatype datatype=11 "
						  "(MPI_DOUBLE)\n"
						  "int source=-1 (MPI_ANY_SOURCE)\n"
						  "int tag=-1 (MPI_ANY_TAG)\nMPI_Comm comm=2 "
						  "(MPI_COMM_WORLD)\nMPI_Status "
						  "status=[{bytes=800, "
						  "cancelled=0, source=12, tag=19, error=0}]\n")
			: rank == 12 ? DUMPI_CALL("Send", "001", "002",
					       "int count=100\nMPI_Datatype datatype=11 "
					       "(MPI_DOUBLE)\nint dest=0\nint "
					       "tag=19\nMPI_Comm "
					       "comm=2 (MPI_COMM_WORLD)\n")
				     : "");
		put(name, text);
	}
	read_well(tb_dumpi_text_read, "");
	assert_int_equal(call(0, 0)->kind, TB_CALL_RECV);
	assert_int_equal(call(0, 0)->peer, 12);
	assert_int_equal(call(0, 0)->tag, 19);
	assert_int_equal(call(12, 0)->peer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(layers_go_forward_and_back),
		IN_FOLDER(data_parallel_weights_come_before_inputs),
		IN_FOLDER(expert_groups_are_within_data_parallel_ones),
		IN_FOLDER(three_forms_of_a_program_are_one),
		IN_FOLDER(a_tested_request_ends_before_the_next_like_it),
		IN_FOLDER(a_handle_is_of_its_newest_request),
		IN_FOLDER(numbers_beyond_a_job_are_refused),
		IN_FOLDER(blocks_of_a_reduce_scatter_are_of_all),
		IN_FOLDER(a_status_names_the_sender),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
