// Networks written as files and read back.
#include "../../support/fabric_text.h"
#include "fabric_file_write.h"
#include "names.h"
#include "network_impl.h"
#include "real_input.h"

#include <ctype.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char *written(const struct tb_network *net, enum tb_fabric_file_format format)
{
	char *text = NULL;
	size_t size = 0;
	struct tb_error error = {0};
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	if (tb_fabric_file_write(stream, net, format, &error) != TB_OK)
		fail_msg("%s", error.text);
	fclose(stream);
	return text;
}

// check_name compares names without blanks: "node 5" is written as "node5".
static void check_name(const char *one, const char *other)
{
	for (;; one++, other++) {
		while (*one == ' ')
			one++;
		while (*other == ' ')
			other++;
		assert_int_equal(*one, *other);
		if (*one == '\0')
			return;
	}
}

static void check_switches(
	const struct tb_network *one, const struct tb_network *other, uint32_t shift)
{
	char name[TB_NAME_SIZE], again[TB_NAME_SIZE];
	assert_int_equal(one->n_switches, other->n_switches);
	for (uint32_t i = 0; i < one->n_switches; i++) {
		struct tb_switch sw = {i};
		assert_int_equal(one->switches[i].level, other->switches[i].level);
		assert_int_equal(one->switches[i].index, other->switches[i].index);
		assert_int_equal(
			one->switches[i].n_down_ports, other->switches[i].n_down_ports);
		assert_int_equal(
			one->switches[i].n_up_ports, other->switches[i].n_up_ports);
		assert_string_equal(tb_names_switch(one, sw, name, sizeof name),
			tb_names_switch(other, sw, again, sizeof again));
		for (uint32_t port = 0; port < one->first_out[i + 1] - one->first_out[i];
			port++)
			assert_int_equal(tb_network_port_number(one, sw, port) + shift,
				tb_network_port_number(other, sw, port));
	}
}

static void check_links(
	const struct tb_network *one, const struct tb_network *other, bool latency)
{
	assert_int_equal(one->n_links, other->n_links);
	for (uint32_t i = 0; i < one->n_links; i++) {
		assert_int_equal(one->links[i].kind, other->links[i].kind);
		assert_int_equal(one->links[i].from, other->links[i].from);
		assert_int_equal(one->links[i].to, other->links[i].to);
		assert_int_equal(one->links[i].from_port, other->links[i].from_port);
		assert_int_equal(one->links[i].to_port, other->links[i].to_port);
		assert_int_equal(one->links[i].bytes_per_s, other->links[i].bytes_per_s);
		if (latency)
			assert_int_equal(
				one->links[i].latency_ps, other->links[i].latency_ps);
	}
}

static void check_nodes(
	const struct tb_network *one, const struct tb_network *other, bool guids)
{
	char name[TB_NAME_SIZE], again[TB_NAME_SIZE];
	assert_int_equal(one->n_nodes, other->n_nodes);
	assert_int_equal(one->n_hosts, other->n_hosts);
	for (uint32_t i = 0; i < one->n_nodes; i++) {
		struct tb_node node = {i};
		check_name(tb_names_node(one, node, name, sizeof name),
			tb_names_node(other, node, again, sizeof again));
		struct tb_identity a = tb_network_node_identity(one, node),
				   b = tb_network_node_identity(other, node);
		if (!guids || a.guid == 0)
			continue;
		assert_int_equal(a.guid, b.guid);
		assert_int_equal(a.adapter_guid, b.adapter_guid);
		assert_int_equal(a.adapter_port, b.adapter_port);
		assert_int_equal(a.lid, b.lid);
		assert_int_equal(a.lmc, b.lmc);
		assert_int_equal(a.n_host_bytes, b.n_host_bytes);
	}
}

// goes_round writes a network, reads it, compares and does so again; the second time
// nothing may have changed in the text.
static void goes_round(struct tb_network *net, const char *keys, uint32_t shift)
{
	for (int i = 0; i < 2; i++) {
		enum tb_fabric_file_format format =
			i ? TB_FABRIC_FILE_EDGES : TB_FABRIC_FILE_IBNETDISCOVER;
		char *text = written(net, format);
		struct tb_network *again = fabric_of(text, keys);
		assert_int_equal(tb_network_n_remarks(again), 0);
		check_switches(net, again, i ? 0 : shift);
		check_links(net, again, i == 1);
		check_nodes(net, again, i == 0);
		char *twice = written(again, format);
		assert_string_equal(text, twice);
		free(text);
		free(twice);
		tb_network_free(again);
	}
	tb_network_free(net);
}

static struct tb_network *open_network(const char *name)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_open(&net, &(struct tb_network_description){.name = name},
		    &error) != TB_OK)
		fail_msg("%s: %s", name, error.text);
	return net;
}

static void trees_go_round(void **state)
{
	(void)state;
	goes_round(open_network("ib-ndr,arity=3,levels=2"), "", 1);
	goes_round(open_network("ib-edr,arity=4,levels=3"), "", 1);
	goes_round(open_network("ib-hdr,arity=12,levels=2"), "", 1);
}

static void real_fabrics_go_round(void **state)
{
	(void)state;
	static const char *const files[] = {"nvidia-dgx-ndr.ibnetdiscover",
		"stage-qdr-fdr10.ibnetdiscover", "jabl-1.topo", "jabl-3.topo"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[4096], name[64];
		snprintf(name, sizeof name, "fabric/%s", files[i]);
		if (!real_input(path, name))
			skip();
		goes_round(open_network(path), "", 0);
	}
}

static const char odd[] =
	"switch \"stub # \\\"1\\\"\"\nhost r2\nleaf 3 \"stub # \\\"1\\\"\" 17 4Gbit/s "
	"11ps\n"
	"leaf 1 r2 1 8Gbit/s 70ns\nleaf 2 r2 2 16Gbit/s\nleaf 4 other 9 32Gbit/s\n"
	"leaf 5 other 10 100Gbit/s\nother 1 \"n 1\" 1 40Gbit/s\nother 2 \"n 2\" 2 "
	"2GB/s\n";

static void odd_networks_go_round(void **state)
{
	(void)state;
	goes_round(fabric_of(odd, ",preset=ib-edr"), ",preset=ib-edr", 0);
	goes_round(fabric_of("a 1 n1 1 8Gbit/s\na 2 n1 2 8Gbit/s\na 3 n2 1 8Gbit/s\n"
			     "b 1 n2 2 8Gbit/s\na 9 b 9 8Gbit/s\nhost n1\nhost n2\n",
			   ",preset=ib-edr,nics=host"),
		",preset=ib-edr,nics=host", 0);
}

static void what_a_format_cannot_hold_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sentence;
	} refused[] = {
		{"a 255 n1 1 8Gbit/s\na 2 n2 1 8Gbit/s\n",
			"switch a has a port 255: ibnetdiscover's text has ports up to "
			"254; an edge list has more"},
		{"a 1 n1 255 8Gbit/s\na 2 n2 1 8Gbit/s\n",
			"n1 has a port 255: ibnetdiscover's text has ports up to 254; an "
			"edge list has more"},
		{"a 1 n1 1 7Gbit/s\na 2 n2 1 8Gbit/s\n",
			"no link of InfiniBand has 875 MB/s, which ibnetdiscover's text "
			"cannot say; an edge list can"},
	};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tb_network *net = fabric_of(refused[i].text, ",preset=ib-edr");
		struct tb_error error = {0};
		FILE *stream = fopen("/dev/null", "w");
		assert_int_equal(tb_fabric_file_write(stream, net,
					 TB_FABRIC_FILE_IBNETDISCOVER, &error),
			TB_EUSAGE);
		assert_string_equal(error.text, refused[i].sentence);
		fclose(stream);
		tb_network_free(net);
	}
}

// Hosts get names, by which they join their rails when the file is read.
static void rails_of_a_preset_go_round(void **state)
{
	(void)state;
	struct tb_network *net = open_network("ib-ndr,arity=4,levels=2,rails=3");
	char *text = written(net, TB_FABRIC_FILE_EDGES);
	struct tb_network *again = fabric_of(text, ",preset=ib-ndr");
	assert_int_equal(again->n_rails, 3);
	assert_int_equal(again->n_hosts, 16);
	check_switches(net, again, 0);
	assert_int_equal(again->n_links, net->n_links);
	assert_string_equal(tb_network_node_identity(again, (struct tb_node){35}).name,
		"node3 mlx5_2");
	tb_network_free(again);
	tb_network_free(net);
	free(text);
}

static size_t length_of(const json_t *root, const char *key)
{
	return json_array_size(json_object_get(root, key));
}

static void graphs_have_every_cable(void **state)
{
	(void)state;
	struct tb_network *net = fabric_of(odd, ",preset=ib-edr");
	char *text = written(net, TB_FABRIC_FILE_GRAPH);
	json_t *root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_int_equal(length_of(root, "switches"), 3);
	assert_int_equal(length_of(root, "nodes"), 4);
	assert_int_equal(length_of(root, "cables"), 3);
	json_decref(root);
	free(text);
	text = written(net, TB_FABRIC_FILE_DOT);
	assert_non_null(strstr(text, "label=\"stub # \\\"1\\\"\"]"));
	assert_non_null(strstr(text, " [label=2];")); // two cables side by side
	assert_non_null(strstr(text, "n0 [label=\"n 1\"];"));
	free(text);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_go_round),
		cmocka_unit_test(real_fabrics_go_round),
		cmocka_unit_test(odd_networks_go_round),
		cmocka_unit_test(what_a_format_cannot_hold_is_refused),
		cmocka_unit_test(rails_of_a_preset_go_round),
		cmocka_unit_test(graphs_have_every_cable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
