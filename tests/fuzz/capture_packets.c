// The whole packet reader, from a file's bytes to packets.
#include "packets_text.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_PACKETS_MAX 100000

static void read_packets(struct tb_packets *packets)
{
	struct tb_captured_packet packet;
	struct tb_error error;
	tb_time_ps last_ps = 0;
	uint64_t n = 0;
	int status = 1;
	while (n < N_PACKETS_MAX &&
		(status = tb_packets_next(packets, &packet, &error)) == 1) {
		if (packet.at_ps < last_ps || packet.source.id == packet.destination.id)
			abort();
		last_ps = packet.at_ps;
		n++;
	}
	const struct tb_packets_summary *s = tb_packets_summary(packets);
	uint64_t accounted = s->n_replayed_records + s->n_duplicates +
			     s->n_retransmissions + s->n_acks + s->n_broadcast +
			     s->n_multicast + s->n_non_ip + s->n_undecodable +
			     s->n_local + s->n_unplaced + s->n_outside;
	if (status == 0 && accounted != s->n_records)
		abort();
	if (status < 0 && (int)error.code != status)
		abort();
	json_decref(
		tb_packets_summary_json(packets, (struct tb_packets_rate){340e6, 24}));
	struct tb_congestion *congestion;
	if (tb_packets_congestion(packets, &congestion, NULL) == TB_OK)
		tb_congestion_free(congestion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const char *paths[] = {path};
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	static const struct tb_packets_options all[] = {
		{.n_nodes_max = 3}, {.dedup = TB_YES,
					    .keep_acks = true,
					    .keep_retransmissions = true,
					    .squeeze_idle = TB_PS_PER_MS,
					    .from = {TB_INSTANT_RELATIVE, 1000},
					    .sampled = 3,
					    .time_scale = 0.3}};
	for (size_t i = 0; i < 2; i++) {
		struct tb_packets *packets;
		struct tb_error error = {0};
		int status = tb_packets_open(&packets, paths, 1, &all[i], &error);
		if (status != TB_OK && (status != (int)error.code || !error.text[0]))
			abort();
		if (status != TB_OK)
			break;
		read_packets(packets);
		tb_packets_free(packets);
	}
	close(fd);
	return 0;
}
