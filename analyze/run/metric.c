#include "run_impl.h"

#include <stdio.h>
#include <string.h>

static void run_settle_wait(struct tb_run *run);

const char *tb_metric_name(size_t metric)
{
	return metric < TB_N_METRICS ? tb_link_figures[metric].name : NULL;
}

const char *tb_run_caution(const struct tb_run_info *info)
{
	if (tb_run_is_measured(info))
		return " (measured by counters: no flows, no blame)";
	return info->caution;
}

char *tb_run_caution_brief(const struct tb_run_info *info, char *buffer, size_t size)
{
	const char *caution = tb_run_caution(info);
	size_t length = strcspn(caution, ":");
	snprintf(buffer, size, "%.*s%s", (int)length, caution,
		caution[length] == ':' ? ")" : "");
	return buffer;
}

void tb_run_choose_wait(struct tb_run *run, enum tb_wait_lead wait)
{
	run->chosen_wait = wait == TB_LEADS_FOR ? TB_WAIT_FOR : TB_CAME_BY;
	run->chooses_wait = true;
	run_settle_wait(run);
}

// run_settle_wait has the samples that are kept follow the wait that is shown.
static void run_settle_wait(struct tb_run *run)
{
	struct tb_run_info *info = &run->record.info;
	if (run->chooses_wait)
		info->wait = run->chosen_wait;
	run->rated_ps = 0;
	run->sums.window = (struct tb_window){0, 0};
	for (uint32_t link = 0; link < info->n_links; link++)
		tb_link_sample_derive(&run->totals[link], info->wait, 0);
}

const char *tb_run_wait_text(const struct tb_run_info *info)
{
	return info->wait == TB_WAIT_FOR ? "wait for the link"
					 : "wait of packets that came by it";
}

const char *tb_run_metric_text(const struct tb_run_info *info, enum tb_metric metric)
{
	if (metric == TB_WAIT)
		return tb_run_wait_text(info);
	if (metric == TB_WAIT_FOR || metric == TB_CAME_BY)
		return tb_run_wait_text(&(struct tb_run_info){.wait = metric});
	return tb_link_figures[metric].name;
}

char *tb_fill_words(const char *text, const struct tb_switching_words *switching,
	char *buffer, size_t size)
{
	static const struct tb_switching_words any = {.awaited = "their turn",
		.stalled = "packets held the link",
		.lacked = "no room",
		.beside = "of this link"};
	switching = switching ? switching : &any;
	const struct {
		const char *mark, *word;
	} words[] = {{"{awaited}", switching->awaited}, {"{stalled}", switching->stalled},
		{"{lacked}", switching->lacked}, {"{beside}", switching->beside}};
	size_t n = 0;
	buffer[0] = '\0';
	while (*text && n < size) {
		size_t skip = strcspn(text, "{"), i = 0;
		n += (size_t)snprintf(buffer + n, size - n, "%.*s", (int)skip, text);
		text += skip;
		while (i < sizeof words / sizeof *words &&
			strncmp(text, words[i].mark, strlen(words[i].mark)) != 0)
			i++;
		if (i == sizeof words / sizeof *words)
			break;
		if (n < size)
			n += (size_t)snprintf(buffer + n, size - n, "%s", words[i].word);
		text += strlen(words[i].mark);
	}
	return buffer;
}
