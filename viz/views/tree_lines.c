// Draws the cables of the tree: as wide as they are busy, in the shade of the metric;
// dead ones crossed out.
#include "tree_sight.h"

#include <math.h>
#include <stdlib.h>

#define MOST_W	5 // of a link that is always busy
#define CROSS_W 9

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
	struct tb_tree_stroke stroke = {.rank = direction->n_dead ? 150 : percent,
		.width = 1 + (MOST_W - 1) * busy,
		.link = direction->link,
		.dead = direction->n_dead > 0,
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
		stroke.colour.a = direction->value ? 90 : 60;
	}
	if (tb_pick_equal(pane->selection->hovered,
		    (struct tb_pick){TB_PICK_LINK, direction->link.id}))
		stroke.colour = palette->text;
	return stroke;
}

static int by_rank(const void *one, const void *other)
{
	const struct tb_tree_stroke *a = one, *b = other;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

// edge_strokes adds one or two lines for a cable.
static size_t edge_strokes(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	const struct tb_tree_edge *edge, size_t n)
{
	struct tb_box low = tb_tree_sight_box(sight, edge->row, edge->lower);
	struct tb_box high = tb_tree_sight_box(sight, edge->row + 1, edge->upper);
	struct tb_box line = {low.x + low.w / 2, low.y, 0, high.y + high.h - low.y};
	line.w = high.x + high.w / 2 - line.x;
	if (!tb_tree_sight_holds(sight, low) && !tb_tree_sight_holds(sight, high))
		return n; // cables that only pass by would hide the rest
	bool apart = edge->up.n_links && edge->down.n_links &&
		     low.w + high.w >= 2 * TB_TREE_APART_W * 0.6;
	if (apart) {
		sight->strokes[n++] = stroke_of(sight, pane, &edge->up, line, -2.5);
		sight->strokes[n++] = stroke_of(sight, pane, &edge->down, line, 2.5);
		return n;
	}
	const struct tb_tree_direction *up = &edge->up, *down = &edge->down;
	bool take_up = up->mark != down->mark ? up->mark > down->mark
					      : up->n_links && up->value >= down->value;
	sight->strokes[n++] = stroke_of(sight, pane, take_up ? up : down, line, 0);
	return n;
}

// cross_out draws a cross on the middle of a line.
static void cross_out(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	const struct tb_colour colour = tb_palette_of(pane->style->theme)->dead;
	double x = line.x + line.w / 2, y = line.y + line.h / 2, r = CROSS_W / 2.0;
	tb_picture_line(picture, (struct tb_box){x - r, y - r, 2 * r, 2 * r}, 2, colour);
	tb_picture_line(picture, (struct tb_box){x - r, y + r, 2 * r, -2 * r}, 2, colour);
}

void tb_tree_lines_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	size_t n = 0;
	for (uint32_t i = 0; i < sight->edges.n; i++)
		n = edge_strokes(sight, pane, &sight->edges.edges[i], n);
	qsort(sight->strokes, n, sizeof *sight->strokes, by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct tb_tree_stroke *stroke = &sight->strokes[i];
		tb_picture_line(picture, stroke->line, stroke->width, stroke->colour);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, stroke->link.id});
		if (stroke->dead)
			cross_out(pane, picture, stroke->line);
	}
}
