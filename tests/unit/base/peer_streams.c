// Records of any length between peers.
#include "peer_streams.h"

#include "../../support/peers_in_threads.h"

#include <time.h>

enum { PEERS = 3, LONGEST = 1 << 20 };

static const size_t lengths[] = {0, 1, 7, TB_PEERS_MESSAGE_MOST - 9,
	TB_PEERS_MESSAGE_MOST - 8, TB_PEERS_MESSAGE_MOST - 7, TB_PEERS_MESSAGE_MOST,
	2 * TB_PEERS_MESSAGE_MOST - 8, 10000, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

struct party {
	struct mail mail;
	struct desk desks[PEERS];
	struct tb_peers peers[PEERS];
	struct tb_peer_streams *streams[PEERS];
	unsigned char *bytes;
};

static int begin(void **state)
{
	struct party *party = calloc(1, sizeof *party);
	assert_non_null(party);
	party->mail = (struct mail){.mutex = PTHREAD_MUTEX_INITIALIZER, .n = PEERS};
	for (uint32_t i = 0; i < PEERS; i++) {
		party->desks[i] = (struct desk){&party->mail, i};
		party->peers[i] = peers_of(&party->desks[i]);
		assert_int_equal(
			tb_peer_streams_new(&party->streams[i], &party->peers[i]), TB_OK);
	}
	party->bytes = malloc(LONGEST);
	assert_non_null(party->bytes);
	for (size_t i = 0; i < LONGEST; i++)
		party->bytes[i] = (unsigned char)(i * 31 + i / 251);
	*state = party;
	return 0;
}

static int end(void **state)
{
	struct party *party = *state;
	for (uint32_t i = 0; i < PEERS; i++) {
		tb_peer_streams_free(party->streams[i]);
		assert_null(party->mail.first[i]);
	}
	free(party->bytes);
	free(party);
	return 0;
}

static void put(struct party *party, uint32_t from, uint32_t to, size_t n)
{
	assert_int_equal(tb_peer_streams_put(
				 party->streams[from], to, party->bytes + LONGEST - n, n),
		TB_OK);
}

static void take(struct party *party, uint32_t to, uint32_t from, size_t n)
{
	const unsigned char *bytes = NULL;
	size_t n_there = 0;
	assert_int_equal(
		tb_peer_streams_take(party->streams[to], from, &bytes, &n_there), TB_OK);
	assert_int_equal(n_there, n);
	assert_true(memcmp(bytes, party->bytes + LONGEST - n, n) == 0);
}

static void records_arrive_whole_and_in_order(void **state)
{
	struct party *party = *state;
	uint64_t sum = 0;
	for (size_t i = 0; i < LENGTHS; i++) {
		put(party, 1, 0, lengths[i]);
		sum += lengths[i];
	}
	for (size_t i = 0; i < LENGTHS; i++)
		take(party, 0, 1, lengths[i]);
	assert_int_equal(tb_peer_streams_bytes(party->streams[1]), sum);
	assert_int_equal(tb_peer_streams_bytes(party->streams[0]), 0);
}

static void who_is_ahead_does_not_mix_with_others(void **state)
{
	struct party *party = *state;
	for (size_t i = 0; i < LENGTHS; i++) {
		put(party, 2, 0, lengths[i]);
		put(party, 1, 0, lengths[LENGTHS - 1 - i]);
		put(party, 0, 2, lengths[i]);
	}
	for (size_t i = 0; i < LENGTHS; i++) {
		take(party, 0, 1, lengths[LENGTHS - 1 - i]);
		take(party, 2, 0, lengths[i]);
	}
	for (size_t i = 0; i < LENGTHS; i++)
		take(party, 0, 2, lengths[i]);
}

static void *put_late(void *context)
{
	const struct timespec late = {.tv_nsec = 20000000};
	nanosleep(&late, NULL);
	put(context, 1, 0, 10000);
	return NULL;
}

static void taking_waits(void **state)
{
	struct party *party = *state;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, put_late, party), 0);
	take(party, 0, 1, 10000);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			records_arrive_whole_and_in_order, begin, end),
		cmocka_unit_test_setup_teardown(
			who_is_ahead_does_not_mix_with_others, begin, end),
		cmocka_unit_test_setup_teardown(taking_waits, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
