#include "run_search.h"

#include "run_text.h"

#include <inttypes.h>
#include <string.h>

char *tb_run_search_name(const struct tb_listed_run *run, char *buffer, size_t size)
{
	if (run->settings)
		snprintf(buffer, size, "%s", run->settings);
	else
		tb_run_input_text(run->input, buffer, size);
	return buffer;
}

// offer_run offers a run with columns of its number, what it is of, and the network or,
// where that has changes, the options that name them.
static void offer_run(struct tb_prompt *prompt, const struct tb_listed_run *run)
{
	static const char network[] = "--network ";
	struct tb_prompt_result result = {.number = run->id};
	char name[80], wait[24], nodes[32];
	const char *options = run->options;
	if (strncmp(options, network, sizeof network - 1) == 0)
		options += sizeof network - 1;
	bool replay = !run->settings && *options;
	snprintf(result.text, sizeof result.text, "%" PRId64 "\t%s\t%s", run->id,
		tb_run_search_name(run, name, sizeof name),
		replay ? options : run->network);
	snprintf(result.note, sizeof result.note, "%s nodes, waited %s%s",
		tb_format_count(run->n_nodes, nodes, sizeof nodes),
		tb_format_time((tb_time_ps)run->wait_ps, wait, sizeof wait),
		run->complete ? "" : ", not ended");
	if (tb_prompt_wants(prompt, result.text))
		tb_prompt_offer(prompt, &result);
}

void tb_run_search(
	const struct tb_run_list *list, int64_t shown, struct tb_prompt *prompt)
{
	char runs[48], undone[64];
	for (size_t i = 0; i < list->n; i++)
		offer_run(prompt, &list->runs[i]);
	for (int i = 0; i < prompt->n && !prompt->text[0]; i++)
		if (prompt->results[i].number == shown)
			tb_prompt_choose(prompt, i);
	snprintf(prompt->about, sizeof prompt->about, "%s%s%s",
		tb_format_counted(list->n, "run", runs, sizeof runs),
		list->n_undone ? ", and " : "",
		list->n_undone ? tb_format_counted(list->n_undone,
					 "point without one|points without one", undone,
					 sizeof undone)
			       : "");
}
