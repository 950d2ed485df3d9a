// OTF2 archives become the calls of their ranks: archives written here, one for each rule
// of docs/inputs.md. The real ones are in otf2/real.c.
#include "../../support/otf2_read.h"

#include "input_files.h"

static void time_between_calls_is_computation(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 100, OTF2_REGION_MAIN);
	otf2_enter(&out, 150, OTF2_REGION_COMM_RANK);
	otf2_leave(&out, 170, OTF2_REGION_COMM_RANK);
	otf2_enter(&out, 200, OTF2_REGION_SEND);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 210, 1, 0, 7, 4096));
	otf2_leave(&out, 300, OTF2_REGION_SEND);
	otf2_enter(&out, 340, OTF2_REGION_SEND);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 350, 1, 0, 8, 1));
	otf2_leave(&out, 360, OTF2_REGION_SEND);
	otf2_leave(&out, 400, OTF2_REGION_MAIN);
	otf2_location_end(&out);
	otf2_location(&out);
	otf2_enter(&out, 100, OTF2_REGION_RECV);
	OTF2_DO(OTF2_EvtWriter_MpiRecv(out.events, NULL, 280, 0, 0, 7, 4096));
	otf2_leave(&out, 290, OTF2_REGION_RECV);
	otf2_location_end(&out);
	otf2_end(&out, world, NULL);
	read_well();
	const struct tb_call *send = call(0, 0, 2);
	assert_int_equal(send->kind, TB_CALL_SEND);
	// MPI_Comm_rank is none, but by it rank 0 begins later than rank 1.
	assert_int_equal(send->calc_ns, 50 + 30 + 20);
	assert_true(has_note("the ranks begin up to 20 ns apart"));
	assert_int_equal(send->enter_ns, 200);
	assert_int_equal(send->peer, 1);
	assert_int_equal(send->tag, 7);
	assert_int_equal(send->bytes, 4096);
	assert_int_equal(send->group, 0);
	assert_false(send->starts);
	assert_int_equal(call(0, 1, 2)->calc_ns, 40);
	const struct tb_call *receive = call(1, 0, 1);
	assert_int_equal(receive->kind, TB_CALL_RECV);
	assert_int_equal(receive->calc_ns, 0);
	assert_int_equal(receive->peer, 0);
	assert_string_equal(tb_calls_host_of(calls, 0), "host0");
	assert_string_equal(tb_calls_host_of(calls, 1), "host0");
}

static void make_one(void)
{
	otf2_location(&out);
	otf2_enter(&out, 100, OTF2_REGION_MAIN);
	otf2_leave(&out, 400, OTF2_REGION_MAIN);
	otf2_location_end(&out);
	otf2_end(&out, world, NULL);
}

static void all_files_of_an_archive_are_spared(void **state)
{
	(void)state;
	static const char *const names[] = {"traces.otf2", "traces.def", "traces/0.evt"};
	make_one();
	(void)read_it(false);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[600];
		struct stat file;
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(stat(path, &file), 0);
		assert_int_equal(tb_input_spare("out", &file, NULL), TB_EUSAGE);
	}
}

static void pipes_in_an_archive_are_refused(void **state)
{
	(void)state;
	char path[600];
	make_one();
	snprintf(path, sizeof path, "%s/traces/0.evt", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0666), 0);
	refuse(TB_EFORMAT, "is a pipe or a device: expected a file of an OTF2 archive");
}

static void clocks_are_scaled_and_corrected(OTF2_DefWriter *local, uint32_t location)
{
	if (location == 0)
		return;
	OTF2_DO(OTF2_DefWriter_WriteClockOffset(local, 1000, 100, 0));
	OTF2_DO(OTF2_DefWriter_WriteClockOffset(local, 2000, 300, 0));
}

static void offsets_of_the_clock_apply(void **state)
{
	(void)state;
	out.resolution = 500000000; // a tick is 2 ns
	out.begin = 1000;
	empty_location();
	otf2_location(&out);
	otf2_enter(&out, 1000, OTF2_REGION_MAIN); // is 1100
	otf2_enter(&out, 1500, OTF2_REGION_SEND); // is 1700
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 1500, 0, 0, 0, 1));
	otf2_leave(&out, 1600, OTF2_REGION_SEND);
	otf2_location_end(&out);
	otf2_end(&out, world, clocks_are_scaled_and_corrected);
	read_well();
	assert_int_equal(call(1, 0, 1)->enter_ns, 1400);
	assert_int_equal(call(1, 0, 1)->calc_ns, 1200);
}

static void waits_come_after_what_they_complete(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 10, OTF2_REGION_IRECV);
	OTF2_DO(OTF2_EvtWriter_MpiIrecvRequest(out.events, NULL, 11, 5));
	otf2_leave(&out, 12, OTF2_REGION_IRECV);
	otf2_enter(&out, 20, OTF2_REGION_ISEND);
	OTF2_DO(OTF2_EvtWriter_MpiIsend(out.events, NULL, 21, 1, 0, 3, 64, 6));
	otf2_leave(&out, 22, OTF2_REGION_ISEND);
	otf2_enter(&out, 100, OTF2_REGION_WAITALL);
	OTF2_DO(OTF2_EvtWriter_MpiIsendComplete(out.events, NULL, 110, 6));
	OTF2_DO(OTF2_EvtWriter_MpiIrecv(out.events, NULL, 120, 1, 0, 4, 128, 5));
	otf2_leave(&out, 130, OTF2_REGION_WAITALL);
	otf2_location_end(&out);
	empty_location();
	otf2_end(&out, world, NULL);
	read_well();
	assert_int_equal(call(0, 0, 3)->kind, TB_CALL_RECV);
	assert_true(call(0, 0, 3)->starts);
	assert_int_equal(call(0, 0, 3)->bytes, 128);
	assert_int_equal(call(0, 0, 3)->tag, 4);
	assert_int_equal(call(0, 0, 3)->enter_ns, 10);
	assert_true(call(0, 1, 3)->starts);
	assert_int_equal(call(0, 2, 3)->kind, TB_CALL_JOINT);
	assert_int_equal(call(0, 2, 3)->calc_ns, 78);
	comes_after(0, 2, 2, (const uint32_t[]){1, 0});
}

static void sends_and_receives_of_one_call_go_together(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 10, OTF2_REGION_SENDRECV);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 11, 1, 0, 3, 64));
	OTF2_DO(OTF2_EvtWriter_MpiRecv(out.events, NULL, 90, 1, 0, 3, 64));
	otf2_leave(&out, 100, OTF2_REGION_SENDRECV);
	otf2_enter(&out, 200, OTF2_REGION_BSEND);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 201, 1, 0, 3, 64));
	otf2_leave(&out, 202, OTF2_REGION_BSEND);
	otf2_location_end(&out);
	empty_location();
	otf2_end(&out, world, NULL);
	read_well();
	assert_true(call(0, 0, 4)->starts);
	assert_true(call(0, 1, 4)->starts);
	assert_int_equal(call(0, 2, 4)->kind, TB_CALL_JOINT);
	comes_after(0, 2, 2, (const uint32_t[]){0, 1});
	assert_true(call(0, 3, 4)->starts); // a buffered send
	assert_int_equal(call(0, 3, 4)->calc_ns, 100);
}

static void cancelled_requests_go(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 10, OTF2_REGION_IRECV);
	OTF2_DO(OTF2_EvtWriter_MpiIrecvRequest(out.events, NULL, 11, 5));
	otf2_leave(&out, 12, OTF2_REGION_IRECV);
	otf2_enter(&out, 20, OTF2_REGION_WAITALL);
	OTF2_DO(OTF2_EvtWriter_MpiRequestTest(out.events, NULL, 21, 5));
	OTF2_DO(OTF2_EvtWriter_MpiRequestCancelled(out.events, NULL, 22, 5));
	OTF2_DO(OTF2_EvtWriter_MpiIsendComplete(out.events, NULL, 23, 99));
	otf2_leave(&out, 25, OTF2_REGION_WAITALL);
	otf2_location_end(&out);
	otf2_end(&out, world, NULL);
	read_well();
	uint32_t n;
	tb_calls_of(calls, 0, &n);
	assert_int_equal(n, 0);
	assert_true(has_note("1 cancelled request is"));
	assert_true(has_note("1 end of a request that did not begin is"));
}

// Ranks 0 and 2 are in one communicator, in turned order, 1 and 3 in the other; then an
// inter-communicator of both, and MPI_COMM_SELF.
static void split(struct otf2_archive *to)
{
	static const uint64_t even[] = {2, 0}, odd[] = {1, 3};
	world(to);
	otf2_group(to, 2, OTF2_GROUP_TYPE_COMM_GROUP, even, 2);
	otf2_group(to, 3, OTF2_GROUP_TYPE_COMM_GROUP, odd, 2);
	otf2_group(to, 4, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
	otf2_comm(to, 1, "even", 2);
	otf2_comm(to, 2, "odd", 3);
	otf2_comm(to, 4, "MPI_COMM_SELF", 4);
	OTF2_DO(OTF2_GlobalDefWriter_WriteInterComm(
		to->definitions, 3, 0, 2, 3, 0, OTF2_COMM_FLAG_NONE));
}

static void collective(uint64_t time, OTF2_CollectiveOp op, uint32_t comm, uint32_t root,
	uint64_t sent, uint64_t received)
{
	otf2_enter(&out, time, OTF2_REGION_ALLREDUCE);
	OTF2_DO(OTF2_EvtWriter_MpiCollectiveBegin(out.events, NULL, time));
	OTF2_DO(OTF2_EvtWriter_MpiCollectiveEnd(
		out.events, NULL, time + 1, op, comm, root, sent, received));
	otf2_leave(&out, time + 2, OTF2_REGION_ALLREDUCE);
}

static void communicators_of_any_shape_become_groups(void **state)
{
	(void)state;
	for (uint32_t rank = 0; rank < 4; rank++) {
		otf2_location(&out);
		collective(10, OTF2_COLLECTIVE_OP_BCAST, 1 + rank % 2, 0,
			rank == 2 || rank == 1 ? 200 : 0, 100);
		collective(20, OTF2_COLLECTIVE_OP_ALLTOALL, 3, UINT32_MAX, 64, 64);
		collective(30, OTF2_COLLECTIVE_OP_BARRIER, 4, UINT32_MAX, 0, 0);
		collective(35, OTF2_COLLECTIVE_OP_BCAST, 3, 0, 0, 0);
		otf2_enter(&out, 40, OTF2_REGION_SEND); // to the first of the others
		OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 40, 0, 3, 9, 1));
		otf2_leave(&out, 41, OTF2_REGION_SEND);
		otf2_location_end(&out);
	}
	otf2_end(&out, split, NULL);
	read_well();
	struct tb_group even = tb_calls_members(calls, call(0, 0, 4)->group);
	assert_int_equal(even.n, 2);
	assert_int_equal(even.members[0], 2);
	assert_int_equal(even.members[1], 0);
	assert_int_equal(call(0, 0, 4)->peer, 0);
	assert_int_equal(call(0, 0, 4)->bytes, 100);
	assert_int_equal(call(2, 0, 4)->bytes, 100);
	assert_int_equal(call(1, 0, 4)->group, call(3, 0, 4)->group);
	struct tb_group both = tb_calls_members(calls, call(3, 1, 4)->group);
	assert_int_equal(both.n, 4);
	assert_int_equal(both.n_local, 2);
	assert_int_equal(call(3, 1, 4)->bytes, 32);
	assert_int_equal(tb_calls_members(calls, call(3, 2, 4)->group).n, 1);
	assert_int_not_equal(call(3, 2, 4)->group, call(2, 2, 4)->group);
	assert_int_equal(call(0, 3, 4)->peer, 1);
	assert_int_equal(call(3, 3, 4)->peer, 2);
	assert_true(has_note("4 rooted collective calls of inter-communicators"));
}

// The sizes that Score-P records of a block of 12 bytes in 4 ranks, as root (rank 0) or
// not, and in place.
static void sizes_of_collectives_are_those_of_a_block(void **state)
{
	(void)state;
	static const struct {
		OTF2_CollectiveOp op;
		uint32_t root;
		uint64_t sent, received, bytes;
	} rows[] = {
		{OTF2_COLLECTIVE_OP_BARRIER, UINT32_MAX, 0, 0, 0},
		{OTF2_COLLECTIVE_OP_BCAST, 0, 48, 12, 12},
		{OTF2_COLLECTIVE_OP_BCAST, 1, 0, 12, 12},
		{OTF2_COLLECTIVE_OP_GATHER, 0, 12, 48, 12},
		{OTF2_COLLECTIVE_OP_GATHER, 0, 0, 36, 12},
		{OTF2_COLLECTIVE_OP_GATHERV, 1, 12, 0, 12},
		{OTF2_COLLECTIVE_OP_SCATTER, 0, 48, 12, 12},
		{OTF2_COLLECTIVE_OP_SCATTER, 0, 36, 0, 12},
		{OTF2_COLLECTIVE_OP_SCATTERV, 1, 0, 12, 12},
		{OTF2_COLLECTIVE_OP_ALLGATHER, UINT32_MAX, 48, 48, 12},
		{OTF2_COLLECTIVE_OP_ALLGATHERV, UINT32_MAX, 48, 100, 12},
		{OTF2_COLLECTIVE_OP_ALLTOALL, UINT32_MAX, 48, 48, 12},
		{OTF2_COLLECTIVE_OP_ALLTOALL, UINT32_MAX, 39, 39, 13},
		{OTF2_COLLECTIVE_OP_ALLTOALLV, UINT32_MAX, 50, 12, 12},
		{OTF2_COLLECTIVE_OP_ALLREDUCE, UINT32_MAX, 48, 48, 12},
		{OTF2_COLLECTIVE_OP_REDUCE, 0, 12, 48, 12},
		{OTF2_COLLECTIVE_OP_REDUCE, 1, 12, 0, 12},
		{OTF2_COLLECTIVE_OP_REDUCE_SCATTER, UINT32_MAX, 48, 48, 48},
		{OTF2_COLLECTIVE_OP_SCAN, UINT32_MAX, 48, 12, 12},
		{OTF2_COLLECTIVE_OP_SCAN, UINT32_MAX, 36, 0, 12},
		{OTF2_COLLECTIVE_OP_EXSCAN, UINT32_MAX, 36, 0, 12},
	};
	uint32_t n = sizeof rows / sizeof *rows;
	otf2_location(&out);
	for (uint32_t i = 0; i < n; i++)
		collective(10 * i, rows[i].op, 0, rows[i].root, rows[i].sent,
			rows[i].received);
	otf2_location_end(&out);
	for (int i = 1; i < 4; i++)
		empty_location();
	otf2_end(&out, world, NULL);
	read_well();
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(call(0, i, n)->bytes, rows[i].bytes);
}

static void nonblocking_collectives_start(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 10, OTF2_REGION_IALLTOALL);
	OTF2_DO(OTF2_EvtWriter_NonBlockingCollectiveRequest(out.events, NULL, 11, 1));
	otf2_leave(&out, 12, OTF2_REGION_IALLTOALL);
	otf2_enter(&out, 15, OTF2_REGION_IALLTOALL);
	OTF2_DO(OTF2_EvtWriter_NonBlockingCollectiveRequest(out.events, NULL, 16, 2));
	otf2_leave(&out, 17, OTF2_REGION_IALLTOALL);
	otf2_enter(&out, 18, OTF2_REGION_IALLTOALL);
	otf2_leave(&out, 19, OTF2_REGION_IALLTOALL);
	otf2_enter(&out, 20, OTF2_REGION_WAITALL);
	OTF2_DO(OTF2_EvtWriter_NonBlockingCollectiveComplete(out.events, NULL, 21,
		OTF2_COLLECTIVE_OP_ALLTOALL, 0, OTF2_UNDEFINED_UINT32, 200, 200, 1));
	otf2_leave(&out, 22, OTF2_REGION_WAITALL);
	otf2_location_end(&out);
	empty_location();
	otf2_end(&out, world, NULL);
	read_well();
	assert_int_equal(call(0, 0, 2)->op, TB_COLL_ALLTOALL);
	assert_true(call(0, 0, 2)->starts);
	assert_int_equal(call(0, 0, 2)->bytes, 100);
	comes_after(0, 1, 1, (const uint32_t[]){0});
	assert_true(has_note("1 non-blocking collective call is left out"));
	assert_true(has_note("1 call of MPI_Ialltoall is left out"));
}

static void one_sided_and_file_operations_are_named(void **state)
{
	(void)state;
	otf2_location(&out);
	OTF2_DO(OTF2_EvtWriter_RmaPut(out.events, NULL, 10, 0, 1, 100, 1));
	OTF2_DO(OTF2_EvtWriter_RmaGet(out.events, NULL, 11, 0, 1, 100, 1));
	OTF2_DO(OTF2_EvtWriter_RmaGet(out.events, NULL, 12, 0, 1, 100, 2));
	OTF2_DO(OTF2_EvtWriter_IoOperationBegin(out.events, NULL, 13, 0,
		OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NONE, 10, 1));
	OTF2_DO(OTF2_EvtWriter_ThreadFork(out.events, NULL, 14, OTF2_PARADIGM_OPENMP, 4));
	otf2_location_end(&out);
	otf2_end(&out, world, NULL);
	read_well();
	assert_true(has_note("1 one-sided put is"));
	assert_true(has_note("2 one-sided gets"));
	assert_true(has_note("1 file operation is"));
	assert_true(has_note("1 fork of threads is"));
}

// Location 1 is a thread of location 0's process; 2 is the other rank. Neither the order
// of the processes nor that of the ranks is that of the locations.
static void threads(struct otf2_archive *to)
{
	static const uint64_t mpi[] = {2, 0};
	static const uint32_t process_of[] = {0, 0, 1};
	OTF2_GlobalDefWriter *definitions = to->definitions;
	OTF2_DO(OTF2_GlobalDefWriter_WriteSystemTreeNode(
		definitions, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t i = 0; i < 2; i++)
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, 0,
			OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
			OTF2_UNDEFINED_LOCATION_GROUP));
	for (uint32_t i = 0; i < 3; i++)
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocation(definitions, i, 0,
			OTF2_LOCATION_TYPE_CPU_THREAD, to->counts[i], process_of[i]));
	otf2_group(to, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, mpi, 2);
	otf2_group(to, 1, OTF2_GROUP_TYPE_COMM_GROUP, (const uint64_t[]){0, 1}, 2);
	otf2_comm(to, 0, "MPI_COMM_WORLD", 1);
}

static void threads_are_lanes_in_the_order_of_time(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		otf2_location(&out);
		for (uint64_t k = 0; k < 2 && i < 2; k++) {
			otf2_enter(&out, 100 + 10 * k + i, OTF2_REGION_SEND);
			OTF2_DO(OTF2_EvtWriter_MpiSend(
				out.events, NULL, 100 + 10 * k + i, 0, 0, i, 1));
			otf2_leave(&out, 101 + 10 * k + i, OTF2_REGION_SEND);
		}
		otf2_location_end(&out);
	}
	otf2_end(&out, threads, NULL);
	read_well();
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(call(1, i, 4)->lane, i % 2);
		assert_int_equal(call(1, i, 4)->tag, i % 2);
		assert_int_equal(call(1, i, 4)->peer, 0);
	}
	assert_int_equal(call(1, 1, 4)->calc_ns, 1); // since the rank began
}

// The first thread, whose events are read first, waits last.
static void threads_wait_each_for_its_own(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		otf2_location(&out);
		if (i < 2) {
			otf2_enter(&out, 10 + i, OTF2_REGION_ISEND);
			OTF2_DO(OTF2_EvtWriter_MpiIsend(
				out.events, NULL, 10 + i, 0, 0, 3, 64, 5 + i));
			otf2_leave(&out, 20, OTF2_REGION_ISEND);
			otf2_enter(&out, 500 - 100 * i, OTF2_REGION_WAITALL);
			OTF2_DO(OTF2_EvtWriter_MpiIsendComplete(
				out.events, NULL, 510 - 100 * i, 5 + i));
			otf2_leave(&out, 520 - 100 * i, OTF2_REGION_WAITALL);
		}
		otf2_location_end(&out);
	}
	otf2_end(&out, threads, NULL);
	read_well();
	assert_int_equal(call(1, 2, 4)->enter_ns, 400);
	comes_after(1, 2, 1, (const uint32_t[]){1});
	comes_after(1, 3, 1, (const uint32_t[]){0});
}

// An archive without MPI's groups and regions, as simulators write them.
static void archives_without_groups_number_their_processes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		otf2_location(&out);
		OTF2_DO(OTF2_EvtWriter_MpiSend(
			out.events, NULL, 100 + i, 1 - i, 0, 0, 5));
		OTF2_DO(OTF2_EvtWriter_MpiRecv(out.events, NULL, 200, 1 - i, 0, 0, 5));
		otf2_location_end(&out);
	}
	otf2_end(&out, otf2_processes, NULL);
	read_well();
	assert_int_equal(tb_calls_n_ranks(calls), 2);
	assert_int_equal(call(1, 0, 2)->peer, 0);
	assert_int_equal(call(1, 1, 2)->calc_ns, 99);
}

static void strangers_are_refused(void **state)
{
	(void)state;
	otf2_location(&out);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 1, 2, 0, 0, 5));
	otf2_location_end(&out);
	empty_location();
	otf2_end(&out, world, NULL);
	refuse(TB_EFORMAT, "rank 0 has a message to member 2 of a communicator of 2");
	assert_int_equal(error.place, TB_PLACE_RECORD);
	assert_int_equal(error.at, 1);
}

static void unknown_communicators_are_refused(void **state)
{
	(void)state;
	otf2_location(&out);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 1, 0, 77, 0, 5));
	otf2_location_end(&out);
	otf2_end(&out, world, NULL);
	refuse(TB_EFORMAT, "communicator 77, which is not defined");
}

// A million ranks, of which one has events, and none a communicator.
static void a_million(struct otf2_archive *to)
{
	OTF2_DO(OTF2_GlobalDefWriter_WriteSystemTreeNode(
		to->definitions, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t i = 0; i < 1000000; i++) {
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocationGroup(to->definitions, i, 0,
			OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
			OTF2_UNDEFINED_LOCATION_GROUP));
		OTF2_DO(OTF2_GlobalDefWriter_WriteLocation(
			to->definitions, i, 0, OTF2_LOCATION_TYPE_CPU_THREAD, i == 0, i));
	}
}

static void a_million_locations_are_read(void **state)
{
	(void)state;
	otf2_location(&out);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 1, 999999, 0, 0, 5));
	otf2_location_end(&out);
	otf2_end(&out, a_million, NULL);
	read_well();
	assert_int_equal(tb_calls_n_ranks(calls), 1000000);
	assert_int_equal(call(0, 0, 1)->peer, 999999);
}

// A clock that is set back by 500 within a tick.
static void clocks_that_turn_back(OTF2_DefWriter *local, uint32_t location)
{
	(void)location;
	OTF2_DO(OTF2_DefWriter_WriteClockOffset(local, 1000, 0, 0));
	OTF2_DO(OTF2_DefWriter_WriteClockOffset(local, 1001, -500, 0));
	OTF2_DO(OTF2_DefWriter_WriteClockOffset(local, 2000, -500, 0));
}

static void events_against_time_are_refused(void **state)
{
	(void)state;
	otf2_location(&out);
	otf2_enter(&out, 1000, OTF2_REGION_MAIN);
	otf2_enter(&out, 1001, OTF2_REGION_SEND);
	OTF2_DO(OTF2_EvtWriter_MpiSend(out.events, NULL, 1001, 0, 0, 0, 5));
	otf2_leave(&out, 2000, OTF2_REGION_SEND);
	otf2_location_end(&out);
	otf2_end(&out, world, clocks_that_turn_back);
	refuse(TB_EFORMAT, "earlier than the one before it");
	assert_int_equal(error.at, 2);
	assert_int_equal(read_it(true), TB_OK);
	call(0, 0, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(time_between_calls_is_computation),
		TEST(offsets_of_the_clock_apply),
		TEST(waits_come_after_what_they_complete),
		TEST(sends_and_receives_of_one_call_go_together),
		TEST(cancelled_requests_go),
		TEST(communicators_of_any_shape_become_groups),
		TEST(sizes_of_collectives_are_those_of_a_block),
		TEST(nonblocking_collectives_start),
		TEST(one_sided_and_file_operations_are_named),
		TEST(threads_are_lanes_in_the_order_of_time),
		TEST(threads_wait_each_for_its_own),
		TEST(archives_without_groups_number_their_processes),
		TEST(strangers_are_refused),
		TEST(unknown_communicators_are_refused),
		TEST(a_million_locations_are_read),
		TEST(events_against_time_are_refused),
		TEST(all_files_of_an_archive_are_spared),
		TEST(pipes_in_an_archive_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
