#include "viewer.h"

#include "scale.h"
#include "text_lines.h"
#include "trace.h"
#include "viewer_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_no_run(const char *path)
{
	struct tb_runs *runs;
	if (tb_runs_open(&runs, path, NULL) != TB_OK)
		return false;
	bool none = tb_runs_n(runs) == 0;
	tb_runs_free(runs);
	return none;
}

static int viewer_init(struct tb_viewer *viewer, const struct tb_view *const *views,
	const char *path, struct tb_error *error)
{
	const struct tb_pane pattern = {.data = &viewer->data,
		.style = &viewer->style,
		.selection = &viewer->selection,
		.panes = &viewer->panes,
		.rows = &viewer->rows,
		.playback = &viewer->playback,
		.viewer = viewer};
	viewer->data.job = TB_ID_NONE;
	viewer->style = (struct tb_style){.theme = TB_DARK, .colours = TB_CIVIDIS};
	viewer->playback.speed = 1;
	viewer->data.patience_s = -1;
	viewer->stale = true;
	if (tb_panes_init(&viewer->panes, views, &pattern) != TB_OK)
		return tb_fail_memory_in(error, path, "it");
	return tb_viewed_file_init(&viewer->file, path, error);
}

// open_viewer_source shows run `id` of a store, reports that it has none yet, or offers
// networks for a trace.
static int open_viewer_source(
	struct tb_viewer *viewer, int64_t id, struct tb_error *error)
{
	struct tb_error cause;
	const char *path = viewer->file.path;
	int status = tb_viewer_open_run(viewer, id, &cause);
	if (status == TB_OK) {
		tb_viewer_show(viewer, (struct tb_window){0, 0}, TB_WAIT);
		return TB_OK;
	}
	tb_viewed_file_opened(&viewer->file, NULL);
	const struct tb_trace_reader *reader;
	if (status == TB_EFOREIGN && tb_trace_find(&reader, path, NULL) == TB_OK)
		return tb_opening_new(&viewer->file.opening, path, reader, error);
	if (id == 0 && has_no_run(path)) {
		tb_viewer_report(viewer, &cause);
		return TB_OK;
	}
	if (error)
		*error = cause;
	return status;
}

int tb_viewer_new(struct tb_viewer **viewer, const struct tb_view *const *views,
	const char *path, int64_t id, struct tb_error *error)
{
	struct tb_viewer *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory_in(error, path, "it");
	int status = viewer_init(made, views, path, error);
	if (status == TB_OK)
		status = open_viewer_source(made, id, error);
	if (status != TB_OK) {
		tb_viewer_free(made);
		return status;
	}
	// Show the main view that has most to show of the run.
	struct tb_pane *pane;
	for (int n = 0; made->data.run && (pane = tb_panes_main(&made->panes, n)); n++)
		if (pane->view->comes_first && pane->view->comes_first(pane))
			tb_viewer_go(made, pane);
	*viewer = made;
	return TB_OK;
}

int tb_viewer_replay_with(struct tb_viewer *viewer, const char *const *words,
	size_t n_words, struct tb_error *error)
{
	if (n_words && !viewer->file.opening)
		return tb_fail_in(error, TB_EUSAGE, viewer->file.path,
			"is no trace: %s and the like are for replays", words[0]);
	if (n_words)
		tb_opening_begin_with(viewer->file.opening, words, n_words);
	return TB_OK;
}

void tb_viewer_free(struct tb_viewer *viewer)
{
	if (!viewer)
		return;
	tb_proof_end(&viewer->proof);
	tb_panes_fini(&viewer->panes);
	tb_viewer_close_run(viewer);
	tb_viewed_file_fini(&viewer->file);
	tb_file_search_fini(&viewer->files);
	tb_picture_fini(&viewer->picture);
	free(viewer);
}

void tb_viewer_set_recent(struct tb_viewer *viewer, const char *const *paths, size_t n)
{
	if (tb_file_search_set_recent(&viewer->files, paths, n) != TB_OK)
		tb_file_search_fini(&viewer->files);
}

void tb_viewer_resize(struct tb_viewer *viewer, double width, double height)
{
	tb_panes_lay_out(&viewer->panes, width, height);
	viewer->stale = true;
}

void tb_viewer_tick(struct tb_viewer *viewer, double elapsed_s)
{
	const struct tb_viewer_data *data = &viewer->data;
	struct tb_playback *playback = &viewer->playback;
	viewer->stale |= tb_notices_tick(&viewer->messages, elapsed_s);
	tb_viewer_poll(viewer);
	if (!playback->playing)
		return;
	uint64_t width = tb_viewer_data_asked_bins(data);
	uint64_t first =
		tb_playback_advance(playback, elapsed_s, data->info->n_bins, width);
	viewer->stale |= !playback->playing;
	if (first == data->asked.first_bin)
		return;
	// The next window is read while this one is drawn.
	double patience_s = data->patience_s;
	viewer->data.patience_s = fmin(patience_s, 0);
	tb_viewer_show(viewer, (struct tb_window){first, first + width}, data->metric);
	viewer->data.patience_s = patience_s;
}

void tb_viewer_set_patience(struct tb_viewer *viewer, double seconds)
{
	viewer->data.patience_s = seconds;
}

double tb_viewer_patience(const struct tb_viewer *viewer)
{
	return viewer->data.patience_s;
}

bool tb_viewer_reads(const struct tb_viewer *viewer)
{
	return viewer->data.reader && tb_reader_busy(viewer->data.reader);
}

struct tb_viewer_look tb_viewer_look(const struct tb_viewer *viewer)
{
	return (struct tb_viewer_look){.style = viewer->style,
		.of_store = true,
		.view = tb_panes_main_number(&viewer->panes),
		.metric = viewer->data.metric,
		.window = viewer->data.asked};
}

void tb_viewer_set_look(struct tb_viewer *viewer, const struct tb_viewer_look *look)
{
	struct tb_window window = look->window;
	viewer->style = look->style;
	viewer->stale = true;
	if (!viewer->data.run || !look->of_store)
		return;
	if (window.first_bin >= window.end_bin ||
		window.end_bin > viewer->data.info->n_bins)
		window = (struct tb_window){0, 0};
	tb_viewer_show(viewer, window, look->metric);
	tb_viewer_go(viewer, tb_panes_main(&viewer->panes, look->view));
}

enum tb_action tb_viewer_take_action(struct tb_viewer *viewer)
{
	enum tb_action action = viewer->pending.what;
	viewer->pending.what = TB_ACTION_NONE;
	return action;
}

const char *tb_viewer_action_path(const struct tb_viewer *viewer)
{
	return viewer->pending.path;
}

int64_t tb_viewer_action_run(const struct tb_viewer *viewer)
{
	return viewer->pending.run;
}

const char *tb_viewer_title(const struct tb_viewer *viewer)
{
	return viewer->file.title;
}

const char *tb_viewer_path(const struct tb_viewer *viewer)
{
	return viewer->file.path;
}

// Keys go to the prompt while it is open, to the networks offered for a trace, or else
// through the table of requests.

bool tb_viewer_typing(const struct tb_viewer *viewer)
{
	return viewer->prompt.kind != TB_PROMPT_NONE;
}

// files_key handles the keys of the dialog that opens files, besides those of every
// prompt.
static bool files_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_file_search *files = &viewer->files;
	if (viewer->prompt.kind != TB_PROMPT_OPEN)
		return false;
	if (strcmp(key, "Ctrl+T") == 0)
		files->types = (enum tb_file_types)((files->types + 1) % TB_N_TYPES);
	else if (strcmp(key, "Tab") != 0 ||
		 !tb_file_search_complete(files, &viewer->prompt))
		return false;
	tb_viewer_offer(viewer);
	return true;
}

bool tb_viewer_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_request request;
	struct tb_opening *opening = viewer->file.opening;
	if (tb_viewer_typing(viewer)) {
		viewer->stale = true;
		if (files_key(viewer, key))
			return true;
		switch (tb_prompt_key(&viewer->prompt, key)) {
		case TB_PROMPT_EDITED:
			tb_viewer_offer(viewer);
			return true;
		case TB_PROMPT_LEFT:
			tb_viewer_offer(viewer); // removes a filter
			viewer->prompt.kind = TB_PROMPT_NONE;
			tb_viewer_note(viewer, false);
			return true;
		case TB_PROMPT_ACCEPTED:
			tb_viewer_accept(viewer);
			tb_viewer_note(viewer, false);
			return true;
		case TB_PROMPT_MOVED:
			return true;
		case TB_PROMPT_IGNORED:
			break;
		}
		return false;
	}
	if (!viewer->data.run && opening && tb_opening_key(opening, key)) {
		viewer->stale = true;
		return true;
	}
	if (!tb_request_of_key(key, &request))
		return false;
	tb_viewer_note(viewer, false); // playback has moved on
	tb_viewer_ask(viewer, &request);
	tb_viewer_note(viewer, false);
	return true;
}

// The pointer: which view it is over, what it hits, clicks and drags.

static void pointer_pass_on(struct tb_viewer *viewer, struct tb_pane *pane,
	const struct tb_pointer_event *event)
{
	viewer->stale = true;
	if (viewer->data.run && pane->view->pointer)
		pane->view->pointer(pane, event);
}

static struct tb_pick hit(struct tb_viewer *viewer, double x, double y)
{
	struct tb_pick pick;
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	if (picture && tb_picture_hit(picture, x, y, &pick, NULL))
		return pick;
	return (struct tb_pick){TB_PICK_NONE, 0};
}

// press_prompt chooses an offer, or closes the prompt.
static void press_prompt(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->stale = true;
	if (pick.kind != TB_PICK_RESULT) {
		viewer->prompt.kind = TB_PROMPT_NONE;
		return;
	}
	if (pick.index == TB_PROMPT_ABOUT) {
		tb_viewer_key(viewer, "Ctrl+T");
		return;
	}
	viewer->prompt.chosen = (int)pick.index;
	tb_viewer_accept(viewer);
}

static void press(struct tb_viewer *viewer, double x, double y)
{
	struct tb_mouse *mouse = &viewer->mouse;
	if (tb_viewer_typing(viewer)) {
		press_prompt(viewer, hit(viewer, x, y));
		return;
	}
	if (viewer->help) {
		viewer->help = false;
		viewer->stale = true;
		return;
	}
	if (!viewer->data.run && viewer->file.opening) {
		tb_opening_press(viewer->file.opening, hit(viewer, x, y));
		viewer->stale = true;
		return;
	}
	tb_mouse_press(mouse, tb_panes_at(&viewer->panes, x, y), hit(viewer, x, y));
	if (mouse->pressed)
		pointer_pass_on(viewer, mouse->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_PRESS,
				.x = x,
				.y = y,
				.pick = mouse->pick});
}

static void pointer_click(struct tb_viewer *viewer, struct tb_pick pick, bool adds)
{
	struct tb_mouse *mouse = &viewer->mouse;
	if (pick.kind == TB_PICK_BUTTON) {
		tb_viewer_ask(viewer,
			&(struct tb_request){(enum tb_request_name)pick.index, 0});
		return;
	}
	if (pick.kind == TB_PICK_METRIC) {
		tb_viewer_show(viewer, viewer->data.asked, (enum tb_metric)pick.index);
		return;
	}
	if (pick.kind == TB_PICK_VIEW)
		tb_viewer_go(viewer, &viewer->panes.list[pick.index]);
	if (tb_selection_can(pick) && adds)
		tb_viewer_add_end(viewer, pick);
	else if (tb_selection_can(pick) && mouse->grabbed->view->slot == TB_SLOT_DETAIL)
		tb_viewer_enter(viewer, pick);
	else if (tb_selection_can(pick))
		tb_viewer_select(viewer, pick);
	pointer_pass_on(viewer, mouse->grabbed,
		&(struct tb_pointer_event){.kind = TB_EVENT_CLICK,
			.x = mouse->x,
			.y = mouse->y,
			.pick = pick});
}

static void pointer_move(struct tb_viewer *viewer, double x, double y)
{
	struct tb_mouse *mouse = &viewer->mouse;
	double dx, dy;
	bool drags = tb_mouse_move(mouse, x, y, &dx, &dy);
	if (!mouse->pressed) {
		struct tb_selection *selection = &viewer->selection;
		struct tb_pick pick = hit(viewer, x, y);
		// A tooltip follows the pointer, so every move over an item changes the
		// picture.
		viewer->stale |= pick.kind != TB_PICK_NONE ||
				 !tb_pick_equal(pick, selection->hovered);
		selection->hovered = pick;
	} else if (drags)
		pointer_pass_on(viewer, mouse->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_DRAG,
				.x = x,
				.y = y,
				.dx = dx,
				.dy = dy,
				.pick = mouse->pick});
}

void tb_viewer_pointer(struct tb_viewer *viewer, enum tb_pointer what, double x, double y)
{
	pointer_move(viewer, x, y);
	if (what == TB_POINTER_PRESS)
		tb_viewer_note(viewer, false);
	if (what == TB_POINTER_PRESS)
		press(viewer, x, y);
	else if (what == TB_POINTER_RELEASE || what == TB_POINTER_ADD) {
		bool adds = what == TB_POINTER_ADD;
		struct tb_mouse *mouse = &viewer->mouse;
		bool clicks = mouse->pressed && !mouse->dragged;
		mouse->pressed = false;
		if (clicks)
			pointer_click(viewer, mouse->pick, adds);
	} else if (what == TB_POINTER_DOUBLE) {
		// Handle a double click, which follows its second release.
		struct tb_pane *pane = tb_panes_at(&viewer->panes, x, y);
		struct tb_pick pick = hit(viewer, x, y);
		if (tb_selection_can(pick))
			tb_viewer_ask(viewer, &(struct tb_request){TB_REQUEST_FOCUS, 0});
		if (pane)
			pointer_pass_on(viewer, pane,
				&(struct tb_pointer_event){.kind = TB_EVENT_DOUBLE,
					.x = x,
					.y = y,
					.pick = pick});
	}
	if (what != TB_POINTER_MOVE && what != TB_POINTER_PRESS)
		tb_viewer_note(viewer, false);
}

void tb_viewer_leave(struct tb_viewer *viewer)
{
	viewer->mouse.in = false;
	viewer->selection.hovered = (struct tb_pick){TB_PICK_NONE, 0};
	viewer->stale = true;
}

void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps)
{
	pointer_move(viewer, x, y);
	struct tb_pane *pane = tb_panes_at(&viewer->panes, x, y);
	tb_viewer_note(viewer, false);
	if (tb_viewer_typing(viewer)) {
		tb_prompt_scroll(&viewer->prompt, -(int)lround(steps * 3));
		viewer->stale = true;
	} else if (pane)
		pointer_pass_on(viewer, pane,
			&(struct tb_pointer_event){.kind = TB_EVENT_WHEEL,
				.x = x,
				.y = y,
				.steps = steps,
				.pick = viewer->selection.hovered});
	tb_viewer_note(viewer, true);
}

// The picture: all visible views, and what lies on top of them.

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

// Text to copy or export: the details of the selection, and the links of the window.

char *tb_viewer_copy(struct tb_viewer *viewer)
{
	char *text = NULL;
	size_t length;
	if (!tb_viewer_picture(viewer))
		return NULL;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	// Write the texts of the detail, with a tab between those on one line.
	const struct tb_picture *picture = &viewer->picture;
	struct tb_box place = viewer->panes.slots[TB_SLOT_DETAIL];
	double line_y = -1;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind != TB_ITEM_TEXT ||
			!tb_box_holds(place, item->box.x, item->box.y))
			continue;
		if (line_y >= 0)
			fputs(item->box.y == line_y ? "\t" : "\n", stream);
		line_y = item->box.y;
		fputs(tb_picture_string(picture, item->text), stream);
	}
	if (line_y >= 0)
		fputc('\n', stream);
	return tb_text_written(stream, &text);
}

void tb_viewer_export(struct tb_viewer *viewer, FILE *stream)
{
	struct tb_pane *main = viewer->panes.main;
	if (viewer->data.run && main->view->put_csv)
		main->view->put_csv(main, stream);
	else if (viewer->data.run)
		tb_rows_put_csv(&viewer->rows, stream);
}
