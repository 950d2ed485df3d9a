#include "viewer.h"

#include "run_text.h"
#include "viewer_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_H	      56
#define TABS_H	      34
#define TIME_H	      146
#define SIDE_W	      340
#define NOTICE_S      5
#define MOST_PICTURES 200 // until all that is read bit by bit is there

static const struct tb_view *const views[TB_N_VIEWS] = {
	[TB_VIEW_HEAD] = &tb_view_head,
	[TB_VIEW_TABS] = &tb_view_tabs,
	[TB_VIEW_MATRIX] = &tb_view_matrix,
	[TB_VIEW_TREE] = &tb_view_tree,
	[TB_VIEW_LINKS] = &tb_view_links,
	[TB_VIEW_FLOWS] = &tb_view_flows,
	[TB_VIEW_ROOTS] = &tb_view_roots,
	[TB_VIEW_BLAME] = &tb_view_blame,
	[TB_VIEW_PAIR] = &tb_view_pair,
	[TB_VIEW_LIST] = &tb_view_list,
	[TB_VIEW_DETAIL] = &tb_view_detail,
	[TB_VIEW_TIME] = &tb_view_time,
};

const struct tb_view *tb_viewer_view(enum tb_view_name name)
{
	return views[name];
}

bool tb_viewer_shows(const struct tb_viewer *viewer, enum tb_view_name name)
{
	if (name == TB_VIEW_LIST)
		return viewer->main != TB_VIEW_LINKS; // the table has them all
	return name < TB_FIRST_MAIN || name > TB_LAST_MAIN || name == viewer->main;
}

void tb_viewer_told(struct tb_viewer *viewer, const struct tb_error *error)
{
	tb_error_format(error, viewer->trouble, sizeof viewer->trouble);
	viewer->playing = false;
	viewer->stale = true;
}

static int open_run(struct tb_viewer *viewer, int64_t id, struct tb_error *error)
{
	struct stat identity;
	int status = tb_run_open(&viewer->run, viewer->path, id, error);
	if (status != TB_OK)
		return status;
	if (stat(viewer->path, &identity) == 0) {
		viewer->device = identity.st_dev;
		viewer->inode = identity.st_ino;
	}
	viewer->info = tb_run_info(viewer->run);
	uint32_t n = viewer->info->n_links;
	viewer->rows = calloc(n ? n : 1, sizeof *viewer->rows);
	struct tb_marks *marks = &viewer->marks;
	marks->links = calloc(n + 1u, 1);
	marks->switches = calloc(viewer->info->n_switches + 1u, 1);
	marks->nodes = calloc(viewer->info->n_nodes + 1u, 1);
	viewer->sparks = calloc(1, sizeof *viewer->sparks);
	if (!viewer->rows || !viewer->sparks || !marks->links || !marks->switches ||
		!marks->nodes)
		return tb_fail_in(error, TB_ENOMEM, viewer->path,
			"no memory to show %" PRIu32 " links", n);
	status = tb_run_look(
		viewer->run, (struct tb_window){0, 0}, &viewer->samples, error);
	return status ? status : tb_matrix_lay_out(&viewer->matrix, viewer->run, error);
}

static void close_run(struct tb_viewer *viewer)
{
	struct tb_marks *marks = &viewer->marks;
	tb_viewer_data_fini(&viewer->data);
	tb_matrix_fini(&viewer->matrix);
	free(viewer->sparks);
	free(marks->links);
	free(marks->switches);
	free(marks->nodes);
	free(viewer->rows);
	tb_run_free(viewer->run);
	viewer->sparks = NULL;
	viewer->marks = (struct tb_marks){.any = false};
	viewer->rows = NULL;
	viewer->run = NULL;
}

static void set_title(struct tb_viewer *viewer)
{
	char caption[192];
	if (viewer->run)
		snprintf(viewer->title, sizeof viewer->title, "%s - Tailback",
			tb_run_caption(viewer->info, caption, sizeof caption));
	else
		snprintf(viewer->title, sizeof viewer->title, "Tailback");
}

static bool has_no_run(const char *path)
{
	struct tb_runs *runs;
	if (tb_runs_open(&runs, path, NULL) != TB_OK)
		return false;
	bool none = tb_runs_n(runs) == 0;
	tb_runs_free(runs);
	return none;
}

int tb_viewer_new(
	struct tb_viewer **viewer, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_viewer *made = calloc(1, sizeof *made);
	struct tb_error cause;
	if (!made || !(made->path = strdup(path))) {
		free(made);
		return tb_fail_in(error, TB_ENOMEM, path, "no memory to open it");
	}
	made->main = TB_VIEW_MATRIX;
	made->speed = 1;
	int status = open_run(made, id, &cause);
	bool empty = status != TB_OK && id == 0 && has_no_run(path);
	bool trace = status == TB_EFOREIGN && tb_opening_is_trace(path);
	if (trace)
		status = tb_opening_new(&made->opening, path, &cause);
	made->colours = TB_CIVIDIS;
	made->theme = TB_DARK;
	if (status == TB_OK) {
		tb_viewer_show(made, (struct tb_window){0, 0}, TB_WAIT);
	} else if (empty) {
		// Whole, just early: the window says so.
		tb_viewer_told(made, &cause);
	} else {
		tb_viewer_free(made);
		if (error)
			*error = cause;
		return status;
	}
	set_title(made);
	made->stale = true;
	*viewer = made;
	return TB_OK;
}

void tb_viewer_free(struct tb_viewer *viewer)
{
	if (!viewer)
		return;
	for (size_t i = 0; i < TB_N_VIEWS; i++) {
		if (views[i]->close && viewer->states[i])
			views[i]->close(viewer->states[i]);
		free(viewer->states[i]);
	}
	close_run(viewer);
	tb_opening_free(viewer->opening);
	tb_matrix_layout_fini(&viewer->layout);
	tb_picture_fini(&viewer->picture);
	free(viewer->wait_by_bin);
	free(viewer->wait_by_level);
	free(viewer->path);
	free(viewer);
}

// look_back goes back to the window that is shown, or to the whole run, whose sums are
// there whatever became of the file.
static void look_back(struct tb_viewer *viewer)
{
	struct tb_error error;
	if (tb_run_look(viewer->run, viewer->window, &viewer->samples, &error) == TB_OK)
		return;
	viewer->window = (struct tb_window){0, 0};
	if (tb_run_look(viewer->run, viewer->window, &viewer->samples, &error) == TB_OK)
		tb_matrix_fill(&viewer->matrix, viewer->samples, viewer->metric);
}

// open_shown reads what the views in sight show; the others do so once they are.
static void open_shown(struct tb_viewer *viewer)
{
	struct tb_error error;
	for (size_t i = 0; i < TB_N_VIEWS; i++) {
		if (!viewer->unread[i] || !tb_viewer_shows(viewer, (enum tb_view_name)i))
			continue;
		if (views[i]->open && views[i]->open(viewer, &error) != TB_OK) {
			tb_viewer_told(viewer, &error);
			return;
		}
		viewer->unread[i] = false;
	}
}

void tb_viewer_go(struct tb_viewer *viewer, enum tb_view_name main)
{
	if (!viewer->run || viewer->main == main || !tb_viewer_has(viewer, main))
		return;
	if (main == TB_VIEW_LINKS || viewer->main == TB_VIEW_LINKS)
		viewer->scroll = 0; // their rows are of unequal height
	viewer->main = main;
	tb_viewer_resize(viewer, viewer->width, viewer->height);
	open_shown(viewer);
	tb_viewer_mark(viewer);
	if (viewer->selected.kind != TB_PICK_NONE && views[main]->reveal)
		views[main]->reveal(viewer, false);
}

void tb_viewer_show(
	struct tb_viewer *viewer, struct tb_window window, enum tb_metric metric)
{
	struct tb_error error;
	if (!viewer->run)
		return;
	viewer->stale = true;
	if (tb_window_whole(viewer->info, window))
		window = (struct tb_window){0, 0};
	int status = tb_run_look(viewer->run, window, &viewer->samples, &error);
	if (status != TB_OK) {
		tb_viewer_told(viewer, &error);
		look_back(viewer);
		return;
	}
	tb_matrix_fill(&viewer->matrix, viewer->samples, metric);
	viewer->window = window;
	viewer->metric = metric;
	viewer->trouble[0] = '\0';
	for (size_t i = 0; i < TB_N_VIEWS; i++)
		viewer->unread[i] = true;
	open_shown(viewer);
}

void tb_viewer_select(struct tb_viewer *viewer, struct tb_pick pick)
{
	viewer->selected = pick;
	viewer->stale = true;
	tb_viewer_mark(viewer);
	for (size_t i = 0; i < TB_N_VIEWS && pick.kind != TB_PICK_NONE; i++)
		if (views[i]->reveal && tb_viewer_shows(viewer, (enum tb_view_name)i))
			views[i]->reveal(viewer, false);
}

uint64_t tb_viewer_width_bins(const struct tb_viewer *viewer)
{
	if (tb_window_whole(viewer->info, viewer->window))
		return viewer->info->n_bins;
	return viewer->window.end_bin - viewer->window.first_bin;
}

void tb_viewer_resize(struct tb_viewer *viewer, double width, double height)
{
	double body_h = fmax(height - HEAD_H - TIME_H, 40);
	double side_w = fmin(SIDE_W, width * 0.4);
	double main_w = fmax(width - side_w, 40);
	// The detail needs its lines; the list takes what is left.
	double list_h = fmax(body_h * 0.35, body_h - 330);
	if (viewer->main == TB_VIEW_LINKS)
		list_h = 0;
	viewer->width = width;
	viewer->height = height;
	viewer->places[TB_VIEW_HEAD] = (struct tb_box){0, 0, width, HEAD_H};
	viewer->places[TB_VIEW_TABS] = (struct tb_box){0, HEAD_H, main_w, TABS_H};
	for (int i = TB_FIRST_MAIN; i <= TB_LAST_MAIN; i++)
		viewer->places[i] = (struct tb_box){0, 0, 0, 0};
	viewer->places[viewer->main] =
		(struct tb_box){0, HEAD_H + TABS_H, main_w, body_h - TABS_H};
	viewer->places[TB_VIEW_LIST] = (struct tb_box){main_w, HEAD_H, side_w, list_h};
	viewer->places[TB_VIEW_DETAIL] =
		(struct tb_box){main_w, HEAD_H + list_h, side_w, body_h - list_h};
	viewer->places[TB_VIEW_TIME] = (struct tb_box){0, HEAD_H + body_h, width, TIME_H};
	viewer->stale = true;
	if (viewer->run && viewer->main == TB_VIEW_MATRIX &&
		(!viewer->away[TB_VIEW_MATRIX] || !viewer->laid_out))
		tb_matrix_view_fit(viewer);
}

void tb_viewer_tick(struct tb_viewer *viewer, double elapsed_s)
{
	if (viewer->notice_s > 0) {
		viewer->notice_s -= elapsed_s;
		viewer->stale |= viewer->notice_s <= 0;
	}
	if (!viewer->playing)
		return;
	// A run plays in twenty seconds, and no slower than two bins a second.
	double bins_per_s = viewer->speed * fmax((double)viewer->info->n_bins / 20, 2);
	double last = (double)(viewer->info->n_bins - tb_viewer_width_bins(viewer));
	viewer->play_bin = fmin(viewer->play_bin + elapsed_s * bins_per_s, last);
	uint64_t first = (uint64_t)viewer->play_bin;
	if (first != viewer->window.first_bin) {
		uint64_t width = tb_viewer_width_bins(viewer);
		tb_viewer_show(
			viewer, (struct tb_window){first, first + width}, viewer->metric);
	}
	if (viewer->play_bin >= last && viewer->loop) {
		viewer->play_bin = 0;
	} else if (viewer->play_bin >= last) {
		viewer->playing = false;
		viewer->stale = true;
	}
}

static void drop_state(struct tb_viewer *viewer, enum tb_view_name name)
{
	if (views[name]->close && viewer->states[name])
		views[name]->close(viewer->states[name]);
	free(viewer->states[name]);
	viewer->states[name] = NULL;
}

// forget_whole drops what was read of the whole run, and what views made of it: arrays as
// long as the run was.
static void forget_whole(struct tb_viewer *viewer)
{
	free(viewer->wait_by_bin);
	free(viewer->wait_by_level);
	viewer->wait_by_bin = viewer->wait_by_level = NULL;
	tb_viewer_data_fini(&viewer->data);
	memset(viewer->sparks, 0, sizeof *viewer->sparks);
	drop_state(viewer, TB_VIEW_FLOWS);
	drop_state(viewer, TB_VIEW_ROOTS);
	drop_state(viewer, TB_VIEW_BLAME);
	enum tb_pick_kind kind = viewer->selected.kind;
	if (kind == TB_PICK_FLOW || kind == TB_PICK_PAIR) // rows are others now
		viewer->selected = (struct tb_pick){TB_PICK_NONE, 0};
}

// follow shows what a writer has added to the run since. Where its bins have become wider
// the window is what it was in time.
static void follow(struct tb_viewer *viewer)
{
	struct tb_error error;
	struct tb_window window = viewer->window;
	tb_time_ps bin_ps = viewer->info->bin_ps;
	int status = tb_run_refresh(viewer->run, &error);
	if (status == 0)
		return;
	forget_whole(viewer);
	if (viewer->info->bin_ps > bin_ps && bin_ps > 0) {
		uint64_t wider = (uint64_t)(viewer->info->bin_ps / bin_ps);
		window.first_bin /= wider;
		window.end_bin = (window.end_bin + wider - 1) / wider;
	}
	if (window.end_bin > viewer->info->n_bins)
		window = (struct tb_window){0, 0};
	viewer->play_bin = (double)window.first_bin;
	tb_viewer_show(viewer, window, viewer->metric);
	tb_viewer_mark(viewer);
	if (status < 0)
		tb_viewer_told(viewer, &error);
}

// try_again opens a store that held no run.
static void try_again(struct tb_viewer *viewer)
{
	struct tb_error error;
	if (open_run(viewer, 0, &error) != TB_OK) {
		close_run(viewer);
		return;
	}
	tb_viewer_show(viewer, (struct tb_window){0, 0}, viewer->metric);
	tb_viewer_resize(viewer, viewer->width, viewer->height);
	set_title(viewer);
}

// follow_replay looks how the replay of a trace that was opened fares.
static void follow_replay(struct tb_viewer *viewer)
{
	const char *store = tb_opening_store(viewer->opening);
	if (store && strcmp(store, viewer->path) != 0) {
		char *path = strdup(store);
		if (!path)
			return;
		free(viewer->path);
		viewer->path = path;
	}
	if (!tb_opening_poll(viewer->opening))
		return;
	viewer->stale = true;
	// One that failed before there was a run is told where the networks are offered.
	if (viewer->run && !tb_opening_store(viewer->opening))
		snprintf(viewer->trouble, sizeof viewer->trouble,
			"the replay failed: %s; what is shown was read before",
			tb_opening_trouble(viewer->opening));
}

bool tb_viewer_replays(const struct tb_viewer *viewer)
{
	return viewer->opening && tb_opening_runs(viewer->opening);
}

bool tb_viewer_follows(const struct tb_viewer *viewer)
{
	return !viewer->run || (!viewer->info->complete && !viewer->trouble[0]);
}

void tb_viewer_check(struct tb_viewer *viewer)
{
	struct stat now;
	struct tb_error error = {.code = TB_OK};
	if (viewer->opening)
		follow_replay(viewer);
	if (!viewer->run)
		try_again(viewer);
	if (!viewer->run || viewer->trouble[0])
		return;
	if (stat(viewer->path, &now) != 0)
		tb_fail_in(&error, TB_EIO, viewer->path,
			"the store is gone; what is shown was read before");
	else if (now.st_dev != viewer->device || now.st_ino != viewer->inode)
		tb_fail_in(&error, TB_EIO, viewer->path,
			"the store was replaced; what is shown is the old one");
	else if (!viewer->info->complete)
		follow(viewer);
	if (error.code != TB_OK)
		tb_viewer_told(viewer, &error);
}

bool tb_viewer_preload(struct tb_viewer *viewer)
{
	struct tb_error ignored; // who needs that bin is told
	return viewer->run && !viewer->trouble[0] && viewer->info->n_bins > 0 &&
	       tb_run_preload(viewer->run, viewer->window.end_bin % viewer->info->n_bins,
		       &ignored) > 0;
}

void tb_viewer_notice(struct tb_viewer *viewer, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(viewer->notice, sizeof viewer->notice, format, args);
	va_end(args);
	viewer->notice_s = NOTICE_S;
	viewer->stale = true;
}

void tb_viewer_set_theme(struct tb_viewer *viewer, enum tb_theme theme)
{
	viewer->theme = theme;
	viewer->stale = true;
}

void tb_viewer_set_colours(struct tb_viewer *viewer, enum tb_colours colours)
{
	viewer->colours = colours;
	viewer->stale = true;
}

void tb_viewer_set_metric(struct tb_viewer *viewer, enum tb_metric metric)
{
	tb_viewer_show(viewer, viewer->window, metric);
}

struct tb_viewer_look tb_viewer_look(const struct tb_viewer *viewer)
{
	return (struct tb_viewer_look){.theme = viewer->theme,
		.colours = viewer->colours,
		.absolute = viewer->absolute,
		.logarithmic = viewer->logarithmic,
		.of_store = true,
		.view = (int)viewer->main - TB_FIRST_MAIN,
		.metric = viewer->metric,
		.window = viewer->window};
}

void tb_viewer_set_look(struct tb_viewer *viewer, const struct tb_viewer_look *look)
{
	viewer->theme = look->theme;
	viewer->colours = look->colours;
	viewer->absolute = look->absolute;
	viewer->logarithmic = look->logarithmic;
	viewer->stale = true;
	if (!viewer->run || !look->of_store)
		return;
	struct tb_window window = look->window;
	if (window.first_bin >= window.end_bin || window.end_bin > viewer->info->n_bins)
		window = (struct tb_window){0, 0};
	tb_viewer_show(viewer, window, look->metric);
	if (look->view >= 0 && look->view <= TB_LAST_MAIN - TB_FIRST_MAIN)
		tb_viewer_go(viewer, (enum tb_view_name)(TB_FIRST_MAIN + look->view));
}

bool tb_viewer_moving(const struct tb_viewer *viewer)
{
	return viewer->playing || viewer->notice_s > 0 ||
	       (viewer->sparks && viewer->sparks->wanting);
}

bool tb_viewer_stale(const struct tb_viewer *viewer)
{
	return viewer->stale;
}

struct tb_type tb_viewer_type(
	const struct tb_viewer *viewer, enum tb_font font, double size, bool muted)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	return (struct tb_type){
		font, size, TB_ALIGN_LEFT, muted ? palette->muted : palette->text};
}

void tb_viewer_nothing(const struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box place, const char *why)
{
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 13, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture,
		(struct tb_box){place.x, place.y + place.h / 2 - 10, place.w, 20}, type,
		why);
}

void tb_viewer_button(struct tb_viewer *viewer, struct tb_picture *picture,
	struct tb_box box, enum tb_request_name request, const char *text)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	struct tb_pick pick = {TB_PICK_BUTTON, request};
	bool under = tb_pick_equal(viewer->hovered, pick);
	tb_picture_rect(picture, box, under ? palette->line : palette->raised);
	tb_picture_pick(picture, pick);
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture, box, type, text);
}

const struct tb_picture *tb_viewer_picture(struct tb_viewer *viewer)
{
	if (!viewer->stale)
		return viewer->picture.status == TB_OK ? &viewer->picture : NULL;
	struct tb_picture *picture = &viewer->picture;
	tb_picture_clear(picture, viewer->width, viewer->height,
		tb_palette_of(viewer->theme)->page);
	for (size_t i = 0; viewer->run && i < TB_N_VIEWS; i++)
		if (tb_viewer_shows(viewer, (enum tb_view_name)i))
			views[i]->draw(viewer, picture, viewer->places[i]);
	if (!viewer->run && viewer->opening)
		tb_opening_draw(viewer->opening, viewer->theme, picture);
	tb_overlay_draw(viewer, picture);
	viewer->stale = viewer->sparks && viewer->sparks->wanting;
	return picture->status == TB_OK ? picture : NULL;
}

const struct tb_picture *tb_viewer_settled(struct tb_viewer *viewer)
{
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	for (int i = 0; picture && viewer->stale && i < MOST_PICTURES; i++)
		picture = tb_viewer_picture(viewer);
	return picture;
}

enum tb_wish tb_viewer_take_wish(struct tb_viewer *viewer)
{
	enum tb_wish wish = viewer->wish;
	viewer->wish = TB_WISH_NONE;
	return wish;
}

const char *tb_viewer_wish_path(const struct tb_viewer *viewer)
{
	return viewer->wish_path;
}

bool tb_viewer_typing(const struct tb_viewer *viewer)
{
	return viewer->prompt.kind != TB_PROMPT_NONE;
}

const char *tb_viewer_title(const struct tb_viewer *viewer)
{
	return viewer->title;
}

enum tb_metric tb_viewer_metric(const struct tb_viewer *viewer)
{
	return viewer->metric;
}
