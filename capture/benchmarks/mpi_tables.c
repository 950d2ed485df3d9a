// OSU micro-benchmarks (5 to 7) and the Intel MPI Benchmarks (4 to 2021).
//
// OSU (c/util/osu_util*.c of 7.4):
//
//   # OSU MPI Allreduce Latency Test v7.4
//   # Datatype: MPI_CHAR.
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
//   4                       1.53              1.21              1.80        1000
//
// Ranks are printed by osu_mbw_mr only, as pairs. MB are 10^6 bytes.
//
// IMB (src_c/IMB_output.c of 2021):
//
//   #    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
//   #----------------------------------------------------------------
//   # Benchmarking Allreduce
//   # #processes = 4
//   # ( 28 additional processes waiting in MPI_Barrier)
//   #----------------------------------------------------------------
//          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
//               4         1000         1.21         1.80         1.53
//
// The rate of a table is by the slowest rank's time; Mbytes are 10^6 bytes, 2^20 before
// version 2018. "Multi-PingPong" runs in several groups at once, of which each has a row.
#include "array.h"
#include "benchmark_reading.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_column osu_columns[] = {
	{"Size", BENCH_SIZE, 1, 0},
	{"Latency (us)", BENCH_TIME, 1e3, 0},
	{"Avg Latency(us)", BENCH_TIME, 1e3, 0},
	{"Latency(us)", BENCH_TIME, 1e3, 0},
	{"Min Latency(us)", BENCH_NUMBER, 0, 0},
	{"Max Latency(us)", BENCH_NUMBER, 0, 0},
	{"Bandwidth (MB/s)", BENCH_RATE, 1e6, 0},
	{"MB/s", BENCH_RATE, 1e6, 0},
	{"Messages/s", BENCH_MESSAGES, 1, 0},
	{"Overall(us)", BENCH_NUMBER, 0, 0},
	{"Coll. Init(us)", BENCH_NUMBER, 0, 0},
	{"Pure Comm.(us)", BENCH_TIME, 1e3, 0},
	{"Min Comm.(us)", BENCH_NUMBER, 0, 0},
	{"Max Comm.(us)", BENCH_NUMBER, 0, 0},
	{"P* Tail Lat(us)", BENCH_NUMBER, 0, 0},
	{"P* Tail BW(MB/s)", BENCH_NUMBER, 0, 0},
	{"Transmit Size", BENCH_NUMBER, 0, 0},
	{"Validation", BENCH_CHECK, 0, 0},
	{NULL, BENCH_NUMBER, 0, 0},
};

// Names and titles, without "Non-blocking" and "Persistent".
#define OSU(name, title, OP)                                                             \
	{                                                                                \
		"osu_" name, title " Latency", TB_BENCH_COLLECTIVE, TB_COLL_##OP, false, \
			0, 0                                                             \
	}
#define PAIR(name, title, KIND, n)                                                       \
	{                                                                                \
		name, title, TB_BENCH_##KIND, TB_COLL_EXCHANGE, false, 1, n              \
	}
static const struct bench_test osu_tests[] = {
	PAIR("osu_latency", "Latency", LATENCY, 2),
	PAIR("osu_latency_mt", "Multi-threaded Latency", LATENCY, 2),
	PAIR("osu_latency_mp", "Multi-process Latency", LATENCY, 2),
	PAIR("osu_multi_lat", "Multi Latency", LATENCY, 0),
	PAIR("osu_bw", "Bandwidth", STREAM, 2),
	PAIR("osu_bibw", "Bi-Directional Bandwidth", BOTH_WAYS, 2),
	PAIR("osu_mbw_mr", "Multiple Bandwidth / Message Rate", PAIRS, 0),
	OSU("allreduce", "Allreduce", ALLREDUCE),
	OSU("reduce", "Reduce", REDUCE),
	OSU("reduce_scatter", "Reduce_scatter", REDUCE_SCATTER),
	OSU("reduce_scatter_block", "Reduce_scatter_block", REDUCE_SCATTER),
	OSU("allgather", "Allgather", ALLGATHER),
	OSU("allgatherv", "Allgatherv", ALLGATHER),
	OSU("alltoall", "All-to-All Personalized Exchange", ALLTOALL),
	OSU("ialltoall", "All-to-All", ALLTOALL),
	OSU("alltoallv", "All-to-Allv Personalized Exchange", ALLTOALL),
	OSU("bcast", "Broadcast", BROADCAST),
	OSU("gather", "Gather", GATHER),
	OSU("gatherv", "Gatherv", GATHER),
	OSU("scatter", "Scatter", SCATTER),
	OSU("scatterv", "Scatterv", SCATTER),
	OSU("barrier", "Barrier", BARRIER),
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// osu_title sets the test of "# OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.4".
static int osu_title(struct bench_reading *reading, const char *at)
{
	static const char *const words[] = {"Non-blocking ", "Non-Blocking "};
	char title[80];
	const char *end = strstr(at, " Test");
	size_t n = end ? (size_t)(end - at) : strlen(at);
	reading->test = NULL;
	reading->n_ranks = 0;
	reading->datatype = "";
	const char *version = end ? strstr(end, " v") : NULL;
	if (version) {
		int status = bench_text(reading, version + 2,
			strcspn(version + 2, " \t\r"), &reading->version);
		if (status != TB_OK)
			return status;
	}
	// "MPI", "MPI-CUDA", "NCCL": how it ran is not told apart.
	const char *name = at + strcspn(at, " ");
	name += *name == ' ';
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			name += strlen(words[i]);
	if (name > at + n || (size_t)(at + n - name) >= sizeof title)
		return bench_unread(reading, at, n < 80 ? n : 80);
	snprintf(title, sizeof title, "%.*s", (int)(at + n - name), name);
	char *persistent = strstr(title, "Persistent");
	if (persistent) {
		char *rest = persistent + strlen("Persistent");
		rest += *rest == ' ';
		memmove(persistent, rest, strlen(rest) + 1);
		n = strlen(title);
		while (n > 0 && title[n - 1] == ' ')
			title[--n] = '\0';
	}
	for (const struct bench_test *test = osu_tests; test->name; test++)
		if (strcmp(test->title, title) == 0 && strncmp(at, "MPI_", 4) != 0)
			reading->test = test;
	n = end ? (size_t)(end - at) : strlen(at);
	return reading->test ? TB_OK : bench_unread(reading, at, n < 80 ? n : 80);
}

static int osu_note(struct bench_reading *reading, const char *line)
{
	unsigned pairs;
	bench_named(reading, &bench_osu, line);
	if (strncmp(line, "# OSU ", 6) == 0) {
		int status = bench_end(reading);
		return status == TB_OK ? osu_title(reading, line + 6) : status;
	}
	if (strncmp(line, "# Datatype: ", 12) == 0)
		return bench_text(reading, line + 12, strcspn(line + 12, ". \r"),
			&reading->datatype);
	if (sscanf(line, "# [ pairs: %u ]", &pairs) == 1 && pairs < BENCH_RANKS_MOST)
		reading->n_ranks = 2 * pairs;
	return TB_OK;
}

const struct bench_tool bench_osu = {"OSU", "# OSU ", NULL, osu_columns, osu_tests, false,
	true, osu_note, bench_single_row, NULL};

static const struct bench_column imb_columns[] = {
	{"Group", BENCH_GROUP, 1, 0},
	{"#bytes", BENCH_SIZE, 1, 0},
	{"#repetitions", BENCH_NUMBER, 0, 0},
	{"t[usec]", BENCH_TIME, 1e3, 0},
	{"t_min[usec]", BENCH_NUMBER, 0, 0},
	{"t_max[usec]", BENCH_SLOWEST, 1e3, 0},
	{"t_avg[usec]", BENCH_TIME, 1e3, 0},
	{"t_pure[usec]", BENCH_TIME, 1e3, 0},
	{"Mbytes/sec", BENCH_RATE, 1e6, 1048576},
	{"Msg/sec", BENCH_MESSAGES, 1, 0},
	{NULL, BENCH_NUMBER, 0, 0},
};

// Names without "Multi-", "I" of non-blocking ones and "_pure".
#define IMB(name, OP)                                                                    \
	{                                                                                \
		name, NULL, TB_BENCH_COLLECTIVE, TB_COLL_##OP, false, 0, 0               \
	}
static const struct bench_test imb_tests[] = {
	{"PingPong", NULL, TB_BENCH_LATENCY, TB_COLL_EXCHANGE, false, 1, 0},
	{"PingPongSpecificSource", NULL, TB_BENCH_LATENCY, TB_COLL_EXCHANGE, false, 1, 0},
	{"PingPongAnySource", NULL, TB_BENCH_LATENCY, TB_COLL_EXCHANGE, false, 1, 0},
	{"Sendrecv", NULL, TB_BENCH_NEIGHBORS, TB_COLL_EXCHANGE, false, 2, 0},
	{"Exchange", NULL, TB_BENCH_EXCHANGE, TB_COLL_EXCHANGE, false, 4, 0},
	{"Uniband", NULL, TB_BENCH_PAIRS, TB_COLL_EXCHANGE, false, 0, 0},
	IMB("Allreduce", ALLREDUCE),
	IMB("Reduce", REDUCE),
	IMB("Reduce_scatter", REDUCE_SCATTER),
	IMB("Allgather", ALLGATHER),
	IMB("Allgatherv", ALLGATHER),
	IMB("Alltoall", ALLTOALL),
	IMB("Alltoallv", ALLTOALL),
	IMB("Bcast", BROADCAST),
	IMB("Gather", GATHER),
	IMB("Gatherv", GATHER),
	IMB("Scatter", SCATTER),
	IMB("Scatterv", SCATTER),
	IMB("Barrier", BARRIER),
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// imb_title sets the test of "# Benchmarking Multi-Allreduce ".
static int imb_title(struct bench_reading *reading, const char *at)
{
	size_t n = strcspn(at, " \t\r");
	const char *name = at;
	size_t length = n;
	if (strncmp(name, "Multi-", 6) == 0) {
		name += 6;
		length -= 6;
	}
	if (length > 5 && strncmp(name + length - 5, "_pure", 5) == 0)
		length -= 5;
	bool is_nonblocking = name[0] == 'I' && islower((unsigned char)name[1]);
	name += is_nonblocking;
	length -= is_nonblocking;
	reading->test = NULL;
	reading->n_ranks = 0;
	reading->groups_n = 0;
	for (const struct bench_test *test = imb_tests; test->name; test++)
		if (strlen(test->name) == length &&
			strncasecmp(test->name, name, length) == 0)
			reading->test = test;
	return reading->test ? TB_OK : bench_unread(reading, at, n < 80 ? n : 80);
}

// imb_group keeps "Group  1:    2    3", behind "# ".
static int imb_group(struct bench_reading *reading, const char *at)
{
	unsigned group, first, second;
	int n = sscanf(at, "Group %u: %u %u", &group, &first, &second);
	if (n < 2 || group != reading->groups_n || group >= BENCH_RANKS_MOST)
		return TB_OK;
	if (first >= BENCH_RANKS_MOST || (n == 3 && second >= BENCH_RANKS_MOST))
		return bench_refuse(reading, "group %u: expected ranks below %u", group,
			BENCH_RANKS_MOST);
	if (TB_ARRAY_RESERVE(&reading->groups, &reading->groups_room,
		    reading->groups_n + 1) != TB_OK)
		return bench_no_memory(reading);
	bool is_pair =
		n == 3 && reading->test && reading->test->kind != TB_BENCH_COLLECTIVE;
	reading->groups[reading->groups_n++] =
		(struct bench_group){first, is_pair ? second : BENCH_NONE};
	return TB_OK;
}

static int imb_note(struct bench_reading *reading, const char *line)
{
	unsigned n, of;
	if (*line != '#')
		return TB_OK;
	const char *at = line + 1 + strspn(line + 1, " ");
	if (strncmp(at, "Benchmarking ", 13) == 0) {
		int status = bench_end(reading);
		return status == TB_OK ? imb_title(reading, at + 13) : status;
	}
	const char *suite = strstr(at, "MPI Benchmark");
	if (suite && strncmp(at, "Intel", 5) == 0) {
		suite += strcspn(suite, " ");
		suite += strspn(suite, " ") + strlen("Benchmark");
		suite += strcspn(suite, " ");
		suite += strspn(suite, " ");
		suite += strncmp(suite, "Suite ", 6) == 0 ? 6 : 0;
		return bench_text(
			reading, suite, strcspn(suite, ",\r"), &reading->version);
	}
	if (sscanf(at, "#processes = %u", &n) == 1 && n <= BENCH_RANKS_MOST)
		reading->n_ranks = n;
	else if (sscanf(at, "( %u groups of %u processes", &n, &of) == 2 &&
		 n <= BENCH_RANKS_MOST && of <= BENCH_RANKS_MOST / (n ? n : 1)) {
		// Of collective operations each group has its own.
		bool is_pairs =
			reading->test && reading->test->kind != TB_BENCH_COLLECTIVE;
		reading->n_ranks = is_pairs ? n * of : of;
	}
	return imb_group(reading, at);
}

const struct bench_tool bench_imb = {"IMB", "# Benchmarking ", "#repetitions",
	imb_columns, imb_tests, false, false, imb_note, bench_single_row, NULL};
