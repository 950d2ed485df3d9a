// What collective calls of traces put on the wire: of each reader a table of operations,
// in place or not, and with sizes missing; four ranks, messages straight from member to
// member (the algorithm `linear`), so that the bytes of all of them follow from the
// operation.
#include "calls_job.h"
#include "chakra.h"
#include "kineto.h"
#include "otf2_trace.h"

#include "../../support/otf2_archive.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define N 4

static char folder[] = "wire_XXXXXX";

static void remove_folder(const char *path)
{
	DIR *entries = opendir(path);
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		char name[600];
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		if (remove(name) != 0)
			remove_folder(name);
	}
	if (entries)
		closedir(entries);
	remove(path);
}

static void new_folder(void)
{
	strcpy(folder, "wire_XXXXXX");
	assert_non_null(mkdtemp(folder));
}

static void put(uint32_t rank, const char *end, const char *text)
{
	char path[100];
	snprintf(path, sizeof path, "%s/trace.%u.%s", folder, rank, end);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

// What a trace must become: the operation and its `bytes` in each rank's call, and what
// all ranks send together.
struct expected {
	enum tb_collective_op op;
	uint64_t bytes, wire;
};

static uint64_t sent_in_all(const struct tb_calls *calls, enum tb_collective_op op)
{
	char choice[64];
	const char *choices[] = {choice};
	const struct tb_reading reading = {.collectives = choices, .n_collectives = 1};
	struct tb_job *job;
	struct tb_error error = {0};
	uint64_t bytes = 0;
	snprintf(choice, sizeof choice, "%s=linear", tb_collective_op_name(op));
	if (tb_calls_job(calls, "", "nccl", &reading, &job, &error) != TB_OK)
		fail_msg("%s", error.text);
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_SEND)
			bytes += job->ops[i].amount;
	tb_job_free(job);
	return bytes;
}

// read_folder reads the folder, or with `name` the trace of which that is a file.
static int read_folder(tb_calls_read *read, const char *name, struct tb_calls **calls,
	struct tb_error *error)
{
	char path[100];
	const char *paths[] = {path}, *made;
	snprintf(path, sizeof path, "%s%s", folder, name);
	return read(calls, &(struct tb_reading){0}, paths, 1, &made, error);
}

static void check(const char *what, tb_calls_read *read, const char *name,
	const struct expected *expected)
{
	struct tb_calls *calls = NULL;
	struct tb_error error = {0};
	if (read_folder(read, name, &calls, &error) != TB_OK)
		fail_msg("%s: %s: %s", what, error.file, error.text);
	for (uint32_t rank = 0; rank < N; rank++) {
		uint32_t n, found = 0;
		const struct tb_call *of = tb_calls_of(calls, rank, &n);
		for (uint32_t i = 0; i < n; i++) {
			if (of[i].kind != TB_CALL_COLLECTIVE)
				continue;
			if (of[i].op != expected->op || of[i].bytes != expected->bytes)
				fail_msg("%s: rank %u: %s of %" PRIu64 " B", what, rank,
					tb_collective_op_name(of[i].op), of[i].bytes);
			found++;
		}
		assert_int_equal(found, 1);
	}
	uint64_t wire = sent_in_all(calls, expected->op);
	if (wire != expected->wire)
		fail_msg("%s: %" PRIu64 " B on the wire instead of %" PRIu64, what, wire,
			expected->wire);
	tb_calls_free(calls);
	remove_folder(folder);
}

static void kineto(const char *name, const char *dtype, unsigned in, unsigned out)
{
	new_folder();
	for (uint32_t rank = 0; rank < N; rank++) {
		char text[1000];
		snprintf(text, sizeof text,
			"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": "
			"\"nccl\", \"rank\": %u, \"world_size\": 4}, \"traceEvents\": "
			"[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
			"\"ncclDevKernel_Generic(a)\", \"pid\": 0, \"tid\": 20, \"ts\": "
			"10, "
			"\"dur\": 5, \"args\": {\"device\": 0, \"stream\": 20, "
			"\"correlation\": 1, \"Collective name\": \"%s\", \"dtype\": "
			"\"%s\", "
			"\"In msg nelems\": %u, \"Out msg nelems\": %u, \"Group size\": "
			"4, "
			"\"Process Group Name\": \"0\", \"Process Group Ranks\": "
			"\"[0, 1, 2, 3]\"}}]}",
			rank, name, dtype, in, out);
		put(rank, "json", text);
	}
}

static void profiles_put_on_the_wire_what_their_elements_are(void **state)
{
	(void)state;
	static const struct {
		const char *name, *dtype;
		unsigned in, out; // elements; in place: they are the same tensor
		struct expected expected;
	} cases[] = {
		{"allreduce", "Float", 1000, 1000, {TB_COLL_ALLREDUCE, 4000, 24000}},
		{"allreduce", "Float", 0, 1000, {TB_COLL_ALLREDUCE, 4000, 24000}},
		{"allreduce", "Float", 1000, 0, {TB_COLL_ALLREDUCE, 4000, 24000}},
		{"all_reduce", "Half", 1000, 1000, {TB_COLL_ALLREDUCE, 2000, 12000}},
		{"allreduce_coalesced", "Double", 8, 8, {TB_COLL_ALLREDUCE, 64, 384}},
		{"broadcast", "Long", 100, 100, {TB_COLL_BROADCAST, 800, 2400}},
		{"broadcast", "Long", 0, 100, {TB_COLL_BROADCAST, 800, 2400}},
		{"_broadcast_oop", "Byte", 100, 0, {TB_COLL_BROADCAST, 100, 300}},
		{"reduce", "BFloat16", 100, 100, {TB_COLL_REDUCE, 200, 600}},
		{"reduce", "BFloat16", 0, 100, {TB_COLL_REDUCE, 200, 600}},
		{"allgather", "Float", 1000, 4000, {TB_COLL_ALLGATHER, 4000, 48000}},
		{"_allgather_base", "Float", 0, 4000, {TB_COLL_ALLGATHER, 4000, 48000}},
		{"all_gather_into_tensor", "Float", 1000, 0,
			{TB_COLL_ALLGATHER, 4000, 48000}},
		{"reduce_scatter", "Float", 4000, 1000,
			{TB_COLL_REDUCE_SCATTER, 16000, 60000}},
		{"_reduce_scatter_base", "Float", 0, 1000,
			{TB_COLL_REDUCE_SCATTER, 16000, 60000}},
		{"reduce_scatter_tensor", "Float", 4000, 0,
			{TB_COLL_REDUCE_SCATTER, 16000, 60000}},
		{"gather", "Int", 1000, 4000, {TB_COLL_GATHER, 4000, 12000}},
		{"gather", "Int", 1000, 0, {TB_COLL_GATHER, 4000, 12000}},
		{"scatter", "Int", 4000, 1000, {TB_COLL_SCATTER, 4000, 12000}},
		{"scatter", "Int", 0, 1000, {TB_COLL_SCATTER, 4000, 12000}},
		{"scatter", "Int", 4000, 0, {TB_COLL_SCATTER, 4000, 12000}},
		{"all_to_all", "ComplexDouble", 400, 400,
			{TB_COLL_ALLTOALL, 1600, 19200}},
		{"alltoall_base", "Short", 400, 0, {TB_COLL_ALLTOALL, 200, 2400}},
		// NCCL has no barrier: it adds up a float.
		{"barrier", "Byte", 0, 0, {TB_COLL_ALLREDUCE, 4, 24}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char what[100];
		snprintf(what, sizeof what, "%s of %u, %u %s", cases[i].name, cases[i].in,
			cases[i].out, cases[i].dtype);
		kineto(cases[i].name, cases[i].dtype, cases[i].in, cases[i].out);
		check(what, tb_kineto_read, "", &cases[i].expected);
	}
}

// An element of each type, in an all-reduce of four.
static void every_type_has_its_size(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {{"Byte", 1}, {"Char", 1}, {"Bool", 1}, {"QInt8", 1}, {"QUInt8", 1},
		{"Float8_e5m2", 1}, {"Float8_e4m3fn", 1}, {"Float8_e5m2fnuz", 1},
		{"Float8_e4m3fnuz", 1}, {"Float8_e8m0fnu", 1}, {"Float4_e2m1fn_x2", 1},
		{"Short", 2}, {"UInt16", 2}, {"Half", 2}, {"BFloat16", 2}, {"Int", 4},
		{"UInt32", 4}, {"QInt32", 4}, {"Float", 4}, {"ComplexHalf", 4},
		{"Long", 8}, {"UInt64", 8}, {"Double", 8}, {"ComplexFloat", 8},
		{"ComplexDouble", 16}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		uint64_t bytes = 4 * types[i].bytes;
		kineto("allreduce", types[i].name, 4, 4);
		check(types[i].name, tb_kineto_read, "",
			&(struct expected){TB_COLL_ALLREDUCE, bytes, 6 * bytes});
	}
}

static void chakra(int op, const char *size)
{
	new_folder();
	for (uint32_t rank = 0; rank < N; rank++) {
		char text[300];
		snprintf(text, sizeof text,
			"{\"workload_graph\": [{\"Id\": 0, \"NodeType\": 7, "
			"\"data_deps\": "
			"[], \"comm_type\": %d%s%s}]}",
			op, *size ? ", \"comm_size\": " : "", size);
		put(rank, "json", text);
	}
}

// Chakra's sizes are those of the tensor that goes in, also where it is the one that
// comes out.
static void graphs_put_on_the_wire_what_goes_in(void **state)
{
	(void)state;
	static const struct {
		int number;
		const char *size;
		struct expected expected;
	} cases[] = {
		{0, "4096", {TB_COLL_ALLREDUCE, 4096, 24576}},
		{1, "4096", {TB_COLL_REDUCE, 4096, 12288}},
		{2, "4096", {TB_COLL_ALLGATHER, 4096, 49152}},
		{3, "4096", {TB_COLL_GATHER, 4096, 12288}},
		{4, "4096", {TB_COLL_SCATTER, 1024, 3072}},
		{5, "4096", {TB_COLL_BROADCAST, 4096, 12288}},
		{6, "4096", {TB_COLL_ALLTOALL, 1024, 12288}},
		{6, "3", {TB_COLL_ALLTOALL, 0, 0}},
		{7, "4096", {TB_COLL_REDUCE_SCATTER, 4096, 15360}},
		{8, "4096", {TB_COLL_REDUCE_SCATTER, 4096, 15360}},
		{9, "", {TB_COLL_BARRIER, 0, 0}},
		{9, "4096", {TB_COLL_BARRIER, 0, 0}},
		{0, "0", {TB_COLL_ALLREDUCE, 0, 0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char what[50];
		snprintf(what, sizeof what, "comm_type %d of '%s'", cases[i].number,
			cases[i].size);
		chakra(cases[i].number, cases[i].size);
		check(what, tb_chakra_read, "/trace.0.json", &cases[i].expected);
	}
}

static void graphs_without_a_size_or_operation_are_refused(void **state)
{
	(void)state;
	static const struct {
		int number;
		const char *size, *sentence;
	} cases[] = {
		{0, "", "has no comm_size, which its type needs"},
		{6, "", "has no comm_size, which its type needs"},
		{0, "-1", "has a comm_size of -1: expected 0 to"},
		{10, "8", "has a comm_type of 10: expected 0 to 9"},
		{-1, "8", "has a comm_type of -1: expected 0 to 9"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb_calls *calls = NULL;
		struct tb_error error = {0};
		chakra(cases[i].number, cases[i].size);
		assert_int_equal(
			read_folder(tb_chakra_read, "/trace.0.json", &calls, &error),
			TB_EFORMAT);
		if (!strstr(error.text, cases[i].sentence))
			fail_msg("'%s' is not in '%s'", cases[i].sentence, error.text);
		remove_folder(folder);
	}
}

static void define_world(struct otf2_archive *to)
{
	otf2_processes(to);
	otf2_world(to);
}

// Score-P's sizes are totals over the members; `root` 1 is neither first nor last.
struct recorded {
	const char *what;
	OTF2_CollectiveOp op;
	bool is_rooted;
	uint64_t root_sent, root_received, sent, received;
	struct expected expected;
};

static void record(const struct recorded *of)
{
	struct otf2_archive out;
	new_folder();
	otf2_begin(&out, folder);
	for (uint32_t rank = 0; rank < N; rank++) {
		bool is_root = of->is_rooted && rank == 1;
		otf2_location(&out);
		otf2_enter(&out, 10, OTF2_REGION_ALLREDUCE);
		OTF2_DO(OTF2_EvtWriter_MpiCollectiveBegin(out.events, NULL, 10));
		OTF2_DO(OTF2_EvtWriter_MpiCollectiveEnd(out.events, NULL, 11, of->op, 0,
			of->is_rooted ? 1 : UINT32_MAX,
			is_root ? of->root_sent : of->sent,
			is_root ? of->root_received : of->received));
		otf2_leave(&out, 12, OTF2_REGION_ALLREDUCE);
		otf2_location_end(&out);
	}
	otf2_end(&out, define_world, NULL);
}

static void archives_put_on_the_wire_what_members_get(void **state)
{
	(void)state;
	static const struct recorded cases[] = {
		{"barrier", OTF2_COLLECTIVE_OP_BARRIER, false, 0, 0, 0, 0,
			{TB_COLL_BARRIER, 0, 0}},
		{"broadcast", OTF2_COLLECTIVE_OP_BCAST, true, 400, 100, 0, 100,
			{TB_COLL_BROADCAST, 100, 300}},
		{"gather", OTF2_COLLECTIVE_OP_GATHER, true, 100, 400, 100, 0,
			{TB_COLL_GATHER, 100, 300}},
		{"gather in place", OTF2_COLLECTIVE_OP_GATHER, true, 0, 300, 100, 0,
			{TB_COLL_GATHER, 100, 300}},
		{"gatherv", OTF2_COLLECTIVE_OP_GATHERV, true, 100, 400, 100, 0,
			{TB_COLL_GATHER, 100, 300}},
		{"scatter", OTF2_COLLECTIVE_OP_SCATTER, true, 400, 100, 0, 100,
			{TB_COLL_SCATTER, 100, 300}},
		{"scatter in place", OTF2_COLLECTIVE_OP_SCATTER, true, 300, 0, 0, 100,
			{TB_COLL_SCATTER, 100, 300}},
		{"allgather", OTF2_COLLECTIVE_OP_ALLGATHER, false, 0, 0, 400, 400,
			{TB_COLL_ALLGATHER, 100, 1200}},
		{"allgather in place", OTF2_COLLECTIVE_OP_ALLGATHER, false, 0, 0, 303,
			303, {TB_COLL_ALLGATHER, 101, 1212}},
		{"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, false, 0, 0, 400, 400,
			{TB_COLL_ALLTOALL, 100, 1200}},
		{"alltoall in place", OTF2_COLLECTIVE_OP_ALLTOALL, false, 0, 0, 303, 303,
			{TB_COLL_ALLTOALL, 101, 1212}},
		{"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, false, 0, 0, 400, 400,
			{TB_COLL_ALLREDUCE, 100, 600}},
		{"allreduce in place", OTF2_COLLECTIVE_OP_ALLREDUCE, false, 0, 0, 303,
			303, {TB_COLL_ALLREDUCE, 101, 606}},
		{"reduce", OTF2_COLLECTIVE_OP_REDUCE, true, 100, 400, 100, 0,
			{TB_COLL_REDUCE, 100, 300}},
		{"reduce in place", OTF2_COLLECTIVE_OP_REDUCE, true, 0, 300, 100, 0,
			{TB_COLL_REDUCE, 100, 300}},
		{"reduce-scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, false, 0, 0,
			400, 400, {TB_COLL_REDUCE_SCATTER, 400, 1500}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		record(&cases[i]);
		check(cases[i].what, tb_otf2_read, "", &cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_put_on_the_wire_what_their_elements_are),
		cmocka_unit_test(every_type_has_its_size),
		cmocka_unit_test(graphs_put_on_the_wire_what_goes_in),
		cmocka_unit_test(graphs_without_a_size_or_operation_are_refused),
		cmocka_unit_test(archives_put_on_the_wire_what_members_get),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
