// The subtrees of trees of many shapes, and which of them fold at which width.
#include "../../support/fabric_text.h"
#include "../../viz_fixture.h"

#include "preset.h"
#include "tree_plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const shapes[] = {"qsnet,levels=1", "qsnet,levels=2", "qsnet",
	"qsnet,levels=5", "qsnet,arity=16,levels=3", "qsnet2,rails=2,levels=3"};
#define N_SHAPES (sizeof shapes / sizeof *shapes)

struct stage {
	char path[64];
	struct tb_run *run;
	struct tb_subtrees trees;
};

// begin_with makes a store of a network's topology and finds its subtrees.
static struct stage begin_with(struct tb_network *network)
{
	struct stage stage;
	struct tb_error error;
	struct tb_store *store;
	const struct tb_run_config config = {.input_name = "shape",
		.input_kind = "job",
		.input_digest = "",
		.options = "",
		.time_scale = 1};
	const struct tb_run_result result = {.complete = true, .simulated_ps = 1};
	viz_path(stage.path);
	viz_check(tb_store_create(&store, stage.path, &error), &error);
	viz_check(tb_store_begin_run(store, network, &config, &error), &error);
	struct tb_observer observer = tb_store_observer(store);
	assert_int_equal(observer.start(observer.context, TB_PS_PER_US), TB_OK);
	viz_check(tb_store_end_run(store, &result, &error), &error);
	tb_store_free(store);
	tb_network_free(network);
	viz_check(tb_run_open(&stage.run, stage.path, 0, &error), &error);
	viz_check(tb_subtrees_init(&stage.trees, stage.run, &error), &error);
	return stage;
}

static struct stage begin(const char *preset)
{
	struct tb_error error;
	struct tb_network *network;
	struct tb_network_params params;
	viz_check(tb_network_preset(&params, preset, &error), &error);
	viz_check(tb_network_open(&network,
			  &(struct tb_network_description){.params = &params}, &error),
		&error);
	return begin_with(network);
}

static void end(struct stage *stage)
{
	tb_subtrees_fini(&stage->trees);
	tb_run_free(stage->run);
	unlink(stage->path);
}

static struct tb_tree_plan plan_of(
	const struct stage *stage, double width, double from, double to)
{
	struct tb_tree_plan plan;
	assert_int_equal(
		tb_tree_plan_init(&plan, stage->run, &stage->trees, width, from, to),
		TB_OK);
	return plan;
}

// is_in is true when a switch or its subtree lies within the slots of another subtree.
static bool is_in(const struct tb_subtrees *trees, uint32_t inner, uint32_t outer)
{
	const struct tb_subtree *a = &trees->list[inner], *b = &trees->list[outer];
	return a->first_slot >= b->first_slot &&
	       a->first_slot + a->n_slots <= b->first_slot + b->n_slots;
}

static void children_fill_their_parents_side_by_side(void **state)
{
	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct stage stage = begin(shapes[s]);
		const struct tb_subtrees *trees = &stage.trees;
		assert_int_equal(trees->n_top, 1);
		assert_int_equal(trees->n_slots, tb_run_info(stage.run)->n_nodes);
		for (uint32_t i = 0; i < trees->n; i++) {
			const struct tb_subtree *tree = &trees->list[i];
			uint32_t slot = tree->first_slot + tree->n_nodes;
			for (uint32_t c = 0; c < tree->n_children; c++) {
				const struct tb_subtree *child =
					&trees->list[tree->first_child + c];
				assert_int_equal(child->parent, i);
				assert_int_equal(child->first_slot, slot);
				slot += child->n_slots;
			}
			assert_int_equal(slot, tree->first_slot + tree->n_slots);
		}
		end(&stage);
	}
}

// The first hosts are on the last leaf. A GUID says nothing of where a leaf is.
static void leaves_go_by_their_names_or_else_their_nodes(void **state)
{
	(void)state;
	static const char *const leaves[][3] = {{"leaf-2", "leaf-9", "leaf-10"},
		{"s 00000000000000a1", "s 00000000000000a2", "s 00000000000000a3"}};
	for (int guids = 0; guids < 2; guids++) {
		char text[1024];
		size_t n = 0;
		for (unsigned i = 0; i < 6; i++)
			n += (size_t)snprintf(text + n, sizeof text - n,
				"\"%s\" %u n%u 1\n", leaves[guids][2 - i / 2], 1 + i % 2,
				i);
		for (unsigned i = 0; i < 3; i++)
			n += (size_t)snprintf(text + n, sizeof text - n,
				"\"%s\" 9 spine %u\n", leaves[guids][i], i + 1);
		struct stage stage = begin_with(fabric_of(text, ",preset=ib-hdr"));
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t sw = stage.trees.rows[0][i];
			assert_string_equal(tb_run_switches(stage.run)[sw].name,
				leaves[guids][guids ? 2 - i : i]);
			assert_int_equal(stage.trees.node_of_slot[2 * i],
				guids ? 2 * i : 4 - 2 * i);
		}
		end(&stage);
	}
}

static void a_pods_leaves_stand_under_its_upper_switches(void **state)
{
	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct stage stage = begin(shapes[s]);
		const struct tb_subtrees *trees = &stage.trees;
		const struct tb_run_link *links = tb_run_links(stage.run);
		for (uint32_t i = 0; i < tb_run_info(stage.run)->n_links; i++) {
			const struct tb_link_info *at = &links[i].at;
			uint32_t upper = trees->of_switch[at->to];
			if (at->kind == TB_LINK_UP)
				assert_true(
					is_in(trees, trees->of_switch[at->from], upper));
			if (at->kind != TB_LINK_INJECTION)
				continue;
			uint32_t slot = trees->slot_of_node[at->from];
			assert_int_equal(trees->node_of_slot[slot], at->from);
			assert_true(slot >= trees->list[upper].first_slot);
			assert_true(slot < trees->list[upper].first_slot +
						   trees->list[upper].n_slots);
		}
		end(&stage);
	}
}

static void switches_of_a_subtree_stand_together_each_in_one_place(void **state)
{
	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct stage stage = begin(shapes[s]);
		const struct tb_subtrees *trees = &stage.trees;
		uint32_t n_switches = tb_run_info(stage.run)->n_switches;
		for (uint32_t sw = 0; sw < n_switches; sw++) {
			const struct tb_subtree *tree =
				&trees->list[trees->of_switch[sw]];
			uint32_t place = trees->place_of_switch[sw];
			assert_int_equal(trees->rows[tree->level][place], sw);
			assert_true(place >= tree->first_switch &&
				    place < tree->first_switch + tree->n_switches);
		}
		end(&stage);
	}
}

// Pod p's switch j leads to those of the top whose number has j as its last digit.
static void switches_that_lead_to_the_same_ones_are_neighbours(void **state)
{
	(void)state;
	static const uint32_t top[] = {
		0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
	struct stage stage = begin("qsnet");
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t sw = stage.trees.rows[2][i];
		assert_int_equal(tb_run_switches(stage.run)[sw].at.index, top[i]);
	}
	end(&stage);
}

static int by_place(const void *one, const void *other)
{
	const struct tb_tree_vertex *a = one, *b = other;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

// assert_plan checks that vertices of a row do not overlap, that each switch and node has
// one that holds it, and that visible ones are wide enough, or as wide as can be.
static void assert_plan(const struct stage *stage, double width, double from, double to)
{
	const struct tb_run_info *info = tb_run_info(stage->run);
	struct tb_tree_plan plan = plan_of(stage, width, from, to);
	for (uint32_t sw = 0; sw < info->n_switches; sw++) {
		const struct tb_tree_vertex *at = &plan.vertices[plan.of_switch[sw]];
		uint32_t place = stage->trees.place_of_switch[sw];
		assert_int_equal(at->row, tb_run_switches(stage->run)[sw].at.level + 1);
		assert_true(place >= at->first && place < at->first + at->n);
	}
	for (uint32_t node = 0; node < info->n_nodes; node++) {
		const struct tb_tree_vertex *at = &plan.vertices[plan.of_node[node]];
		double x = (stage->trees.slot_of_node[node] + 0.5) / stage->trees.n_slots;
		assert_true(at->row == 0 && x > at->from && x < at->to);
	}
	qsort(plan.vertices, plan.n, sizeof *plan.vertices, by_place);
	for (uint32_t i = 0; i < plan.n; i++) {
		const struct tb_tree_vertex *at = &plan.vertices[i];
		bool visible = at->to >= from && at->from <= to;
		if (i > 0 && at[-1].row == at->row)
			assert_true(at[-1].to <= at->from + 1e-12);
		if (visible && at->fold == TB_ID_NONE && at->n > 1 && width > 100)
			assert_true((at->to - at->from) * width >= TB_TREE_LEAST_W / 2.0);
	}
	tb_tree_plan_fini(&plan);
}

static void vertices_never_overlap_at_any_size(void **state)
{
	(void)state;
	static const double widths[] = {1, 40, 300, 830, 1580, 3700, 60000, 2e6};
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct stage stage = begin(shapes[s]);
		for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
			assert_plan(&stage, widths[i], 0, 1);
			assert_plan(&stage, widths[i], 0.4, 0.45);
		}
		end(&stage);
	}
}

static void pods_fold_where_there_is_no_room_and_open_again(void **state)
{
	(void)state;
	struct stage stage = begin("qsnet,arity=16,levels=3");
	struct tb_tree_plan plan = plan_of(&stage, 830, 0, 1);
	assert_int_equal(plan.n_folded, 16);
	assert_int_equal(plan.most[0], 256); // nodes in a block
	assert_int_equal(plan.most[1], 16);  // leaf switches
	assert_int_equal(plan.most[2], 16);
	assert_int_equal(plan.n, 16 * 3 + 32); // a row each in 16 blocks; the top
	tb_tree_plan_fini(&plan);
	plan = plan_of(&stage, 830, 0, 1);
	struct tb_tree_plan other = plan_of(&stage, 840, 0, 1);
	assert_true(tb_tree_plan_same(&plan, &other));
	tb_tree_plan_fini(&other);
	// Four times as large, a quarter is seen: twelve are out of sight and stay
	// folded.
	other = plan_of(&stage, 4 * 830, 0.251, 0.499);
	assert_false(tb_tree_plan_same(&plan, &other));
	assert_int_equal(other.n_folded, 12);
	assert_int_equal(other.most[1], 1);
	tb_tree_plan_fini(&other);
	tb_tree_plan_fini(&plan);
	end(&stage);
}

static void a_shut_pod_is_a_block_however_much_room_it_has(void **state)
{
	(void)state;
	struct stage stage = begin("qsnet");
	struct tb_subtrees *trees = &stage.trees;
	uint32_t pod = trees->n_top; // the first below the top
	struct tb_tree_plan open = plan_of(&stage, 4000, 0, 1);
	assert_int_equal(open.n_folded, 0);
	assert_true(tb_subtrees_can_shut(trees, pod));
	assert_false(tb_subtrees_can_shut(trees, 0));		 // the whole tree
	assert_false(tb_subtrees_can_shut(trees, trees->n - 1)); // a leaf switch
	trees->shut[pod] = 1;
	struct tb_tree_plan shut = plan_of(&stage, 4000, 0, 1);
	assert_int_equal(shut.n_folded, 1);
	assert_true(shut.n < open.n);
	trees->shut[pod] = 0;
	tb_tree_plan_fini(&shut);
	shut = plan_of(&stage, 4000, 0, 1);
	assert_true(tb_tree_plan_same(&open, &shut));
	tb_tree_plan_fini(&shut);
	tb_tree_plan_fini(&open);
	end(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_fill_their_parents_side_by_side),
		cmocka_unit_test(a_pods_leaves_stand_under_its_upper_switches),
		cmocka_unit_test(switches_of_a_subtree_stand_together_each_in_one_place),
		cmocka_unit_test(switches_that_lead_to_the_same_ones_are_neighbours),
		cmocka_unit_test(vertices_never_overlap_at_any_size),
		cmocka_unit_test(pods_fold_where_there_is_no_room_and_open_again),
		cmocka_unit_test(leaves_go_by_their_names_or_else_their_nodes),
		cmocka_unit_test(a_shut_pod_is_a_block_however_much_room_it_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
