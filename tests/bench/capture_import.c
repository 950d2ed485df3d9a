// Importing a capture of small packets against a bare libpcap loop over the same file,
// and what the importer's memory does as the capture grows ten times. Needs 900 MB of
// disk.
#include "packets.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_NODES	       64
#define N_CONNECTIONS  4032
#define CAPTURED_BYTES 66
#define N_RUNS	       5

// A plain capture of 66-byte records, TCP among all pairs of 64 nodes, as `tcpdump -s 66`
// writes it: one pure acknowledgement in four, the rest data of 64 to 1448 bytes.
struct __attribute__((packed)) file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy, snapshot_bytes, link_type;
};

struct __attribute__((packed)) record {
	uint32_t seconds, nanoseconds, captured_bytes, wire_bytes;
	uint8_t frame[CAPTURED_BYTES];
};

static void put(uint8_t *at, uint32_t value, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
}

static void build_record(struct record *record, uint64_t i, uint32_t *sequence)
{
	uint32_t connection = (uint32_t)(i * 2654435761u % N_CONNECTIONS);
	uint32_t source = connection / (N_NODES - 1);
	uint32_t destination = connection % (N_NODES - 1);
	destination += destination >= source;
	uint32_t payload = i % 4 == 3 ? 0 : 64 + (uint32_t)(i * 40503u % 1385);
	uint64_t at_ns = i * 1000;
	*record = (struct record){(uint32_t)(1700000000 + at_ns / 1000000000),
		(uint32_t)(at_ns % 1000000000), CAPTURED_BYTES, 66 + payload, {0}};
	uint8_t *frame = record->frame;
	memcpy(frame, "\x02\x4d\0\0\0\0\x02\x4d\0\0\0\0\x08\0\x45", 15);
	frame[5] = (uint8_t)destination;
	frame[11] = (uint8_t)source;
	put(frame + 16, 52 + payload, 2);
	put(frame + 18, (uint32_t)i, 2);
	frame[22] = 64;
	frame[23] = 6;
	put(frame + 26, 0x0a4d0001 + source, 4);
	put(frame + 30, 0x0a4d0001 + destination, 4);
	put(frame + 34, 40000 + source, 2);
	put(frame + 36, 40000 + destination, 2);
	put(frame + 38, sequence[connection], 4);
	sequence[connection] += payload;
	memcpy(frame + 46, "\x80\x10\x01\0\0\0\0\0\x01\x01\x08\x0a", 12);
}

static void write_capture(const char *path, uint64_t n)
{
	static uint32_t sequence[N_CONNECTIONS];
	const struct file_header header = {
		0xa1b23c4d, 2, 4, 0, 0, CAPTURED_BYTES, DLT_EN10MB};
	memset(sequence, 0, sizeof sequence);
	FILE *file = fopen(path, "wb");
	bool written = file && fwrite(&header, sizeof header, 1, file) == 1;
	for (uint64_t i = 0; written && i < n; i++) {
		struct record record;
		build_record(&record, i, sequence);
		written = fwrite(&record, sizeof record, 1, file) == 1;
	}
	if (!written || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double bare_s(const char *path, uint64_t n)
{
	char message[PCAP_ERRBUF_SIZE];
	double begin = now_s();
	pcap_t *pcap = pcap_open_offline(path, message);
	uint64_t seen = 0;
	struct pcap_pkthdr *header;
	const u_char *data;
	while (pcap && pcap_next_ex(pcap, &header, &data) == 1)
		seen++;
	if (!pcap || seen != n)
		exit(1);
	pcap_close(pcap);
	return now_s() - begin;
}

static double import_s(const char *path, uint64_t n)
{
	double begin = now_s();
	struct tb_packets *packets;
	struct tb_captured_packet packet;
	if (tb_packets_open(&packets, &path, 1, NULL, NULL) != TB_OK)
		exit(1);
	while (tb_packets_next(packets, &packet, NULL) == 1)
		;
	if (tb_packets_summary(packets)->n_records != n ||
		tb_packets_summary(packets)->n_packets != n - n / 4)
		exit(1);
	tb_packets_free(packets);
	return now_s() - begin;
}

// peak_bytes imports in a process of its own, whose peak the system keeps.
static double peak_bytes(const char *path, uint64_t n)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		import_s(path, n);
		_exit(0);
	}
	int status;
	struct rusage usage;
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
		exit(1);
	return (double)usage.ru_maxrss * 1024;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	uint64_t n = smoke ? 100000 : 10000000;
	char few[] = "import_few_XXXXXX";
	char many[] = "import_many_XXXXXX";
	close(mkstemp(few));
	close(mkstemp(many));
	write_capture(few, n / 10);
	write_capture(many, n);
	// The small one first: a child begins with its parent's memory.
	double few_bytes = peak_bytes(few, n / 10);
	double many_bytes = peak_bytes(many, n);
	double bare[N_RUNS];
	double import[N_RUNS];
	int n_runs = smoke ? 1 : N_RUNS;
	for (int i = 0; i < n_runs; i++) {
		bare[i] = bare_s(many, n);
		import[i] = import_s(many, n);
	}
	unlink(few);
	unlink(many);
	qsort(bare, (size_t)n_runs, sizeof *bare, by_value);
	qsort(import, (size_t)n_runs, sizeof *import, by_value);
	double bare_rate = (double)n / bare[n_runs / 2];
	double import_rate = (double)n / import[n_runs / 2];
	printf("import_bare_libpcap,%.0f,packets/s\n", bare_rate);
	printf("import,%.0f,packets/s\n", import_rate);
	printf("import_of_bare,%.3f,ratio\n", import_rate / bare_rate);
	printf("import_peak_tenth,%.0f,bytes\n", few_bytes);
	printf("import_peak,%.0f,bytes\n", many_bytes);
	return 0;
}
