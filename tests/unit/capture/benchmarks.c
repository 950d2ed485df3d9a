// Tables of benchmarks: the samples of tests/data/benchmarks, and texts that are broken.
#include "benchmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct tb_error error;
static struct tb_benchmark *made;

static const char *sample(const char *name)
{
	static char path[512];
	const char *source = getenv("TB_SOURCE");
	snprintf(path, sizeof path, "%s/tests/data/benchmarks/%s", source ? source : ".",
		name);
	return path;
}

static int read_path(const char *path, uint32_t n_ranks)
{
	tb_benchmark_close(made);
	made = NULL;
	memset(&error, 0, sizeof error);
	return tb_benchmark_read(&made, &path, 1, n_ranks, &error);
}

// hold_text makes a file of a text, and its path.
static int hold_text(const char *text, char path[64])
{
	int fd = memfd_create("table", 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static int read_text(const char *text, uint32_t n_ranks)
{
	char path[64];
	int fd = hold_text(text, path);
	int status = read_path(path, n_ranks);
	close(fd);
	return status;
}

static void refused(const char *text, uint64_t line, const char *sentence)
{
	assert_int_equal(read_text(text, 0), TB_EFORMAT);
	assert_int_equal(error.at, line);
	if (!strstr(error.text, sentence))
		fail_msg("'%s' does not say '%s'", error.text, sentence);
}

static const struct tb_benchmark_row *row(size_t i)
{
	assert_true(i < tb_benchmark_n_rows(made));
	return tb_benchmark_row(made, i);
}

static const struct tb_benchmark_table *table(size_t i)
{
	assert_true(i < tb_benchmark_n_tables(made));
	return tb_benchmark_table(made, i);
}

static void is_near(double value, double expected)
{
	if (!(fabs(value - expected) <= fabs(expected) * 1e-9))
		fail_msg("%g is not %g", value, expected);
}

static void is_row(size_t i, enum tb_benchmark_kind kind, uint64_t bytes, double time_ns,
	double rate, uint32_t n_ranks)
{
	assert_int_equal(row(i)->kind, kind);
	assert_int_equal(row(i)->bytes, bytes);
	assert_int_equal(row(i)->n_ranks, n_ranks);
	assert_int_equal(isnan(row(i)->time_ns), isnan(time_ns));
	assert_int_equal(isnan(row(i)->algorithm_rate), isnan(rate));
	if (!isnan(time_ns))
		is_near(row(i)->time_ns, time_ns);
	if (!isnan(rate))
		is_near(row(i)->algorithm_rate, rate);
}

#define HEADING                                                                          \
	"#       size         count      type   redop    root     time   algbw   busbw " \
	"#wrong     time   algbw   busbw #wrong\n"

static void nccl_tests_name_ranks_hosts_and_devices(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("nccl-two-hosts.txt"), 0), TB_OK);
	assert_int_equal(tb_benchmark_n_tables(made), 2);
	assert_int_equal(tb_benchmark_n_rows(made), 24);
	assert_string_equal(table(0)->tool, "nccl-tests");
	assert_string_equal(table(0)->name, "all_reduce_perf");
	assert_string_equal(table(0)->version, "NCCL 2.28.7");
	assert_string_equal(table(0)->datatype, "float");
	assert_int_equal(table(0)->n_ranks, 16);
	assert_int_equal(table(0)->n_hosts, 2);
	assert_int_equal(table(0)->hosts[7], 0);
	assert_int_equal(table(0)->hosts[8], 1);
	assert_string_equal(table(0)->host_names[1], "gpu02");
	assert_string_equal(table(0)->device_names[15], "NVIDIA H100 80GB HBM3");
	is_row(0, TB_BENCH_COLLECTIVE, 1024, 32110, 0.03e9, 16);
	is_near(row(0)->bus_rate, 0.06e9);
	assert_false(row(0)->in_place);
	assert_true(row(1)->in_place);
	is_near(row(11)->bus_rate, 203.05e9);
	assert_int_equal(row(11)->line, 31);
	// Of an all-to-all the tool prints all that a rank sends.
	assert_string_equal(table(1)->name, "alltoall_perf");
	assert_int_equal(row(14)->printed_bytes, 65536);
	assert_int_equal(row(14)->bytes, 4096);
	assert_int_equal(row(14)->table, 1);
}

static void output_of_nccl_may_stand_in_a_row(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("nccl-launched.log"), 0), TB_OK);
	assert_int_equal(tb_benchmark_n_rows(made), 4);
	is_row(0, TB_BENCH_COLLECTIVE, 1048576, 98310, 10.67e9, 4);
	is_near(row(1)->bus_rate, 16.13e9);
	assert_int_equal(row(0)->line, 15);
	assert_string_equal(table(0)->version, "NCCL 2.21.5+cuda12.4");
}

static void a_row_may_lack_what_was_not_run(void **state)
{
	(void)state;
	assert_int_equal(read_text("all_reduce_perf\n" HEADING
				   "1048576 262144 float sum -1                          "
				   "      45.20 23.20 43.50 0\n"
				   "2097152 524288 float sum -1\n"
				   "34 [0] of others, and a number\n"
				   " 90.40 23.20 43.50 0 90.40 23.20 43.50 0\n",
				 16),
		TB_OK);
	assert_int_equal(tb_benchmark_n_rows(made), 3);
	assert_true(row(0)->in_place);
	is_row(1, TB_BENCH_COLLECTIVE, 2097152, 90400, 23.2e9, 16);
}

static void old_tables_have_fewer_columns_and_no_name(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("nccl-old-all-gather.txt"), 0), TB_OK);
	assert_string_equal(table(0)->name, "all_gather_perf");
	is_row(0, TB_BENCH_COLLECTIVE, 16777216, 870100, 38.56e9, 2);
	assert_int_equal(row(0)->n_wrong, 0);
}

static void columns_and_bandwidths_tell_operation_and_ranks(void **state)
{
	(void)state;
	assert_int_equal(
		read_text(HEADING " 0:  67108864  1048576  float none -1  667.7  100.50 "
				  "94.22 0  670.0 100.16 93.90 N/A\n",
			0),
		TB_OK);
	assert_string_equal(table(0)->name, "alltoall_perf"); // not checked in place
	is_row(0, TB_BENCH_COLLECTIVE, 4194304, 667700, 100.5e9, 16);
	assert_int_equal(
		read_text(HEADING
			"2024-05-01T10:00:00.5Z stdout F 67108864 16777216 "
			"float sum -1 667.7 100.50 188.44 2 670.0 100.16 187.80 0\n",
			0),
		TB_OK);
	assert_string_equal(table(0)->name, "all_reduce_perf");
	assert_int_equal(row(0)->n_ranks, 16);
	assert_int_equal(row(0)->n_wrong, 2);
	assert_int_equal(row(1)->n_wrong, 0);
	// A name that the columns contradict is another table's.
	assert_int_equal(read_text("./all_gather_perf -b 8\n" HEADING
				   "67108864 16777216 float sum 0 667.7 100.50 100.50 0 "
				   "670.0 100.16 100.16 0\n",
				 8),
		TB_OK);
	assert_string_equal(table(0)->name, "reduce_perf");
	assert_int_equal(row(0)->n_ranks, 8);
}

static void mpi_benchmarks_are_told_by_their_titles(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("osu.txt"), 36), TB_OK);
	assert_int_equal(tb_benchmark_n_tables(made), 5);
	assert_string_equal(table(0)->name, "osu_allreduce");
	assert_string_equal(table(0)->version, "7.4");
	is_row(0, TB_BENCH_COLLECTIVE, 4, 1530, NAN, 36);
	is_row(3, TB_BENCH_STREAM, 4194304, NAN, 12321.16e6, 2);
	is_row(5, TB_BENCH_PAIRS, 1048576, NAN, 49000.1e6, 8);
	is_row(6, TB_BENCH_COLLECTIVE, 0, 12350, NAN, 36);
	assert_int_equal(row(6)->op, TB_COLL_BARRIER);
	is_row(7, TB_BENCH_COLLECTIVE, 1, 5900, NAN, 36); // the communication alone
	assert_non_null(strstr(tb_benchmark_note(made), "MPI_Put Latency is left out"));

	assert_int_equal(read_path(sample("imb.txt"), 0), TB_OK);
	assert_string_equal(table(0)->version, "2019 Update 6");
	is_row(2, TB_BENCH_LATENCY, 4194304, 362000, 11586.48e6, 2);
	is_row(4, TB_BENCH_NEIGHBORS, 1048576, 100500, 20560.31e6, 4);
	assert_int_equal(row(4)->first, 2);
	assert_int_equal(row(4)->second, 3);
	is_row(6, TB_BENCH_COLLECTIVE, 4, 6250, NAN, 72);
	is_row(7, TB_BENCH_COLLECTIVE, 0, 6250, NAN, 72); // nothing timed out between
}

static void a_megabyte_is_what_agrees_with_the_time(void **state)
{
	(void)state;
	const char *old = "# Benchmarking PingPong\n# #processes = 2\n"
			  " #bytes #repetitions t[usec] Mbytes/sec\n"
			  " 1 1000 20.00 0.05\n 4194304 10 400.00 10000.00\n";
	assert_int_equal(read_text(old, 0), TB_OK);
	// Of the first row alone both units would be right.
	is_row(0, TB_BENCH_LATENCY, 1, 20000, 0.05 * 1048576, 2);
	is_row(1, TB_BENCH_LATENCY, 4194304, 400000, 10000.0 * 1048576, 2);
}

static void fabric_tools_print_rates_in_their_own_units(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("perftest.txt"), 0), TB_OK);
	assert_string_equal(table(0)->adapter, "mlx5_3");
	is_row(1, TB_BENCH_STREAM, 65536, NAN, 11763.06 * 1048576, 2);
	is_row(2, TB_BENCH_LATENCY, 2, 990, NAN, 2);
	is_row(3, TB_BENCH_BOTH_WAYS, 65536, NAN, 196.8e9 / 8, 2);

	assert_int_equal(read_path(sample("netpipe3.txt"), 0), TB_OK);
	is_row(2, TB_BENCH_LATENCY, 4194304, 1361700, 23500.1 * 131072, 2);
	assert_int_equal(read_path(sample("netpipe5.txt"), 0), TB_OK);
	assert_int_equal(tb_benchmark_n_rows(made), 2); // sizes that differ by bytes
	is_row(1, TB_BENCH_LATENCY, 1049000, 90841, 92.345e9 / 8, 2);
	assert_int_equal(read_path(sample("np.out"), 0), TB_OK);
	is_row(2, TB_BENCH_LATENCY, 4194304, 1427830, 23500.1e6 / 8, 2);

	assert_int_equal(read_path(sample("gpcnet.txt"), 0), TB_OK);
	assert_int_equal(tb_benchmark_n_rows(made), 2); // none beside congestors
	is_row(0, TB_BENCH_EXCHANGE, 8, 5800, NAN, 2304);
	is_row(1, TB_BENCH_EXCHANGE, 131072, NAN, 4061.4 * 1048576, 2304);
	assert_true(row(1)->random_neighbors);
	assert_int_equal(table(1)->n_hosts, 64);
	assert_non_null(strstr(tb_benchmark_note(made), "Multiple Allreduce"));
}

static void a_matrix_has_a_row_for_each_pair(void **state)
{
	(void)state;
	assert_int_equal(read_path(sample("mpigraph.txt"), 0), TB_OK);
	assert_int_equal(tb_benchmark_n_rows(made), 6); // none of what was received
	is_row(3, TB_BENCH_STREAM, 1048576, NAN, 5917.004 * 1048576, 3);
	assert_int_equal(row(3)->first, 1);
	assert_int_equal(row(3)->second, 2);
	assert_string_equal(table(0)->host_names[2], "node2");
	refused("START mpiGraph v1.5\nMsgSize\t8\nProcs\t3\nSend\ta:0\tb:1\n", 4,
		"has 2 ranks, not the 3 of 'Procs'");
	refused("START mpiGraph v1.5\nMsgSize\t8\nSend\ta:0\tb:2\n", 3,
		"rank 2 has the place of rank 1");
	refused("START mpiGraph v1.5\nMsgSize\t8\nSend\ta:0\tb:1\na:9 to\t1.0\t2.0\n", 4,
		"is of rank 9, and the heading has 2 ranks");
	refused("START mpiGraph v1.5\nMsgSize\t8\nSend\ta:0\tb:1\na:0 to\t0.0\t2.0\nEND "
		"mpiGraph\n",
		5, "the matrix above has 1 of its 2 rows");
	refused("START mpiGraph v1.5\nMsgSize\t8\n"
		"Send\ta:0\tb:1\nb:1 to\t7.5\n",
		4, "has 1 rates, not the 2");
}

static void several_files_and_cycles_are_tables_of_their_own(void **state)
{
	(void)state;
	char first[512];
	snprintf(first, sizeof first, "%s", sample("perftest.txt"));
	const char *paths[] = {first, sample("nccl-old-all-gather.txt")};
	tb_benchmark_close(made);
	made = NULL;
	assert_int_equal(tb_benchmark_read(&made, paths, 2, 0, &error), TB_OK);
	assert_int_equal(tb_benchmark_n_tables(made), 4);
	assert_string_equal(table(0)->file, first);
	assert_string_equal(table(3)->file, paths[1]);
	// Runs on several adapters are about rails, by number.
	assert_int_equal(read_text("RDMA_Write BW Test\nDevice         : mlx5_10\n"
				   "#bytes #iterations BW average[Gb/sec]\n8 5 1.5\n"
				   "RDMA_Write BW Test\nDevice         : mlx5_2\n"
				   "#bytes #iterations BW average[Gb/sec]\n8 5 1.5\n",
				 0),
		TB_OK);
	assert_int_equal(row(0)->rail, 1);
	assert_int_equal(row(1)->rail, 0);
	assert_int_equal(read_text("RDMA_Write BW Test\nDevice         : mlx5_2\n"
				   "#bytes #iterations BW average[Gb/sec]\n8 5 1.5\n",
				 0),
		TB_OK);
	assert_int_equal(row(0)->rail, UINT32_MAX);
	// A command line says how many ranks OSU's table does not.
	assert_int_equal(read_text("+ mpirun -np 48 ./osu_alltoall -m 8\n"
				   "# OSU MPI All-to-All Personalized Exchange Latency "
				   "Test v5.9\n# Size Avg Latency(us)\n8 20.5\n",
				 0),
		TB_OK);
	assert_int_equal(row(0)->n_ranks, 48);
	assert_int_equal(row(0)->rail, UINT32_MAX);
	// rccl-tests -N 2
	assert_int_equal(
		read_text("# nThread 1 nGpus 1 nRanks: 8 minBytes: 8\n"
			  "rccl-tests: Version develop\n./all_reduce_perf\n" HEADING
			  "1048576 262144 float sum -1 45.2 23.20 40.60 0 45.2 23.2 40.6 "
			  "0\n# Testing 2 cycle.\n"
			  "1048576 262144 float sum -1 46.2 22.70 39.72 0 45.2 23.2 40.6 "
			  "0\n",
			0),
		TB_OK);
	assert_int_equal(tb_benchmark_n_tables(made), 2);
	assert_string_equal(table(1)->tool, "rccl-tests");
	assert_int_equal(table(1)->n_ranks, 8);
}

static void broken_tables_are_refused_with_their_place(void **state)
{
	(void)state;
	refused(HEADING "1048576 262144 float sum -1 45.20 23.20 43.50 0 44.9", 2,
		"has 10 of the 13 columns");
	refused(HEADING "1048576 262144 float sum -1 45.20\n"
			"2097152 524288 float sum -1 90.4 23.20 43.50 0 90.4 23.2 43.5 "
			"0\n",
		2, "has 6 of the 13 columns");
	refused(HEADING "1048576 262144 float sum -1 45.20 23.20 43.50 0 45.2 23.2 43.5 "
			"0 7\n",
		2, "more columns than the 13");
	refused(HEADING "1048576 262144 float sum -1 45.20 21.60 40.50 0 45.2 23.2 43.5 "
			"0\n",
		2, "contradict each other");
	refused("all_reduce_perf\n" HEADING
		"1048576 262144 float sum -1 45.2 23.20 43.50 0 45.2 23.2 43.5 0\n"
		"1048576 262144 float sum -1 46.2 22.70 42.56 0 45.2 23.2 43.5 0\n",
		4, "two runs in one");
	refused("all_reduce_perf\n" HEADING
		"1048576 262144 float sum -1 45.2 23.20 77.70 0 45.2 23.2 77.7 0\n",
		2, "no operation has");
	refused(HEADING
		"1048576 262144 float none 0 45.2 23.20 20.30 0 45.2 23.2 20.3 0\n",
		1, "does not say which operation");
	refused("# OSU MPI Latency Test v5.9\n# Size Latency (us)\n8 1.2\n16 \n", 4,
		"has 1 of the 2 columns");
	refused(" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] "
		"MsgRate[Mpps]\n"
		" 2 5000 8.6 8.47 4.44\n",
		1, "nothing before it says of which test");
	refused("RDMA_Write BW Test\n #bytes #iterations BW peak[Gb/sec] BW "
		"average[Gb/sec] MsgRate[Mpps]\n 65536 5000 11763.9 11763.06 0.188209\n",
		3, "contradict each other");
	refused("node1: Test NCCL failure common.cu:401 'remote process exited'\n", 0,
		"the run failed");
	refused("# OSU MPI Bandwidth Test v7.0\n# Size   Bandwidth (GB/s)\n8 1.2\n", 2,
		"expected 'Bandwidth (MB/s)'");
	refused(HEADING "# (B) (elements) (ms) (GB/s) (GB/s)\n", 2, "'(ms)' is no unit");
	refused("# OSU MPI Latency Test v5.9\n# Size Latency (us)\n8 11.25\n16 11.", 4,
		"ends within its last number");
	refused("#  Rank  0 Pid 1 on a device  0 [0x07] X\n"
		"#  Rank  0 Pid 1 on b device  0 [0x07] X\n",
		2, "two runs in one");
	refused("no table at all\n", 0, "has no table of a benchmark");
	refused("Network Tests v1.3\n  Test with 8 MPI ranks (4294967295 nodes)\n", 2,
		"8 ranks on 4294967295 nodes: some have none");
	refused("# Benchmarking Multi-PingPong\n# ( 1 groups of 2 processes each running "
		"simultaneous )\n# Group 0: 0 4000000000\n",
		3, "group 0: expected ranks below 1048576");
	refused("# Benchmarking Multi-PingPong\n# ( 1 groups of 2 processes each running "
		"simultaneous )\n# Group 0: 0 2\n Group #bytes #repetitions t[usec] "
		"Mbytes/sec\n 0 8 1000 1.0 8.0\n",
		5, "group 0 is of ranks 0 and 2, and there are 2 processes");
	refused("  0: 1 bytes 17845 times -->\n", 1, "cut off");
}

// At most 1,048,576 ranks, also as groups.
static void as_many_ranks_as_there_may_be(void **state)
{
	static const char *const lines[] = {"#processes = 1048576",
		"( 1 groups of 1048576 processes each running simultaneous )",
		"( 2 groups of 524288 processes each running simultaneous )",
		"#processes = 1048577",
		"( 1 groups of 1048577 processes each running simultaneous )",
		"( 2 groups of 524289 processes each running simultaneous )"};
	static const uint32_t n[] = {1048576, 1048576, 524288, 0, 0, 0};
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char text[400];
		bool groups = *lines[i] == '(';
		snprintf(text, sizeof text,
			"# Benchmarking %sAllreduce\n# %s\n%s #bytes #repetitions "
			"t_min[usec] t_max[usec] t_avg[usec]\n%s 8 1000 1.00 3.00 2.00\n",
			groups ? "Multi-" : "", lines[i],
			groups ? "# Group 0: 0 1\n# Group 1: 2 3\n Group" : "",
			groups ? " 0" : "");
		int status = read_text(text, 0);
		if (n[i] == 0 && status != TB_OK)
			continue;
		if (status != TB_OK)
			fail_msg("%s: %s", lines[i], error.text);
		assert_int_equal(row(0)->n_ranks, n[i]);
	}
}

static void bus_shares_are_those_of_nccl_tests(void **state)
{
	(void)state;
	is_near(tb_bus_share(TB_COLL_ALLREDUCE, 8), 1.75);
	is_near(tb_bus_share(TB_COLL_ALLGATHER, 8), 0.875);
	is_near(tb_bus_share(TB_COLL_BROADCAST, 8), 1);
}

static void tools_are_told_by_their_lines(void **state)
{
	(void)state;
	static const char *const tools[][2] = {{"nccl-launched.log", "nccl-tests"},
		{"osu.txt", "OSU"}, {"imb.txt", "IMB"}, {"perftest.txt", "perftest"},
		{"netpipe5.txt", "NetPIPE"}, {"gpcnet.txt", "GPCNET"}};
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		assert_string_equal(tb_benchmark_tool(sample(tools[i][0])), tools[i][1]);
	assert_null(tb_benchmark_tool(sample("none")));
	char path[64];
	int fd = hold_text("rank 0: " HEADING, path);
	assert_string_equal(tb_benchmark_tool(path), "nccl-tests");
	close(fd);
	fd = hold_text("rank 0: # si", path);
	assert_null(tb_benchmark_tool(path));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nccl_tests_name_ranks_hosts_and_devices),
		cmocka_unit_test(output_of_nccl_may_stand_in_a_row),
		cmocka_unit_test(a_row_may_lack_what_was_not_run),
		cmocka_unit_test(old_tables_have_fewer_columns_and_no_name),
		cmocka_unit_test(columns_and_bandwidths_tell_operation_and_ranks),
		cmocka_unit_test(mpi_benchmarks_are_told_by_their_titles),
		cmocka_unit_test(a_megabyte_is_what_agrees_with_the_time),
		cmocka_unit_test(fabric_tools_print_rates_in_their_own_units),
		cmocka_unit_test(a_matrix_has_a_row_for_each_pair),
		cmocka_unit_test(several_files_and_cycles_are_tables_of_their_own),
		cmocka_unit_test(broken_tables_are_refused_with_their_place),
		cmocka_unit_test(as_many_ranks_as_there_may_be),
		cmocka_unit_test(bus_shares_are_those_of_nccl_tests),
		cmocka_unit_test(tools_are_told_by_their_lines),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tb_benchmark_close(made);
	return failed;
}
