#include "command_search.h"

#include "run_text.h"

#include <string.h>

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

void tb_command_search(const struct tb_panes *panes, struct tb_prompt *prompt)
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
