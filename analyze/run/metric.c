#include "run.h"

#include <stdio.h>
#include <string.h>

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

char *tb_fill_words(const char *text, const struct tb_switching_words *switching,
	char *buffer, size_t size)
{
	static const struct tb_switching_words any = {.awaited = "their turn",
		.stalled = "packets held the link",
		.lacked = "no room"};
	switching = switching ? switching : &any;
	const struct {
		const char *mark, *word;
	} words[] = {{"{awaited}", switching->awaited}, {"{stalled}", switching->stalled},
		{"{lacked}", switching->lacked}};
	snprintf(buffer, size, "%s", text);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = strstr(text, words[i].mark);
		if (at)
			snprintf(buffer, size, "%.*s%s%s", (int)(at - text), text,
				words[i].word, at + strlen(words[i].mark));
	}
	return buffer;
}
