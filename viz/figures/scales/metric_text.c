#include "metric_text.h"

#include <stdio.h>

// Without a meaning: it is said in the words of the switching.
static const struct words {
	const char *unit, *title, *meaning;
} words[TB_N_METRICS] = {
	[TB_WAIT] = {"ps", "Wait", NULL},
	[TB_STALL] = {"ps", "Stall", NULL},
	[TB_BUSY] = {"ps", "Busy", "time that bytes were moving"},
	[TB_BYTES] = {"bytes", "Bytes", "bytes on the wire"},
	[TB_PACKETS] = {"packets", "Packets", "packets whose header crossed the link"},
	[TB_BLOCKED] = {"headers", "Blocked headers", NULL},
	[TB_LONGEST] = {"ps", "Longest wait", "the longest single wait of a header"},
};

static tb_time_ps to_time(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (tb_time_ps)value;
}

char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size)
{
	return tb_metric_format_as(metric, value, value, buffer, size);
}

char *tb_metric_format_as(
	enum tb_metric metric, uint64_t value, uint64_t model, char *buffer, size_t size)
{
	switch (metric) {
	case TB_WAIT:
	case TB_STALL:
	case TB_BUSY:
	case TB_LONGEST:
		return tb_format_time_as(to_time(value), to_time(model), buffer, size);
	case TB_BYTES:
		return tb_format_size_as(value, model, buffer, size);
	case TB_PACKETS:
	case TB_BLOCKED: {
		char count[32];
		bool one = value == 1;
		const char *noun = metric == TB_PACKETS ? one ? "packet" : "packets"
				   : one		? "header"
							: "headers";
		snprintf(buffer, size, "%s %s",
			tb_format_count(value, count, sizeof count), noun);
		return buffer;
	}
	}
	return buffer;
}

const char *tb_metric_unit(enum tb_metric metric)
{
	return words[metric].unit;
}

const char *tb_metric_title(enum tb_metric metric)
{
	return words[metric].title;
}

char *tb_metric_meaning(enum tb_metric metric, const struct tb_switching_words *switching,
	char *buffer, size_t size)
{
	if (metric == TB_WAIT)
		snprintf(buffer, size,
			"time that headers arriving over the link waited for %s",
			switching->awaited);
	else if (metric == TB_STALL)
		snprintf(buffer, size, "time that %s while nothing moved",
			switching->stalled);
	else if (metric == TB_BLOCKED)
		snprintf(buffer, size, "headers arriving over the link that found %s",
			switching->lacked);
	else
		snprintf(buffer, size, "%s", words[metric].meaning);
	return buffer;
}
