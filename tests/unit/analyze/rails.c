// What a report finds in fabrics whose hosts have several adapters.
#include "../../support/fabric_text.h"
#include "fabric_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TEXT_MOST 16384

// Two units of hosts with three adapters, each on the unit's leaf of its rail; leaves are
// joined by two spines.
static void units(char text[TEXT_MOST], unsigned hosts)
{
	size_t n = 0;
	for (unsigned unit = 0; unit < 2; unit++)
		for (unsigned rail = 0; rail < 3; rail++) {
			for (unsigned host = 0; host < hosts; host++)
				n += (size_t)snprintf(text + n, TEXT_MOST - n,
					"u%ur%u %u \"n%u mlx5_%u\" 1 400Gbit/s\n", unit,
					rail, host, hosts * unit + host, rail);
			for (unsigned spine = 0; spine < 2; spine++)
				n += (size_t)snprintf(text + n, TEXT_MOST - n,
					"u%ur%u %u s%u %u 800Gbit/s\n", unit, rail,
					10 + spine, spine, 3 * unit + rail);
		}
}

static void optimized(char text[TEXT_MOST])
{
	units(text, 4);
}

// swap exchanges two words of one length in a text, where they stand first.
static void swap(char *text, const char *one, const char *other)
{
	char *at = strstr(text, one), *to = strstr(text, other);
	assert_true(at && to);
	memcpy(at, other, strlen(other));
	memcpy(to, one, strlen(one));
}

static struct tb_fabric look_at(const struct tb_network *net)
{
	struct tb_fabric fabric = {0};
	assert_int_equal(tb_fabric_init(&fabric, net, NULL, NULL), TB_OK);
	return fabric;
}

static void swapped_adapters_are_off_their_rails(void **state)
{
	char text[TEXT_MOST], words[512];
	(void)state;
	optimized(text);
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	assert_true(fabric.is_rail_optimized);
	assert_int_equal(fabric.n_planes, 1);
	assert_int_equal(fabric.n_oddities, 0);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
	swap(text, "n5 mlx5_1", "n5 mlx5_2");
	net = fabric_of(text, ",nics=host");
	fabric = look_at(net);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_OFF_RAIL], 2);
	assert_int_equal(fabric.n_oddities, 2);
	assert_string_equal(tb_oddity_text(net, &fabric.oddities[0], words, sizeof words),
		"n5 mlx5_1 > u1r2 leads to a switch of mlx5_2");
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void leaves_of_whole_hosts_are_of_no_rail(void **state)
{
	char text[TEXT_MOST];
	size_t n = 0;
	(void)state;
	for (unsigned host = 0; host < 4; host++)
		for (unsigned adapter = 0; adapter < 3; adapter++)
			n += (size_t)snprintf(text + n, sizeof text - n,
				"leaf%u %u \"n%u mlx5_%u\" 1 400Gbit/s\n", host / 2,
				3 * host + adapter, host, adapter);
	snprintf(text + n, sizeof text - n, "leaf0 99 leaf1 99 400Gbit/s\n");
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	assert_false(fabric.is_rail_optimized);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_OFF_RAIL], 0);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void adapters_of_one_name_are_each_others_peers(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	optimized(text);
	// All third adapters are slower, and one of the others.
	for (char *at = text; (at = strstr(at, "mlx5_2\" 1 400")) != NULL; at++)
		memcpy(at + strlen("mlx5_2\" 1 "), "200", 3);
	char *one = strstr(text, "n6 mlx5_0\" 1 400");
	memcpy(one + strlen("n6 mlx5_0\" 1 "), "100", 3);
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_SLOWER], 1);
	for (uint32_t i = 0; i < fabric.n_oddities; i++)
		if (fabric.oddities[i].kind == TB_ODDITY_SLOWER) {
			assert_int_equal(fabric.oddities[i].n, 12500000000);
			assert_int_equal(fabric.oddities[i].usual, 50000000000);
		}
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// hosts_in_runs makes four leaves of six hosts each, n00 to n23.
static void hosts_in_runs(char text[TEXT_MOST])
{
	size_t n = 0;
	for (unsigned leaf = 0; leaf < 4; leaf++) {
		for (unsigned host = 0; host < 6; host++)
			n += (size_t)snprintf(text + n, TEXT_MOST - n,
				"leaf%u %u n%02u 1 100Gbit/s\n", leaf, host,
				6 * leaf + host);
		n += (size_t)snprintf(text + n, TEXT_MOST - n,
			"leaf%u 10 spine %u 800Gbit/s\n", leaf, leaf);
	}
}

// check_host checks the first sentence of a kind on a host; NULL: there is none.
static void check_host(
	const char *text, const char *keys, enum tb_oddity_kind kind, const char *words)
{
	struct tb_network *net = fabric_of(text, keys);
	struct tb_fabric fabric = look_at(net);
	char is[512] = "";
	for (uint32_t i = fabric.n_oddities; i-- > 0;)
		if (fabric.oddities[i].kind == kind)
			tb_oddity_text(net, &fabric.oddities[i], is, sizeof is);
	assert_string_equal(is, words ? words : "");
	assert_true(fabric.n_of_kind[kind] == (words != NULL));
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void check_order(const char *text, const char *keys, const char *words)
{
	check_host(text, keys, TB_ODDITY_OUT_OF_ORDER, words);
}

// cut takes the line out of a text that begins with words.
static void cut(char *text, const char *words)
{
	char *line = strstr(text, words);
	assert_true(line);
	memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
}

static void hosts_that_names_leave_out_are_named(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	hosts_in_runs(text);
	check_host(text, "", TB_ODDITY_NO_HOST, NULL);
	cut(text, "leaf1 2 n08");
	check_host(text, "", TB_ODDITY_NO_HOST,
		"1 name is missing between n07 and n09; leaf1 has 5 hosts, its peers 6");
	// Not where the leaf is full, nor where names leave many out.
	hosts_in_runs(text);
	for (unsigned host = 8; host < 24; host++) {
		char was[8], is[8];
		snprintf(was, sizeof was, " n%02u ", 31 - host);
		snprintf(is, sizeof is, " n%02u ", 32 - host);
		memcpy(strstr(text, was), is, strlen(is));
	}
	check_host(text, "", TB_ODDITY_NO_HOST, NULL);
	hosts_in_runs(text);
	cut(text, "leaf1 2 n08");
	cut(text, "leaf2 2 n14");
	check_host(text, "", TB_ODDITY_NO_HOST, NULL);
}

static void hosts_out_of_their_leafs_run_are_named(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	hosts_in_runs(text);
	check_order(text, "", NULL);
	swap(text, "n05", "n06"); // at an end of their runs
	check_order(text, "", "n05 on leaf1 and n06 on leaf0 are likely swapped");
	hosts_in_runs(text);
	swap(text, "n02", "n21");
	check_order(text, "", "n02 on leaf3 and n21 on leaf0 are likely swapped");
	cut(text, "leaf0 1 n01"); // also where leaves have other numbers
	check_order(text, "", "n02 on leaf3 and n21 on leaf0 are likely swapped");
	hosts_in_runs(text); // three in a ring: none that is in its place is named
	swap(text, "n02", "n08");
	swap(text, "n02", "n21");
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_oddities, 3);
	for (uint32_t i = 0; i < 3; i++) {
		char is[512];
		tb_oddity_text(net, &fabric.oddities[i], is, sizeof is);
		assert_true(strstr(is, "n02 is on leaf3") ||
			    strstr(is, "n08 is on leaf0") ||
			    strstr(is, "n21 is on leaf1"));
	}
	tb_fabric_fini(&fabric);
	tb_network_free(net);
	hosts_in_runs(text);
	memcpy(strstr(text, "leaf1 2 n08"), "leaf3 6", 7); // one moved
	check_order(text, "", "n08 is on leaf3, but n07 and n09 are on leaf1");
}

static void hosts_in_another_order_are_not(void **state)
{
	char text[TEXT_MOST];
	size_t n = 0;
	(void)state;
	for (unsigned host = 0; host < 24; host++) // dealt out in turn
		n += (size_t)snprintf(text + n, TEXT_MOST - n,
			"leaf%u %u n%02u 1 100Gbit/s\n", host % 4, host / 4, host);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		n += (size_t)snprintf(text + n, TEXT_MOST - n,
			"leaf%u 10 spine %u 800Gbit/s\n", leaf, leaf);
	check_order(text, "", NULL);
	// Three that came later are where there was room.
	hosts_in_runs(text);
	n = strlen(text);
	for (unsigned host = 24; host < 27; host++)
		n += (size_t)snprintf(text + n, TEXT_MOST - n,
			"leaf%u 6 n%02u 1 100Gbit/s\n", host - 24, host);
	check_order(text, "", NULL);
	// A leaf with two runs.
	hosts_in_runs(text);
	memcpy(strstr(text, "leaf2 1 n13"), "leaf0 7", 7);
	memcpy(strstr(text, "leaf2 2 n14"), "leaf0 8", 7);
	memcpy(strstr(text, "leaf2 3 n15"), "leaf0 9", 7);
	check_order(text, "", NULL);
	// Eight of another kind, two on each leaf.
	hosts_in_runs(text);
	n = strlen(text);
	for (unsigned host = 0; host < 8; host++)
		n += (size_t)snprintf(text + n, TEXT_MOST - n,
			"leaf%u %u store%u 1 100Gbit/s\n", host % 4, 20 + host, host);
	check_order(text, "", NULL);
}

static void check_odd(const char *text, const char *said)
{
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	char words[512];
	assert_int_equal(fabric.n_oddities, said != NULL);
	if (said)
		assert_string_equal(
			tb_oddity_text(net, &fabric.oddities[0], words, sizeof words),
			said);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

// A host with two cables is one, and named, where others of its name have one.
static void a_host_with_more_cables_than_its_peers_is_named(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	hosts_in_runs(text);
	strcat(text, "leaf3 9 n02 2 100Gbit/s\n");
	check_odd(text, "n02 has 2 cables, its peers 1");
}

// Spines 1 to 4 but the third, two cables to each, of ports from 20 on in steps.
static void without_a_spine(char text[TEXT_MOST], unsigned step, bool has_gap)
{
	size_t n = 0;
	for (unsigned leaf = 0; leaf < 4; leaf++) {
		for (unsigned host = 0; host < 6; host++)
			n += (size_t)snprintf(text + n, TEXT_MOST - n,
				"leaf%u %u n%02u 1 100Gbit/s\n", leaf, host,
				6 * leaf + host);
		for (unsigned cable = 0; cable < 8; cable++)
			if (cable / 2 != 2)
				n += (size_t)snprintf(text + n, TEXT_MOST - n,
					"leaf%u %u spine%u %u 100Gbit/s\n", leaf,
					20 + step * (cable > 5 && !has_gap ? cable - 2
									   : cable),
					1 + cable / 2, 2 * leaf + cable % 2);
	}
}

// Leaves 1 to 5 of 8 hosts and spines 1 to 4 with two cables to each, without some.
static void fabric_without(char text[TEXT_MOST], unsigned leaf, const char *spines)
{
	size_t n = 0;
	for (unsigned i = 1; i <= 5; i++)
		for (unsigned port = 1; port <= 16 && i != leaf; port++) {
			unsigned spine = (port - 7) / 2;
			if (port <= 8)
				n += (size_t)snprintf(text + n, TEXT_MOST - n,
					"leaf%u %u n%02u 1 100Gbit/s\n", i, port,
					8 * i + port);
			else if (!strchr(spines, (char)('0' + spine)))
				n += (size_t)snprintf(text + n, TEXT_MOST - n,
					"leaf%u %u spine%02u %u 100Gbit/s\n", i, port,
					spine, 2 * i + port % 2);
		}
}

static void a_dead_switch_at_an_end_is_named_as_far_as_can_be(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	fabric_without(text, 0, "");
	check_odd(text, NULL);
	fabric_without(text, 3, "");
	check_odd(text, "by name 1 switch is missing between leaf2 and leaf4, and "
			"switches above have 2 ports free between their cables down");
	fabric_without(text, 0, "1");
	check_odd(text, "by name 1 switch is missing before spine02, and switches below "
			"have 2 ports free before their cables up");
	fabric_without(text, 0, "4");
	check_odd(text, "level 0 is tapered by design, or spine04 is gone: with it, "
			"cabled as spine03, switches below would have as much capacity "
			"up as down");
	fabric_without(text, 0, "34"); // a taper of 2:1 is as often meant
	check_odd(text, NULL);
	fabric_without(text, 0, "134");
	check_odd(text, NULL);
}

static void a_dead_spine_is_named_by_its_gap_in_names_and_ports(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	const char *said = "by name 1 switch is missing between spine2 and spine4, and "
			   "switches below have 2 ports free between their cables up";
	without_a_spine(text, 1, true);
	check_odd(text, said);
	without_a_spine(text, 4, true);
	check_odd(text, said);
	without_a_spine(text, 1, false);
	check_odd(text, NULL);
	without_a_spine(text, 1, true);
	for (char *at = text; (at = strstr(at, "spine4")) != NULL;)
		at[5] = '3'; // none is left out
	check_odd(text, NULL);
}

static void swapped_hosts_are_named_on_each_rail(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	optimized(text);
	swap(text, "n3 mlx5_1", "n4 mlx5_1");
	check_order(
		text, "", "n3 mlx5_1 on u1r1 and n4 mlx5_1 on u0r1 are likely swapped");
	// One on another rail's leaf is named as that alone.
	units(text, 6);
	memcpy(strstr(text, "u0r1 2 \"n2 mlx5_1"), "u0r0 9", 6);
	struct tb_network *net = fabric_of(text, "");
	struct tb_fabric fabric = look_at(net);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_OFF_RAIL], 1);
	assert_int_equal(fabric.n_of_kind[TB_ODDITY_OUT_OF_ORDER], 0);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

static void ports_go_by_the_names_of_the_fabric(void **state)
{
	(void)state;
	static const char *const words[] = {"n0 > leaf:swp3s1 (301)",
		"leaf:swp3s1 (301) > n0", "n1 > leaf:swp2", "leaf:swp2 > n1",
		"leaf:swp9 > spine:7", "spine:7 > leaf:swp9"};
	struct tb_network *net = fabric_of("leaf swp3s1 n0 eth0 100Gbit/s\n"
					   "leaf swp2 n1 eth0 100Gbit/s\n"
					   "leaf swp9 spine 7 100Gbit/s\n"
					   "spine 8 other swp1 100Gbit/s\n"
					   "other swp2 n2 eth0 100Gbit/s\n",
		"");
	char name[TB_FABRIC_LINK_TEXT];
	struct tb_link link;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char *number;
		// They are read back, but for the number.
		snprintf(name, sizeof name, "%s", words[i]);
		if ((number = strstr(name, " (301)")) != NULL)
			memmove(number, number + 6, strlen(number + 6) + 1);
		assert_int_equal(tb_names_find_link(net, name, &link, NULL), TB_OK);
		assert_string_equal(
			tb_fabric_link_text(net, link, name, sizeof name), words[i]);
	}
	tb_network_free(net);
}

static void one_rail_may_be_looked_at_alone(void **state)
{
	char text[TEXT_MOST];
	(void)state;
	optimized(text);
	struct tb_network *net = fabric_of(text, ",nics=host");
	struct tb_fabric_hosts hosts = {0};
	struct tb_fabric all = look_at(net), one = {0};
	uint32_t nodes[8], both[] = {0, 8, 1, 16};
	for (uint32_t i = 0; i < 8; i++)
		nodes[i] = 8 + i;
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, nodes, 8, NULL), TB_OK);
	assert_true(hosts.n == 8 && hosts.n_rails == 1 && hosts.rail_is_in[1]);
	assert_int_equal(tb_fabric_init(&one, net, &hosts, NULL), TB_OK);
	assert_int_equal(
		3 * one.bisection.full_bytes_per_s, all.bisection.full_bytes_per_s);
	tb_fabric_fini(&one);
	tb_fabric_fini(&all);
	tb_fabric_hosts_fini(&hosts);
	assert_int_equal(tb_fabric_hosts_init(&hosts, net, both, 4, NULL), TB_EUSAGE);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swapped_adapters_are_off_their_rails),
		cmocka_unit_test(leaves_of_whole_hosts_are_of_no_rail),
		cmocka_unit_test(adapters_of_one_name_are_each_others_peers),
		cmocka_unit_test(hosts_out_of_their_leafs_run_are_named),
		cmocka_unit_test(hosts_that_names_leave_out_are_named),
		cmocka_unit_test(hosts_in_another_order_are_not),
		cmocka_unit_test(swapped_hosts_are_named_on_each_rail),
		cmocka_unit_test(a_dead_spine_is_named_by_its_gap_in_names_and_ports),
		cmocka_unit_test(a_host_with_more_cables_than_its_peers_is_named),
		cmocka_unit_test(a_dead_switch_at_an_end_is_named_as_far_as_can_be),
		cmocka_unit_test(ports_go_by_the_names_of_the_fabric),
		cmocka_unit_test(one_rail_may_be_looked_at_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
