// perftest: ib_write_bw and its kind (src/perftest_parameters.[ch] of perftest 4 to 24).
//
//                       RDMA_Write BW Test
//    Dual-port       : OFF		Device         : mlx5_0
//    #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
//    65536      5000             11763.92            11763.06		   0.188209
//
// MB are 2^20 bytes (later versions print MiB), Gb 10^9 bits. Both directions come to
// their sum. Times are half of a message there and back.
#include "benchmark_reading.h"

#include <string.h>

static const struct bench_column perftest_columns[] = {
	{"#bytes", BENCH_SIZE, 1, 0},
	{"#iterations", BENCH_NUMBER, 0, 0},
	{"BW peak[MB/sec]", BENCH_NUMBER, 0, 0},
	{"BW peak[MiB/sec]", BENCH_NUMBER, 0, 0},
	{"BW peak[Gb/sec]", BENCH_NUMBER, 0, 0},
	{"BW average[MB/sec]", BENCH_RATE, 1048576, 0},
	{"BW average[MiB/sec]", BENCH_RATE, 1048576, 0},
	{"BW average[Gb/sec]", BENCH_RATE, 125e6, 0},
	{"MsgRate[Mpps]", BENCH_MESSAGES, 1e6, 0},
	{"BW Port*[MB/sec]", BENCH_NUMBER, 0, 0},
	{"BW Port*[MiB/sec]", BENCH_NUMBER, 0, 0},
	{"BW Port*[Gb/sec]", BENCH_NUMBER, 0, 0},
	{"MsgRate Port*[Mpps]", BENCH_NUMBER, 0, 0},
	{"t_typical[usec]", BENCH_TIME, 1e3, 0},
	{"*% percentile[usec]", BENCH_NUMBER, 0, 0},
	{"tps average", BENCH_NUMBER, 0, 0},
	{NULL, BENCH_NUMBER, 0, 0},
};

#define PERF(name, title, KIND)                                                          \
	{                                                                                \
		name, title, TB_BENCH_##KIND, TB_COLL_EXCHANGE, false, 0, 2              \
	}
// By title, which may go on ("BW Post List Test"); the longer ones come first. The time
// of a read is there and back, not half of it.
static const struct bench_test perftest_tests[] = {
	PERF("ib_write_bw", "RDMA_Write Bidirectional BW", BOTH_WAYS),
	PERF("ib_read_bw", "RDMA_Read Bidirectional BW", BOTH_WAYS),
	PERF("ib_send_bw", "Send Bidirectional BW", BOTH_WAYS),
	PERF("ib_write_bw", "RDMA_Write BW", STREAM),
	PERF("ib_read_bw", "RDMA_Read BW", STREAM),
	PERF("ib_send_bw", "Send BW", STREAM),
	PERF("ib_write_bw", "RDMA_Write Post List BW", STREAM),
	PERF("ib_send_bw", "Send Post List BW", STREAM),
	PERF("ib_write_lat", "RDMA_Write Latency", LATENCY),
	PERF("ib_send_lat", "Send Latency", LATENCY),
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

static int perftest_note(struct bench_reading *reading, const char *line)
{
	const char *device = strstr(line, "Device         : ");
	if (device) {
		device += strlen("Device         : ");
		return bench_text(
			reading, device, strcspn(device, " \t\r"), &reading->adapter);
	}
	size_t n = strlen(line);
	while (n > 0 && strchr(" \t\r", line[n - 1]))
		n--;
	bool is_title =
		n > 5 && n < 60 && strncmp(line + n - 5, " Test", 5) == 0 &&
		(strncmp(line, "RDMA_", 5) == 0 || strncmp(line, "Send", 4) == 0 ||
			strncmp(line, "Atomic", 6) == 0);
	if (!is_title)
		return TB_OK;
	int status = bench_end(reading);
	reading->test = NULL;
	for (const struct bench_test *test = perftest_tests; test->name; test++)
		if (!reading->test &&
			strncmp(line, test->title, strlen(test->title)) == 0)
			reading->test = test;
	if (status == TB_OK && !reading->test)
		status = bench_unread(reading, line, n - 5);
	return status;
}

const struct bench_tool bench_perftest = {"perftest", " BW average[", "#iterations",
	perftest_columns, perftest_tests, false, true, perftest_note, bench_single_row,
	NULL};
