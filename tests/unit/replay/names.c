// Names, GUIDs and port numbers that a fabric gives: found, written, and in route files.
#include "names.h"
#include "../../support/named_fabric.h"
#include "network_impl.h"
#include "preset.h"
#include "route_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_link_is_found_by_the_name_it_is_given(void **state)
{
	(void)state;
	struct tb_network *net = fabric_new();
	char name[TB_LINK_NAME_SIZE];
	struct tb_link found;
	struct tb_error error = {0};
	for (uint32_t i = 0; i < net->n_links; i++) {
		struct tb_link link = {i};
		// Of the leaves, which share a name, the first is meant.
		if ((net->links[i].kind != TB_LINK_INJECTION &&
			    net->links[i].from == 1) ||
			(net->links[i].kind != TB_LINK_EJECTION && net->links[i].to == 1))
			continue;
		tb_names_link(net, link, name, sizeof name);
		fabric_check(tb_names_find_link(net, name, &found, &error), &error);
		assert_int_equal(found.id, i);
	}
	tb_names_link(net, (struct tb_link){net->injection[1]}, name, sizeof name);
	assert_string_equal(name, "n001 > MT47396");
	uint32_t up = net->out_links[net->first_out[0] + 2];
	tb_names_link(net, (struct tb_link){up}, name, sizeof name);
	assert_string_equal(name, "MT47396:22 > spine 1:7");
	tb_network_free(net);
}

static void the_longest_name_that_fits_is_meant(void **state)
{
	(void)state;
	struct tb_network *net = fabric_new();
	struct tb_link link;
	struct tb_error error = {0};
	fabric_check(tb_names_find_link(net, "n0021", &link, &error), &error);
	assert_int_equal(link.id, net->injection[3]);
	fabric_check(tb_names_find_link(net, "n002", &link, &error), &error);
	assert_int_equal(link.id, net->injection[2]);
	fabric_check(tb_names_find_link(net, "spine 1:9", &link, &error), &error);
	assert_int_equal(link.id, net->out_links[net->first_out[2] + 1]);
	assert_int_equal(tb_names_find_link(net, "spine 1:1", &link, &error), TB_EUSAGE);
	tb_network_free(net);
}

static void names_by_level_are_understood_too(void **state)
{
	(void)state;
	struct tb_network *net = fabric_new();
	struct tb_switch sw;
	struct tb_error error = {0};
	fabric_check(tb_names_find_switch(net, "0.1", &sw, &error), &error);
	assert_int_equal(sw.id, 1);
	assert_int_equal(tb_names_find_switch(net, "spine 2", &sw, &error), TB_EUSAGE);
	tb_network_free(net);
}

// managed_new builds a leaf with two hosts, one of them of two adapters, and a leaf
// beside it whose cable leads up by being later.
static struct tb_network *managed_new(void)
{
	static const char *const adapters[] = {"r1 mlx5_0", "r1 mlx5_1", "rocket mlx5_0"};
	struct tb_network_params params;
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_switch leaf[2];
	struct tb_error error = {0};
	fabric_check(tb_network_preset(&params, "qsnet", &error), &error);
	fabric_check(tb_network_builder_new(&builder, &params, &error), &error);
	for (uint32_t i = 0; i < 2; i++) {
		fabric_check(tb_network_add_switch(builder, 0, 3, 1, &leaf[i], &error),
			&error);
		fabric_check(
			tb_network_identify_switch(builder, leaf[i],
				&(struct tb_identity){.name = i ? "MF0;ib50:MQM9700/U1"
								: "MF0;ib5:MQM9700/U1"},
				&error),
			&error);
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct tb_identity own = {.name = adapters[i],
			.n_host_bytes = (uint32_t)strcspn(adapters[i], " ")};
		fabric_check(
			tb_network_add_node(builder, leaf[i % 2], i / 2, NULL, &error),
			&error);
		fabric_check(tb_network_identify_node(
				     builder, (struct tb_node){i}, &own, &error),
			&error);
	}
	assert_int_equal(
		tb_network_add_cable(builder, leaf[1], 3, leaf[0], 2, NULL, &error),
		TB_EUSAGE);
	fabric_check(tb_network_add_cable(builder, leaf[0], 3, leaf[1], 2, NULL, &error),
		&error);
	fabric_check(tb_network_remark_on(builder, "a cable is short", &error), &error);
	fabric_check(tb_network_finish(builder, &net, &error), &error);
	tb_network_builder_free(builder);
	return net;
}

static void a_short_name_is_understood_where_one_part_has_it(void **state)
{
	(void)state;
	struct tb_network *net = managed_new();
	static const char *const names[] = {"MF0;ib5:MQM9700/U1:3", "MF0;ib5:3",
		"ib5:MQM9700/U1 : 3", "ib5:3", "ib5:up0", "ib5:3 > ib50:2"};
	struct tb_link link;
	struct tb_switch sw;
	struct tb_error error = {0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		fabric_check(tb_names_find_link(net, names[i], &link, &error), &error);
		assert_int_equal(link.id, net->out_links[net->first_out[0] + 3]);
	}
	fabric_check(tb_names_find_switch(net, "ib50", &sw, &error), &error);
	assert_int_equal(sw.id, 1);
	fabric_check(tb_names_find_link(net, "rocket", &link, &error), &error);
	assert_int_equal(link.id, net->injection[2]);
	fabric_check(tb_names_find_link(net, "r1 mlx5_1 > ib50", &link, &error), &error);
	assert_int_equal(link.id, net->injection[1]);
	assert_int_equal(tb_names_find_link(net, "r1", &link, &error), TB_EUSAGE);
	assert_int_equal(tb_names_find_link(net, "ib", &link, &error), TB_EUSAGE);
	tb_network_free(net);
}

static void a_host_stands_for_all_its_interfaces(void **state)
{
	(void)state;
	struct tb_network *net = managed_new();
	static const struct {
		const char *name;
		uint32_t first, n;
	} named[] = {{"r1", 0, 2}, {"r1 mlx5_1", 1, 1}, {"r1:0", 0, 1}, {"r1:1", 1, 1},
		{"rocket", 2, 1}, {"rocket:0", 2, 1}, {"node 2", 2, 1},
		{"r1 mlx5_1 > ib50", 1, 1}};
	struct tb_named_nodes nodes;
	struct tb_error error = {0};
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		fabric_check(
			tb_names_find_nodes(net, named[i].name, &nodes, &error), &error);
		assert_int_equal(nodes.first, named[i].first);
		assert_int_equal(nodes.n, named[i].n);
		assert_int_equal(nodes.step, 1);
	}
	static const char *const none[] = {"r1:2", "r1:", ":0", "r", "", "ib5:3",
		"node 3", "r1:18446744073709551617"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_int_equal(
			tb_names_find_nodes(net, none[i], &nodes, &error), TB_EUSAGE);
	tb_network_free(net);
}

static void a_cable_within_a_level_leads_up_to_the_later_switch(void **state)
{
	(void)state;
	struct tb_network *net = managed_new();
	uint32_t across = net->out_links[net->first_out[0] + 3];
	assert_int_equal(net->links[across].kind, TB_LINK_UP);
	assert_int_equal(tb_network_route(net, 0, 1, 0, 0), across);
	assert_int_equal(
		tb_network_hops(net, (struct tb_node){0}, (struct tb_node){1}), 3);
	assert_int_equal(
		tb_network_hops(net, (struct tb_node){1}, (struct tb_node){2}), 3);
	assert_int_equal(tb_network_n_remarks(net), 1);
	assert_string_equal(tb_network_remark(net, 0), "a cable is short");
	tb_network_free(net);
}

static const char tables[] =
	"Unicast lids [0x0-0x2c] of switch Lid 40 guid 0x000000000000f100 ('MT47396'):\n"
	"0x000b 020\n0x0016 021\n0x0021 022\n0x002c 022\n0x0028 000\n"
	"Unicast lids [0x0-0x2c] of switch Lid 41 guid 0x000000000000f101 ('MT47396'):\n"
	"0x000b 022\n0x0016 022\n0x0021 020\n0x002c 021\n"
	"Unicast lids [0x0-0x2c] of switch Lid 42 guid 0x000000000000f200 ('spine 1'):\n"
	"0x000b 007\n0x0016 007\n0x0021 009\n0x002c 009\n";

static int read_tables(struct tb_network *net, const char *text, struct tb_error *error)
{
	FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	assert_non_null(stream);
	int status = tb_route_file_read(net, stream, "lfts", error);
	fclose(stream);
	return status;
}

static void route_files_go_by_guids_lids_and_port_numbers(void **state)
{
	(void)state;
	struct tb_network *net = fabric_new();
	struct tb_error error = {0};
	fabric_check(read_tables(net, tables, &error), &error);
	assert_int_equal(tb_network_route(net, 1, 3, 0, 0), net->ejection[3]);
	assert_int_equal(
		tb_network_route(net, 0, 3, 0, 0), net->out_links[net->first_out[0] + 2]);
	assert_int_equal(
		tb_network_route(net, 2, 0, 0, 0), net->out_links[net->first_out[2] + 0]);
	tb_network_free(net);
}

static void a_route_file_of_another_fabric_is_refused_by_name(void **state)
{
	(void)state;
	struct tb_network *net = fabric_new();
	struct tb_error error = {0};
	assert_int_equal(read_tables(net,
				 "Unicast lids of switch Lid 40 guid 0xf100 ('x'):\n"
				 "0x0016 020\n",
				 &error),
		TB_EFORMAT);
	assert_string_equal(error.text, "switch MT47396 sends to n001 by port 20: there "
					"is another node (3 ports, counted from 1)");
	tb_network_free(net);
}

static void names_too_long_and_parts_that_are_not_there_are_refused(void **state)
{
	(void)state;
	struct tb_network_params params;
	struct tb_network_builder *builder = NULL;
	struct tb_switch sw;
	struct tb_error error = {0};
	char name[TB_IDENTITY_NAME_MOST + 2];
	fabric_check(tb_network_preset(&params, "qsnet", &error), &error);
	fabric_check(tb_network_builder_new(&builder, &params, &error), &error);
	fabric_check(tb_network_add_switch(builder, 0, 2, 0, &sw, &error), &error);
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	struct tb_identity own = {.name = name};
	assert_int_equal(
		tb_network_identify_switch(builder, sw, &own, &error), TB_EUSAGE);
	name[TB_IDENTITY_NAME_MOST] = '\0';
	fabric_check(tb_network_identify_switch(builder, sw, &own, &error), &error);
	fabric_check(tb_network_identify_switch(builder, sw, &own, &error), &error);
	assert_int_equal(
		tb_network_identify_node(builder, (struct tb_node){0}, &own, &error),
		TB_EUSAGE);
	assert_int_equal(tb_network_number_port(builder, sw, 2, 1, &error), TB_EUSAGE);
	assert_int_equal(
		tb_network_number_port(builder, sw, 0, 65535, &error), TB_EUSAGE);
	tb_network_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_link_is_found_by_the_name_it_is_given),
		cmocka_unit_test(the_longest_name_that_fits_is_meant),
		cmocka_unit_test(names_by_level_are_understood_too),
		cmocka_unit_test(a_short_name_is_understood_where_one_part_has_it),
		cmocka_unit_test(a_host_stands_for_all_its_interfaces),
		cmocka_unit_test(a_cable_within_a_level_leads_up_to_the_later_switch),
		cmocka_unit_test(route_files_go_by_guids_lids_and_port_numbers),
		cmocka_unit_test(a_route_file_of_another_fabric_is_refused_by_name),
		cmocka_unit_test(names_too_long_and_parts_that_are_not_there_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
