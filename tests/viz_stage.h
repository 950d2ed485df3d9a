// A viewer of the fixture's store, for tests that use it as a person does: keys, clicks
// on what the picture shows, and looks at its texts and colours.
#ifndef VIZ_STAGE_H
#define VIZ_STAGE_H

#include "viz_fixture.h"

#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define WIDTH  1280
#define HEIGHT 720

struct stage {
	char path[64];
	struct tb_viewer *viewer;
};

static inline void stage_open(struct stage *stage)
{
	struct tb_error error;
	viz_check(
		tb_viewer_new(&stage->viewer, tb_views, stage->path, 0, &error), &error);
	tb_viewer_resize(stage->viewer, WIDTH, HEIGHT);
}

static inline int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	viz_path(stage->path);
	viz_store(stage->path);
	stage_open(stage);
	*state = stage;
	return 0;
}

static inline int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_viewer_free(stage->viewer);
	unlink(stage->path);
	free(stage);
	return 0;
}

// stage_change changes the store by SQL and opens it again.
static inline void stage_change(struct stage *stage, const char *sql)
{
	sqlite3 *database;
	tb_viewer_free(stage->viewer);
	if (sqlite3_open(stage->path, &database) != SQLITE_OK ||
		sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(database);
	stage_open(stage);
}

static inline bool shows(struct tb_viewer *viewer, const char *text)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	assert_non_null(picture);
	for (size_t i = 0; i < picture->n_items; i++)
		if (picture->items[i].kind == TB_ITEM_TEXT &&
			strstr(tb_picture_string(picture, picture->items[i].text), text))
			return true;
	return false;
}

static inline void keys(struct tb_viewer *viewer, const char *const *names)
{
	for (; *names; names++)
		assert_true(tb_viewer_key(viewer, *names));
}

static inline void type(struct tb_viewer *viewer, const char *text)
{
	for (; *text; text++) {
		const char one[2] = {*text, '\0'};
		assert_true(tb_viewer_key(viewer, *text == ' ' ? "Space" : one));
	}
}

static inline void search(struct tb_viewer *viewer, const char *text)
{
	assert_true(tb_viewer_key(viewer, "/"));
	type(viewer, text);
	assert_true(tb_viewer_key(viewer, "Return"));
}

// marked counts items of a colour left of most_x: the accent marks the selection.
static inline size_t marked(
	struct tb_viewer *viewer, struct tb_colour colour, double most_x)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	size_t n = 0;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		n += item->box.x < most_x && item->box.y > 90 && item->box.y < 560 &&
		     item->kind != TB_ITEM_TEXT &&
		     memcmp(&item->colour, &colour, sizeof colour) == 0;
	}
	return n;
}

// item_from finds the first item with an id from a place on, from the left.
static inline const struct tb_item *item_from(
	struct tb_viewer *viewer, struct tb_pick pick, double least_x)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (size_t i = 0; i < picture->n_items; i++)
		if (tb_pick_equal(picture->items[i].pick, pick) &&
			picture->items[i].box.x >= least_x)
			return &picture->items[i];
	return NULL;
}

static inline const struct tb_item *item_of(struct tb_viewer *viewer, struct tb_pick pick)
{
	return item_from(viewer, pick, 0);
}

static inline void click_item(struct tb_viewer *viewer, const struct tb_item *item)
{
	assert_non_null(item);
	double x = item->box.x + item->box.w / 2;
	double y = item->box.y + item->box.h / 2;
	tb_viewer_pointer(viewer, TB_POINTER_PRESS, x, y);
	tb_viewer_pointer(viewer, TB_POINTER_RELEASE, x, y);
	tb_viewer_leave(viewer);
}

static inline void click(struct tb_viewer *viewer, struct tb_pick pick)
{
	click_item(viewer, item_of(viewer, pick));
}

#endif
