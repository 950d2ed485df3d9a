#include "search.h"

#include "scale.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { EXACT = 0, BEGINS = 10, HOLDS = 20, NO_MATCH = 100 };

// search_match scores a name; lower is better.
static int search_match(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);
	if (strcasecmp(name, wanted) == 0)
		return EXACT;
	if (strncasecmp(name, wanted, length) == 0)
		return BEGINS;
	return strcasestr(name, wanted) ? HOLDS : NO_MATCH;
}

static void search_offer(struct tb_prompt *prompt, int score, struct tb_pick pick,
	const char *text, const char *note)
{
	struct tb_prompt_result result = {.pick = pick, .score = score};
	if (score >= NO_MATCH)
		return;
	snprintf(result.text, sizeof result.text, "%s", text);
	snprintf(result.note, sizeof result.note, "%s", note);
	tb_prompt_offer(prompt, &result);
}

static void find_search_switches(
	const struct tb_viewer_data *data, struct tb_prompt *prompt, const char *wanted)
{
	for (uint32_t i = 0; i < data->info->n_switches; i++) {
		const char *name = tb_run_switches(data->run)[i].name;
		char text[32];
		snprintf(text, sizeof text, "switch %s", name);
		search_offer(prompt, search_match(name, wanted),
			(struct tb_pick){TB_PICK_SWITCH, i}, text, "switch");
	}
}

static void find_search_nodes(
	const struct tb_viewer_data *data, struct tb_prompt *prompt, const char *wanted)
{
	for (uint32_t i = 0; i < data->info->n_nodes; i++) {
		const char *name = tb_run_node_name(data->run, (struct tb_node){i});
		char number[16], text[128];
		snprintf(number, sizeof number, "%" PRIu32, i);
		int score = search_match(number, wanted);
		// A number within a number is no match: 5 is not 1500.
		score = score > BEGINS ? NO_MATCH : score;
		int by_name = search_match(name, wanted);
		snprintf(text, sizeof text, "node %" PRIu32 "%s%.100s", i,
			name[0] ? ": " : "", name);
		search_offer(prompt, (score < by_name ? score : by_name) + 1,
			(struct tb_pick){TB_PICK_NODE, i}, text,
			name[0] ? "host" : "node");
	}
}

static void find_search_links(
	const struct tb_viewer_data *data, struct tb_prompt *prompt, const char *wanted)
{
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		const char *name = tb_run_links(data->run)[i].name;
		int score = search_match(name, wanted);
		char text[80];
		if (score >= NO_MATCH)
			continue;
		snprintf(text, sizeof text, "link %s", name);
		search_offer(prompt, score + 3, (struct tb_pick){TB_PICK_LINK, i}, text,
			"link");
	}
}

static void find_search_jobs(
	const struct tb_viewer_data *data, struct tb_prompt *prompt, const char *wanted)
{
	for (uint32_t i = 0; i < data->info->n_jobs; i++) {
		const char *name = tb_run_job_name(data->run, i);
		char text[128];
		snprintf(text, sizeof text, "job %.100s", name);
		search_offer(prompt, search_match(name, wanted) + 2,
			(struct tb_pick){TB_PICK_JOB, i}, text, "job");
	}
}

static const struct {
	const char *word;
	void (*find)(const struct tb_viewer_data *, struct tb_prompt *, const char *);
} finders[] = {{"switch", find_search_switches}, {"node", find_search_nodes},
	{"host", find_search_nodes}, {"job", find_search_jobs},
	{"link", find_search_links}};

void tb_search_find(const struct tb_viewer_data *data, struct tb_prompt *prompt)
{
	const char *wanted = prompt->text + strspn(prompt->text, " ");
	size_t n = sizeof finders / sizeof *finders, only = n;
	if (!wanted[0])
		return;
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(finders[i].word);
		if (strncasecmp(wanted, finders[i].word, length) == 0 &&
			wanted[length] == ' ')
			only = i;
	}
	// Search links in any case: "node 5 > 0.1" is the name of one.
	if (only < n)
		finders[only].find(data, prompt, wanted + strlen(finders[only].word) + 1);
	for (size_t i = 0; i < n; i++)
		if (strcmp(finders[i].word, "host") != 0 &&
			(only == n || finders[i].find == find_search_links))
			finders[i].find(data, prompt, wanted);
}

// offer_run offers a run with columns of its number, what it is of, and the network or,
// where that has changes, the options that name them.
static void offer_run(struct tb_prompt *prompt, const struct tb_listed_run *run)
{
	static const char network[] = "--network ";
	struct tb_prompt_result result = {.number = run->id};
	char name[80];
	const char *options = run->options;
	if (strncmp(options, network, sizeof network - 1) == 0)
		options += sizeof network - 1;
	bool replay = !run->settings && *options;
	// What distinguishes a run from the others: of a point its settings, else the
	// input.
	if (run->settings)
		snprintf(name, sizeof name, "%s", run->settings);
	else
		tb_run_input_text(run->input, name, sizeof name);
	snprintf(result.text, sizeof result.text, "%" PRId64 "\t%s\t%s", run->id, name,
		replay ? options : run->network);
	snprintf(result.note, sizeof result.note, "%s nodes, waited %s%s",
		TB_COUNT_TEXT(run->n_nodes), TB_TIME_TEXT((tb_time_ps)run->wait_ps),
		run->complete ? "" : ", not ended");
	if (tb_prompt_wants(prompt, result.text))
		tb_prompt_offer(prompt, &result);
}

void tb_run_search(
	const struct tb_run_list *list, int64_t shown, struct tb_prompt *prompt)
{
	char runs[48];
	for (size_t i = 0; i < list->n; i++)
		offer_run(prompt, &list->runs[i]);
	// A run is compared with another one: the next, or of the last the one before.
	int aside = prompt->kind == TB_PROMPT_OTHER;
	for (int i = 0; i < prompt->n && !prompt->text[0]; i++)
		if (prompt->results[i].number == shown)
			tb_prompt_choose(prompt, i + aside < prompt->n ? i + aside
						 : i > 0	       ? i - aside
								       : i);
	snprintf(prompt->about, sizeof prompt->about, "%s%s%s",
		tb_format_counted(list->n, "run", runs, sizeof runs),
		list->n_undone ? ", and " : "",
		list->n_undone ? TB_COUNTED_TEXT(list->n_undone,
					 "point without one|points without one")
			       : "");
}
