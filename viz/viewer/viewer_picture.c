// The picture: all visible views, and what lies on top of them.
#include "viewer_impl.h"

#define MOST_PICTURES 200  // until all that is read bit by bit is there
#define SHOWN_S	      0.15 // so long must a reading take to be shown

bool tb_viewer_moving(const struct tb_viewer *viewer)
{
	return viewer->playback.playing || viewer->messages.notice_s > 0;
}

bool tb_viewer_stale(const struct tb_viewer *viewer)
{
	return viewer->stale;
}

// show_reading shows and hides what is being read: it goes on while nothing else changes.
static void show_reading(struct tb_viewer *viewer)
{
	const char *now = viewer->data.reader
				  ? tb_reader_doing(viewer->data.reader, SHOWN_S)
				  : NULL;
	viewer->stale |= now != viewer->messages.reading;
	viewer->messages.reading = now;
}

static void draw_views(struct tb_viewer *viewer)
{
	struct tb_picture *picture = &viewer->picture;
	const struct tb_panes *panes = &viewer->panes;
	tb_picture_clear(picture, panes->width, panes->height,
		tb_palette_of(viewer->style.theme)->page);
	for (uint32_t i = 0; viewer->data.run && i < panes->n; i++)
		if (tb_panes_shows(panes, &panes->list[i]))
			panes->list[i].view->draw(&panes->list[i], picture);
	if (!viewer->data.run && viewer->file.opening)
		tb_opening_draw(viewer->file.opening, viewer->style.theme, picture);
	else if (viewer->file.opening && !viewer->data.info->complete)
		tb_opening_draw_progress(viewer->file.opening, viewer->style.theme,
			picture, panes->slots[TB_SLOT_HEAD]);
}

// hover_anew returns whether something else is under the pointer than before: what is
// shown can move under one that rests, to another view, window or row.
static bool hover_anew(struct tb_viewer *viewer)
{
	const struct tb_mouse *mouse = &viewer->mouse;
	struct tb_pick pick = {TB_PICK_NONE, 0};
	bool covered = viewer->help || tb_viewer_typing(viewer);
	if (!viewer->data.run || !mouse->in || mouse->pressed || covered)
		return false;
	if (!tb_picture_hit(&viewer->picture, mouse->x, mouse->y, &pick, NULL))
		pick = (struct tb_pick){TB_PICK_NONE, 0};
	bool other = !tb_pick_equal(pick, viewer->selection.hovered);
	viewer->selection.hovered = pick;
	return other;
}

static void draw_viewer(struct tb_viewer *viewer)
{
	draw_views(viewer);
	if (hover_anew(viewer))
		draw_views(viewer);
	tb_overlay_draw(viewer, &viewer->picture);
	viewer->stale = false;
	if (viewer->data.run)
		tb_spark_question_ask(&viewer->of_sparks, viewer->data.reader);
}

bool tb_viewer_await(struct tb_viewer *viewer)
{
	bool reads = tb_viewer_reads(viewer);
	if (reads)
		tb_reader_wait_all(viewer->data.reader);
	tb_viewer_poll(viewer);
	return reads;
}

const struct tb_picture *tb_viewer_picture(struct tb_viewer *viewer)
{
	const struct tb_picture *picture = &viewer->picture;
	tb_viewer_poll(viewer);
	show_reading(viewer);
	if (viewer->stale)
		draw_viewer(viewer);
	for (int i = 0; viewer->data.patience_s < 0 && i < MOST_PICTURES; i++) {
		// What was read may change the picture, or have something else read.
		if (!tb_viewer_await(viewer) && !viewer->stale)
			break;
		show_reading(viewer);
		draw_viewer(viewer);
	}
	return picture->status == TB_OK ? picture : NULL;
}

const struct tb_picture *tb_viewer_settled(struct tb_viewer *viewer)
{
	double patience_s = viewer->data.patience_s;
	viewer->data.patience_s = -1;
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	viewer->data.patience_s = patience_s;
	return picture;
}
