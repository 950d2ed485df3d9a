// The real captures contain the nodes, ordered pairs, packets and bytes that their README
// states. Skipped where the folder is absent.
#include "packets.h"
#include "real_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES_MAX 8

static char captures[4096];
static char points[] = "coll8_points_XXXXXX";

static const struct tb_packets_options everything = {
	.dedup = TB_NO, .keep_retransmissions = true, .keep_acks = true};

static uint64_t n_accounted(const struct tb_packets_summary *s)
{
	return s->n_replayed_records + s->n_duplicates + s->n_retransmissions +
	       s->n_acks + s->n_broadcast + s->n_multicast + s->n_non_ip +
	       s->n_undecodable + s->n_local + s->n_unplaced + s->n_outside;
}

// read_all reads to the end, checks what holds for every trace, and returns the summary.
static struct tb_packets_summary read_all(const char *const *names, size_t n,
	const struct tb_packets_options *options, struct tb_packets **kept)
{
	char paths[FILES_MAX][4200];
	const char *list[FILES_MAX];
	struct tb_packets *packets = NULL;
	struct tb_captured_packet packet;
	struct tb_error error;
	tb_time_ps last_ps = 0;
	for (size_t i = 0; i < n; i++) {
		snprintf(paths[i], sizeof paths[i], "%s%s",
			strncmp(names[i], "coll8", 5) == 0 ? "" : captures, names[i]);
		list[i] = paths[i];
	}
	if (tb_packets_open(&packets, list, n, options, &error) != TB_OK)
		fail_msg("%s: %s", error.file, error.text);
	int status;
	while ((status = tb_packets_next(packets, &packet, &error)) == 1) {
		assert_true(packet.at_ps >= last_ps);
		assert_int_not_equal(packet.source.id, packet.destination.id);
		last_ps = packet.at_ps;
	}
	if (status != 0)
		fail_msg("%s: %s", error.file, error.text);
	struct tb_packets_summary summary = *tb_packets_summary(packets);
	assert_int_equal(n_accounted(&summary), summary.n_records);
	assert_int_equal(summary.n_late, 0);
	if (kept)
		*kept = packets;
	else
		tb_packets_free(packets);
	return summary;
}

static struct tb_packets_summary read_one(
	const char *name, const struct tb_packets_options *options)
{
	return read_all(&name, 1, options, NULL);
}

// is_there tells whether a capture can be read, and else prints that it is skipped.
static bool is_there(const char *name)
{
	char below_data[128];
	snprintf(below_data, sizeof below_data, "captures/%s", name);
	return real_input_is_there(below_data);
}

struct expected {
	const char *name;
	uint64_t n_records;
	uint64_t network_bytes; // of frames with IP, as they were captured
	uint32_t n_nodes;
	uint64_t n_pairs;
};

static const struct expected expected[] = {
	{"lmp16_melt_mtu.pcap.zst", 277933, 298451396, 16, 114},
	{"lmp64_melt_mtu.pcap.zst", 171199, 118402541, 64, 868},
	{"hpcc16_mtu_kernels.pcap.zst", 57645, 39560898, 16, 240},
	{"coll16_gso.pcap.zst", 21859, 102141453, 16, 240},
	{"coll64_mtu.pcap.zst", 101988, 43233205, 64, 4032},
	{"io16_200m.pcap.zst", 195639, 187802177, 16, 96},
	{"mix64_mtu.pcap.zst", 279218, 265784706, 64, 926},
};

static void captures_match_their_readme(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct expected *e = &expected[i];
		if (!is_there(e->name))
			continue;
		struct tb_packets_summary all = read_one(e->name, &everything);
		assert_int_equal(all.n_records, e->n_records);
		assert_int_equal(all.n_nodes, e->n_nodes);
		assert_int_equal(all.n_pairs, e->n_pairs);
		// Each frame cut from a large one has its own headers: Ethernet, IPv4 and
		// TCP with time stamps.
		assert_int_equal(
			all.wire_bytes - 66 * (all.n_packets - all.n_replayed_records),
			e->network_bytes);
	}
}

static void the_old_networks_own_packets_are_dropped_by_default(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct expected *e = &expected[i];
		if (!is_there(e->name))
			continue;
		struct tb_packets_summary kept = read_one(e->name, &everything);
		struct tb_packets_summary s = read_one(e->name, NULL);
		assert_int_equal(s.n_nodes, e->n_nodes);
		assert_int_equal(s.n_pairs, e->n_pairs);
		assert_int_equal(kept.n_acks + kept.n_retransmissions, 0);
		assert_true(s.n_acks * 100 > s.n_records * 4);
		assert_true(s.n_acks * 100 < s.n_records * 55);
		assert_true(s.payload_bytes <= kept.payload_bytes);
		assert_int_equal(s.n_replayed_records + s.n_acks + s.n_retransmissions,
			kept.n_replayed_records);
	}
}

static void nodes_are_numbered_by_address(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct tb_packets *packets;
		if (!is_there(expected[i].name))
			continue;
		read_all(&expected[i].name, 1, NULL, &packets);
		for (uint32_t node = 0; node < expected[i].n_nodes; node++) {
			char name[32];
			snprintf(name, sizeof name, "10.77.0.%u", node + 1);
			assert_string_equal(
				tb_packets_node_name(packets, (struct tb_node){node}),
				name);
		}
		tb_packets_free(packets);
	}
}

// Captured behind real queues of 200 Mbit/s. An independent count of exact repetitions
// (same sequence number and length) finds 7653; ours also finds partial ones.
static void lost_and_repeated_ranges_count_once(void **state)
{
	(void)state;
	if (!is_there("io16_200m.pcap.zst"))
		skip();
	struct tb_packets_summary s = read_one("io16_200m.pcap.zst", NULL);
	assert_int_equal(s.n_retransmissions, 7689);
	assert_in_range(s.peak_reorder_ps, TB_PS_PER_MS, TB_PS_PER_MS * 12 / 10);
}

static void one_run_reads_the_same_from_every_point(void **state)
{
	(void)state;
	static char names[11][64];
	const char *list[11];
	static const char *const files[] = {"bridge.pcap", "any.pcap",
		"merged_nodes.pcapng", "n0.pcap", "n1.pcap", "n2.pcap", "n3.pcap",
		"n4.pcap", "n5.pcap", "n6.pcap", "n7.pcap"};
	for (size_t i = 0; i < 11; i++) {
		snprintf(names[i], sizeof names[i], "%s/coll8_points/%s", points,
			files[i]);
		list[i] = names[i];
	}
	struct tb_packets_summary bridge = read_all(&list[0], 1, NULL, NULL);
	struct tb_packets_summary cooked = read_all(&list[1], 1, NULL, NULL);
	struct tb_packets_summary ng = read_all(&list[2], 1, NULL, NULL);
	struct tb_packets_summary nodes = read_all(&list[3], 8, NULL, NULL);
	const struct tb_packets_summary *others[] = {&cooked, &ng, &nodes};
	assert_int_equal(bridge.n_duplicates, 0);
	assert_int_equal(cooked.n_duplicates, 7836 - 2612);
	assert_int_equal(ng.n_duplicates, 5224 - 2612);
	assert_int_equal(nodes.n_duplicates, 5224 - 2612);
	assert_int_equal(
		bridge.n_replayed_records + bridge.n_acks + bridge.n_retransmissions,
		2612);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(others[i]->n_packets, bridge.n_packets);
		assert_int_equal(others[i]->wire_bytes, bridge.wire_bytes);
		assert_int_equal(others[i]->payload_bytes, bridge.payload_bytes);
		assert_int_equal(others[i]->n_nodes, 8);
		assert_int_equal(others[i]->n_pairs, 56);
	}
}

static void four_hosts_files_merge_to_four_nodes(void **state)
{
	(void)state;
	static const char *const names[] = {"hpcc4/h0.pcap.gz", "hpcc4/h1.pcap.gz",
		"hpcc4/h2.pcap.gz", "hpcc4/h3.pcap.gz"};
	if (!is_there(names[0]))
		skip();
	// The fifth address is the launcher's, which is not a node of the job.
	const struct tb_packets_options four = {.n_nodes_max = 4};
	struct tb_packets_summary s = read_all(names, 4, &four, NULL);
	assert_int_equal(s.n_nodes, 4);
	assert_int_equal(s.n_pairs, 12);
	assert_int_equal(s.n_endpoints_unplaced, 1);
	// Every frame was seen by its sender and by its receiver, except for those to and
	// from the launcher and a few that a host dropped.
	assert_in_range(s.n_duplicates * 1000 / s.n_records, 498, 500);
}

// The 20 writes of 64 KiB, 40 sends of 8 KiB and 10 reads of 32 KiB, in 1990 packets.
static void rdma_payload_is_exact(void **state)
{
	(void)state;
	const struct tb_packets_options acks = {.keep_acks = true};
	if (!is_there("rxe.pcap.gz"))
		skip();
	struct tb_packets_summary s = read_one("rxe.pcap.gz", NULL);
	struct tb_packets_summary kept = read_one("rxe.pcap.gz", &acks);
	uint64_t rdma = 20 * 65536 + 40 * 8192 + 10 * 32768;
	assert_int_equal(s.n_nodes, 2);
	assert_int_equal(s.n_pairs, 2);
	assert_in_range(s.payload_bytes, rdma, rdma + 5000); // and a little TCP
	assert_in_range(kept.n_replayed_records, 1990, 1990 + 130);
	assert_int_equal(s.n_offloaded, 0);
}

static void small_foreign_captures_read(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t n_nodes;
		uint64_t n_pairs;
	} rows[] = {{"suri-nfs3-procedure.pcap", 4, 4}, {"suri-nfs4-01.pcap", 2, 2},
		{"suri-smb2-async-read.pcap", 2, 2}, {"zeek-nfs_write.pcap", 2, 2},
		{"zeek-erspan.pcap", 4, 3}, {"tcpdump-bigtcp-vxlan.pcap", 2, 1},
		{"tcpdump-dcb_pfc.pcap", 0, 0}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!is_there(rows[i].name))
			continue;
		struct tb_packets_summary s = read_one(rows[i].name, NULL);
		assert_int_equal(s.n_nodes, rows[i].n_nodes);
		assert_int_equal(s.n_pairs, rows[i].n_pairs);
		assert_int_equal(s.n_undecodable, 0);
	}
}

// One file holds captures of 1999 and 2019.
static void twenty_years_of_nothing_shrink_to_a_second(void **state)
{
	(void)state;
	struct tb_packets_summary s = read_one("suri-nfs3-procedure.pcap", NULL);
	assert_in_range(s.duration_ps, TB_PS_PER_S, 10 * TB_PS_PER_S);
	assert_true(s.squeezed_ps == TB_TIME_NEVER);
}

static int set_up(void **state)
{
	(void)state;
	char command[9000];
	if (!mkdtemp(points))
		return -1;
	snprintf(command, sizeof command,
		"zstd -dcq '%scoll8_points.tar.zst' | tar -x -C %s", captures, points);
	return system(command);
}

static int tear_down(void **state)
{
	(void)state;
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s", points);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_match_their_readme),
		cmocka_unit_test(the_old_networks_own_packets_are_dropped_by_default),
		cmocka_unit_test(nodes_are_numbered_by_address),
		cmocka_unit_test(lost_and_repeated_ranges_count_once),
		cmocka_unit_test(one_run_reads_the_same_from_every_point),
		cmocka_unit_test(four_hosts_files_merge_to_four_nodes),
		cmocka_unit_test(rdma_payload_is_exact),
		cmocka_unit_test(small_foreign_captures_read),
		cmocka_unit_test(twenty_years_of_nothing_shrink_to_a_second),
	};
	const char *shared = getenv("TB_SHARED");
	snprintf(captures, sizeof captures, "%s/data/captures/", shared ? shared : "");
	if (!shared || access(captures, R_OK) != 0) {
		printf("skipped: no captures in %s\n", captures);
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
