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
#include <unistd.h>

#define HEAD_H	   56
#define TABS_H	   34
#define TIME_H	   146
#define SIDE_W	   340
#define NOTICE_S   5
#define MOST_SAVED 1000 // names that are tried
#define DRAG_SLACK 4	// pixels that a click may wander

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

static bool is_shown(const struct tb_viewer *viewer, enum tb_view_name name)
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
	if (status == TB_OK) {
		made->colours = TB_CIVIDIS;
		made->theme = TB_DARK;
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
		if (!viewer->unread[i] || !is_shown(viewer, (enum tb_view_name)i))
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
		if (views[i]->reveal && is_shown(viewer, (enum tb_view_name)i))
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

static void back_out(struct tb_viewer *viewer)
{
	const struct tb_request fit = {TB_REQUEST_FIT, 0};
	const struct tb_view *main = views[viewer->main];
	if (viewer->help)
		viewer->help = false;
	else if (viewer->selected.kind != TB_PICK_NONE)
		tb_viewer_select(viewer, (struct tb_pick){TB_PICK_NONE, 0});
	else if (viewer->run && viewer->away[viewer->main])
		main->request(viewer, &fit);
	else if (viewer->run && !tb_window_whole(viewer->info, viewer->window))
		tb_viewer_show(viewer, (struct tb_window){0, 0}, viewer->metric);
}

// focus zooms to what is selected, in the main view.
static void focus(struct tb_viewer *viewer)
{
	const struct tb_view *main = views[viewer->main];
	if (viewer->run && viewer->selected.kind != TB_PICK_NONE && main->reveal)
		main->reveal(viewer, true);
}

// go_on shows the next of the views that there are.
static void go_on(struct tb_viewer *viewer)
{
	int next = viewer->main;
	do
		next = next == TB_LAST_MAIN ? TB_FIRST_MAIN : next + 1;
	while (!tb_viewer_has(viewer, (enum tb_view_name)next));
	tb_viewer_go(viewer, (enum tb_view_name)next);
}

// own_request answers what concerns the viewer as a whole.
static bool own_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	switch ((int)request->name) {
	case TB_REQUEST_METRIC:
		tb_viewer_show(viewer, viewer->window, (enum tb_metric)request->choice);
		return true;
	case TB_REQUEST_METRIC_NEXT:
		tb_viewer_show(viewer, viewer->window,
			(enum tb_metric)((viewer->metric + 1) % (TB_LONGEST + 1)));
		return true;
	case TB_REQUEST_VIEW:
		tb_viewer_go(
			viewer, (enum tb_view_name)(TB_FIRST_MAIN + request->choice));
		return true;
	case TB_REQUEST_VIEW_NEXT:
		go_on(viewer);
		return true;
	case TB_REQUEST_ABSOLUTE:
		viewer->absolute = !viewer->absolute;
		return true;
	case TB_REQUEST_LOGARITHMIC:
		viewer->logarithmic = !viewer->logarithmic;
		return true;
	case TB_REQUEST_HOTTER:
	case TB_REQUEST_COOLER:
		if (viewer->run)
			tb_rows_step(viewer, request->name == TB_REQUEST_HOTTER ? -1 : 1);
		return true;
	case TB_REQUEST_ORDER:
		if (viewer->run)
			tb_rows_order(viewer, (enum tb_list_column)((viewer->column + 1) %
								    TB_N_COLUMNS));
		return true;
	case TB_REQUEST_FOCUS:
		focus(viewer);
		return true;
	case TB_REQUEST_THEME:
		viewer->theme = viewer->theme == TB_LIGHT ? TB_DARK : TB_LIGHT;
		return true;
	case TB_REQUEST_COLOURS:
		viewer->colours =
			(enum tb_colours)((viewer->colours + 1) % (TB_GREYS + 1));
		tb_viewer_notice(
			viewer, "colour map: %s", tb_colours_name(viewer->colours));
		return true;
	case TB_REQUEST_COPY:
		viewer->wish = TB_WISH_COPY;
		return true;
	case TB_REQUEST_LARGER:
		viewer->wish = TB_WISH_LARGER;
		return true;
	case TB_REQUEST_SMALLER:
		viewer->wish = TB_WISH_SMALLER;
		return true;
	case TB_REQUEST_NATURAL:
		viewer->wish = TB_WISH_NATURAL;
		return true;
	case TB_REQUEST_HELP:
		viewer->help = !viewer->help;
		return true;
	case TB_REQUEST_BACK:
		back_out(viewer);
		return true;
	case TB_REQUEST_QUIT:
		viewer->wish = TB_WISH_QUIT;
		return true;
	default:
		return false;
	}
}

// free_name makes a name that no file in the working folder has.
static void free_name(
	const struct tb_viewer *viewer, const char *end, char *name, size_t size)
{
	int number = 1;
	do
		snprintf(name, size, "tailback-%s-%d.%s", tb_metric_name(viewer->metric),
			number, end);
	while (access(name, F_OK) == 0 && ++number < MOST_SAVED);
}

// prompt_request answers what is typed for.
static bool prompt_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	char name[64];
	switch ((int)request->name) {
	case TB_REQUEST_SEARCH:
		if (viewer->run)
			tb_prompt_open(viewer, TB_PROMPT_SEARCH, "");
		return true;
	case TB_REQUEST_PALETTE:
		tb_prompt_open(viewer, TB_PROMPT_COMMANDS, "");
		return true;
	case TB_REQUEST_FILTER:
		if (viewer->run)
			tb_prompt_open(viewer, TB_PROMPT_FILTER, viewer->filter);
		return true;
	case TB_REQUEST_SAVE:
		free_name(viewer, "png", name, sizeof name);
		tb_prompt_open(viewer, TB_PROMPT_SAVE, name);
		return true;
	case TB_REQUEST_EXPORT:
		free_name(viewer, "csv", name, sizeof name);
		if (viewer->run)
			tb_prompt_open(viewer, TB_PROMPT_EXPORT, name);
		return true;
	case TB_REQUEST_OPEN:
		tb_prompt_open(viewer, TB_PROMPT_OPEN, "");
		return true;
	default:
		return false;
	}
}

void tb_viewer_ask(struct tb_viewer *viewer, const struct tb_request *request)
{
	viewer->stale = true;
	if (own_request(viewer, request) || prompt_request(viewer, request) ||
		!viewer->run)
		return;
	for (size_t i = 0; i < TB_N_VIEWS; i++)
		if (is_shown(viewer, (enum tb_view_name)i) && views[i]->request &&
			views[i]->request(viewer, request))
			return;
}

bool tb_viewer_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_request request;
	if (viewer->prompt.kind != TB_PROMPT_NONE)
		return tb_prompt_key(viewer, key);
	if (!tb_request_of_key(key, &request))
		return false;
	tb_viewer_ask(viewer, &request);
	return true;
}

static bool view_at(
	const struct tb_viewer *viewer, double x, double y, enum tb_view_name *name)
{
	for (size_t i = 0; i < TB_N_VIEWS; i++) {
		if (!tb_box_holds(viewer->places[i], x, y))
			continue;
		*name = (enum tb_view_name)i;
		return true;
	}
	return false;
}

static void tell_view(struct tb_viewer *viewer, enum tb_view_name name,
	const struct tb_pointer_event *event)
{
	viewer->stale = true;
	if (viewer->run && views[name]->pointer)
		views[name]->pointer(viewer, event);
}

static struct tb_pick hit(struct tb_viewer *viewer, double x, double y)
{
	struct tb_pick pick = {TB_PICK_NONE, 0};
	const struct tb_picture *picture = tb_viewer_picture(viewer);
	if (picture && tb_picture_hit(picture, x, y, &pick, NULL))
		return pick;
	return (struct tb_pick){TB_PICK_NONE, 0};
}

static void press(struct tb_viewer *viewer, double x, double y)
{
	if (viewer->prompt.kind != TB_PROMPT_NONE) {
		tb_prompt_press(viewer, hit(viewer, x, y));
		return;
	}
	if (viewer->help) {
		viewer->help = false;
		viewer->stale = true;
		return;
	}
	viewer->pressed = view_at(viewer, x, y, &viewer->grabbed);
	viewer->dragged = false;
	viewer->press_x = x;
	viewer->press_y = y;
	viewer->pressed_pick = hit(viewer, x, y);
	if (viewer->pressed)
		tell_view(viewer, viewer->grabbed,
			&(struct tb_pointer_event){.kind = TB_EVENT_PRESS,
				.x = x,
				.y = y,
				.pick = viewer->pressed_pick});
}

// is_selectable says whether a click on it marks it in all views.
static bool is_selectable(struct tb_pick pick)
{
	return pick.kind == TB_PICK_LINK || pick.kind == TB_PICK_SWITCH ||
	       pick.kind == TB_PICK_NODE || pick.kind == TB_PICK_JOB ||
	       pick.kind == TB_PICK_FLOW || pick.kind == TB_PICK_PAIR;
}

static void release(struct tb_viewer *viewer, double x, double y)
{
	if (!viewer->pressed)
		return;
	viewer->pressed = false;
	if (viewer->dragged)
		return;
	struct tb_pick pick = viewer->pressed_pick;
	if (pick.kind == TB_PICK_BUTTON) {
		tb_viewer_ask(viewer,
			&(struct tb_request){(enum tb_request_name)pick.index, 0});
		return;
	}
	if (pick.kind == TB_PICK_METRIC) {
		tb_viewer_show(viewer, viewer->window, (enum tb_metric)pick.index);
		return;
	}
	if (pick.kind == TB_PICK_VIEW)
		tb_viewer_go(viewer, (enum tb_view_name)pick.index);
	if (is_selectable(pick))
		tb_viewer_select(viewer, pick);
	tell_view(viewer, viewer->grabbed,
		&(struct tb_pointer_event){
			.kind = TB_EVENT_CLICK, .x = x, .y = y, .pick = pick});
}

static void move(struct tb_viewer *viewer, double x, double y)
{
	double dx = x - viewer->x;
	double dy = y - viewer->y;
	viewer->x = x;
	viewer->y = y;
	viewer->pointer_in = true;
	if (!viewer->pressed) {
		struct tb_pick pick = hit(viewer, x, y);
		// A tooltip follows the pointer, so that every move over an item counts.
		viewer->stale |= pick.kind != TB_PICK_NONE ||
				 !tb_pick_equal(pick, viewer->hovered);
		viewer->hovered = pick;
		return;
	}
	if (!viewer->dragged &&
		hypot(x - viewer->press_x, y - viewer->press_y) < DRAG_SLACK)
		return;
	if (!viewer->dragged) { // what the slack held back
		dx = x - viewer->press_x;
		dy = y - viewer->press_y;
	}
	viewer->dragged = true;
	tell_view(viewer, viewer->grabbed,
		&(struct tb_pointer_event){.kind = TB_EVENT_DRAG,
			.x = x,
			.y = y,
			.dx = dx,
			.dy = dy,
			.pick = viewer->pressed_pick});
}

// twice answers a double click, which follows its second release.
static void twice(struct tb_viewer *viewer, double x, double y)
{
	enum tb_view_name name;
	struct tb_pick pick = hit(viewer, x, y);
	if (is_selectable(pick))
		focus(viewer);
	if (view_at(viewer, x, y, &name))
		tell_view(viewer, name,
			&(struct tb_pointer_event){
				.kind = TB_EVENT_DOUBLE, .x = x, .y = y, .pick = pick});
}

void tb_viewer_pointer(struct tb_viewer *viewer, enum tb_pointer what, double x, double y)
{
	move(viewer, x, y);
	if (what == TB_POINTER_PRESS)
		press(viewer, x, y);
	else if (what == TB_POINTER_RELEASE)
		release(viewer, x, y);
	else if (what == TB_POINTER_DOUBLE)
		twice(viewer, x, y);
}

void tb_viewer_leave(struct tb_viewer *viewer)
{
	viewer->pointer_in = false;
	viewer->hovered = (struct tb_pick){TB_PICK_NONE, 0};
	viewer->stale = true;
}

void tb_viewer_wheel(struct tb_viewer *viewer, double x, double y, double steps)
{
	enum tb_view_name name;
	move(viewer, x, y);
	if (view_at(viewer, x, y, &name))
		tell_view(viewer, name,
			&(struct tb_pointer_event){
				.kind = TB_EVENT_WHEEL, .x = x, .y = y, .steps = steps});
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
	free(viewer->wait_by_bin);
	viewer->wait_by_bin = NULL;
	tb_viewer_data_fini(&viewer->data);
	memset(viewer->sparks, 0, sizeof *viewer->sparks);
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

bool tb_viewer_follows(const struct tb_viewer *viewer)
{
	return !viewer->run || (!viewer->info->complete && !viewer->trouble[0]);
}

void tb_viewer_check(struct tb_viewer *viewer)
{
	struct stat now;
	struct tb_error error = {.code = TB_OK};
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
	return viewer->playing || viewer->notice_s > 0;
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
		if (is_shown(viewer, (enum tb_view_name)i))
			views[i]->draw(viewer, picture, viewer->places[i]);
	tb_overlay_draw(viewer, picture);
	viewer->stale = viewer->sparks && viewer->sparks->wanting;
	return picture->status == TB_OK ? picture : NULL;
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
