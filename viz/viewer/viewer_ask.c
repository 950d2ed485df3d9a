// Carries out the requests of keys, buttons and the command palette.
#include "beside.h"
#include "panes.h"
#include "prompt.h"
#include "scale.h"
#include "search.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void offer_command(struct tb_prompt *prompt, struct tb_request request,
	const char *text, const char *key)
{
	struct tb_prompt_result result = {.request = request};
	if (!tb_prompt_wants(prompt, text))
		return;
	snprintf(result.text, sizeof result.text, "%s", text);
	snprintf(result.note, sizeof result.note, "%s", key);
	tb_prompt_offer(prompt, &result);
}

// command_key copies the key of a choice.
static const char *command_key(const char *keys, int choice, char *buffer, size_t size)
{
	while (choice-- > 0 && strchr(keys, ' '))
		keys = strchr(keys, ' ') + 1;
	snprintf(buffer, size, "%.*s", (int)strcspn(keys, " "), keys);
	return buffer;
}

// n_choices returns how many choices a row of the table has.
static int n_choices(const struct tb_panes *panes, int request)
{
	int n = 1;
	if (request == TB_REQUEST_METRIC)
		return TB_N_METRICS;
	while (request == TB_REQUEST_VIEW && tb_panes_main(panes, n))
		n++;
	return n;
}

// command_choice returns the name of a choice; NULL when it is not available now.
static const char *command_choice(const struct tb_panes *panes, int request, int choice)
{
	if (request == TB_REQUEST_METRIC)
		return tb_metric_title((enum tb_metric)choice);
	if (request != TB_REQUEST_VIEW)
		return "";
	const struct tb_pane *pane = tb_panes_main(panes, choice);
	return tb_pane_is_there(pane) ? pane->view->tab : NULL;
}

// tb_command_search offers the requests whose help contains every word of the prompt's
// text. Each choice of a request, such as a metric or a view, is an offer of its own.
static void tb_command_search(const struct tb_panes *panes, struct tb_prompt *prompt)
{
	const struct tb_request_row *rows = tb_request_rows();
	for (int i = 0; i < TB_N_REQUESTS; i++) {
		int n = n_choices(panes, i);
		for (int choice = 0; choice < n; choice++) {
			char text[96], key[32];
			const char *what = command_choice(panes, i, choice);
			if (!what)
				continue;
			snprintf(text, sizeof text, "%s%s%s", rows[i].help,
				what[0] ? ": " : "", what);
			offer_command(prompt,
				(struct tb_request){(enum tb_request_name)i, choice},
				text, command_key(rows[i].keys, choice, key, sizeof key));
		}
	}
}

// The other runs of the store. The window opens them, each in a viewer of its own, which
// takes over what the last one showed.

// viewer_read_runs reads the list of the store's runs anew, with their waits; false
// when that failed, or there is none to choose.
static bool viewer_read_runs(struct tb_viewer *viewer)
{
	struct tb_run_list runs;
	struct tb_error error;
	const char *path = viewer->file.path;
	int status = tb_run_list_read(&runs, path, &error);
	if (status == TB_OK) {
		tb_run_list_fini(&viewer->data.runs);
		viewer->data.runs = runs;
		status = tb_run_list_sums(&viewer->data.runs, path, &error);
	}
	if (status != TB_OK)
		tb_viewer_report(viewer, &error);
	return status == TB_OK && viewer->data.runs.n > 0;
}

// viewer_want_run asks the window for a run of the store.
static void viewer_want_run(struct tb_viewer *viewer, enum tb_action action, int64_t run)
{
	if (action == TB_ACTION_RUN && run == viewer->data.info->id)
		return;
	viewer->pending.what = action;
	viewer->pending.run = run;
}

// viewer_step_run asks for the run before the one that is shown (by -1) or after it.
static void viewer_step_run(struct tb_viewer *viewer, int by)
{
	const struct tb_viewer_data *data = &viewer->data;
	if (!data->run || !viewer_read_runs(viewer))
		return;
	size_t at = tb_run_list_of(&data->runs, data->info->id);
	bool last = by < 0 ? at == 0 : at + 1 >= data->runs.n;
	if (last)
		tb_viewer_notice(viewer, "run %" PRId64 " is the %s of this store",
			data->info->id,
			data->runs.n == 1 ? "only one"
			: by < 0	  ? "first"
					  : "last");
	else
		viewer_want_run(viewer, TB_ACTION_RUN,
			data->runs.runs[by < 0 ? at - 1 : at + 1].id);
}

// same_window returns the window of the same simulated time in another run; the whole run
// where that has none.
static struct tb_window same_window(
	const struct tb_viewer_data *of, const struct tb_viewer_data *in)
{
	struct tb_window window = {0, 0};
	if (tb_window_whole(of->info, of->window) ||
		tb_window_between(in->info, tb_window_begin_ps(of->info, of->window),
			tb_window_end_ps(of->info, of->window), &window, NULL) != TB_OK)
		return (struct tb_window){0, 0};
	return window;
}

// viewer_run_name returns the name of an item, NULL of one that is known by its number.
static const char *viewer_run_name(const struct tb_viewer_data *data, struct tb_pick pick)
{
	return pick.kind == TB_PICK_LINK     ? tb_run_links(data->run)[pick.index].name
	       : pick.kind == TB_PICK_SWITCH ? tb_run_switches(data->run)[pick.index].name
	       : pick.kind == TB_PICK_JOB    ? tb_run_job_name(data->run, pick.index)
					     : NULL;
}

static uint32_t viewer_run_count(const struct tb_run_info *info, enum tb_pick_kind kind)
{
	return kind == TB_PICK_LINK	? info->n_links
	       : kind == TB_PICK_SWITCH ? info->n_switches
	       : kind == TB_PICK_JOB	? info->n_jobs
	       : kind == TB_PICK_NODE	? info->n_nodes
					: 0;
}

// same_item returns the item of another run that has the same name, or nothing. A row of
// a list is a different one in every run.
static struct tb_pick same_item(const struct tb_viewer_data *of, struct tb_pick pick,
	const struct tb_viewer_data *in)
{
	const struct tb_pick none = {TB_PICK_NONE, 0};
	uint32_t n = viewer_run_count(in->info, pick.kind);
	if (pick.kind == TB_PICK_NODE)
		return pick.index < n ? pick : none;
	const char *name = n > 0 ? viewer_run_name(of, pick) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_pick other = {pick.kind, i};
		if (strcmp(viewer_run_name(in, other), name) == 0)
			return other;
	}
	return none;
}

void tb_viewer_take_over(struct tb_viewer *viewer, const struct tb_viewer *from)
{
	struct tb_viewer_look look = tb_viewer_look(from);
	bool both = viewer->data.run && from->data.run;
	look.window =
		both ? same_window(&from->data, &viewer->data) : (struct tb_window){0, 0};
	memcpy(viewer->rows.filter, from->rows.filter, sizeof viewer->rows.filter);
	viewer->rows.column = from->rows.column;
	viewer->rows.rising = from->rows.rising;
	viewer->playback = from->playback;
	viewer->playback.playing = false;
	viewer->mouse.x = from->mouse.x;
	viewer->mouse.y = from->mouse.y;
	viewer->mouse.in = from->mouse.in;
	tb_viewer_set_look(viewer, &look);
	if (both)
		tb_viewer_select(viewer,
			same_item(&from->data, from->selection.selected, &viewer->data));
}

// What the findings propose is tried beside the viewer (proof.h).

static void prove_say(struct tb_viewer *viewer, const char *sentence)
{
	snprintf(viewer->proved, sizeof viewer->proved, "%s", sentence);
	viewer->stale = true;
}

void tb_viewer_prove(struct tb_viewer *viewer)
{
	struct tb_error error;
	if (tb_viewer_proving(viewer)) {
		tb_proof_cancel(&viewer->proof);
		viewer->stale = true;
		return;
	}
	if (!tb_viewer_findings(viewer))
		return; // they are being read: there is no button either
			// Find out why nothing can be tried; NULL: something can.
	const struct tb_findings *findings = &viewer->data.of_findings.findings;
	size_t n = 0, n_tried = 0;
	for (size_t i = 0; i < findings->n; i++) {
		bool is_change = tb_finding_is_change(&findings->list[i]);
		bool is_tried = tb_finding_is_tried(&findings->list[i]);
		n += is_change || is_tried;
		n_tried += is_tried;
	}
	const char *reason = !viewer->data.info->complete
				     ? "A run is tried when it has ended."
			     : n == 0	    ? "The findings propose nothing to try."
			     : n == n_tried ? "All that the findings propose was tried."
					    : NULL;
	prove_say(viewer, reason ? reason : "");
	if (!reason && tb_proof_start(&viewer->proof, viewer->file.path,
			       viewer->data.info->id, &error) != TB_OK)
		tb_error_format(&error, viewer->proved, sizeof viewer->proved);
}

bool tb_viewer_proving(const struct tb_viewer *viewer)
{
	return viewer->proof.child.pid != 0;
}

char *tb_viewer_proved(const struct tb_viewer *viewer, char *text, size_t size)
{
	const struct tb_proof *proof = &viewer->proof;
	char progress[48];
	if (!tb_viewer_proving(viewer)) {
		snprintf(text, size, "%s", viewer->proved);
		return text;
	}
	tb_beside_progress_text(
		proof->fraction, proof->left_s, progress, sizeof progress);
	snprintf(text, size, "%s, for " TB_PROOF_TIME " at most%s%s",
		proof->cancelled ? "Cancelling what is tried"
				 : "Trying what the findings propose",
		progress[0] ? ": " : " ...", progress);
	return text;
}

void tb_viewer_poll_proof(struct tb_viewer *viewer)
{
	char sentence[512];
	double fraction = viewer->proof.fraction;
	if (!tb_viewer_proving(viewer))
		return;
	if (tb_proof_poll(&viewer->proof, sentence, sizeof sentence)) {
		prove_say(viewer, sentence);
		if (viewer->data.run)
			tb_viewer_data_forget_findings(&viewer->data);
	}
	viewer->stale |= viewer->proof.fraction != fraction;
}

#define MOST_SAVED 1000 // names that are tried

// viewer_pass hands a request to the visible views, first to those drawn first; false
// when none handles it.
static bool viewer_pass(struct tb_viewer *viewer, const struct tb_request *request)
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
	else if ((data->run && viewer_pass(viewer, &back)) || tb_viewer_return(viewer) ||
		 tb_viewer_drop_end(viewer))
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
	case TB_REQUEST_VIEW: {
		// Report why a view cannot be shown.
		struct tb_pane *pane = tb_panes_main(&viewer->panes, request->choice);
		if (viewer->data.run && pane && !tb_pane_is_there(pane))
			tb_viewer_notice(viewer, "'%s' is not shown: %s", pane->view->tab,
				pane->view->absent);
		else
			tb_viewer_go(viewer, pane);
		return true;
	}
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

// own_request handles what concerns the viewer as a whole.
static bool own_request(struct tb_viewer *viewer, const struct tb_request *request)
{
	switch ((int)request->name) {
	case TB_REQUEST_HOTTER:
	case TB_REQUEST_COOLER: {
		// Select the link of the row before the selected one (by -1) or after it
		// (by 1).
		int by = request->name == TB_REQUEST_HOTTER ? -1 : 1;
		struct tb_link link;
		if (viewer->data.run && tb_rows_step(&viewer->rows,
						viewer->selection.selected, by, &link))
			tb_viewer_select(viewer, (struct tb_pick){TB_PICK_LINK, link.id});
		return true;
	}
	case TB_REQUEST_RUN_BACK:
	case TB_REQUEST_RUN_ON:
		viewer_step_run(viewer, request->name == TB_REQUEST_RUN_BACK ? -1 : 1);
		return true;
	case TB_REQUEST_ORDER:
		if (viewer->data.run) {
			struct tb_rows *rows = &viewer->rows;
			tb_rows_order(rows,
				(enum tb_list_column)((rows->column + 1) % TB_N_COLUMNS));
		}
		return true;
	case TB_REQUEST_FOCUS: {
		// Follow the row that is chosen in a view, or zoom the main view to the
		// selection.
		const struct tb_request asked = {TB_REQUEST_FOCUS, 0};
		struct tb_pane *main = viewer->panes.main;
		if (viewer->data.run && !viewer_pass(viewer, &asked) &&
			viewer->selection.selected.kind != TB_PICK_NONE &&
			main->view->reveal)
			main->view->reveal(main, true);
		return true;
	}
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
	case TB_REQUEST_REDO: {
		int by = request->name == TB_REQUEST_UNDO ? -1 : 1;
		if (viewer->data.run && !tb_viewer_go_back(viewer, by))
			tb_viewer_notice(viewer, "nothing was shown %s this",
				by < 0 ? "before" : "after");
		return true;
	}
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
		if (viewer->data.run && viewer_read_runs(viewer))
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
		!viewer->data.run || viewer_pass(viewer, request))
		return;
	tb_viewer_notice(
		viewer, "nothing to do here: %s", tb_request_rows()[request->name].help);
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
				viewer_want_run(viewer,
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
