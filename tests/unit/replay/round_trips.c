// The retransmission timeout of a TCP connection against RFC 6298 with the slowly falling
// margin of Linux (tcp_rtt_estimator of tcp_input.c), written again in doubles.
#include "ethernet_impl.h"
#include "ethernet_params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LEAST_PS (200 * TB_PS_PER_MS)

struct estimator { // names are those of Linux
	double srtt, mdev, mdev_max, rttvar;
	uint64_t rtt_seq;
};

static void estimate(
	struct estimator *tcp, double took, uint64_t snd_una, uint64_t snd_nxt)
{
	if (tcp->srtt == 0) {
		tcp->srtt = took;
		tcp->mdev = took / 2;
		tcp->rttvar = tcp->mdev_max = fmax(2 * took, LEAST_PS);
		tcp->rtt_seq = snd_nxt;
		return;
	}
	double error = took - tcp->srtt;
	tcp->srtt += error / 8;
	double more = fabs(error) - tcp->mdev;
	if (error < 0 && more > 0)
		more /= 8;
	tcp->mdev += more / 4;
	tcp->mdev_max = fmax(tcp->mdev_max, 4 * tcp->mdev);
	tcp->rttvar = fmax(tcp->rttvar, tcp->mdev_max);
	if (snd_una <= tcp->rtt_seq)
		return;
	if (tcp->mdev_max < tcp->rttvar)
		tcp->rttvar -= (tcp->rttvar - tcp->mdev_max) / 4;
	tcp->rtt_seq = snd_nxt;
	tcp->mdev_max = LEAST_PS;
}

// Round trips of 10 ms, then up to 1 s, then of 10 ms again, and a few at random; eight
// segments are under way, and each acknowledgement is for two.
static tb_time_ps took_at(uint64_t i)
{
	if (i / 50 % 4 == 1)
		return (tb_time_ps)(i * 20 % 1000) * TB_PS_PER_MS + 1;
	if (i / 50 % 4 == 3)
		return (tb_time_ps)(i * 2654435761 % 400) * TB_PS_PER_MS + 1;
	return 10 * TB_PS_PER_MS;
}

static void the_timeout_is_that_of_linux(void **state)
{
	(void)state;
	struct tb_network net = {.n_nodes = 0};
	tb_ethernet_params_mutable(&net.params)->rto_min_ps = LEAST_PS;
	struct ethernet ethernet = {.replay.net = &net};
	struct tcp_stream stream = {.least = TB_TIME_NEVER};
	struct estimator tcp = {0};
	tb_time_ps most = 0;
	assert_int_equal(tb_acks_timeout(&stream), TB_PS_PER_S);
	for (uint64_t i = 0; i < 400; i++) {
		stream.acked = 2 * i;
		stream.next = stream.acked + 8;
		tb_acks_measure(&ethernet, &stream, took_at(i));
		estimate(&tcp, (double)took_at(i), stream.acked, stream.next);
		double off = (double)tb_acks_timeout(&stream) - tcp.srtt - tcp.rttvar;
		assert_true(fabs(off) < 1000); // integers round down
		if (tb_acks_timeout(&stream) > most)
			most = tb_acks_timeout(&stream);
	}
	assert_true(most > TB_PS_PER_S); // the deviation was felt
	assert_int_equal(stream.least, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_timeout_is_that_of_linux),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
