// NetPIPE (3 to 5) and GPCNET (1.1 to 1.3).
//
// NetPIPE prints a line for each size, and three or five numbers of it in np.out:
//
//     0:       1 bytes  17845 times -->      0.83 Mbps in       9.19 usec      (3)
//     1:     1.049 MB        94 times -->   92.345 Gbps  in   90.841 usecs     (5)
//        1 0.83 0.00000919                             bytes, Mbps, seconds    (3)
//        1     0.001     0.001     0.001    9.19       bytes, Gbps (average, (5)
//                                                      least, most), microseconds
//
// Mbps are 10^6 or, in some versions of 3, 2^20 bits per second: what agrees with the
// time. Version 5 rounds sizes to three digits behind the point of KB and MB.
//
// GPCNET (network_test.c, utils.c) prints averages of random rings over all ranks:
//
//   Network Tests v1.3
//     Test with 2304 MPI ranks (64 nodes)
//   |                            Isolated Network Tests                            |
//   |                            Name |          Avg |          99% |        Units |
//   |          RR Two-sided Lat (8 B) |          2.9 |          4.3 |         usec |
//   | RR Two-sided BW+Sync (131072 B) |       4061.4 |       2829.5 |   MiB/s/rank |
//
// A rank exchanges with both neighbours at once; latencies are half of that time, rates
// what a rank sends to both (random_ring.c). What runs beside congestors is left out.
#include "benchmark_reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_SIZE, RING_RATE, RING_TIME, RING_COLUMNS };

static const struct bench_column ring_columns[] = {
	{"bytes", BENCH_SIZE, 1, 0},
	{"Mbps", BENCH_RATE, 125e3, 131072},
	{"usec", BENCH_TIME, 1e3, 0},
	{NULL, BENCH_NUMBER, 0, 0},
};

static const struct bench_test netpipe_tests[] = {
	{"NetPIPE", NULL, TB_BENCH_LATENCY, TB_COLL_EXCHANGE, false, 1, 2},
	{"NetPIPE --stream", NULL, TB_BENCH_STREAM, TB_COLL_EXCHANGE, false, 1, 2},
	{"NetPIPE --bidir", NULL, TB_BENCH_BOTH_WAYS, TB_COLL_EXCHANGE, false, 2, 2},
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// unit_of returns what a unit's name stands for; 0: another one.
static double unit_of(const char *name)
{
	static const struct {
		const char *name;
		double unit;
	} units[] = {{"B", 1}, {"bytes", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
		{"bps", 0.125}, {"Kbps", 125}, {"Mbps", 125e3}, {"Gbps", 125e6},
		{"Tbps", 125e9}, {"nsecs", 1}, {"usec", 1e3}, {"usecs", 1e3},
		{"msecs", 1e6}, {"secs", 1e9}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].unit;
	return 0;
}

// netpipe_begin begins a table, unless this line goes on with one.
static int netpipe_begin(struct bench_reading *reading)
{
	if (reading->tool == &bench_netpipe)
		return TB_OK;
	bool is_own = false;
	for (const struct bench_test *test = netpipe_tests; test->name; test++)
		is_own |= reading->test == test;
	reading->test = is_own ? reading->test : netpipe_tests;
	memcpy(reading->columns, ring_columns, RING_COLUMNS * sizeof *ring_columns);
	return bench_begin(reading, &bench_netpipe);
}

// netpipe_row adds the row of the reading's fields. These stand in no columns.
static int netpipe_row(struct bench_reading *reading)
{
	reading->fields_line = reading->line;
	reading->n_fields = RING_COLUMNS;
	int status = bench_single_row(reading);
	reading->n_fields = reading->n_columns = 0;
	return status;
}

// netpipe_line takes "1 bytes 17845 times --> 0.83 Mbps in 9.19 usec".
static int netpipe_line(struct bench_reading *reading, const char *line)
{
	char size[24], rate[24], time[24], size_unit[8], rate_unit[8], time_unit[8];
	int n = sscanf(line, "%23s %7s %*u times --> %23s %7s in %23s %7s", size,
		size_unit, rate, rate_unit, time, time_unit);
	if (n > 0 && size[strlen(size) - 1] == ':') // its number
		n = sscanf(line, "%*s %23s %7s %*u times --> %23s %7s in %23s %7s", size,
			size_unit, rate, rate_unit, time, time_unit);
	if (n < 6 && n >= 2 && unit_of(size_unit) > 0)
		return bench_refuse(
			reading, "ends before its rate and time: it is cut off");
	if (n < 6 || unit_of(size_unit) <= 0 || unit_of(rate_unit) <= 0 ||
		unit_of(time_unit) <= 0)
		return TB_OK;
	int status = netpipe_begin(reading);
	char bytes[24];
	if (status != TB_OK)
		return status;
	bool is_exact = unit_of(size_unit) <= 1;
	snprintf(bytes, sizeof bytes, "%.0f", strtod(size, NULL) * unit_of(size_unit));
	bench_field_set(&reading->fields[RING_SIZE], bytes, strlen(bytes));
	bench_field_set(&reading->fields[RING_RATE], rate, strlen(rate));
	bench_field_set(&reading->fields[RING_TIME], time, strlen(time));
	if (strcmp(time_unit, "usec") != 0) { // version 5
		reading->columns[RING_RATE].unit = unit_of(rate_unit);
		reading->columns[RING_RATE].other_unit = 0;
		reading->columns[RING_TIME].unit = unit_of(time_unit);
		reading->rounds_sizes = !is_exact;
	}
	return netpipe_row(reading);
}

static int netpipe_note(struct bench_reading *reading, const char *line)
{
	if (strstr(line, "times -->"))
		return netpipe_line(reading, line);
	if (reading->line == 1 || reading->tool == &bench_netpipe) {
		// Take a line of np.out. Nothing but these numbers is in it, so that the
		// first line has to be one whose rate is that of its time.
		char words[5][24], rest;
		int n = sscanf(line, "%23s %23s %23s %23s %23s %c", words[0], words[1],
			words[2], words[3], words[4], &rest);
		if ((n != 3 && n != 5) ||
			strspn(words[0], "0123456789") != strlen(words[0]))
			return TB_OK;
		for (int i = 1; i < n; i++)
			if (strspn(words[i], "0123456789.") != strlen(words[i]))
				return TB_OK;
		double bits = 8 * strtod(words[0], NULL), rate = strtod(words[1], NULL),
		       time = strtod(words[n - 1], NULL);
		double own = n == 3 ? bits / time / 1e6 : bits / time / 1e3;
		bool is_first = reading->tool != &bench_netpipe;
		if (is_first && (reading->line > 1 || !strchr(words[1], '.') ||
					!(time > 0 && own < rate * 1.06 + 0.01 &&
						own > rate * 0.94 - 0.01)))
			return TB_OK;
		int status = netpipe_begin(reading);
		if (status != TB_OK)
			return status;
		bench_field_set(&reading->fields[RING_SIZE], words[0], strlen(words[0]));
		bench_field_set(&reading->fields[RING_RATE], words[1], strlen(words[1]));
		bench_field_set(
			&reading->fields[RING_TIME], words[n - 1], strlen(words[n - 1]));
		if (is_first && n == 3)
			reading->columns[RING_TIME].unit = 1e9;
		else if (is_first) {
			reading->columns[RING_RATE].unit = 125e6;
			reading->columns[RING_RATE].other_unit = 0;
		}
		return netpipe_row(reading);
	}
	if (strncmp(line, "Streaming ", 10) == 0 && strstr(line, "one direction"))
		reading->test = &netpipe_tests[1];
	else if (strncmp(line, "Bidirectional mode", 18) == 0)
		reading->test = &netpipe_tests[2];
	else if (strstr(line, "Now starting the main loop") ||
		 strstr(line, "Start testing with "))
		return bench_end(reading);
	return TB_OK;
}

const struct bench_tool bench_netpipe = {"NetPIPE", " times -->", NULL,
	ring_columns + RING_COLUMNS, netpipe_tests, false, false, netpipe_note,
	bench_single_row, NULL};

// Each is a table of one size.
static const struct bench_test gpcnet_tests[] = {
	{"RR Two-sided Lat", NULL, TB_BENCH_EXCHANGE, TB_COLL_EXCHANGE, false, 0, 0},
	{"RR Two-sided BW", NULL, TB_BENCH_EXCHANGE, TB_COLL_EXCHANGE, false, 0, 0},
	{"RR Two-sided BW+Sync", NULL, TB_BENCH_EXCHANGE, TB_COLL_EXCHANGE, false, 0, 0},
	{"Nat Two-sided BW", NULL, TB_BENCH_EXCHANGE, TB_COLL_EXCHANGE, false, 0, 0},
	{NULL, NULL, TB_BENCH_COLLECTIVE, TB_COLL_BARRIER, false, 0, 0},
};

// The name, four or seven values and, at the end, their unit.
#define GPCNET_CELLS 8

// gpcnet_cells finds the cells of "| a | b |", trimmed; returns how many.
static size_t gpcnet_cells(const char *line, char cells[GPCNET_CELLS][40])
{
	size_t n = 0;
	while (n < GPCNET_CELLS) {
		const char *at = line + 1 + strspn(line + 1, " ");
		const char *end = strchr(at, '|');
		if (!end)
			break;
		size_t length = (size_t)(end - at);
		while (length > 0 && at[length - 1] == ' ')
			length--;
		length = length < 39 ? length : 39;
		memcpy(cells[n], at, length);
		cells[n++][length] = '\0';
		line = end;
	}
	return n;
}

// gpcnet_row takes "| RR Two-sided Lat (8 B) | 2.9 | 4.3 | usec |".
static int gpcnet_row(struct bench_reading *reading, const char *line)
{
	char cells[GPCNET_CELLS][40];
	uint64_t bytes;
	size_t n = gpcnet_cells(line, cells);
	char *paren = n > 0 ? strstr(cells[0], " (") : NULL;
	if (!paren || sscanf(paren, " (%" SCNu64 " B)", &bytes) != 1)
		return TB_OK;
	if (n != 4 && n != GPCNET_CELLS)
		return bench_refuse(reading,
			"has %zu cells, not the 4 or %d of a row of GPCNET: it is cut "
			"off",
			n, GPCNET_CELLS);
	// Average and 99 %; or least, most, average, worst average, 99 and 99.9 %.
	const char *average = cells[n == 4 ? 1 : 3], *unit = cells[n - 1];
	bool is_time = strstr(cells[0], "Lat") != NULL;
	*paren = '\0';
	reading->test = NULL;
	bench_named(reading, &bench_gpcnet, cells[0]);
	if (!reading->test)
		return bench_left_out(reading, cells[0]);
	if (strcmp(unit, is_time ? "usec" : "MiB/s/rank") != 0 ||
		strspn(average, "0123456789.") != strlen(average))
		return bench_refuse(reading, "'%s %s' is no value of %s: expected %s",
			average, unit, cells[0], is_time ? "usec" : "MiB/s/rank");
	reading->n_columns = 0;
	int status = bench_begin(reading, &bench_gpcnet);
	if (status != TB_OK)
		return status;
	struct tb_benchmark_row row = bench_row_of(reading);
	row.printed_bytes = bytes;
	row.random_neighbors = strncmp(cells[0], "RR", 2) == 0;
	if (is_time) // half of the exchange's
		row.time_ns = strtod(average, NULL) * 2e3;
	else
		row.algorithm_rate = strtod(average, NULL) * 1048576;
	bench_sized(&row, reading->table_test, bench_table_of(reading)->n_ranks);
	reading->fields_line = reading->line;
	return bench_add(reading, &row);
}

static int gpcnet_note(struct bench_reading *reading, const char *line)
{
	unsigned n_ranks, n_nodes;
	if (sscanf(line, "Test with %u MPI ranks (%u nodes)", &n_ranks, &n_nodes) == 2 &&
		n_ranks <= BENCH_RANKS_MOST) {
		if (n_nodes > n_ranks)
			return bench_refuse(reading,
				"%u ranks on %u nodes: some have none", n_ranks, n_nodes);
		reading->n_ranks = n_ranks;
		reading->n_hosts = n_nodes;
	} else if (strstr(line, " nodes running Network Tests") &&
		   sscanf(line, "%u nodes", &n_nodes) == 1 &&
		   n_nodes <= BENCH_RANKS_MOST) {
		reading->n_ranks = 0; // of the load test, a part of them runs these
		reading->n_hosts = n_nodes;
	}
	if (*line != '|')
		return TB_OK;
	if (strstr(line, " Tests ")) {
		reading->is_isolated = strstr(line, " Isolated Network Tests ") != NULL;
		return bench_end(reading);
	}
	return reading->is_isolated ? gpcnet_row(reading, line) : TB_OK;
}

const struct bench_tool bench_gpcnet = {"GPCNET", "Isolated Network Tests", NULL,
	ring_columns + RING_COLUMNS, gpcnet_tests, false, false, gpcnet_note,
	bench_single_row, NULL};
