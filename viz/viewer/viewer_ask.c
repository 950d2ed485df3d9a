// Carries out the requests of keys, buttons and the command palette.
#include "command_search.h"
#include "run_text.h"
#include "search.h"
#include "viewer_impl.h"

#include <unistd.h>

#define MOST_SAVED 1000 // names that are tried

bool tb_viewer_pass(struct tb_viewer *viewer, const struct tb_request *request)
{
	for (uint32_t i = 0; i < viewer->panes.n; i++) {
		struct tb_pane *pane = &viewer->panes.list[i];
		if (tb_panes_shows(&viewer->panes, pane) && pane->view->request &&
			pane->view->request(pane, request))
			return true;
	}
	return false;
}

static void back_out(struct tb_viewer *viewer)
{
	const struct tb_request fit = {TB_REQUEST_FIT, 0};
	const struct tb_viewer_data *data = &viewer->data;
	const struct tb_pick *selected = &viewer->selection.selected;
	struct tb_pane *main = viewer->panes.main;
	const struct tb_request back = {TB_REQUEST_BACK, 0};
	if (viewer->help)
		viewer->help = false;
	else if ((data->run && tb_viewer_pass(viewer, &back)) ||
		 tb_viewer_return(viewer) || tb_viewer_drop_end(viewer))
		return;
	else if (selected->kind == TB_PICK_JOB) {
		tb_viewer_drop_job(viewer);
		tb_viewer_select(viewer, (struct tb_pick){TB_PICK_NONE, 0});
	} else if (selected->kind != TB_PICK_NONE)
		tb_viewer_select(viewer, (struct tb_pick){TB_PICK_NONE, 0});
	else if (tb_viewer_drop_job(viewer))
		return;
	else if (data->run && viewer->selection.brush.on)
		tb_viewer_brush(viewer, &(struct tb_brush){.on = false});
	else if (data->run && main->away)
		main->view->request(main, &fit);
	else if (data->run && !tb_window_whole(data->info, data->asked))
		tb_viewer_show(viewer, (struct tb_window){0, 0}, data->metric);
}

// focus follows the row that is chosen in a view, or zooms the main view to the
// selection.
static void focus(struct tb_viewer *viewer)
{
	const struct tb_request asked = {TB_REQUEST_FOCUS, 0};
	struct tb_pane *main = viewer->panes.main;
	if (viewer->data.run && !tb_viewer_pass(viewer, &asked) &&
		viewer->selection.selected.kind != TB_PICK_NONE && main->view->reveal)
		main->view->reveal(main, true);
}

// ask_step selects the link of the row before the selected one (by -1) or after it (by
// 1).
static void ask_step(struct tb_viewer *viewer, int by)
{
	struct tb_link link;
	if (viewer->data.run &&
		tb_rows_step(&viewer->rows, viewer->selection.selected, by, &link))
		tb_viewer_select(viewer, (struct tb_pick){TB_PICK_LINK, link.id});
}

static void go_back(struct tb_viewer *viewer, int by)
{
	if (viewer->data.run && !tb_viewer_go_back(viewer, by))
		tb_viewer_notice(
			viewer, "nothing was shown %s this", by < 0 ? "before" : "after");
}

// go_to says why a view cannot be shown.
static void go_to(struct tb_viewer *viewer, struct tb_pane *pane)
{
	if (viewer->data.run && pane && !tb_pane_is_there(pane))
		tb_viewer_notice(viewer, "'%s' is not shown: %s", pane->view->tab,
			pane->view->absent);
	else
		tb_viewer_go(viewer, pane);
}

// other_wait is the wait of links that is not shown; the one that leads is TB_WAIT.
static enum tb_metric other_wait(const struct tb_viewer_data *data)
{
	enum tb_metric shown = data->metric == TB_WAIT ? data->info->wait : data->metric;
	enum tb_metric other = shown == TB_WAIT_FOR ? TB_CAME_BY : TB_WAIT_FOR;
	bool is_wait = shown == TB_WAIT_FOR || shown == TB_CAME_BY;
	return !is_wait || other == data->info->wait ? TB_WAIT : other;
}

// show_request handles requests that change the metric or the view.
static bool show_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	const struct tb_viewer_data *data = &viewer->data;
	switch ((int)request->name) {
	case TB_REQUEST_METRIC:
		tb_viewer_show(viewer, data->asked, (enum tb_metric)request->choice);
		return true;
	case TB_REQUEST_METRIC_NEXT:
		tb_viewer_show(viewer, data->asked,
			(enum tb_metric)((data->metric + 1) % TB_N_METRICS));
		return true;
	case TB_REQUEST_WAIT:
		tb_viewer_show(viewer, data->asked, other_wait(data));
		return true;
	case TB_REQUEST_VIEW:
		go_to(viewer, tb_panes_main(&viewer->panes, request->choice));
		return true;
	case TB_REQUEST_VIEW_NEXT:
		tb_viewer_go(viewer, tb_panes_next(&viewer->panes));
		return true;
	default:
		return false;
	}
}

// action_request handles what only the window can do.
static bool action_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	enum tb_action action = request->name == TB_REQUEST_COPY      ? TB_ACTION_COPY
				: request->name == TB_REQUEST_LARGER  ? TB_ACTION_LARGER
				: request->name == TB_REQUEST_SMALLER ? TB_ACTION_SMALLER
				: request->name == TB_REQUEST_NATURAL ? TB_ACTION_NATURAL
				: request->name == TB_REQUEST_QUIT    ? TB_ACTION_QUIT
								      : TB_ACTION_NONE;
	if (action != TB_ACTION_NONE)
		viewer->pending.what = action;
	return action != TB_ACTION_NONE;
}

// own_request handles what concerns the viewer as a whole.
// style_request changes how things are drawn.
static bool style_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	struct tb_style *style = &viewer->style;
	switch ((int)request->name) {
	case TB_REQUEST_ABSOLUTE:
		style->absolute = !style->absolute;
		return true;
	case TB_REQUEST_LOGARITHMIC:
		style->logarithmic = !style->logarithmic;
		return true;
	case TB_REQUEST_THEME:
		style->theme = style->theme == TB_LIGHT ? TB_DARK : TB_LIGHT;
		return true;
	case TB_REQUEST_COLOURS:
		style->colours = (enum tb_colours)((style->colours + 1) % (TB_GREYS + 1));
		tb_viewer_notice(
			viewer, "colour map: %s", tb_colours_name(style->colours));
		return true;
	default:
		return false;
	}
}

static bool own_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	switch ((int)request->name) {
	case TB_REQUEST_HOTTER:
	case TB_REQUEST_COOLER:
		ask_step(viewer, request->name == TB_REQUEST_HOTTER ? -1 : 1);
		return true;
	case TB_REQUEST_RUN_BACK:
	case TB_REQUEST_RUN_ON:
		tb_viewer_step_run(viewer, request->name == TB_REQUEST_RUN_BACK ? -1 : 1);
		return true;
	case TB_REQUEST_ORDER:
		if (viewer->data.run) {
			struct tb_rows *rows = &viewer->rows;
			tb_rows_order(rows,
				(enum tb_list_column)((rows->column + 1) % TB_N_COLUMNS));
		}
		return true;
	case TB_REQUEST_FOCUS:
		focus(viewer);
		return true;
	case TB_REQUEST_UNBRUSH:
		if (viewer->data.run)
			tb_viewer_brush(viewer, &(struct tb_brush){.on = false});
		return true;
	case TB_REQUEST_ROUTES:
		tb_viewer_keep_end(viewer);
		return true;
	case TB_REQUEST_HELP:
		viewer->help = !viewer->help;
		return true;
	case TB_REQUEST_BACK:
		back_out(viewer);
		return true;
	case TB_REQUEST_UNDO:
	case TB_REQUEST_REDO:
		go_back(viewer, request->name == TB_REQUEST_UNDO ? -1 : 1);
		return true;
	default:
		return style_request(viewer, request);
	}
}

// free_name makes a file name that is not taken in the working folder.
static void free_name(const char *what, const char *end, char *name, size_t size)
{
	int number = 1;
	do
		snprintf(name, size, "tailback-%s-%d.%s", what, number, end);
	while (access(name, F_OK) == 0 && ++number < MOST_SAVED);
}

// ask_list_name names the list that is exported: "findings", of links their metric.
static const char *ask_list_name(const struct tb_viewer *viewer)
{
	const struct tb_view *view = viewer->panes.main->view;
	return view->put_csv ? view->name : tb_link_figures[viewer->data.metric].name;
}

void tb_viewer_offer(struct tb_viewer *viewer)
{
	struct tb_prompt *prompt = &viewer->prompt;
	struct tb_rows *rows = &viewer->rows;
	prompt->n = 0;
	prompt->chosen = prompt->first = 0;
	prompt->about[0] = '\0';
	viewer->stale = true;
	if (prompt->kind == TB_PROMPT_SEARCH)
		tb_search_find(&viewer->data, prompt);
	if (prompt->kind == TB_PROMPT_COMMANDS)
		tb_command_search(&viewer->panes, prompt);
	if (prompt->kind == TB_PROMPT_RUNS || prompt->kind == TB_PROMPT_OTHER)
		tb_run_search(&viewer->data.runs, viewer->data.info->id, prompt);
	if (prompt->kind == TB_PROMPT_OPEN) {
		struct tb_error error;
		if (tb_file_search_find(&viewer->files, &viewer->prompt) != TB_OK) {
			tb_fail_memory(&error, "the list of files");
			tb_viewer_notice(viewer, "%s", error.text);
		}
	}
	if (prompt->kind != TB_PROMPT_FILTER)
		return;
	snprintf(rows->filter, sizeof rows->filter, "%.*s", (int)sizeof rows->filter - 1,
		prompt->text);
	rows->scroll = 0;
	tb_rows_read(rows);
}

// open_prompt opens the prompt with a text.
static void open_prompt(
	struct tb_viewer *viewer, enum tb_prompt_kind kind, const char *text)
{
	viewer->prompt.kind = kind;
	snprintf(viewer->prompt.text, sizeof viewer->prompt.text, "%s", text);
	viewer->help = false;
	tb_viewer_offer(viewer);
}

// prompt_request handles requests that open the prompt.
static bool prompt_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	char name[64];
	switch ((int)request->name) {
	case TB_REQUEST_SEARCH:
		if (viewer->data.run)
			open_prompt(viewer, TB_PROMPT_SEARCH, "");
		return true;
	case TB_REQUEST_PALETTE:
		open_prompt(viewer, TB_PROMPT_COMMANDS, "");
		return true;
	case TB_REQUEST_FILTER:
		if (viewer->data.run)
			open_prompt(viewer, TB_PROMPT_FILTER, viewer->rows.filter);
		return true;
	case TB_REQUEST_SAVE:
		free_name(tb_link_figures[viewer->data.metric].name, "png", name,
			sizeof name);
		open_prompt(viewer, TB_PROMPT_SAVE, name);
		return true;
	case TB_REQUEST_EXPORT:
		free_name(ask_list_name(viewer), "csv", name, sizeof name);
		if (viewer->data.run)
			open_prompt(viewer, TB_PROMPT_EXPORT, name);
		return true;
	case TB_REQUEST_OPEN:
		open_prompt(viewer, TB_PROMPT_OPEN,
			tb_file_search_begin(&viewer->files, viewer->file.given));
		return true;
	case TB_REQUEST_RUNS:
	case TB_REQUEST_COMPARE:
		if (viewer->data.run && tb_viewer_read_runs(viewer))
			open_prompt(viewer,
				request->name == TB_REQUEST_RUNS ? TB_PROMPT_RUNS
								 : TB_PROMPT_OTHER,
				"");
		return true;
	default:
		return false;
	}
}

void tb_viewer_ask(struct tb_viewer *viewer, const struct tb_request *request)
{
	viewer->stale = true;
	if (show_request(viewer, request) || action_request(viewer, request) ||
		own_request(viewer, request) || prompt_request(viewer, request) ||
		!viewer->data.run)
		return;
	tb_viewer_pass(viewer, request);
}

static void request_action(
	struct tb_viewer *viewer, enum tb_action action, const char *path)
{
	struct tb_pending_action *pending = &viewer->pending;
	snprintf(pending->path, sizeof pending->path, "%s", path);
	pending->what = pending->path[0] ? action : TB_ACTION_NONE;
	viewer->messages.notice_s = 0; // of an earlier save: keep it out of the picture
}

// open_chosen opens what was chosen; a folder is listed.
static void open_chosen(struct tb_viewer *viewer)
{
	char path[TB_PROMPT_TEXT];
	if (tb_file_search_take(&viewer->files, &viewer->prompt, path)) {
		request_action(viewer, TB_ACTION_OPEN, path);
		return;
	}
	viewer->prompt.kind = TB_PROMPT_OPEN;
	tb_viewer_offer(viewer);
}

void tb_viewer_accept(struct tb_viewer *viewer)
{
	const struct tb_prompt *prompt = &viewer->prompt;
	enum tb_prompt_kind kind = prompt->kind;
	const struct tb_prompt_result *chosen =
		prompt->chosen < prompt->n ? &prompt->results[prompt->chosen] : NULL;
	viewer->prompt.kind = TB_PROMPT_NONE;
	viewer->stale = true;
	switch (kind) {
	case TB_PROMPT_SEARCH:
	case TB_PROMPT_COMMANDS:
	case TB_PROMPT_RUNS:
	case TB_PROMPT_OTHER:
		if (chosen) {
			// Do what the chosen result of a prompt with results stands for.
			const struct tb_request request = chosen->request;
			if (kind == TB_PROMPT_SEARCH)
				tb_viewer_select(viewer, chosen->pick);
			else if (kind == TB_PROMPT_COMMANDS)
				tb_viewer_ask(
					viewer, &request); // may open the prompt again
			else
				tb_viewer_want_run(viewer,
					kind == TB_PROMPT_RUNS ? TB_ACTION_RUN
							       : TB_ACTION_COMPARE,
					chosen->number);
		} else if (kind == TB_PROMPT_SEARCH)
			tb_viewer_notice(viewer, "nothing matches '%s'", prompt->text);
		break;
	case TB_PROMPT_SAVE:
		request_action(viewer, TB_ACTION_SAVE, prompt->text);
		break;
	case TB_PROMPT_EXPORT:
		request_action(viewer, TB_ACTION_EXPORT, prompt->text);
		break;
	case TB_PROMPT_OPEN:
		open_chosen(viewer);
		break;
	case TB_PROMPT_FILTER:
	case TB_PROMPT_NONE:
		break;
	}
}
