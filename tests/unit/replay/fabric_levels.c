// The levels of irregular fabrics, those that are doubtful, and roots that are named.
#include "../../support/fabric_text.h"
#include "names.h"
#include "network_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SPINES = 4, LEAVES = 7, ROOM = 1 << 16 };

struct fabric_text {
	char text[ROOM];
	size_t n;
	unsigned next_port; // any number that was not there
};

TB_PRINTF(2, 3)
static void put(struct fabric_text *to, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	to->n += (size_t)vsnprintf(to->text + to->n, ROOM - to->n, format, args);
	va_end(args);
	assert_true(to->n < ROOM);
}

static void cable(struct fabric_text *to, const char *one, unsigned i, const char *other,
	unsigned j)
{
	unsigned port = to->next_port++;
	put(to, "%s%u %u %s%u %u\n", one, i, port, other, j, port);
}

static void host(struct fabric_text *to, const char *sw, unsigned i)
{
	unsigned port = to->next_port++;
	put(to, "%s%u %u n%u 1\n", sw, i, port, port);
}

// eleven is 4 spines and 7 leaves with a cable to each, `n_hosts` on them.
static void eleven(struct fabric_text *to, const unsigned n_hosts[LEAVES])
{
	for (unsigned leaf = 0; leaf < LEAVES; leaf++) {
		for (unsigned i = 0; i < n_hosts[leaf]; i++)
			host(to, "leaf", leaf);
		for (unsigned spine = 0; spine < SPINES; spine++)
			cable(to, "leaf", leaf, "spine", spine);
	}
}

static struct tb_switch find(const struct tb_network *net, const char *name)
{
	struct tb_switch sw;
	struct tb_error error = {0};
	if (tb_names_find_switch(net, name, &sw, &error) != TB_OK)
		fail_msg("%s", error.text);
	return sw;
}

static void check_level(
	const struct tb_network *net, const char *name, uint32_t level, bool is_doubtful)
{
	struct tb_switch sw = find(net, name);
	if (net->switches[sw.id].level != level)
		fail_msg("%s is of level %u, not %u", name, net->switches[sw.id].level,
			level);
	if (tb_network_switch_identity(net, sw).is_doubtful != is_doubtful)
		fail_msg("%s %s", name, is_doubtful ? "is not doubtful" : "is doubtful");
}

static void leaves_with_few_hosts_or_none_are_leaves(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	eleven(&text, (const unsigned[]){30, 28, 5, 30, 0, 29, 30});
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	assert_int_equal(tb_network_n_levels(net), 2);
	for (unsigned leaf = 0; leaf < LEAVES; leaf++) {
		char name[16];
		snprintf(name, sizeof name, "leaf%u", leaf);
		check_level(net, name, 0, false);
	}
	check_level(net, "spine0", 1, false);
	check_level(net, "spine3", 1, false);
	assert_int_equal(tb_network_n_remarks(net), 0);
	tb_network_free(net);
}

// With hosts it matters where cables lead, not how many there are.
static void a_leaf_with_half_of_its_cables_is_a_leaf(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	eleven(&text, (const unsigned[]){30, 28, 30, 30, 30, 29, 30});
	for (unsigned i = 0; i < 5; i++)
		host(&text, "leaf", 7);
	for (unsigned spine = 0; spine < SPINES / 2; spine++)
		cable(&text, "leaf", 7, "spine", spine);
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	check_level(net, "leaf7", 0, false);
	tb_network_free(net);
}

// A leaf that lost its hosts and half of its cables, or whose cables all lead to two of
// the spines or to one, has no hosts by which it could be told.
static void a_leaf_that_lost_its_hosts_and_cables_is_a_leaf(void **state)
{
	(void)state;
	static const unsigned n_cables[][SPINES] = {
		{1, 1, 0, 0}, {2, 2, 0, 0}, {2, 0, 0, 0}};
	for (size_t i = 0; i < 3; i++) {
		struct fabric_text text = {.next_port = 1};
		eleven(&text, (const unsigned[]){30, 28, 30, 30, 30, 29, 30});
		for (unsigned spine = 0; spine < SPINES; spine++)
			for (unsigned k = 0; k < n_cables[i][spine]; k++)
				cable(&text, "leaf", 7, "spine", spine);
		struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
		assert_int_equal(tb_network_n_levels(net), 2);
		check_level(net, "leaf7", 0, true);
		check_level(net, "spine0", 1, false);
		tb_network_free(net);
	}
}

// As many tops as leaves, each with cables to some spines of the only part with leaves.
static void tops_of_the_only_part_stay_above_it(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	eleven(&text, (const unsigned[]){9, 9, 9, 9, 9, 9, 9});
	for (unsigned core = 0; core < 2 * LEAVES; core++)
		for (unsigned i = 0; i < 2; i++)
			cable(&text, "spine", core % 2 + 2 * i, "core", core);
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	assert_int_equal(tb_network_n_levels(net), 3);
	check_level(net, "core0", 2, true); // or leaves, as none joins other parts
	check_level(net, "core13", 2, true);
	tb_network_free(net);
}

// A top of spines, all of which each leaf has cables to.
static void a_switch_that_is_cabled_like_no_other_is_a_top(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	eleven(&text, (const unsigned[]){9, 9, 9, 9, 9, 9, 9});
	for (unsigned spine = 0; spine < SPINES; spine++)
		for (unsigned i = 0; i < 3; i++)
			cable(&text, "spine", spine, "core", 0);
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	check_level(net, "core0", 2, true); // or a leaf with many cables
	check_level(net, "leaf6", 0, false);
	tb_network_free(net);
}

// Two parts of a fabric, one of which has no hosts, below tops that join them.
static void tops_stay_above_parts_without_hosts(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	for (unsigned pod = 0; pod < 4; pod++)
		for (unsigned spine = 2 * pod; spine < 2 * pod + 2; spine++) {
			for (unsigned leaf = 3 * pod; leaf < 3 * pod + 3; leaf++)
				cable(&text, "leaf", leaf, "spine", spine);
			cable(&text, "spine", spine, "core", spine % 2 * 2);
			cable(&text, "spine", spine, "core", spine % 2 * 2 + 1);
		}
	for (unsigned i = 0; i < 4; i++)
		host(&text, "leaf", 0);
	for (unsigned i = 0; i < 4; i++)
		host(&text, "leaf", 4);
	host(&text, "core", 1);
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	assert_int_equal(tb_network_n_levels(net), 3);
	check_level(net, "core0", 2, false);
	check_level(net, "core1", 2, false); // though it has a host
	check_level(net, "spine7", 1, false);
	check_level(net, "leaf1", 0, false);
	check_level(net, "leaf11", 0, true); // nothing that has hosts is cabled like it
	tb_network_free(net);
}

static void a_spine_with_many_hosts_is_doubtful(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	eleven(&text, (const unsigned[]){12, 12, 12, 12, 12, 12, 12});
	for (unsigned i = 0; i < 4; i++)
		host(&text, "spine", 1);
	struct tb_network *net = fabric_of(text.text, ",preset=qsnet");
	check_level(net, "spine1", 0, true);
	tb_network_free(net);
}

static struct tb_network *open_with_roots(
	const char *text, const char *roots, struct tb_error *error)
{
	char path[] = "/tmp/tailback-roots-XXXXXX", keys[64];
	struct tb_network *net = NULL;
	int file = mkstemp(path);
	if (file < 0 || write(file, roots, strlen(roots)) != (ssize_t)strlen(roots))
		abort();
	close(file);
	snprintf(keys, sizeof keys, ",preset=ib-hdr,roots=%s", path);
	if (fabric_open_keys(&net, text, strlen(text), keys, error) != TB_OK)
		net = NULL;
	unlink(path);
	return net;
}

static void roots_decide_what_is_doubtful(void **state)
{
	(void)state;
	struct fabric_text text = {.next_port = 1};
	struct tb_error error = {0};
	eleven(&text, (const unsigned[]){12, 12, 12, 12, 12, 12, 0});
	for (unsigned i = 0; i < 4; i++)
		host(&text, "spine", 1);
	struct tb_network *net = open_with_roots(text.text,
		"# the top\nspine0\n  spine1 \n\nspine2\nspine3\nspine9\n", &error);
	assert_non_null(net);
	check_level(net, "spine1", 1, false);
	check_level(net, "leaf6", 0, false);
	assert_string_equal(tb_network_remark(net, 0),
		"a root was passed over that the fabric does not have (spine9)");
	tb_network_free(net);
	assert_null(open_with_roots(text.text, "leaf9\n# spine0\n", &error));
	assert_string_equal(error.text,
		"names no switch of the fabric: expected a GUID (0x...) or a name per "
		"line");
}

#define TWO_LEAVES                                                                       \
	"Switch 4 \"S-00000000000000a0\" # \"MF0;top:X/U1\" base port 0 lid 1 lmc 0\n"   \
	"[1] \"H-0000000000000c00\"[1](c01) # \"n0 mlx5_0\" lid 3 4xNDR\n"               \
	"[2] \"S-00000000000000a1\"[2] # \"MF0;low:X/U1\" lid 2 4xNDR\n"                 \
	"Switch 4 \"S-00000000000000a1\" # \"MF0;low:X/U1\" base port 0 lid 2 lmc 0\n"   \
	"[1] \"H-0000000000000c10\"[1](c11) # \"n1 mlx5_0\" lid 4 4xNDR\n"               \
	"[2] \"S-00000000000000a0\"[2] # \"MF0;top:X/U1\" lid 1 4xNDR\n"

static void roots_are_guids_or_short_names(void **state)
{
	(void)state;
	static const char *const files[] = {
		"0x00000000000000a0\n", "0xa0 # the spine\r\n", "top", "MF0;top:X/U1\n"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct tb_error error = {0};
		struct tb_network *net = open_with_roots(TWO_LEAVES, files[i], &error);
		if (!net)
			fail_msg("%s: %s", files[i], error.text);
		check_level(net, "top", 1, false);
		check_level(net, "low", 0, false);
		tb_network_free(net);
	}
}

static void roots_that_join_too_little_are_refused(void **state)
{
	(void)state;
	struct tb_error error = {0};
	// From b and c a and d lie below, and from a to d it goes up twice.
	assert_null(open_with_roots("a 1 n1 1\nd 1 n2 1\nb 9 m 1\na 2 b 1\nd 2 c 1\n"
				    "b 2 x 1\nx 2 c 2\nx 3 n3 1\n",
		"b\nc\n", &error));
	assert_memory_equal(error.text, "by the roots that are named not every host", 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_with_few_hosts_or_none_are_leaves),
		cmocka_unit_test(a_leaf_with_half_of_its_cables_is_a_leaf),
		cmocka_unit_test(a_leaf_that_lost_its_hosts_and_cables_is_a_leaf),
		cmocka_unit_test(tops_of_the_only_part_stay_above_it),
		cmocka_unit_test(a_switch_that_is_cabled_like_no_other_is_a_top),
		cmocka_unit_test(tops_stay_above_parts_without_hosts),
		cmocka_unit_test(a_spine_with_many_hosts_is_doubtful),
		cmocka_unit_test(roots_decide_what_is_doubtful),
		cmocka_unit_test(roots_are_guids_or_short_names),
		cmocka_unit_test(roots_that_join_too_little_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
