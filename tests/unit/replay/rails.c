// Fabrics of several parts, and hosts with several adapters: which are rails.
#include "../../support/fabric_text.h"
#include "network_impl.h"
#include "placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N_HOSTS 4

// A fabric as an edge list. Adapter a of each host is on the leaf that `leaf` writes;
// negative: on none.
struct made {
	char text[16384];
	size_t n;
};

static void add(struct made *made, const char *format, ...) TB_PRINTF(2, 3);

static void add(struct made *made, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	made->n += (size_t)vsnprintf(
		made->text + made->n, sizeof made->text - made->n, format, arguments);
	va_end(arguments);
}

// rail_only: each adapter of a host on a switch of its own.
static struct made rail_only(uint32_t n_rails)
{
	struct made made = {.n = 0};
	for (uint32_t rail = 0; rail < n_rails; rail++)
		for (uint32_t host = 0; host < N_HOSTS; host++)
			add(&made, "rail%u %u \"n%u mlx5_%u\" 1 400Gbit/s\n", rail, host,
				host, rail);
	return made;
}

// add_storage: two servers, and a slow adapter of every host, on a switch `name`.
static void add_storage(struct made *made, const char *name, const char *rate)
{
	for (uint32_t host = 0; host < N_HOSTS; host++)
		add(made, "%s %u \"n%u mlx5_8\" 1 %s\n", name, host, host, rate);
	for (uint32_t i = 0; i < 2; i++)
		add(made, "%s %u \"stor%u mlx5_0\" 1 %s\n", name, 10 + i, i, rate);
}

static const char *name_of(const struct tb_network *net, uint32_t node)
{
	return tb_network_node_identity(net, (struct tb_node){node}).name;
}

static bool has_remark(const struct tb_network *net, const char *words)
{
	for (uint32_t i = 0; i < tb_network_n_remarks(net); i++)
		if (strstr(tb_network_remark(net, i), words))
			return true;
	return false;
}

static void check(const struct tb_network *net, uint32_t n_hosts, uint32_t n_rails)
{
	assert_int_equal(tb_network_n_hosts(net), n_hosts);
	assert_int_equal(tb_network_n_rails(net), n_rails);
}

static void refused(const char *text, const char *keys, const char *says)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	int status = fabric_open_keys(&net, text, strlen(text), keys, &error);
	assert_true(status == TB_EFORMAT || status == TB_EUSAGE);
	assert_non_null(strstr(error.text, says));
}

static void rails_without_a_spine_stand_side_by_side(void **state)
{
	(void)state;
	struct made made = rail_only(3);
	struct tb_network *net = fabric_of(made.text, "");
	check(net, N_HOSTS, 3);
	assert_string_equal(name_of(net, N_HOSTS + 2), "n2 mlx5_1");
	assert_int_equal(tb_network_switch(net, (struct tb_switch){2}).rail, 2);
	assert_true(has_remark(net, "3 parts that no cable joins"));
	tb_network_free(net);
	refused(made.text, ",nics=port", "no cable joins the 3 parts");
	net = fabric_of(made.text, ",adapters=mlx5_[0,2]");
	check(net, N_HOSTS, 2);
	assert_string_equal(name_of(net, N_HOSTS), "n0 mlx5_2");
	tb_network_free(net);
	net = fabric_of(made.text, ",adapters=mlx5_1,nics=port");
	check(net, N_HOSTS, 1);
	tb_network_free(net);
	refused(made.text, ",adapters=mlx5_7", "no adapter of a host is called so");
}

static void ports_of_one_adapter_may_be_in_two_planes(void **state)
{
	struct made made = {.n = 0};
	(void)state;
	for (uint32_t host = 0; host < N_HOSTS; host++)
		add(&made,
			"host \"n%u mlx5_0\"\np0 %u \"n%u mlx5_0\" 1 100Gbit/s\n"
			"p1 %u \"n%u mlx5_0\" 2 100Gbit/s\n",
			host, host, host, host, host);
	struct tb_network *net = fabric_of(made.text, "");
	check(net, N_HOSTS, 2);
	assert_string_equal(name_of(net, N_HOSTS), "n0 mlx5_0:2");
	tb_network_free(net);
}

static void each_part_has_levels_of_its_own(void **state)
{
	struct made made = rail_only(1);
	(void)state;
	for (uint32_t leaf = 0; leaf < 2; leaf++) {
		add(&made, "l%u 9 spine %u 400Gbit/s\n", leaf, leaf);
		for (uint32_t host = 2 * leaf; host < 2 * leaf + 2; host++)
			add(&made, "l%u %u \"n%u mlx5_1\" 1 400Gbit/s\n", leaf, host,
				host);
	}
	struct tb_network *net = fabric_of(made.text, "");
	check(net, N_HOSTS, 2);
	assert_int_equal(tb_network_n_levels(net), 2);
	assert_int_equal(tb_network_switch(net, (struct tb_switch){0}).level, 0);
	assert_int_equal(tb_network_switch(net, (struct tb_switch){3}).level, 1);
	assert_int_equal(tb_network_switch(net, (struct tb_switch){3}).rail, 1);
	tb_network_free(net);
}

static void adapters_of_storage_are_set_aside(void **state)
{
	(void)state;
	// Apart, slower and as fast; and in one fabric with the rails.
	static const char *const rates[] = {"200Gbit/s", "400Gbit/s"};
	for (size_t i = 0; i < 2; i++) {
		struct made made = rail_only(2);
		add_storage(&made, "storage", rates[i]);
		struct tb_network *net = fabric_of(made.text, "");
		check(net, N_HOSTS, 2);
		assert_int_equal(tb_network_n_switches(net), 2);
		assert_true(has_remark(net, "6 adapters were set aside"));
		tb_network_free(net);
	}
	struct made made = rail_only(2);
	add_storage(&made, "storage", "200Gbit/s");
	for (uint32_t rail = 0; rail < 2; rail++)
		add(&made, "rail%u 20 top %u 400Gbit/s\n", rail, rail);
	add(&made, "storage 20 top 2 400Gbit/s\n");
	struct tb_network *net = fabric_of(made.text, ",nics=host");
	check(net, N_HOSTS, 2);
	assert_int_equal(tb_network_n_switches(net), 4);
	tb_network_free(net);
	net = fabric_of(made.text, "");
	check(net, 3 * N_HOSTS + 2, 1);
	tb_network_free(net);
}

static void a_slow_cable_makes_no_kind_of_its_own(void **state)
{
	struct made made = rail_only(2);
	(void)state;
	char *rate = strstr(made.text, "n2 mlx5_1\" 1 400");
	memcpy(rate + strlen("n2 mlx5_1\" 1 "), "200", 3);
	add(&made, "rail0 9 \"login1 mlx5_0\" 1 400Gbit/s\n");
	struct tb_network *net = fabric_of(made.text, "");
	check(net, N_HOSTS, 2);
	assert_true(has_remark(net, "an adapter was set aside"));
	tb_network_free(net);
}

static void a_host_that_lacks_an_adapter_is_left_out_or_refused(void **state)
{
	struct made made = rail_only(3);
	(void)state;
	char *line = strstr(made.text, "rail1 2 ");
	memset(line, '#', 1);
	struct tb_network *net = fabric_of(made.text, "");
	check(net, N_HOSTS - 1, 3);
	assert_true(has_remark(net, "a host was left out"));
	assert_true(has_remark(net, "(n2 (2))"));
	assert_false(has_remark(net, "set aside"));
	tb_network_free(net);
	refused(made.text, ",nics=host", "3 as most have; 1 of 4 hosts do not: n2 (2)");
}

static void hosts_of_two_fabrics_are_not_mixed(void **state)
{
	static const char two[] =
		"a 1 n1 1 1Gbit/s\na 2 n2 1 1Gbit/s\n"
		"b 1 m1 1 1Gbit/s\nb 2 m2 1 1Gbit/s\nb 3 m3 1 1Gbit/s\n";
	(void)state;
	refused(two, "", "holds 2 fabrics that no cable and no host joins");
	struct tb_network *net = fabric_of(two, ",part=b");
	check(net, 3, 1);
	tb_network_free(net);
	refused(two, ",part=c", "part=c: no switch with hosts below is called so");
}

static void hosts_with_several_cables_are_asked_for(void **state)
{
	static const char text[] = "a 1 n1 1 1Gbit/s\na 2 n2 1 1Gbit/s\n"
				   "b 1 n1 2 1Gbit/s\nb 2 n2 2 1Gbit/s\n";
	char declared[200];
	(void)state;
	refused(text, "", "holds no host: every device has several cables");
	snprintf(declared, sizeof declared, "%shost n1\nhost n2\n", text);
	struct tb_network *net = fabric_of(declared, "");
	check(net, 2, 2);
	tb_network_free(net);
}

static void names_with_a_rail_at_their_end_are_of_one_host(void **state)
{
	static const char text[] = "a 1 n1-ib0 1 1Gbit/s\na 2 n2-ib0 1 1Gbit/s\n"
				   "b 1 n1-ib1 1 1Gbit/s\nb 2 n2-ib1 1 1Gbit/s\n";
	(void)state;
	struct tb_network *net = fabric_of(text, "");
	check(net, 2, 2);
	assert_string_equal(name_of(net, 3), "n2-ib1");
	tb_network_free(net);
	// One alone keeps its name.
	net = fabric_of("a 1 n1-ib0 1 1Gbit/s\na 2 n2-ib0 1 1Gbit/s\n", "");
	assert_int_equal(
		tb_network_node_identity(net, (struct tb_node){1}).n_host_bytes, 6);
	tb_network_free(net);
}

static void check_selection(const struct tb_network *net, const char *list,
	const uint32_t *expected, uint32_t n_expected)
{
	uint32_t *nodes = NULL, n = 0;
	struct tb_error error = {0};
	assert_int_equal(tb_hosts_select(&nodes, &n, list, net, &error), TB_OK);
	assert_int_equal(n, n_expected);
	assert_memory_equal(nodes, expected, n * sizeof *nodes);
	free(nodes);
}

static void a_list_selects_hosts_adapters_or_rails(void **state)
{
	struct made made = rail_only(3);
	uint32_t *nodes, n;
	struct tb_error error = {0};
	(void)state;
	struct tb_network *net = fabric_of(made.text, "");
	check_selection(net, "n[2,1]", (uint32_t[]){2, 6, 10, 1, 5, 9}, 6);
	check_selection(net, "mlx5_1", (uint32_t[]){4, 5, 6, 7}, 4);
	check_selection(net, "rail[0]", (uint32_t[]){0, 1, 2, 3}, 4);
	check_selection(net, "n3,mlx5_[0,2] n0", (uint32_t[]){3, 11, 0, 8}, 4);
	check_selection(net, "n0:1", (uint32_t[]){4}, 1);
	assert_int_equal(tb_hosts_select(&nodes, &n, "rail9", net, &error), TB_EUSAGE);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rails_without_a_spine_stand_side_by_side),
		cmocka_unit_test(ports_of_one_adapter_may_be_in_two_planes),
		cmocka_unit_test(each_part_has_levels_of_its_own),
		cmocka_unit_test(adapters_of_storage_are_set_aside),
		cmocka_unit_test(a_slow_cable_makes_no_kind_of_its_own),
		cmocka_unit_test(a_host_that_lacks_an_adapter_is_left_out_or_refused),
		cmocka_unit_test(hosts_of_two_fabrics_are_not_mixed),
		cmocka_unit_test(hosts_with_several_cables_are_asked_for),
		cmocka_unit_test(names_with_a_rail_at_their_end_are_of_one_host),
		cmocka_unit_test(a_list_selects_hosts_adapters_or_rails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
