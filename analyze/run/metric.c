#include "run.h"

#include <string.h>

// By enum tb_metric.
static const char *const names[] = {
	"wait", "stall", "busy", "bytes", "packets", "blocked", "longest"};

uint64_t tb_metric_of(const struct tb_link_sample *sample, enum tb_metric metric)
{
	switch (metric) {
	case TB_WAIT:
		return sample->wait_ps;
	case TB_STALL:
		return sample->stall_ps;
	case TB_BUSY:
		return sample->busy_ps;
	case TB_BYTES:
		return sample->bytes;
	case TB_PACKETS:
		return sample->n_packets;
	case TB_BLOCKED:
		return sample->n_blocked;
	case TB_LONGEST:
		break;
	}
	return sample->longest_wait_ps;
}

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
