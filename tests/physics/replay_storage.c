// A server that reads its storage and sends: both at once where data are sent piece by
// piece, one after the other where they are one message.
//
// One client reads n strips from one server. Alone the storage takes s for a strip, the
// node's bus b. Piece by piece the slower of the two has no gap, and the other adds one
// strip; in one message the storage adds all of its time.
#include "timed.h"

#include "network_open.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define STRIP_BYTES (64 << 10)
#define N_STRIPS    64 // 4 MB, a client's block by default
#define BUS	    911e6

static double time_of_read(enum tb_io_transport transport, uint64_t storage_bytes_per_s)
{
	const struct tb_timed timed = {.network = transport == TB_IO_TCP
							  ? "qsnet2,levels=1,host=tcp"
							  : "qsnet2,levels=1",
		.ranks_a_node = 1,
		.n_repeats = 1,
		.benchmark = "read",
		.transport = transport,
		.storage_bytes_per_s = storage_bytes_per_s};
	struct tb_network *network = NULL;
	const struct tb_experiment experiment = {
		.kind = TB_EXPERIMENT_TIMED, .n_active = 1, .n_io = 1, .timed = &timed};
	const struct tb_experiment_options options = {.seed = 1};
	struct tb_network_params params;
	struct tb_outcome *outcome = NULL;
	assert_int_equal(
		tb_network_open_params(&params, NULL, timed.network, NULL), TB_OK);
	assert_int_equal(tb_experiment_network(
				 &network, &experiment, &params, timed.network, NULL),
		TB_OK);
	assert_int_equal(
		tb_experiment_run(&outcome, &experiment, network, &options, NULL), TB_OK);
	double time_s = outcome->latency_s;
	tb_outcome_free(outcome);
	tb_network_free(network);
	return time_s;
}

static void assert_takes_longer(double with, double without, double by)
{
	if (fabs(with - without - by) > 0.005 * with)
		fail_msg("%g s with storage, %g without: expected %g more", with, without,
			by);
}

static void storage_works_while_pieces_are_sent(void **state)
{
	(void)state;
	double alone = time_of_read(TB_IO_ELAN, 0), send = STRIP_BYTES / BUS;
	double quick = STRIP_BYTES / 2e9, slow = STRIP_BYTES / 100e6;
	assert_takes_longer(time_of_read(TB_IO_ELAN, 2000000000), alone, quick);
	assert_takes_longer(time_of_read(TB_IO_ELAN, 100000000), alone,
		N_STRIPS * (slow - send) + send);
}

static void a_message_leaves_when_storage_has_read_all_of_it(void **state)
{
	(void)state;
	double alone = time_of_read(TB_IO_TCP, 0);
	assert_takes_longer(
		time_of_read(TB_IO_TCP, 2000000000), alone, N_STRIPS * STRIP_BYTES / 2e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storage_works_while_pieces_are_sent),
		cmocka_unit_test(a_message_leaves_when_storage_has_read_all_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
