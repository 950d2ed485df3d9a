// nccl-tests and rccl-tests (src/common.cu and src/util.cu of nccl-tests 2.0 to 2.19).
//
//   # nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) ...
//   #  Rank  0 Group  0 Pid   1234 on     node1 device  0 [0000:1b:00] NVIDIA H100
//   #       size         count      type   redop    root     time   algbw   busbw #wrong
//   ... #        (B)    (elements)                               (us)  (GB/s)  (GB/s)
//        1048576        262144     float     sum      -1    45.20   23.20   43.50      0
//        ...
//   # Out of bounds values : 0 OK
//   # Avg bus bandwidth    : 21.3
//
// A row's first five columns are printed before the operation runs, the others after it,
// so what NCCL says comes between them. Before 2.11 columns redop and root stand there
// only where the operation has them, and "error", the largest difference, in place of
// "#wrong". What the operation is, was not printed before 2.17: the program's name in
// what surrounds the table says it, or the file's name, where the table does not
// contradict.
#include "array.h"
#include "benchmark_reading.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_column nccl_columns[] = {
	{"size", BENCH_SIZE, 1, 0},
	{"count", BENCH_COUNT, 1, 0},
	{"type", BENCH_TYPE, 0, 0},
	{"redop", BENCH_REDOP, 0, 0},
	{"root", BENCH_ROOT, 0, 0},
	{"time", BENCH_TIME, 1e3, 0},
	{"cputime", BENCH_TIME, 1e3, 0},
	{"algbw", BENCH_RATE, 1e9, 0},
	{"busbw", BENCH_BUS, 1e9, 0},
	{"#wrong", BENCH_WRONG, 1, 0},
	{"error", BENCH_ERROR, 1, 0},
	{"timestamp", BENCH_REST, 0, 0},
	{NULL, BENCH_NUMBER, 0, 0},
};

#define OF(name, OP, all)                                                                \
	{                                                                                \
		name, NULL, TB_BENCH_COLLECTIVE, TB_COLL_##OP, all, 1, 0                 \
	}
static const struct bench_test nccl_tests[] = {
	OF("all_reduce_perf", ALLREDUCE, false),
	OF("reduce_scatter_perf", REDUCE_SCATTER, false),
	OF("all_gather_perf", ALLGATHER, true),
	OF("alltoall_perf", ALLTOALL, true),
	OF("broadcast_perf", BROADCAST, false),
	OF("reduce_perf", REDUCE, false),
	OF("gather_perf", GATHER, true),
	OF("scatter_perf", SCATTER, true),
	{"sendrecv_perf", NULL, TB_BENCH_NEIGHBORS, TB_COLL_EXCHANGE, false, 1, 0},
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// Operations of nccl-tests that are not one of these.
static const char *const nccl_others[] = {"alltoallv_perf", "hypercube_perf"};

// "#  Rank  0 Group  0 Pid   1234 on     node1 device  0 [0000:1b:00] NVIDIA H100"
static int note_rank(struct bench_reading *reading, const char *line)
{
	unsigned rank, group = 0, device;
	int host_at = 0, host_end = 0, n = 0;
	if (sscanf(line, "# Rank %u Group %u Pid %*d on %n%*s%n device %u [%*[^]]]%n",
		    &rank, &group, &host_at, &host_end, &device, &n) < 3 &&
		sscanf(line, "# Rank %u Pid %*d on %n%*s%n device %u [%*[^]]]%n", &rank,
			&host_at, &host_end, &device, &n) < 2)
		return TB_OK;
	if (n == 0 || host_end <= host_at)
		return TB_OK;
	const char *name = line + n + strspn(line + n, " \t");
	size_t name_n = strlen(name);
	while (name_n > 0 && isspace((unsigned char)name[name_n - 1]))
		name_n--;
	reading->is_rccl |= strncmp(name, "AMD", 3) == 0;
	if (group > 0)
		return bench_refuse(reading, "several groups of ranks ran at once "
					     "(NCCL_TESTS_SPLIT), of which "
					     "the table has one: expected one group");
	return bench_rank(reading, rank, line + host_at, (size_t)(host_end - host_at),
		name, name_n);
}

// note_version keeps "NCCL version 2.28.3+cuda13.0", or nccl-library=22803, as
// ncclGetVersion has it (major * 10,000 + minor * 100 + patch from 2.9 on).
static int note_version(struct bench_reading *reading, const char *line)
{
	char text[64];
	const char *at = strstr(line, "CCL version ");
	unsigned code;
	if (at && at > line && (at[-1] == 'N' || at[-1] == 'R')) {
		const char *number = at + strlen("CCL version ");
		number += strspn(number, ": ");
		int n = snprintf(text, sizeof text, "%cCCL %.*s", at[-1],
			(int)(strcspn(number, " \t,;\r") & 0x1f), number);
		reading->is_rccl |= at[-1] == 'R';
		return isdigit((unsigned char)*number)
			       ? bench_text(reading, text, (size_t)n, &reading->version)
			       : TB_OK;
	}
	at = strstr(line, "nccl-library=");
	if (!at || sscanf(at, "nccl-library=%u", &code) != 1 || code < 20000)
		return TB_OK;
	int n = snprintf(text, sizeof text, "NCCL %u.%u.%u", code / 10000,
		code / 100 % 100, code % 100);
	return bench_text(reading, text, (size_t)n, &reading->version);
}

// check_units takes "#        (B)    (elements)      (us)  (GB/s)  (GB/s)" below a
// heading.
static int check_units(const struct bench_reading *reading, const char *line)
{
	static const char *const units[] = {"(B)", "(elements)", "(us)", "(GB/s)", "(%)"};
	for (const char *at = line; (at = strchr(at, '(')); at++) {
		size_t n = strcspn(at, " \t\r"), i = 0;
		while (i < sizeof units / sizeof *units &&
			(strlen(units[i]) != n || memcmp(units[i], at, n) != 0))
			i++;
		if (i == sizeof units / sizeof *units)
			return bench_refuse(reading,
				"'%.*s' is no unit of nccl-tests: expected (B), (us) and "
				"(GB/s)",
				n < 24 ? (int)n : 24, at);
	}
	return TB_OK;
}

static int nccl_note(struct bench_reading *reading, const char *line)
{
	unsigned n_ranks;
	if (strncmp(line, "# Out of bounds", 15) == 0) {
		int status = bench_end(reading);
		reading->ranks_n = reading->hosts_n = reading->n_ranks = 0;
		reading->version = "";
		reading->is_rccl = false;
		return status;
	}
	if (reading->tool == &bench_nccl_tests && bench_n_rows(reading) == 0 &&
		*line == '#' && strstr(line, "(B)"))
		return check_units(reading, line);
	if (strncmp(line, "# Testing ", 10) == 0 && reading->tool == &bench_nccl_tests)
		return bench_begin(reading, &bench_nccl_tests); // RCCL's next cycle
	if (strncmp(line, "# nThread", 9) == 0 ||
		strncmp(line, "# Using devices", 15) == 0) {
		int status = bench_end(reading);
		bool is_first = line[2] == 'n';
		reading->ranks_n = reading->hosts_n = 0;
		reading->is_in_place = false;
		reading->is_rccl &= !is_first;
		reading->n_ranks = is_first ? 0 : reading->n_ranks;
		const char *at = strstr(line, "nRanks: ");
		if (at && sscanf(at, "nRanks: %u", &n_ranks) == 1 &&
			n_ranks <= BENCH_RANKS_MOST)
			reading->n_ranks = n_ranks;
		return status;
	}
	// "node1: Test NCCL failure common.cu:401 'remote process exited ..."
	const char *failure = strstr(line, "Test NCCL failure ");
	failure = failure ? failure : strstr(line, "Test CUDA failure ");
	if (failure) {
		int status = bench_note(reading, "the run failed: %s", failure);
		return status == TB_OK ? bench_end(reading) : status;
	}
	bench_named(reading, &bench_nccl_tests, line);
	if (strncmp(line, "# Collective test starting: ", 28) == 0) {
		for (size_t i = 0; i < sizeof nccl_others / sizeof *nccl_others; i++)
			if (strstr(line, nccl_others[i]))
				return bench_unread(
					reading, nccl_others[i], strlen(nccl_others[i]));
		return TB_OK;
	}
	if (strstr(line, "in-place"))
		reading->is_in_place = !strstr(line, "out-of-place");
	reading->is_rccl |= strncmp(line, "rccl-tests: ", 12) == 0;
	if (strstr(line, " Rank ") && strstr(line, " device "))
		return note_rank(reading, line);
	return note_version(reading, line);
}

// add_half adds a row of the columns from `from` to before `to`, if they have a time.
static int add_half(struct bench_reading *reading, size_t from, size_t to, bool in_place)
{
	struct tb_benchmark_row row = bench_row_of(reading);
	row.in_place = in_place;
	int status = bench_values(reading, from, to, &row);
	return status == TB_OK && isfinite(row.time_ns) ? bench_add(reading, &row)
							: status;
}

static int nccl_row(struct bench_reading *reading)
{
	size_t second = reading->second_at, n = reading->n_fields;
	bool is_half = n <= second;
	int status = add_half(
		reading, 0, is_half ? n : second, reading->is_in_place || n == second);
	return is_half || status != TB_OK ? status : add_half(reading, second, n, true);
}

// The shares, of bus bandwidth to algorithm bandwidth, that a table's rows allow.
struct nccl_shares {
	double least, most;
};

static struct nccl_shares shares_of(const struct bench_reading *reading)
{
	struct nccl_shares shares = {0, INFINITY};
	for (size_t i = 0; i < bench_n_rows(reading); i++) {
		const struct tb_benchmark_row *row = bench_row_at(reading, i);
		// Printed in six letters: "123.45", "1234.5".
		double half = row->algorithm_rate < 1e12 ? 0.0055e9 : 0.055e9,
		       bus_half = row->bus_rate < 1e12 ? 0.0055e9 : 0.055e9;
		if (!(row->algorithm_rate > half))
			continue;
		shares.least = fmax(shares.least,
			(row->bus_rate - bus_half) / (row->algorithm_rate + half));
		shares.most = fmin(shares.most,
			(row->bus_rate + bus_half) / (row->algorithm_rate - half));
	}
	return shares;
}

static bool share_fits(
	const struct nccl_shares *shares, enum tb_collective_op op, uint32_t n)
{
	double share = tb_bus_share(op, n);
	return share >= shares->least && share <= shares->most;
}

#define SHARE_RANKS_MOST 4096 // beyond, the shares of n and n + 1 are printed alike

// test_fits returns whether a table's columns and rates may be the test's.
static bool test_fits(const struct bench_reading *reading, const struct bench_test *test,
	const struct nccl_shares *shares, uint32_t n_ranks)
{
	bool combines = tb_collectives[test->op].combines,
	     is_rooted = tb_collectives[test->op].rooted;
	// Only what has an in-place form is checked in place.
	bool has_in_place = test->op != TB_COLL_ALLTOALL && test->op != TB_COLL_EXCHANGE;
	// A sum stands in the column of sendrecv, too, though nothing is added up.
	combines |= test->kind == TB_BENCH_NEIGHBORS && reading->combines;
	if (combines != reading->combines || is_rooted != reading->is_rooted ||
		(reading->is_checked[0] && has_in_place != reading->is_checked[1]))
		return false;
	if (n_ranks)
		return share_fits(shares, test->op, n_ranks);
	for (uint32_t n = 2; n < SHARE_RANKS_MOST; n++)
		if (share_fits(shares, test->op, n))
			return true;
	return false;
}

// file_names returns whether the file's name has the test's operation in it.
static bool file_names(const struct bench_reading *reading, const struct bench_test *test)
{
	const char *slash = strrchr(reading->file, '/');
	const char *name = slash ? slash + 1 : reading->file;
	enum tb_collective_op op;
	if (test->kind == TB_BENCH_NEIGHBORS)
		return strcasestr(name, "sendrecv") || strcasestr(name, "send_recv");
	return tb_collective_op_in(&op, name, strlen(name)) && op == test->op;
}

// find_test returns the only test that fits a table, or the only one of several that the
// file's name has; NULL: there is none, of `*n` that fit.
static const struct bench_test *find_test(const struct bench_reading *reading,
	const struct nccl_shares *shares, uint32_t n_ranks, size_t *n)
{
	const struct bench_test *found = NULL, *named = NULL;
	*n = 0;
	for (const struct bench_test *test = nccl_tests; test->name; test++) {
		if (!test_fits(reading, test, shares, n_ranks))
			continue;
		found = test;
		++*n;
		if (file_names(reading, test))
			named = test;
	}
	return *n == 1 ? found : named;
}

static int nccl_finish(struct bench_reading *reading)
{
	struct tb_benchmark_table *table = bench_table_of(reading);
	const struct bench_test *test = reading->table_test;
	size_t n = 0;
	uint32_t found = 0;
	char number[32] = "any number of";
	const struct nccl_shares shares = shares_of(reading);
	// A list of ranks that lacks some may lack the last ones.
	if (!table->hosts && !reading->n_given &&
		!find_test(reading, &shares, table->n_ranks, &n) && n == 0)
		table->n_ranks = 0;
	if (!test || !test_fits(reading, test, &shares, table->n_ranks))
		test = find_test(reading, &shares, table->n_ranks, &n);
	reading->line = table->line;
	if (table->n_ranks)
		snprintf(number, sizeof number, "%" PRIu32, table->n_ranks);
	if (!test && n > 0)
		return bench_refuse(reading,
			"does not say which operation it is of: keep the line of the "
			"command (all_gather_perf ...) or the operation's name in the "
			"file's");
	if (!test)
		return bench_refuse(reading,
			"has bus bandwidths that no operation has on %s ranks at these "
			"algorithm bandwidths",
			number);
	// Without a list of ranks the rates say how many there were, if only one number
	// fits.
	for (uint32_t ranks = 2, fits = 0;
		table->n_ranks == 0 && ranks < SHARE_RANKS_MOST; ranks++) {
		if (!share_fits(&shares, test->op, ranks))
			continue;
		if (++fits > 1) {
			found = 0;
			break;
		}
		found = ranks;
	}
	table->n_ranks = table->n_ranks ? table->n_ranks : found;
	table->name = test->name;
	table->tool = reading->is_rccl ? "rccl-tests" : "nccl-tests";
	for (size_t i = 0; i < bench_n_rows(reading); i++)
		bench_sized(bench_row_at(reading, i), test, table->n_ranks);
	return TB_OK;
}

const struct bench_tool bench_nccl_tests = {"nccl-tests", "# nThread", "algbw",
	nccl_columns, nccl_tests, true, false, nccl_note, nccl_row, nccl_finish};
