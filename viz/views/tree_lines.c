// Draws the cables of the tree: as wide as they are busy, in the shade of the metric, the
// fainter the less they have of it; dead ones crossed out. Those within a folded subtree
// are a band between its rows.
#include "tree_sight.h"

#include <math.h>
#include <stdlib.h>

#define MOST_W	    5	// of a link that is always busy
#define MANY	    400 // edges from which on all lines are narrower
#define CROSS_W	    9
#define DASH_W	    7 // and as much space behind it, together
#define MOST_DASHES 40
#define FAINT	    0.4 // the share of its colour that a link with little load has
#define IDLE	    0.6 // and one without, whose colour is faint by itself

// fade leaves a share of a colour. It is not seen through: where many faint lines cross,
// they would add up to a bright one.
static struct tb_colour fade(
	const struct tb_pane *pane, struct tb_colour colour, double share)
{
	return tb_colour_mix(tb_palette_of(pane->style->theme)->page, colour, share);
}

// stroke_of makes a direction's line, `aside` pixels off the middle of the cable.
static struct tb_tree_stroke stroke_of(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, const struct tb_tree_direction *direction,
	struct tb_box line, double aside)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_scale scale = tb_tree_sight_scale(sight, pane->style);
	double percent = tb_scale_percent(&scale, (double)direction->value);
	double busy = fmin((double)direction->busy_ps /
				   fmax(tb_viewer_data_window_ps(pane->data), 1),
		1);
	// Wide lines would hide each other where there are many, and take long.
	double most = fmax(fmin(MOST_W * MANY / fmax(sight->edges.n, 1), MOST_W), 1);
	struct tb_tree_stroke stroke = {.rank = direction->n_dead ? 150 : percent,
		.width = 1 + (most - 1) * busy,
		.link = direction->link,
		.dead = direction->n_dead > 0,
		.unmeasured = direction->n_unmeasured == direction->n_links &&
			      direction->n_unmeasured > 0,
		.colour = direction->value ? tb_style_shade(pane->style, percent)
					   : palette->line};
	if (direction->n_dead && direction->n_dead == direction->n_links)
		stroke.colour = palette->dead;
	double length = fmax(hypot(line.w, line.h), 1);
	line.x -= aside * line.h / length;
	line.y += aside * line.w / length;
	stroke.line = line;
	if (direction->mark != TB_MARK_NONE) {
		stroke.colour = tb_mark_colour(palette, direction->mark);
		stroke.rank = 200 + direction->mark;
		stroke.width = fmax(stroke.width, 1.5) +
			       (direction->mark == TB_MARK_ROOT ? 2 : 0);
	} else if (pane->selection->marks.any) {
		stroke.colour = fade(pane, stroke.colour, direction->value ? 0.35 : 0.25);
	} else if (!direction->n_dead) {
		stroke.colour = fade(pane, stroke.colour,
			direction->value ? FAINT + (1 - FAINT) * percent / 100 : IDLE);
	}
	if (tb_pick_equal(pane->selection->hovered,
		    (struct tb_pick){TB_PICK_LINK, direction->link.id}))
		stroke.colour = palette->text;
	return stroke;
}

static int tree_line_by_rank(const void *one, const void *other)
{
	const struct tb_tree_stroke *a = one, *b = other;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static const struct tb_tree_direction *tree_line_worse(const struct tb_tree_edge *edge)
{
	const struct tb_tree_direction *up = &edge->up, *down = &edge->down;
	bool take_up = up->mark != down->mark ? up->mark > down->mark
					      : up->n_links && up->value >= down->value;
	if (up->link.id == TB_ID_NONE || down->link.id == TB_ID_NONE)
		take_up = down->link.id == TB_ID_NONE;
	return take_up ? up : down;
}

// in_block is true for an edge within a folded subtree.
static bool in_block(const struct tb_tree_sight *sight, const struct tb_tree_edge *edge)
{
	uint32_t fold = sight->plan.vertices[edge->lower].fold;
	return fold != TB_ID_NONE && fold == sight->plan.vertices[edge->upper].fold;
}

// edge_strokes adds one or two lines for a cable.
static size_t edge_strokes(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	const struct tb_tree_edge *edge, size_t n)
{
	struct tb_box low = tb_tree_sight_box(sight, edge->lower);
	struct tb_box high = tb_tree_sight_box(sight, edge->upper);
	struct tb_box line = {low.x + low.w / 2, low.y, 0, high.y + high.h - low.y};
	line.w = high.x + high.w / 2 - line.x;
	if (!tb_tree_sight_holds(sight, low) && !tb_tree_sight_holds(sight, high))
		return n; // cables that only pass by would hide the rest
	bool apart = edge->up.n_links && edge->down.n_links &&
		     low.w + high.w >= 2 * TB_TREE_APART_W * 0.6;
	if (apart) {
		if (edge->up.link.id != TB_ID_NONE)
			sight->strokes[n++] =
				stroke_of(sight, pane, &edge->up, line, -2.5);
		if (edge->down.link.id != TB_ID_NONE)
			sight->strokes[n++] =
				stroke_of(sight, pane, &edge->down, line, 2.5);
		return n;
	}
	if (tree_line_worse(edge)->link.id != TB_ID_NONE)
		sight->strokes[n++] =
			stroke_of(sight, pane, tree_line_worse(edge), line, 0);
	return n;
}

// tree_line_cross_out draws a cross on the middle of a line.
static void tree_line_cross_out(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	const struct tb_colour colour = tb_palette_of(pane->style->theme)->dead;
	double x = line.x + line.w / 2, y = line.y + line.h / 2, r = CROSS_W / 2.0;
	tb_picture_line(picture, (struct tb_box){x - r, y - r, 2 * r, 2 * r}, 2, colour);
	tb_picture_line(picture, (struct tb_box){x - r, y + r, 2 * r, -2 * r}, 2, colour);
}

// draw_dashes draws the line of what was not measured.
static void draw_dashes(struct tb_picture *picture, const struct tb_tree_stroke *stroke)
{
	struct tb_box line = stroke->line;
	double n = fmin(fmax(floor(hypot(line.w, line.h) / DASH_W), 2), MOST_DASHES);
	for (double i = 0; i < n; i++)
		tb_picture_line(picture,
			(struct tb_box){line.x + line.w * i / n, line.y + line.h * i / n,
				line.w / n / 2, line.h / n / 2},
			stroke->width, stroke->colour);
}

// draw_tree_line_band fills what is between two rows of a block, in the shade of its
// worst link.
static void draw_tree_line_band(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_tree_edge *edge)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_tree_direction *worse = tree_line_worse(edge);
	struct tb_box low = tb_tree_sight_box(sight, edge->lower);
	struct tb_box high = tb_tree_sight_box(sight, edge->upper);
	struct tb_scale scale = tb_tree_sight_scale(sight, pane->style);
	struct tb_box box = {low.x, high.y + high.h, low.w, low.y - high.y - high.h};
	struct tb_pick pick = {TB_PICK_LINK, worse->link.id};
	uint32_t n_dead = edge->up.n_dead + edge->down.n_dead;
	if (!tb_tree_sight_holds(sight, box) || worse->link.id == TB_ID_NONE)
		return;
	if (edge->up.n_unmeasured + edge->down.n_unmeasured ==
		edge->up.n_links + edge->down.n_links)
		tb_unmeasured_draw(picture, box, pane->style->theme);
	else
		tb_picture_rect(picture, box,
			worse->value
				? tb_style_shade(pane->style,
					  tb_scale_percent(&scale, (double)worse->value))
				: palette->empty);
	tb_picture_pick(picture, pick);
	if (worse->mark != TB_MARK_NONE || tb_pick_equal(pane->selection->hovered, pick))
		tb_picture_frame(picture, box, 2,
			worse->mark != TB_MARK_NONE ? tb_mark_colour(palette, worse->mark)
						    : palette->text);
	if (n_dead)
		tree_line_cross_out(pane, picture, box);
}

void tb_tree_lines_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	size_t n = 0;
	for (uint32_t i = 0; i < sight->edges.n; i++)
		if (in_block(sight, &sight->edges.edges[i]))
			draw_tree_line_band(sight, pane, picture, &sight->edges.edges[i]);
		else
			n = edge_strokes(sight, pane, &sight->edges.edges[i], n);
	qsort(sight->strokes, n, sizeof *sight->strokes, tree_line_by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct tb_tree_stroke *stroke = &sight->strokes[i];
		tb_picture_line(picture, stroke->line, stroke->width,
			stroke->unmeasured ? (struct tb_colour){.a = 0} : stroke->colour);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, stroke->link.id});
		if (stroke->unmeasured)
			draw_dashes(picture, stroke);
		if (stroke->dead)
			tree_line_cross_out(pane, picture, stroke->line);
	}
}
