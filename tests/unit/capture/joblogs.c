// Compares the captured TCP payload of every ordered pair of nodes with the messages that
// the MPI programs logged. Skipped where the logs are absent.
//
// A pair carries more than its messages: Open MPI's headers (22 bytes for an eager
// message, at least 48 with a rendezvous), and start-up and small collectives, whose
// trees are not logged. Tolerance per pair: never less than logged, at most 1 % + 64
// bytes per message + 16 KB more. Retransmitted bytes would exceed it.
#include "packets.h"
#include "real_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N_RANKS	   64
#define N_COMMS	   512
#define LINE_BYTES 65536

static char data[4096];

struct sent {
	uint64_t bytes;
	uint64_t messages;
};

static struct sent sent[N_RANKS][N_RANKS];

// A communicator of the rank whose log is being read.
struct comm {
	int id;
	int n;
	int me;
	int ranks[N_RANKS];
};

static struct comm comms[N_COMMS];
static int n_comms;

static void read_comm(char *line, int me)
{
	struct comm *comm = &comms[n_comms];
	char *rest;
	if (n_comms == N_COMMS)
		return;
	strtok_r(line, " ", &rest);
	comm->id = atoi(strtok_r(NULL, " ", &rest));
	strtok_r(NULL, " ", &rest);
	comm->n = atoi(strtok_r(NULL, " ", &rest));
	strtok_r(NULL, " ", &rest);
	for (int i = 0; i < comm->n && i < N_RANKS; i++) {
		comm->ranks[i] = atoi(strtok_r(NULL, " \n", &rest));
		if (comm->ranks[i] == me)
			comm->me = i;
	}
	n_comms++;
}

static const struct comm *comm_of(int id)
{
	for (int i = n_comms; i-- > 0;)
		if (comms[i].id == id)
			return &comms[i];
	return NULL;
}

static int64_t value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);
	return at ? atoll(at + strlen(key)) : -1;
}

static void note(const struct comm *comm, int me, int to, uint64_t bytes)
{
	struct sent *pair = &sent[me][comm->ranks[(to + comm->n) % comm->n]];
	pair->bytes += bytes;
	pair->messages++;
}

// note_collective counts the messages of large collectives among 64 ranks as in Open MPI
// 4.1: all-to-all by pairs, all-gather by neighbour exchange (one block, then two at a
// time, alternately left and right), gather up a binomial tree, scatter directly from the
// root.
static void note_collective(
	const char *op, const struct comm *comm, int me, int64_t bytes, int64_t root)
{
	uint64_t block = (uint64_t)bytes;
	int n = comm->n;
	if (strcmp(op, "alltoall") == 0 && bytes >= 200) {
		for (int i = 0; i < n; i++)
			if (i != comm->me)
				note(comm, me, i, block);
	} else if (strcmp(op, "allgather") == 0 && bytes * n >= 50000) {
		int steps = n / 2 - 1;
		int first = comm->me % 2 ? -1 : 1;
		note(comm, me, comm->me + first, block * (1 + 2 * (uint64_t)(steps / 2)));
		note(comm, me, comm->me - first, block * 2 * (uint64_t)((steps + 1) / 2));
	} else if (strcmp(op, "gather") == 0 && bytes >= 200 && comm->me != root) {
		int place = (comm->me - (int)root + n) % n;
		int below = place & -place;
		int blocks = below < n - place ? below : n - place;
		note(comm, me, comm->me - below, block * (uint64_t)blocks);
	} else if (strcmp(op, "scatter") == 0 && bytes >= 200 && comm->me == root) {
		for (int i = 0; i < n; i++)
			if (i != comm->me)
				note(comm, me, i, block);
	}
}

static void read_call(const char *line, int me)
{
	char op[32];
	if (sscanf(line, "%*s %*s %*s %31s", op) != 1)
		return;
	const struct comm *comm = comm_of((int)value_of(line, " comm="));
	int64_t bytes = value_of(line, " bytes=");
	int64_t to = value_of(line, " to=");
	if (!comm || bytes < 0)
		return;
	if (strcmp(op, "send") == 0 || strcmp(op, "isend") == 0 ||
		strcmp(op, "sendrecv") == 0) {
		// Destinations are world ranks in every communicator.
		if (to >= 0 && to != me) {
			sent[me][to].bytes += (uint64_t)bytes;
			sent[me][to].messages++;
		}
	} else {
		note_collective(op, comm, me, bytes, value_of(line, " root="));
	}
}

// read_logs skips the case without the logs and their capture.
static void read_logs(const char *archive, const char *capture)
{
	char name[64];
	snprintf(name, sizeof name, "captures/%s.pcap.zst", capture);
	bool captured = real_input_is_there(name);
	snprintf(name, sizeof name, "jobs/%s.tar.zst", archive);
	if (!captured || !real_input_is_there(name))
		skip();
	static char line[LINE_BYTES];
	char command[9000];
	int me = 0;
	memset(sent, 0, sizeof sent);
	snprintf(command, sizeof command, "zstd -dcq '%sjobs/%s.tar.zst' | tar -xO", data,
		archive);
	FILE *logs = popen(command, "r");
	assert_non_null(logs);
	while (fgets(line, sizeof line, logs)) {
		if (sscanf(line, "#mpilog 1 rank %d", &me) == 1)
			n_comms = 0;
		else if (strncmp(line, "#comm", 5) == 0)
			read_comm(line, me);
		else if (line[0] != '#')
			read_call(line, me);
	}
	assert_int_equal(pclose(logs), 0);
}

static struct tb_packets *read_packets(const char *name)
{
	char path[4200];
	const char *list[] = {path};
	struct tb_packets *packets;
	struct tb_captured_packet packet;
	snprintf(path, sizeof path, "%scaptures/%s.pcap.zst", data, name);
	assert_int_equal(tb_packets_open(&packets, list, 1, NULL, NULL), TB_OK);
	while (tb_packets_next(packets, &packet, NULL) == 1)
		;
	return packets;
}

static bool agrees(uint64_t captured, const struct sent *logged)
{
	return captured >= logged->bytes &&
	       captured - logged->bytes <=
		       logged->bytes / 100 + 64 * logged->messages + 16384;
}

// compare returns how much more than the log the capture holds, in thousandths. Rank k is
// on node `first` + `step` * k.
static uint64_t compare(const char *capture, uint32_t first, uint32_t step)
{
	struct tb_packets *packets = read_packets(capture);
	uint64_t captured = 0;
	uint64_t logged = 0;
	for (uint64_t i = 0; i < tb_packets_summary(packets)->n_pairs; i++) {
		const struct tb_packets_pair *pair = tb_packets_pair(packets, i);
		uint32_t source = pair->source.id - first;
		uint32_t destination = pair->destination.id - first;
		if (source % step || destination % step || source / step >= N_RANKS ||
			destination / step >= N_RANKS)
			continue;
		struct sent *of_pair = &sent[source / step][destination / step];
		if (first + step > 1 && source >= 48)
			continue; // nodes of another job in the same capture
		if (!agrees(pair->payload_bytes, of_pair))
			fail_msg("%s: node %u to %u: %llu captured, %llu logged", capture,
				pair->source.id, pair->destination.id,
				(unsigned long long)pair->payload_bytes,
				(unsigned long long)of_pair->bytes);
		captured += pair->payload_bytes;
		logged += of_pair->bytes;
		of_pair->bytes = 0;
	}
	tb_packets_free(packets);
	for (size_t i = 0; i < N_RANKS; i++)
		for (size_t j = 0; j < N_RANKS; j++)
			if (sent[i][j].bytes != 0)
				fail_msg("%s: nothing captured from rank %zu to %zu",
					capture, i, j);
	return (captured - logged) * 1000 / logged;
}

static void molecular_dynamics_on_16_nodes_agrees(void **state)
{
	(void)state;
	read_logs("lmp16_melt_mtu", "lmp16_melt_mtu");
	assert_in_range(compare("lmp16_melt_mtu", 0, 1), 2, 15);
}

static void molecular_dynamics_on_64_nodes_agrees(void **state)
{
	(void)state;
	read_logs("lmp64_melt_mtu", "lmp64_melt_mtu");
	assert_in_range(compare("lmp64_melt_mtu", 0, 1), 2, 23);
}

static void hpc_challenge_agrees(void **state)
{
	(void)state;
	read_logs("hpcc16_mtu_kernels", "hpcc16_mtu_kernels");
	assert_in_range(compare("hpcc16_mtu_kernels", 0, 1), 2, 23);
}

static void collectives_on_64_nodes_agree(void **state)
{
	(void)state;
	read_logs("coll64_mtu", "coll64_mtu");
	assert_in_range(compare("coll64_mtu", 0, 1), 2, 65);
}

static void one_job_among_three_agrees(void **state)
{
	(void)state;
	read_logs("mix64_mtu_lammps", "mix64_mtu");
	assert_in_range(compare("mix64_mtu", 0, 2), 2, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(molecular_dynamics_on_16_nodes_agrees),
		cmocka_unit_test(molecular_dynamics_on_64_nodes_agrees),
		cmocka_unit_test(hpc_challenge_agrees),
		cmocka_unit_test(collectives_on_64_nodes_agree),
		cmocka_unit_test(one_job_among_three_agrees),
	};
	const char *shared = getenv("TB_SHARED");
	snprintf(data, sizeof data, "%s/data/", shared ? shared : "");
	if (!shared || access(data, R_OK) != 0) {
		printf("skipped: no logs in %s\n", data);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
