// The picture: all visible views, and what lies on top of them.
#include "viewer_impl.h"

#define MOST_PICTURES 200 // until all that is read bit by bit is there

// wants is true while sparklines of the list are still to be read.
static bool wants(const struct tb_viewer *viewer)
{
	return viewer->rows.sparks && viewer->rows.sparks->wanting;
}

bool tb_viewer_moving(const struct tb_viewer *viewer)
{
	return viewer->playback.playing || viewer->messages.notice_s > 0 || wants(viewer);
}

bool tb_viewer_stale(const struct tb_viewer *viewer)
{
	return viewer->stale;
}

const struct tb_picture *tb_viewer_picture(struct tb_viewer *viewer)
{
	struct tb_picture *picture = &viewer->picture;
	const struct tb_panes *panes = &viewer->panes;
	if (!viewer->stale)
		return picture->status == TB_OK ? picture : NULL;
	tb_picture_clear(picture, panes->width, panes->height,
		tb_palette_of(viewer->style.theme)->page);
	for (uint32_t i = 0; viewer->data.run && i < panes->n; i++)
		if (tb_panes_shows(panes, &panes->list[i]))
			panes->list[i].view->draw(&panes->list[i], picture);
	if (!viewer->data.run && viewer->file.opening)
		tb_opening_draw(viewer->file.opening, viewer->style.theme, picture);
	tb_overlay_draw(viewer, picture);
	viewer->stale = wants(viewer);
	return picture->status == TB_OK ? picture : NULL;
}

const struct tb_picture *tb_viewer_settled(struct tb_viewer *viewer)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (int i = 0; picture && viewer->stale && i < MOST_PICTURES; i++)
		picture = tb_viewer_picture(viewer);
	return picture;
}
