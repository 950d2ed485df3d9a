// What iblinkinfo, with and without --line, and ibnetdiscover --ports print of one
// fabric: two switches with two cables between, and an adapter of two ports on each (as
// printed of ibsim's example 2sw2path4hca2port, without two of its adapters).
#include "../../support/fabric_text.h"
#include "fabric_file_write.h"
#include "fabric_readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define UP   "[  ] ==( 4X       25.78125 Gbps Active/  LinkUp)==>  "
#define DOWN "[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n"
#define END  " (Could be 53.125 Gbps)\n"

static const char sections[] =
	"CA: Hca2:\n"
	"      0x0000000000100004      5    1" UP "     3    1[  ] \"leaf \"B\"\"" END
	"      0x0000000000100005      6    2" UP "     3    2[  ] \"leaf \"B\"\"" END
	"Switch: 0x0000000000200001 leaf \"B\":\n"
	"           3    1" UP "     5    1[  ] \"Hca2\"" END "           3    2" UP
	"     6    2[  ] \"Hca2\"" END "           3    3" UP
	"     1    3[  ] \"Switch1\"" END "           3    4" DOWN "           3    5" UP
	"     1    5[  ] \"Switch1\"" END "CA: Hca1:\n"
	"      0x0000000000100001      2    1" UP "     1    1[  ] \"Switch1\"" END
	"      0x0000000000100002      4    2" UP "     1    2[  ] \"Switch1\"" END
	"      0x0000000000100003      0    3" DOWN
	"Switch: 0x0000000000200000 Switch1:\n"
	"           1    1" UP "     2    1[  ] \"Hca1\"" END "           1    2" UP
	"     4    2[  ] \"Hca1\"" END "           1    3" UP
	"     3    3[  ] \"leaf \"B\"\"" END "           1    5" UP
	"     3    5[  ] \"leaf \"B\"\"" END;

#define H2A "0x0000000000100004 \"          Hca2\"      5    "
#define H2B "0x0000000000100005 \"          Hca2\"      6    "
#define H1A "0x0000000000100001 \"          Hca1\"      2    "
#define H1B "0x0000000000100002 \"          Hca1\"      4    "
#define S1  "0x0000000000200000 \"       Switch1\"      1    "
#define S2  "0x0000000000200001 \"      leaf \"B\"\"      3    "

static const char lines[] =
	H2A "1" UP "0x0000000000200001      3    1[  ] \"leaf \"B\"\"" END H2B "2" UP
	    "0x0000000000200001      3    2[  ] \"leaf \"B\"\"" END S2 "1" UP
	    "0x0000000000100004      5    1[  ] \"Hca2\"" END S2 "2" UP
	    "0x0000000000100005      6    2[  ] \"Hca2\"" END S2 "3" UP
	    "0x0000000000200000      1    3[  ] \"Switch1\"" END S2 "4" DOWN S2 "5" UP
	    "0x0000000000200000      1    5[  ] \"Switch1\"" END H1A "1" UP
	    "0x0000000000200000      1    1[  ] \"Switch1\"" END H1B "2" UP
	    "0x0000000000200000      1    2[  ] \"Switch1\"" END S1 "1" UP
	    "0x0000000000100001      2    1[  ] \"Hca1\"" END S1 "2" UP
	    "0x0000000000100002      4    2[  ] \"Hca1\"" END S1 "3" UP
	    "0x0000000000200001      3    3[  ] \"leaf \"B\"\"" END S1 "5" UP
	    "0x0000000000200001      3    5[  ] \"leaf \"B\"\"" END;

static const char ports[] = "CA     6  2 0x0000000000100005 4x EDR - SW     3  2 "
			    "0x0000000000200001 ( 'Hca2' - 'leaf \"B\"' )\n"
			    "CA     5  1 0x0000000000100004 4x EDR - SW     3  1 "
			    "0x0000000000200001 ( 'Hca2' - 'leaf \"B\"' )\n"
			    "SW     3  8 0x0000000000200001 4x SDR                       "
			    "             'leaf \"B\"'\n"
			    "SW     3  5 0x0000000000200001 4x EDR - SW     1  5 "
			    "0x0000000000200000 ( 'leaf \"B\"' - 'Switch1' )\n"
			    "SW     3  3 0x0000000000200001 4x EDR - SW     1  3 "
			    "0x0000000000200000 ( 'leaf \"B\"' - 'Switch1' )\n"
			    "SW     1  2 0x0000000000200000 4x EDR - CA     4  2 "
			    "0x0000000000100002 ( 'Switch1' - 'Hca1' )\n"
			    "SW     1  1 0x0000000000200000 4x EDR - CA     2  1 "
			    "0x0000000000100001 ( 'Switch1' - 'Hca1' )\n"
			    "CA     4  2 0x0000000000100002 4x EDR - SW     1  2 "
			    "0x0000000000200000 ( 'Hca1' - 'Switch1' )\n"
			    "CA     2  1 0x0000000000100001 4x EDR - SW     1  1 "
			    "0x0000000000200000 ( 'Hca1' - 'Switch1' )\n";

static const char wanted[] = "# A PORT B PORT RATE LATENCY\n"
			     "host Hca1\n"
			     "host Hca2\n"
			     "Switch1 1 Hca1 1 100Gbit/s 115ns\n"
			     "Switch1 2 Hca1 2 100Gbit/s 115ns\n"
			     "Switch1 3 \"leaf \\\"B\\\"\" 3 100Gbit/s 115ns\n"
			     "Switch1 5 \"leaf \\\"B\\\"\" 5 100Gbit/s 115ns\n"
			     "\"leaf \\\"B\\\"\" 1 Hca2 1 100Gbit/s 115ns\n"
			     "\"leaf \\\"B\\\"\" 2 Hca2 2 100Gbit/s 115ns\n";

static void assert_edges(const char *text)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	char *edges = NULL;
	size_t n = 0;
	if (fabric_open_keys(&net, text, strlen(text), ",preset=ib-edr,hop_latency=115ns",
		    &error) != TB_OK)
		fail_msg("%s:%zu: %s", error.file, (size_t)error.at, error.text);
	FILE *stream = open_memstream(&edges, &n);
	assert_non_null(stream);
	assert_int_equal(
		tb_fabric_file_write(stream, net, TB_FABRIC_FILE_EDGES, &error), TB_OK);
	fclose(stream);
	assert_string_equal(edges, wanted);
	free(edges);
	tb_network_free(net);
}

static void three_reports_of_a_fabric_are_the_same_fabric(void **state)
{
	(void)state;
	assert_edges(sections);
	assert_edges(lines);
	assert_edges(ports);
}

static void what_the_switches_alone_print_has_the_same_cables(void **state)
{
	(void)state;
	// --switches-only: adapters are known by LID, port and name alone.
	static const char text[] =
		"Switch: 0x0000000000200001 s2:\n"
		"           3    1" UP "     5    1[  ] \"n1 mlx5_0\" ( )\n"
		"           3    2" UP "     6    1[  ] \"n2 mlx5_0\" ( )\n"
		"           3    3" UP "     1    3[  ] \"s1\" ( )\n"
		"Switch: 0x0000000000200000 s1:\n"
		"           1    1" UP "     7    1[  ] \"n3 mlx5_0\" ( )\n"
		"           1    3" UP "     3    3[  ] \"s2\" ( )\n";
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	assert_int_equal(fabric_open_keys(&net, text, strlen(text), "", &error), TB_OK);
	assert_int_equal(tb_network_n_nodes(net), 3);
	assert_int_equal(tb_network_n_switches(net), 2);
	tb_network_free(net);
}

static void adapters_of_one_name_without_guids_get_their_lids(void **state)
{
	(void)state;
	static const char text[] =
		"Switch: 0x0000000000200000 s1:\n"
		"           1    1" UP "     7    1[  ] \"n1 mlx5_0\" ( )\n"
		"           1    2" UP "     9    1[  ] \"n1 mlx5_0\" ( )\n";
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	assert_int_equal(fabric_open_keys(&net, text, strlen(text), "", &error), TB_OK);
	assert_string_equal(tb_network_node_identity(net, (struct tb_node){0}).name,
		"n1 mlx5_0 lid 7");
	assert_string_equal(tb_network_node_identity(net, (struct tb_node){1}).name,
		"n1 mlx5_0 lid 9");
	tb_network_free(net);
}

static void broken_reports_are_refused_with_their_line(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t line;
		const char *sentence;
	} cases[] = {
		{"CA: a:\n  0x1 4 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp\n", 2,
			"expected )==> before"},
		{"CA: a:\n  0x1 4 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 x\n", 2,
			"expected a port from 1 to 254 before 'x'"},
		{"CA: a:\n  0x1 4 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 3[ ] \"b\n",
			2, "expected a name in quotes before '\"b'"},
		{"CA: a:\n  0x1 0 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 3[ ] "
		 "\"b\" ( )\n",
			2, "a link that is up has LID 0"},
		{"  0x1 4 1[ ] ==( 4X 10.0 Gbps Active/ LinkUp)==> 2 3[ ] \"b\" ( )\n", 1,
			"expected a line such as CA: node01 HCA-1: first before '4 1["},
		{"SW  2 16 0x02 4x QDR - CB  4  1 0x03 ( 'a' - 'b' )\n", 1,
			"expected SW, CA or RT before 'CB  4"},
		{"SW  2 16 0x02 4x QDR - CA  4  1 0x03 ( 'a' 'b' )\n", 1,
			"expected - 'NAME' before"},
		{"SW  2 300 0x02 4x QDR - CA  4  1 0x03 ( 'a' - 'b' )\n", 1,
			"expected a port from 1 to 254 before '300"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb_network *net = NULL;
		struct tb_error error = {0};
		assert_int_not_equal(fabric_open_keys(&net, cases[i].text,
					     strlen(cases[i].text), "", &error),
			TB_OK);
		if (strncmp(error.text, cases[i].sentence, strlen(cases[i].sentence)) !=
			0)
			fail_msg("%zu: '%s'", i, error.text);
		assert_int_equal(error.at, cases[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_reports_of_a_fabric_are_the_same_fabric),
		cmocka_unit_test(what_the_switches_alone_print_has_the_same_cables),
		cmocka_unit_test(adapters_of_one_name_without_guids_get_their_lids),
		cmocka_unit_test(broken_reports_are_refused_with_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
