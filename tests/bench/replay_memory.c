// Memory of a replay against the length of its capture: the program reads a generated
// capture from a pipe, once short and once ten times as long, and tells its largest
// resident size.
//
// The packets are small UDP frames between 64 nodes, far below saturation: what must not
// grow is what the replay keeps of the past. (In a network that is asked for more than it
// can carry, the queues of the nodes grow, as they would in the machine.)
#include "random.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_NODES = 64, FRAME = 106, HEADERS = 42, GAP_NS = 80 };

static void put32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

// write_packet writes record number `i`: Ethernet, IPv4, UDP.
static void write_packet(FILE *stream, uint64_t i)
{
	uint64_t draw = tb_random_mix(i);
	unsigned source = (unsigned)(draw % N_NODES);
	unsigned destination =
		(source + 1 + (unsigned)(draw / N_NODES % (N_NODES - 1))) % N_NODES;
	uint64_t ns = i * GAP_NS;
	unsigned char record[16 + HEADERS] = {0};
	put32(record, (uint32_t)(ns / 1000000000));
	put32(record + 4, (uint32_t)(ns % 1000000000));
	put32(record + 8, HEADERS);
	put32(record + 12, FRAME);
	unsigned char *frame = record + 16;
	memcpy(frame,
		(unsigned char[]){2, 0, 0, 0, 0, (unsigned char)destination, 2, 0, 0, 0,
			0, (unsigned char)source, 8, 0},
		14);
	memcpy(frame + 14,
		(unsigned char[]){0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0,
			0, (unsigned char)(source + 1), 10, 0, 0,
			(unsigned char)(destination + 1), 0x12, 0x34, 0x12, 0x35, 0,
			FRAME - 34},
		26);
	fwrite(record, sizeof record, 1, stream);
}

static void write_capture(FILE *stream, uint64_t n_packets)
{
	unsigned char header[24] = {0};
	put32(header, 0xa1b23c4d); // nanoseconds, in this machine's byte order
	memcpy(header + 4, (uint16_t[]){2, 4}, 4);
	put32(header + 16, 65535);
	put32(header + 20, 1);
	fwrite(header, sizeof header, 1, stream);
	for (uint64_t i = 0; i < n_packets; i++)
		write_packet(stream, i);
}

// replay runs the program on a capture of so many packets: its largest resident size in
// KiB, or negative.
static long replay(const char *program, const char *store, uint64_t n_packets)
{
	int ends[2];
	if (pipe(ends) != 0)
		return -1;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execl(program, program, "replay", "-", "--nodes", "64", "-q", "-o", store,
			(char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	FILE *stream = fdopen(ends[1], "w");
	if (child < 0 || !stream)
		return -1;
	write_capture(stream, n_packets);
	fclose(stream);
	int status = 0;
	struct rusage usage;
	if (wait4(child, &status, 0, &usage) != child || status != 0)
		return -1;
	return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
	const char *program = getenv("TAILBACK");
	uint64_t n_packets = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 2000 : 4000000;
	char store[] = "/tmp/bench_memory_XXXXXX";
	int file = mkstemp(store);
	if (!program || file < 0) {
		fputs("set TAILBACK to the program\n", stderr);
		return 1;
	}
	close(file);
	unlink(store);
	signal(SIGPIPE, SIG_IGN);
	long small = replay(program, store, n_packets);
	unlink(store);
	long large = replay(program, store, 10 * n_packets);
	unlink(store);
	if (small < 0 || large < 0) {
		fputs("the replay failed\n", stderr);
		return 1;
	}
	printf("replay_memory_4e6_packets,%ld,KiB\n", small);
	printf("replay_memory_4e7_packets,%ld,KiB\n", large);
	return 0;
}
