// The shape of congestion trees, and the cables of a tree as they are drawn.
#include "../../viz_fixture.h"

#include "tree_edges.h"
#include "tree_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_run *run;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(tb_run_open(&stage->run, stage->path, 0, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_run_free(stage->run);
	unlink(stage->path);
	free(stage);
	return 0;
}

// The trees of a run: its rows, by root and slice. All that waited for a root is in its
// rows, and as long again in none.
struct made_trees {
	struct tb_trees trees;
	struct tb_root_bin_sample sums[8];
	uint32_t first[256], root_first[256];
};

static const struct tb_trees *trees_of(
	struct made_trees *made, struct tb_tree_sample *rows, uint32_t n, uint32_t n_bins)
{
	*made = (struct made_trees){.trees = {.bin_ps = 1000,
					    .n_bins = n_bins,
					    .roots = made->sums,
					    .root_first = made->root_first,
					    .n_roots = n,
					    .rows = rows,
					    .first = made->first,
					    .n = n}};
	for (uint32_t i = 0; i < n; i++) {
		made->sums[i] = (struct tb_root_bin_sample){
			rows[i].bin, rows[i].root, 2 * rows[i].wait_ps};
		for (uint32_t root = rows[i].root.id + 1; root < 256; root++)
			made->first[root] = made->root_first[root] = i + 1;
	}
	return &made->trees;
}

static const struct tb_run_link *link_of(
	const struct stage *stage, enum tb_link_kind kind, uint32_t from, uint32_t skip)
{
	const struct tb_run_link *links = tb_run_links(stage->run);
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++)
		if (links[i].at.kind == kind && links[i].at.from == from && skip-- == 0)
			return &links[i];
	fail_msg("no such link");
	return NULL;
}

// Three links in a row: up from a leaf switch, down to another, and on to a node.
static void branches_stand_below_the_link_that_they_waited_for(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_link *root = link_of(stage, TB_LINK_EJECTION, 1, 0);
	const struct tb_run_link *links = tb_run_links(stage->run);
	const struct tb_run_link *down = NULL, *up = NULL;
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_DOWN && links[i].at.to == 1)
			down = &links[i];
	assert_non_null(down);
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_UP && links[i].at.to == down->at.from &&
			links[i].at.from == 2)
			up = &links[i];
	assert_non_null(up);
	struct tb_tree_sample rows[] = {{0, root->id, up->id, 100, 0},
		{0, root->id, down->id, 300, 0}, {1, root->id, down->id, 50, 0},
		{1, {200}, down->id, 999, 0}};
	struct made_trees made;
	const struct tb_trees *trees = trees_of(&made, rows, 4, 2);
	struct tb_tree_shape shape;
	assert_int_equal(
		tb_tree_shape_init(&shape, stage->run, trees, root->id, 1, 2), TB_OK);
	assert_int_equal(shape.n, 3);
	assert_int_equal(shape.depth, 2);
	assert_int_equal(shape.branches[0].link.id, root->id.id);
	assert_int_equal(shape.branches[1].link.id, down->id.id);
	assert_int_equal(shape.branches[2].link.id, up->id.id);
	assert_int_equal(shape.branches[2].parent, 1);
	assert_int_equal(shape.whole_ps, 900);
	assert_int_equal(shape.branches_ps, 450);
	assert_int_equal(shape.shown_ps, 100);
	assert_int_equal(shape.n_shown, 1);
	assert_int_equal(shape.branches[1].below_ps, 450);
	assert_true(shape.branches[1].w == 1);
	assert_true(shape.branches[2].w < 0.23 && shape.branches[2].w > 0.22);
	tb_tree_shape_fini(&shape);
}

// Two links end at the root's switch; behind the lighter one, which stands on the right,
// another.
static void branches_lie_within_their_parents(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_link *root = link_of(stage, TB_LINK_EJECTION, 1, 0);
	const struct tb_run_link *links = tb_run_links(stage->run);
	const struct tb_run_link *in = NULL, *down = NULL, *up = NULL;
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		if (at->kind == TB_LINK_INJECTION && at->to == 1)
			in = &links[i];
		if (at->kind == TB_LINK_DOWN && at->to == 1)
			down = &links[i];
	}
	assert_true(in && down);
	for (uint32_t i = 0; i < tb_run_info(stage->run)->n_links; i++)
		if (links[i].at.kind == TB_LINK_UP && links[i].at.to == down->at.from)
			up = &links[i];
	assert_non_null(up);
	struct tb_tree_sample rows[] = {{0, root->id, in->id, 500, 0},
		{0, root->id, down->id, 300, 0}, {0, root->id, up->id, 200, 0}};
	struct made_trees made;
	const struct tb_trees *trees = trees_of(&made, rows, 3, 1);
	struct tb_tree_shape shape;
	assert_int_equal(
		tb_tree_shape_init(&shape, stage->run, trees, root->id, 0, 1), TB_OK);
	assert_int_equal(shape.n, 4);
	assert_int_equal(shape.branches[1].link.id, in->id.id);
	assert_int_equal(shape.branches[2].link.id, down->id.id);
	assert_int_equal(shape.branches[3].parent, 2);
	assert_true(shape.branches[1].x == 0 && shape.branches[1].w == 0.5);
	assert_true(shape.branches[2].x == 0.5 && shape.branches[2].w == 0.5);
	assert_true(shape.branches[3].x == 0.5 && shape.branches[3].w == 0.2);
	tb_tree_shape_fini(&shape);
}

static void what_leads_nowhere_hangs_on_the_root(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_link *root = link_of(stage, TB_LINK_EJECTION, 0, 0);
	const struct tb_run_link *far = link_of(stage, TB_LINK_INJECTION, 15, 0);
	struct tb_tree_sample rows[] = {{0, root->id, far->id, 100, 0}};
	struct made_trees made;
	const struct tb_trees *trees = trees_of(&made, rows, 1, 1);
	struct tb_tree_shape shape;
	assert_int_equal(
		tb_tree_shape_init(&shape, stage->run, trees, root->id, 0, 1), TB_OK);
	assert_int_equal(shape.n, 2);
	assert_int_equal(shape.branches[1].parent, 0);
	assert_int_equal(shape.branches[1].depth, 1);
	tb_tree_shape_fini(&shape);
}

static void roots_come_by_what_they_hold_up_in_the_slices(void **state)
{
	(void)state;
	struct tb_tree_sample rows[] = {{0, {7}, {1}, 100, 0}, {1, {7}, {1}, 150, 0},
		{1, {7}, {2}, 150, 0}, {0, {9}, {1}, 300, 0}};
	struct made_trees made;
	const struct tb_trees *trees = trees_of(&made, rows, 4, 2);
	struct tb_tree_root *roots;
	uint32_t n;
	assert_int_equal(tb_tree_roots(trees, 0, 2, &roots, &n), TB_OK);
	assert_int_equal(n, 2);
	assert_int_equal(roots[0].root.id, 7);
	assert_int_equal(roots[0].shown_ps, 800);
	assert_int_equal(roots[0].n_links, 2);
	free(roots);
	assert_int_equal(tb_tree_roots(trees, 0, 1, &roots, &n), TB_OK);
	assert_int_equal(roots[0].root.id, 9);
	assert_int_equal(roots[1].n_links, 1);
	assert_int_equal(roots[1].whole_ps, 800);
	free(roots);
}

// edges_of plans the run's tree for a width and makes its edges; the plan is freed.
static struct tb_tree_edges edges_of(
	struct stage *stage, double width, double from, double to)
{
	struct tb_subtrees subtrees;
	struct tb_tree_plan plan;
	struct tb_tree_edges edges;
	assert_int_equal(tb_subtrees_init(&subtrees, stage->run, NULL), TB_OK);
	assert_int_equal(
		tb_tree_plan_init(&plan, stage->run, &subtrees, width, from, to), TB_OK);
	assert_int_equal(tb_tree_edges_init(&edges, stage->run, &plan, NULL), TB_OK);
	tb_tree_plan_fini(&plan);
	tb_subtrees_fini(&subtrees);
	return edges;
}

static void every_cable_is_an_edge_with_both_directions(void **state)
{
	struct stage *stage = *state;
	struct tb_tree_edges edges = edges_of(stage, 1000, 0, 1);
	const struct tb_link_sample *samples;
	assert_int_equal(edges.n, 32);
	for (uint32_t i = 0; i < edges.n; i++) {
		assert_int_equal(edges.edges[i].up.n_links, 1);
		assert_int_equal(edges.edges[i].down.n_links, 1);
	}
	assert_int_equal(
		tb_run_look(stage->run, (struct tb_window){0, 0}, &samples, NULL), TB_OK);
	tb_tree_edges_fill(&edges, stage->run, samples, TB_WAIT, 0, NULL);
	assert_int_equal(edges.largest, samples[VIZ_HOT_LINK].wait_ps);
	tb_tree_edges_fini(&edges);
}

static void an_edge_of_many_links_shows_the_most_loaded(void **state)
{
	struct stage *stage = *state;
	uint8_t marks[128] = {0};
	// Each leaf switch with one vertex for its nodes, below one for the top.
	struct tb_tree_edges edges = edges_of(stage, 9, 0, 1);
	const struct tb_link_sample *samples;
	assert_int_equal(edges.n, 8);
	assert_int_equal(
		tb_run_look(stage->run, (struct tb_window){0, 0}, &samples, NULL), TB_OK);
	tb_tree_edges_fill(&edges, stage->run, samples, TB_WAIT, 0, NULL);
	uint32_t edge = edges.edge_of_link[VIZ_HOT_LINK];
	assert_int_equal(edges.edges[edge].up.n_links, 4);
	assert_int_equal(edges.edges[edge].up.link.id, VIZ_HOT_LINK);
	marks[VIZ_HOT_LINK] = TB_MARK_OTHER;
	tb_tree_edges_mark(&edges, stage->run, marks);
	assert_int_equal(edges.edges[edge].up.mark, TB_MARK_OTHER);
	assert_int_equal(edges.edges[edge].down.mark, TB_MARK_NONE);
	tb_tree_edges_fini(&edges);
}

static void cables_that_are_not_visible_are_left_out(void **state)
{
	struct stage *stage = *state;
	// The first switch of both levels and its four nodes, and the cables that lead
	// there.
	struct tb_tree_edges edges = edges_of(stage, 1000, 0, 0.24);
	const struct tb_link_sample *samples;
	assert_int_equal(edges.n, 4 + 4 + 3);
	assert_int_equal(
		tb_run_look(stage->run, (struct tb_window){0, 0}, &samples, NULL), TB_OK);
	tb_tree_edges_fill(&edges, stage->run, samples, TB_WAIT, 0, NULL);
	assert_int_equal(edges.largest, samples[VIZ_HOT_LINK].wait_ps);
	tb_tree_edges_fini(&edges);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(branches_stand_below_the_link_that_they_waited_for),
		STAGED(branches_lie_within_their_parents),
		STAGED(what_leads_nowhere_hangs_on_the_root),
		STAGED(roots_come_by_what_they_hold_up_in_the_slices),
		STAGED(every_cable_is_an_edge_with_both_directions),
		STAGED(an_edge_of_many_links_shows_the_most_loaded),
		STAGED(cables_that_are_not_visible_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
