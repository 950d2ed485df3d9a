// mpiGraph (1.5): the rate of each rank to each other one, a row per sender.
//
//   START mpiGraph v1.5
//   MsgSize	1048576
//   Times	100
//   Window	50
//   Procs	4
//
//   Send	node0:0	node1:1	node2:2	node3:3
//   node0:0 to	0.000	11834.101	11830.275	11829.880
//
// MB are 2^20 bytes. In a step all ranks send to the one that is as far away, so each
// sends and receives at once; a second matrix, of what was received, is left out.
#include "benchmark_reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_column pair_columns[] = {{NULL, BENCH_NUMBER, 0, 0}};

static const struct bench_test pair_tests[] = {
	{"mpiGraph", NULL, TB_BENCH_STREAM, TB_COLL_EXCHANGE, false, 0, 0},
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// pair_host finds "node0:0", a rank and its host, and returns what is behind it; NULL:
// there is none.
static const char *pair_host(const char *at, size_t *n, uint32_t *rank)
{
	at += strspn(at, " \t\r");
	size_t length = strcspn(at, " \t\r");
	const char *colon = memrchr(at, ':', length);
	char *end;
	if (!colon)
		return NULL;
	unsigned long number = strtoul(colon + 1, &end, 10);
	*n = (size_t)(colon - at);
	*rank = (uint32_t)number;
	return end == at + length && number < BENCH_RANKS_MOST ? end : NULL;
}

// pair_row takes "node0:0 to	0.000	11834.101".
static int pair_row(struct bench_reading *reading, const char *line)
{
	uint32_t from;
	size_t n;
	const char *at = pair_host(line, &n, &from);
	if (!at || strncmp(at, " to", 3) != 0)
		return TB_OK;
	at += 3;
	uint32_t n_ranks = bench_table_of(reading)->n_ranks;
	if (from >= n_ranks)
		return bench_refuse(reading,
			"is of rank %" PRIu32 ", and the heading has %" PRIu32 " ranks",
			from, n_ranks);
	reading->fields_line = reading->line;
	for (uint32_t to = 0; to < n_ranks; to++) {
		char *end;
		double rate = strtod(at, &end);
		if (end == at || !isfinite(rate))
			return bench_refuse(reading,
				"has %" PRIu32 " rates, not the %" PRIu32
				" of its heading: it is cut off",
				to, n_ranks);
		at = end;
		if (to == from)
			continue;
		struct tb_benchmark_row row = bench_row_of(reading);
		row.printed_bytes = reading->pair_bytes;
		row.first = from;
		row.second = to;
		row.algorithm_rate = rate * 1048576;
		bench_sized(&row, pair_tests, n_ranks);
		int status = bench_add(reading, &row);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// pair_finish refuses a table without the rows of all senders.
static int pair_finish(struct bench_reading *reading)
{
	uint32_t n = bench_table_of(reading)->n_ranks;
	size_t n_rows = bench_n_rows(reading);
	return n_rows == (size_t)n * (n - 1)
		       ? TB_OK
		       : bench_refuse(reading,
				 "the matrix above has %zu of its %" PRIu32
				 " rows: it is cut off",
				 n_rows / (n - 1), n);
}

static int pair_note(struct bench_reading *reading, const char *line)
{
	unsigned long long bytes;
	unsigned n_ranks;
	if (strncmp(line, "START mpiGraph", 14) == 0) {
		reading->test = pair_tests;
		reading->pair_bytes = reading->pair_ranks = 0;
		const char *version = strstr(line, " v");
		return version ? bench_text(reading, version + 2,
					 strcspn(version + 2, " \t\r"), &reading->version)
			       : TB_OK;
	}
	if (reading->test != pair_tests)
		return TB_OK;
	if (sscanf(line, "MsgSize %llu", &bytes) == 1)
		reading->pair_bytes = bytes;
	else if (sscanf(line, "Procs %u", &n_ranks) == 1)
		reading->pair_ranks = n_ranks;
	else if (strncmp(line, "Send\t", 5) == 0) {
		// Begin the table of "Send, node0:0, node1:1", separated by tabs.
		const char *at = line + 5;
		const char *host, *next;
		uint32_t rank;
		size_t n;
		reading->ranks_n = reading->hosts_n = 0;
		for (uint32_t k = 0; (next = pair_host(at, &n, &rank)); k++) {
			host = at + strspn(at, " \t\r");
			if (rank != k)
				return bench_refuse(reading,
					"rank %" PRIu32 " has the place of rank %" PRIu32,
					rank, k);
			int status = bench_rank(reading, rank, host, n, "", 0);
			if (status != TB_OK)
				return status;
			at = next;
		}
		if (reading->pair_ranks && reading->ranks_n != reading->pair_ranks)
			return bench_refuse(reading,
				"has %zu ranks, not the %" PRIu32
				" of 'Procs': it is cut off",
				reading->ranks_n, reading->pair_ranks);
		reading->n_columns = 0;
		return bench_begin(reading, &bench_pairs);
	} else if (strncmp(line, "Recv\t", 5) == 0 ||
		   strncmp(line, "END mpiGraph", 12) == 0)
		return bench_end(reading);
	else if (reading->tool == &bench_pairs)
		return pair_row(reading, line);
	return TB_OK;
}

const struct bench_tool bench_pairs = {"mpiGraph", "START mpiGraph", NULL, pair_columns,
	pair_tests, false, false, pair_note, bench_single_row, pair_finish};
