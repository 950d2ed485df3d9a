// A short file that describes a large fabric costs as much memory as its cables do.
#include "fabric_file_write.h"
#include "network_open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_MB 64

static char path[] = "fabric_memory_XXXXXX";

// The most switches that 2^17 cables allow, and the most nodes: of each switch with nodes
// to each node, the routes would take 8 GB; a bit per pair of switches takes 230 MB.
static const char leaves_of_one_node[] =
	"Nodes 43008\nTiers 3\nPodsize 2048\n"
	"Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 1\nRadix_Up 1\n"
	"Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 2048\nRadix_Up 16\n"
	"Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 21\n";

static long peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void edges_of_a_large_fabric_need_no_routes(void **state)
{
	(void)state;
	struct tb_error error = {0};
	struct tb_network *net = NULL;
	char name[100], line[200];
	unsigned n_lines = 0;
	FILE *text = fopen(path, "w");
	assert_non_null(text);
	fputs(leaves_of_one_node, text);
	fclose(text);
	snprintf(name, sizeof name, "%s,preset=ib-ndr", path);
	long before_mb = peak_mb();
	if (tb_network_open(&net,
		    &(struct tb_network_description){
			    .name = name, .leaves_out_routes = true},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(tb_network_n_nodes(net), 43008);
	assert_int_equal(tb_network_n_switches(net), 43008 + 21 + 16);
	FILE *edges = tmpfile();
	assert_non_null(edges);
	assert_int_equal(
		tb_fabric_file_write(edges, net, TB_FABRIC_FILE_EDGES, &error), TB_OK);
	rewind(edges);
	while (fgets(line, sizeof line, edges))
		n_lines += line[0] != '#';
	fclose(edges);
	assert_true(n_lines >= 2 * 43008 + 21 * 16);
	tb_network_free(net);
	print_message("%ld, %ld MB\n", before_mb, peak_mb());
#ifndef __SANITIZE_ADDRESS__ // which keeps what was freed
	assert_true(peak_mb() < before_mb + MOST_MB);
#endif
}

// 600 leaves, more than are looked at in one go, half of them under either of two tops.
static struct tb_network *two_tops(const char *joint)
{
	struct tb_error error = {0};
	struct tb_network *net = NULL;
	char name[100];
	FILE *text = fopen(path, "w");
	assert_non_null(text);
	for (int i = 0; i < 600; i++) {
		fprintf(text, "leaf%d 1 a%d 1 100Gbit/s\n", i, i);
		fprintf(text, "leaf%d 2 b%d 1 100Gbit/s\n", i, i);
		fprintf(text, "leaf%d 3 top%d %d 100Gbit/s\n", i, i < 300, i);
	}
	fputs(joint, text);
	fclose(text);
	snprintf(name, sizeof name, "%s,preset=ib-ndr", path);
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

static void many_leaves_meet_under_the_later_of_two_tops(void **state)
{
	(void)state;
	struct tb_network *net = two_tops("top0 10000 top1 10001 100Gbit/s\n");
	assert_int_equal(tb_network_n_levels(net), 2);
	assert_int_equal(tb_network_n_remarks(net), 0);
	tb_network_free(net);
}

static void many_leaves_that_do_not_meet_get_other_levels(void **state)
{
	(void)state;
	struct tb_network *net = two_tops("leaf600 1 a600 1 100Gbit/s\n"
					  "leaf600 2 b600 1 100Gbit/s\n"
					  "leaf600 3 top0 10000 100Gbit/s\n"
					  "leaf600 4 top1 10000 100Gbit/s\n");
	assert_int_equal(tb_network_n_levels(net), 3);
	assert_non_null(strstr(tb_network_remark(net, 0), "leaf600"));
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_of_a_large_fabric_need_no_routes),
		cmocka_unit_test(many_leaves_meet_under_the_later_of_two_tops),
		cmocka_unit_test(many_leaves_that_do_not_meet_get_other_levels),
	};
	close(mkstemp(path));
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}
