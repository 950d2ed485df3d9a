#include "run.h"

#include <string.h>

// By enum tb_metric.
static const char *const names[] = {
	"wait", "stall", "busy", "bytes", "packets", "blocked", "longest"};

const char *tb_metric_name(enum tb_metric metric)
{
	return names[metric];
}

int tb_metric_parse(const char *name, enum tb_metric *metric)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0) {
			*metric = (enum tb_metric)i;
			return TB_OK;
		}
	}
	return TB_EUSAGE;
}

const char *tb_metric_hint(struct tb_hint *hint, const char *name)
{
	return tb_hint_choice(
		hint, name, names, sizeof names / sizeof *names, sizeof *names);
}
