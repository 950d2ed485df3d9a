// One-sided communication becomes messages, by the rules at the top of tbt_windows.c:
// each way to synchronize, as the calls that it makes of every rank.
#include "../../../support/tbt_job.h"

// begin begins every rank's lane with the window 0 of all ranks.
static void begin(void)
{
	const uint64_t window[] = {0, 0};
	for (uint32_t rank = 0; rank < N_RANKS; rank++) {
		tbt_begin(&lanes[rank], 1000);
		tbt_put(&lanes[rank], TB_TBT_WINDOW, 1000, 1000, 2, window);
	}
}

static void rma(
	uint32_t rank, uint64_t peer, uint64_t there, uint64_t back, uint64_t request)
{
	record(rank, TB_TBT_RMA, 5, (const uint64_t[]){0, peer, there, back, request});
}

static void put(uint32_t rank, uint64_t peer, uint64_t bytes)
{
	rma(rank, peer, bytes, 0, 0);
}

// synchronize names a peer, or NONE, and the peers of a group.
static void synchronize(uint32_t rank, enum tb_tbt_sync what, uint32_t peer, size_t n,
	const uint64_t *peers)
{
	record(rank, TB_TBT_RMA_SYNC, 3,
		(const uint64_t[]){0, what, peer == NONE ? 0 : peer + 1u});
	tbt_list(&lanes[rank], n, peers);
}

static void fence(void)
{
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		synchronize(rank, TB_TBT_SYNC_FENCE, NONE, 0, NULL);
}

static void what_is_put_goes_with_the_next_fence(void **state)
{
	(void)state;
	begin();
	fence();
	put(0, 1, 64);
	put(0, 1, 36);
	put(0, 2, 5);
	put(2, 2, 7);
	fence();
	fence();
	assert_all("0,0,0@10 barrier 0,100,5@40 barrier 0,0,0@10 barrier",
		"0,0,0@10 barrier 0,0,0@10 barrier 0,0,0@10 barrier",
		"0,0,0@10 barrier 0,0,7@20 barrier 0,0,0@10 barrier");
}

static void what_is_got_comes_back(void **state)
{
	(void)state;
	begin();
	fence();
	rma(0, 1, 0, 64, 0);
	rma(0, 2, 8, 16, 0);
	fence();
	assert_all("0,0,0@10 barrier to1.0=0*@10 from1.1=64* to2.0=8*@10 from2.1=16* "
		   "joint@10<3,5 0,0,0 barrier",
		"0,0,0@10 barrier 0,0,0@10 barrier 1:from0.0=0 1:to0.1=64*",
		"0,0,0@10 barrier 0,0,0@10 barrier 1:from0.0=8 1:to0.1=16*");
}

static void a_lock_sends_at_once_and_waits_for_answers(void **state)
{
	(void)state;
	begin();
	synchronize(0, TB_TBT_SYNC_LOCK, 1, 0, NULL);
	put(0, 1, 64);
	put(0, 1, 32);
	synchronize(0, TB_TBT_SYNC_FLUSH, 1, 0, NULL);
	rma(0, 1, 0, 9, 0);
	synchronize(0, TB_TBT_SYNC_UNLOCK, 1, 0, NULL);
	assert_all("to1.0=64*@20 to1.0=32*@10 from1.1=0*@10 joint<2 to1.0=0*@10 "
		   "from1.1=9* joint@10<5",
		"from0.0=64 from0.0=32 to0.1=0* from0.0=0 to0.1=9*", "");
}

// The other target's answer is waited for when that is unlocked.
static void each_lock_is_of_one_target(void **state)
{
	(void)state;
	begin();
	synchronize(0, TB_TBT_SYNC_LOCK, 1, 0, NULL);
	synchronize(0, TB_TBT_SYNC_LOCK, 2, 0, NULL);
	put(0, 1, 10);
	put(0, 2, 20);
	synchronize(0, TB_TBT_SYNC_UNLOCK, 1, 0, NULL);
	put(0, 1, 30); // no longer locked: goes with the fence
	put(0, 2, 40);
	synchronize(0, TB_TBT_SYNC_UNLOCK, 2, 0, NULL);
	fence();
	assert_all("to1.0=10*@30 to2.0=20*@10 from1.1=0*@10 joint<2 to2.0=40*@20 "
		   "from2.1=0*@10 joint<5 0,30,0@10 barrier",
		"0,0,0@10 barrier 1:from0.0=10 1:to0.1=0*",
		"0,0,0@10 barrier 1:from0.0=20 1:from0.0=40 1:to0.1=0*");
}

static void all_are_locked_at_once(void **state)
{
	(void)state;
	begin();
	synchronize(1, TB_TBT_SYNC_LOCK, NONE, 0, NULL);
	put(1, 0, 10);
	put(1, 2, 20);
	synchronize(1, TB_TBT_SYNC_FLUSH, 2, 0, NULL);
	synchronize(1, TB_TBT_SYNC_UNLOCK, NONE, 0, NULL);
	put(1, 2, 40); // no longer locked
	fence();
	assert_all("0,0,0@10 barrier 1:from1.0=10 1:to1.1=0*",
		"to0.0=10*@20 to2.0=20*@10 from2.1=0*@10 joint<2 from0.1=0*@10 joint<4 "
		"0,0,40@20 barrier",
		"0,0,0@10 barrier 1:from1.0=20 1:to1.1=0*");
}

static void targets_post_and_wait(void **state)
{
	(void)state;
	begin();
	synchronize(1, TB_TBT_SYNC_POST, NONE, 1, (const uint64_t[]){0});
	synchronize(2, TB_TBT_SYNC_POST, NONE, 1, (const uint64_t[]){0});
	synchronize(0, TB_TBT_SYNC_START, NONE, 2, (const uint64_t[]){1, 2});
	put(0, 1, 64);
	put(0, 2, 65);
	synchronize(0, TB_TBT_SYNC_COMPLETED, NONE, 0, NULL);
	synchronize(1, TB_TBT_SYNC_WAITED, NONE, 0, NULL);
	synchronize(2, TB_TBT_SYNC_WAITED, NONE, 0, NULL);
	put(0, 2, 66); // the epoch is over
	fence();
	assert_all(
		"from1.2=0*@10 from2.2=0* joint<0,1 to1.0=64*@10 to2.0=65*@10 "
		"from1.1=0*@10 from2.1=0* joint<5,6 to1.3=0* to2.3=0* 0,0,66@20 barrier",
		"to0.2=0*@10 from0.3=0*@10 joint<1 0,0,0@10 barrier 1:from0.0=64 "
		"1:to0.1=0*",
		"to0.2=0*@10 from0.3=0*@10 joint<1 0,0,0@10 barrier 1:from0.0=65 "
		"1:to0.1=0*");
}

// An access with a request is waited for by the request, locked or not.
static void requests_are_completed(void **state)
{
	(void)state;
	begin();
	rma(0, 1, 64, 0, 5 + 1);
	rma(0, 1, 0, 32, 6 + 1);
	record(0, TB_TBT_COMPLETE, 0, NULL);
	tbt_list(&lanes[0], 2,
		(const uint64_t[]){4 * 5 + TB_TBT_DONE, 4 * 6 + TB_TBT_DONE});
	assert_all("to1.0=64*@10 to1.0=0*@10 from1.1=32* joint@10<0,2",
		"from0.0=64 from0.0=0 to0.1=32*", "");
}

static void windows_of_others_are_left_out(void **state)
{
	(void)state;
	begin();
	record(0, TB_TBT_RMA, 5, (const uint64_t[]){1, 1, 64, 0, 0});
	record(0, TB_TBT_RMA_SYNC, 3, (const uint64_t[]){1, TB_TBT_SYNC_FENCE, 0});
	tbt_list(&lanes[0], 0, NULL);
	assert_int_equal(read_it(), TB_OK);
	assert_calls(0, "");
	assert_string_equal(tb_calls_note_at(calls, 0),
		"1 call is left out: their communicators or windows have processes of "
		"another MPI_COMM_WORLD");
	tb_calls_free(calls);
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	begin();
	put(0, N_RANKS, 1);
	assert_refused("one-sided communication has a target that its window lacks");
	begin();
	record(0, TB_TBT_WINDOW, 2, (const uint64_t[]){0, 0});
	assert_refused("a window is defined twice");
	begin();
	record(0, TB_TBT_WINDOW, 2, (const uint64_t[]){1 << 20, 0});
	assert_refused("a window has an absurd number");
	begin();
	synchronize(0, TB_TBT_SYNC_LOCK, N_RANKS, 0, NULL);
	assert_refused("a window is locked at a member that cannot be");
	begin();
	synchronize(0, TB_TBT_SYNC_POST, NONE, 1, (const uint64_t[]){N_RANKS});
	assert_refused("a window's group has a member that cannot be");
	begin();
	synchronize(0, TB_TBT_SYNC_WAITED + 1, NONE, 0, NULL);
	assert_refused("a window is synchronized in no known way");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_goes_with_the_next_fence),
		cmocka_unit_test(what_is_got_comes_back),
		cmocka_unit_test(a_lock_sends_at_once_and_waits_for_answers),
		cmocka_unit_test(each_lock_is_of_one_target),
		cmocka_unit_test(all_are_locked_at_once),
		cmocka_unit_test(targets_post_and_wait),
		cmocka_unit_test(requests_are_completed),
		cmocka_unit_test(windows_of_others_are_left_out),
		cmocka_unit_test(what_cannot_be_is_refused),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}
