// The levels of regular trees from which hosts and cables were taken.
//
// A k-ary n-tree is written as a list of cables, with names that tell no level, some of
// its hosts and cables left out, and read back. Without hosts, levels stay as they were;
// without cables, too, they do or are marked as doubtful, as long as a switch keeps more
// than half of its cables, or 70 % where hosts are missing as well. The judge of it is
// the tree itself: the level at which each switch was written.
#include "../support/fabric_text.h"
#include "../viz_golden.h"
#include "network_impl.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 1000, SWITCHES_MOST = 300 };

struct taking {
	struct tb_network *tree;
	uint32_t n_kept[SWITCHES_MOST], n_all[SWITCHES_MOST]; // cables to switches
	double hosts, cables;				      // shares that are taken
	double kept;					      // of a switch's cables
	struct tb_random random;
};

static bool draw(struct taking *taking, double share)
{
	return (double)tb_random_below(&taking->random, 1000000) < share * 1e6;
}

// may_lose returns whether a switch keeps its share when it loses a cable.
static bool may_lose(const struct taking *taking, uint32_t sw)
{
	return taking->n_kept[sw] - 1.0 > taking->kept * taking->n_all[sw];
}

static bool takes_cable(struct taking *taking, uint32_t one, uint32_t other)
{
	if (!draw(taking, taking->cables) || !may_lose(taking, one) ||
		!may_lose(taking, other))
		return false;
	taking->n_kept[one]--;
	taking->n_kept[other]--;
	return true;
}

// write_tree writes what is left. Switches have names in random order, since those of one
// level are ordered by name.
static char *write_tree(struct taking *taking, const uint32_t *number)
{
	const struct tb_network *tree = taking->tree;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	uint32_t one = (uint32_t)tb_random_below(&taking->random, tree->n_nodes);
	uint32_t other = (uint32_t)tb_random_below(&taking->random, tree->n_nodes - 1);
	other += other >= one; // two hosts stay
	for (uint32_t i = 0; i < tree->n_switches; i++)
		fprintf(stream, "switch s%u\n", number[i]);
	for (uint32_t i = 0; i < tree->n_links; i++) {
		const struct tb_link_info *at = &tree->links[i];
		if (at->kind == TB_LINK_INJECTION) {
			if (at->from == one || at->from == other ||
				!draw(taking, taking->hosts))
				fprintf(stream, "n%u 1 s%u %u\n", at->from,
					number[at->to], at->to_port + 1);
		} else if (at->kind == TB_LINK_UP &&
			   !takes_cable(taking, at->from, at->to)) {
			fprintf(stream, "s%u %u s%u %u\n", number[at->from],
				at->from_port + 1, number[at->to], at->to_port + 1);
		}
	}
	fclose(stream);
	return text;
}

static void shuffle(struct taking *taking, uint32_t *number)
{
	uint32_t n = taking->tree->n_switches;
	for (uint32_t i = 0; i < n; i++)
		number[i] = i;
	for (uint32_t left = n; left > 1; left--) {
		uint32_t pick = (uint32_t)tb_random_below(&taking->random, left);
		uint32_t held = number[left - 1];
		number[left - 1] = number[pick];
		number[pick] = held;
	}
}

// n_wrong counts the switches with another level that is not doubtful, or, if `strictly`,
// with any other.
static uint32_t n_wrong(const struct tb_network *tree, const struct tb_network *net,
	const uint32_t *number, bool strictly)
{
	uint32_t n = 0, level_of[SWITCHES_MOST];
	for (uint32_t i = 0; i < tree->n_switches; i++)
		level_of[number[i]] = tree->switches[i].level;
	for (uint32_t i = 0; i < net->n_switches; i++) {
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){i});
		bool is_other = net->switches[i].level !=
				level_of[strtoul(own.name + 1, NULL, 10)];
		n += is_other && (strictly || !own.is_doubtful);
	}
	return n;
}

// The last is too thin for it to be seen what was taken.
static const char *const trees[] = {"ib-hdr,arity=4,levels=2", "ib-hdr,arity=3,levels=3",
	"ib-hdr,arity=4,levels=3", "ib-hdr,arity=12,levels=2", "ib-hdr,arity=2,levels=4"};

// round_with takes shares of hosts and cables; false when the tree fell apart.
static bool round_with(uint64_t seed, double hosts, double cables, bool strictly)
{
	static struct taking taking;
	uint32_t number[SWITCHES_MOST];
	struct tb_error error = {0};
	taking = (struct taking){
		.hosts = hosts, .cables = cables, .kept = hosts > 0 ? 0.7 : 0.5};
	tb_random_init(&taking.random, seed, 0);
	const char *name =
		trees[seed % (sizeof trees / sizeof *trees - (hosts > 0 && cables > 0))];
	assert_int_equal(tb_network_open(&taking.tree,
				 &(struct tb_network_description){.name = name}, &error),
		TB_OK);
	for (uint32_t i = 0; i < taking.tree->n_links; i++)
		if (taking.tree->links[i].kind == TB_LINK_UP) {
			taking.n_all[taking.tree->links[i].from]++;
			taking.n_all[taking.tree->links[i].to]++;
		}
	memcpy(taking.n_kept, taking.n_all, sizeof taking.n_all);
	shuffle(&taking, number);
	char *text = write_tree(&taking, number);
	struct tb_network *net = NULL;
	bool opened = fabric_open_keys(&net, text, strlen(text), ",preset=ib-hdr",
			      &error) == TB_OK;
	if (!opened)
		assert_memory_equal(error.text, "holds two fabrics", 17);
	uint32_t wrong = opened ? n_wrong(taking.tree, net, number, strictly) : 0;
	if (wrong > 0)
		fail_msg("seed %" PRIu64 " (%s, %.2f of the hosts and %.2f of the cables "
			 "taken): %u levels are wrong\n%s",
			seed, name, hosts, cables, wrong, text);
	free(text);
	tb_network_free(net);
	tb_network_free(taking.tree);
	return opened;
}

static void levels_stay_without_hosts(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		assert_true(round_with(seed, (double)(seed % 21) / 20, 0, true));
}

static void levels_stay_or_are_doubtful_without_cables(void **state)
{
	(void)state;
	uint32_t n = 0;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		n += round_with(seed, 0, (double)(seed % 11) / 20, false);
	assert_true(n > ROUNDS * 9 / 10);
}

static void levels_stay_or_are_doubtful_without_both(void **state)
{
	(void)state;
	uint32_t n = 0;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		n += round_with(
			seed, (double)(seed % 13) / 20, (double)(seed % 5) / 20, false);
	assert_true(n > ROUNDS * 9 / 10);
}

// write_cables writes some switches with hosts and cables anywhere: chains, rings,
// meshes, trees with switches and hosts in odd places.
static char *write_cables(struct tb_random *random)
{
	static const char *const rates[] = {
		"", " 25Gbit/s", " 100Gbit/s", " 100Gbit/s 300ns"};
	uint32_t n = 1 + (uint32_t)tb_random_below(random, 9), ports[10] = {0};
	uint32_t extra = (uint32_t)tb_random_below(random, 2 * n);
	uint32_t hosts = 2 + (uint32_t)tb_random_below(random, 14);
	uint32_t least = (uint32_t)tb_random_below(random, n);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	for (uint32_t i = 0; i < n; i++)
		fprintf(stream, "switch s%u\n", i);
	for (uint32_t i = 1; i < n + extra; i++) {
		uint32_t one = i < n ? i : (uint32_t)tb_random_below(random, n);
		uint32_t other = (uint32_t)tb_random_below(random, i < n ? i : n);
		if (one != other)
			fprintf(stream, "s%u %u s%u %u%s\n", one, ++ports[one], other,
				++ports[other], rates[tb_random_below(random, 4)]);
	}
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t at = least + (uint32_t)tb_random_below(random, n - least);
		fprintf(stream, "h%u 1 s%u %u%s\n", i, at, ++ports[at],
			rates[tb_random_below(random, 4)]);
	}
	fclose(stream);
	return text;
}

static void describe_network(FILE *to, const struct tb_network *net)
{
	for (uint32_t i = 0; i < net->n_switches; i++) {
		struct tb_identity own =
			tb_network_switch_identity(net, (struct tb_switch){i});
		fprintf(to, "%s %u %d, ", own.name, net->switches[i].level,
			own.is_doubtful);
	}
	for (uint32_t i = 0; i < tb_network_n_remarks(net); i++)
		fprintf(to, "%s, ", tb_network_remark(net, i));
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *at = &net->links[i];
		fprintf(to, "%d %u:%u %u:%u %" PRIu64 " %" PRIu64 ", ", at->kind,
			at->from, at->from_port, at->to, at->to_port, at->bytes_per_s,
			(uint64_t)at->latency_ps);
	}
}

static void any_cables_are_read_as_they_were(void **state)
{
	enum { GROUPS = 20, OF_ONE = 50 };
	char *all;
	size_t all_size;
	FILE *to = open_memstream(&all, &all_size);
	assert_non_null(to);
	(void)state;
	for (uint64_t group = 0; group < GROUPS; group++) {
		struct tb_random random;
		uint32_t hash = 2166136261U, n_opened = 0;
		tb_random_init(&random, group, 77);
		for (int i = 0; i < OF_ONE; i++) {
			struct tb_network *net = NULL;
			struct tb_error error = {0};
			char *cables = write_cables(&random), *is;
			size_t size;
			FILE *stream = open_memstream(&is, &size);
			assert_non_null(stream);
			if (fabric_open_keys(&net, cables, strlen(cables),
				    ",preset=ib-hdr", &error) == TB_OK) {
				describe_network(stream, net);
				n_opened++;
			} else {
				fprintf(stream, "%s", error.text);
			}
			fclose(stream);
			for (size_t k = 0; k < size; k++)
				hash = (hash ^ (unsigned char)is[k]) * 16777619U;
			free(is);
			free(cables);
			tb_network_free(net);
		}
		fprintf(to, "%u of %d networks, %08x\n", n_opened, OF_ONE, hash);
	}
	fclose(to);
	assert_golden(all, "../cablings");
	free(all);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("set TB_SOURCE to the source folder");
		return 77;
	}

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_stay_without_hosts),
		cmocka_unit_test(levels_stay_or_are_doubtful_without_cables),
		cmocka_unit_test(levels_stay_or_are_doubtful_without_both),
		cmocka_unit_test(any_cables_are_read_as_they_were),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
