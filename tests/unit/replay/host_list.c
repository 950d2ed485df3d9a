// Lists of hosts as resource managers write them.
#include "placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct tb_error error;

// listed writes the hosts as "8 9x2 20".
static const char *listed(const struct tb_hosts *hosts)
{
	static char text[256];
	size_t used = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < hosts->n; i++) {
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%u",
			i ? " " : "", hosts->hosts[i].node);
		if (hosts->hosts[i].n_slots > 1)
			used += (size_t)snprintf(text + used, sizeof text - used, "x%u",
				hosts->hosts[i].n_slots);
	}
	return text;
}

static void the_number_at_the_end_is_the_node(void **state)
{
	(void)state;
	static const struct {
		const char *list, *nodes;
	} lists[] = {{"7", "7"}, {"node07", "7"}, {"0-3", "0 1 2 3"},
		{"node[00-02,20]", "0 1 2 20"}, {"node[5],n3,9-10", "5 3 9 10"},
		{"gpu-[1-2],rack1-node4", "1 2 4"}, {"rack1-[5-6]", "5 6"},
		{"n[1-2][08-10]", "108 109 110 208 209 210"}, {"3,1,2", "3 1 2"},
		{"16777215", "16777215"}, {"n[1-2]\nn4 n[6,7]\n", "1 2 4 6 7"},
		{"node[01-04,7],gpu[8-9]", "1 2 3 4 7 8 9"}};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct tb_hosts hosts = {0};
		assert_int_equal(
			tb_hosts_parse(&hosts, lists[i].list, NULL, NULL, &error), TB_OK);
		assert_string_equal(listed(&hosts), lists[i].nodes);
		tb_hosts_fini(&hosts);
	}
}

// As in SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE.
static void tasks_are_of_the_hosts_in_turn(void **state)
{
	(void)state;
	static const struct {
		const char *list, *tasks, *nodes;
	} lists[] = {{"n[0-3]", "2(x3),1", "0x2 1x2 2x2 3"}, {"7,n3", "4,16", "7x4 3x16"},
		{"3-4", "2(x2)", "3x2 4x2"}, {"n[0-3]", "2(x3)", NULL},
		{"n[0-3]", "2(x5)", NULL}, {"n[0-3]", "2(x3),1,1", NULL},
		{"n1", "0", NULL}, {"n1", "2(x0)", NULL}, {"n1", "2(x1", NULL},
		{"n1", "x", NULL}, {"n[1-2]", "2;1", NULL}};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct tb_hosts hosts = {0};
		int status = tb_hosts_parse(
			&hosts, lists[i].list, lists[i].tasks, NULL, &error);
		assert_int_equal(status, lists[i].nodes ? TB_OK : TB_EUSAGE);
		if (lists[i].nodes)
			assert_string_equal(listed(&hosts), lists[i].nodes);
		tb_hosts_fini(&hosts);
	}
}

static void lists_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	static const char *const lists[] = {"", ",", "1,", "node", "node[", "node[]",
		"node[1", "node1]", "node[1]x", "node[[1]]", "node]1[",
		"n[1][2][3][4][5][6][7][8][9]", "node[1-]", "node[-1]", "node[2-1]",
		"node[a]", "1,1", "node[0-3],2", "16777216", "99999999999999999999",
		"1-2-3", "node1-3", "node[0-3;5]"};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct tb_hosts hosts = {0};
		if (tb_hosts_parse(&hosts, lists[i], NULL, NULL, &error) != TB_EUSAGE)
			fail_msg("'%s' was taken", lists[i]);
		assert_true(error.text[0]);
		assert_null(hosts.hosts);
	}
}

static int read_file(struct tb_hosts *hosts, const char *text)
{
	char path[] = "/tmp/tailback-hosts-XXXXXX";
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	int status = tb_hosts_read(hosts, path, NULL, &error);
	unlink(path);
	return status;
}

static void slots_are_told_in_three_ways(void **state)
{
	(void)state;
	struct tb_hosts hosts = {0};
	assert_int_equal(read_file(&hosts, "# a comment\n\nnode3 slots=4 max_slots=8\r\n"
					   "node1:2 # two\nnode2\nnode2\nnode3\n"),
		TB_OK);
	assert_string_equal(listed(&hosts), "3x5 1x2 2x2");
	tb_hosts_fini(&hosts);
}

// A job of sacct's has its steps below it, on the same hosts.
static void files_may_hold_lists_of_slurm(void **state)
{
	(void)state;
	static const struct {
		const char *file, *nodes;
	} files[] = {{"node[01-03,7],gpu[8-9]\n", "1 2 3 7 8 9"},
		{"node1\nnode2\nnode10\n", "1 2 10"},
		{"       NodeList \n--------------- \n  node[01-02] \n        node01 \n"
		 "  node[01-02] \n",
			"1 2"},
		{"NODELIST\nnode4\nnode4\n", "4"},
		{"node[1-2]:4\nnode[3-4] slots=2\n", "1x4 2x4 3x2 4x2"}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct tb_hosts hosts = {0};
		assert_int_equal(read_file(&hosts, files[i].file), TB_OK);
		assert_string_equal(listed(&hosts), files[i].nodes);
		tb_hosts_fini(&hosts);
	}
}

static void lines_that_make_no_sense_are_named(void **state)
{
	(void)state;
	static const char *const files[] = {"node1\nlogin\n", "\nnode1:0\n",
		"node1\nnode2 slots=0\n", "node1\nnode2 4\n", "node1\nnode2:x\n",
		"node1\nnode[0-3\n", "node1\nnode[2-4],\n", "NodeList\nnode[01-04,+\n",
		"node1\nn[0-9999999][0-9]\n"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct tb_hosts hosts = {0};
		assert_int_equal(read_file(&hosts, files[i]), TB_EUSAGE);
		assert_int_equal(error.place, TB_PLACE_LINE);
		assert_int_equal(error.at, 2);
		assert_null(hosts.hosts);
	}
	struct tb_hosts hosts = {0};
	assert_int_equal(read_file(&hosts, "# nobody\n"), TB_EUSAGE);
	assert_int_equal(tb_hosts_read(&hosts, "no/such/file", NULL, &error), TB_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_at_the_end_is_the_node),
		cmocka_unit_test(tasks_are_of_the_hosts_in_turn),
		cmocka_unit_test(lists_that_make_no_sense_are_refused),
		cmocka_unit_test(slots_are_told_in_three_ways),
		cmocka_unit_test(files_may_hold_lists_of_slurm),
		cmocka_unit_test(lines_that_make_no_sense_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
