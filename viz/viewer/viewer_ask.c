// What keys, buttons and the palette ask for.
#include "run_text.h"
#include "viewer_impl.h"

#include <unistd.h>

#define MOST_SAVED 1000 // names that are tried

static void back_out(struct tb_viewer *viewer)
{
	const struct tb_request fit = {TB_REQUEST_FIT, 0};
	const struct tb_view *main = tb_viewer_view(viewer->main);
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
	const struct tb_view *main = tb_viewer_view(viewer->main);
	if (viewer->run && viewer->selected.kind != TB_PICK_NONE && main->reveal)
		main->reveal(viewer, true);
}

// go_on shows the next of the views that there are.
static void go_on(struct tb_viewer *viewer)
{
	int next = (int)viewer->main;
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
		if (tb_viewer_shows(viewer, (enum tb_view_name)i) &&
			tb_viewer_view((enum tb_view_name)i)->request &&
			tb_viewer_view((enum tb_view_name)i)->request(viewer, request))
			return;
}

bool tb_viewer_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_request request;
	if (viewer->prompt.kind != TB_PROMPT_NONE)
		return tb_prompt_key(viewer, key);
	if (!viewer->run && viewer->opening && tb_opening_key(viewer->opening, key)) {
		viewer->stale = true;
		return true;
	}
	if (!tb_request_of_key(key, &request))
		return false;
	tb_viewer_ask(viewer, &request);
	return true;
}
