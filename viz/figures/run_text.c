#include "run_text.h"

#include "run_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool tb_window_whole(const struct tb_run_info *info, struct tb_window window)
{
	return window.end_bin == 0 ||
	       (window.first_bin == 0 && window.end_bin >= info->n_bins);
}

tb_time_ps tb_window_begin_ps(const struct tb_run_info *info, struct tb_window window)
{
	return tb_window_whole(info, window)
		       ? 0
		       : (tb_time_ps)window.first_bin * info->bin_ps;
}

tb_time_ps tb_window_end_ps(const struct tb_run_info *info, struct tb_window window)
{
	tb_time_ps end = (tb_time_ps)window.end_bin * info->bin_ps;
	bool last = tb_window_whole(info, window) || end > info->simulated_ps;
	return last ? info->simulated_ps : end;
}

int tb_window_between(const struct tb_run_info *info, tb_time_ps from, tb_time_ps to,
	struct tb_window *window, struct tb_error *error)
{
	char text[24];
	if (from >= to)
		return tb_fail(error, TB_EUSAGE,
			"the window is %s: it must end after it begins",
			from > to ? "reversed" : "empty");
	if (info->n_bins == 0 || from >= (tb_time_ps)info->n_bins * info->bin_ps)
		return tb_fail(error, TB_EUSAGE,
			"the window begins after the run's end at %s",
			tb_format_time(info->simulated_ps, text, sizeof text));
	uint64_t bin = (uint64_t)info->bin_ps;
	uint64_t end = ((uint64_t)to + bin - 1) / bin;
	window->first_bin = (uint64_t)from / bin;
	window->end_bin = end < info->n_bins ? end : info->n_bins;
	return TB_OK;
}

char *tb_window_text(const struct tb_run_info *info, struct tb_window window,
	char *buffer, size_t size)
{
	char from[24];
	char to[24];
	tb_time_ps begin = tb_window_begin_ps(info, window);
	snprintf(buffer, size, "%s to %s%s",
		begin == 0 ? "0" : tb_format_time(begin, from, sizeof from),
		tb_format_time(tb_window_end_ps(info, window), to, sizeof to),
		tb_window_whole(info, window) ? " (whole run)" : "");
	return buffer;
}

char *tb_run_input_text(const char *input, char *buffer, size_t size)
{
	const char *end = strstr(input, ", ");
	unsigned more = 0;
	for (const char *next = end; next; next = strstr(next + 2, ", "))
		more++;
	if (!end)
		end = input + strlen(input);
	const char *begin = end;
	while (begin > input && !(begin[-1] == '/' && begin < end))
		begin--;
	int length = snprintf(buffer, size, "%.*s", (int)(end - begin), begin);
	if (more && length >= 0 && (size_t)length < size)
		snprintf(buffer + length, size - (size_t)length, " and %u more", more);
	if (strcmp(buffer, "-") == 0)
		snprintf(buffer, size, "standard input");
	return buffer;
}

// capture_text writes what decides the figures of a capture: ", time scale 0.1, 5.2 s
// idle taken out"; nothing of a job, which has no time scale.
static char *capture_text(const struct tb_run_info *info, char *buffer, size_t size)
{
	struct tb_run_capture capture = {0};
	char idle[24], sampled[96];
	*buffer = '\0';
	if (strcmp(info->input_kind, "packets") != 0 &&
		strcmp(info->input_kind, "mixed") != 0)
		return buffer;
	int length = snprintf(buffer, size, ", time scale %.6g", info->time_scale);
	if (!tb_run_capture(info, &capture))
		return buffer;
	if (capture.sampled_most > 0)
		length += snprintf(buffer + length, size - (size_t)length, ", %s",
			tb_run_sampled(&capture, sampled, sizeof sampled));
	if (capture.idle_ps > 0 && capture.idle_ps < TB_TIME_NEVER)
		snprintf(buffer + length, size - (size_t)length, ", %s idle taken out",
			tb_format_time(capture.idle_ps, idle, sizeof idle));
	return buffer;
}

// Two names may be cut at their beginnings (tb_picture_name) where they get so much.
#define NAMES_W 190

char *tb_run_pair_text(const struct tb_run *run, struct tb_node source,
	struct tb_node destination, double width, char *buffer, size_t size)
{
	const char *from = tb_run_node_label(run, source);
	const char *to = tb_run_node_label(run, destination);
	if (*from && *to && width >= NAMES_W)
		snprintf(buffer, size, "%.76s > %.76s", from, to);
	else
		snprintf(buffer, size, "%" PRIu32 " > %" PRIu32, source.id,
			destination.id);
	return buffer;
}

char *tb_run_caption(const struct tb_run_info *info, char *buffer, size_t size)
{
	char nodes[32], input[81], capture[192];
	snprintf(buffer, size, "%s on %.32s%s, %s nodes%s%s",
		tb_run_input_text(info->input_name, input, sizeof input),
		info->network_name, tb_run_caution(info),
		tb_format_count(info->n_nodes, nodes, sizeof nodes),
		capture_text(info, capture, sizeof capture),
		info->complete ? "" : " (not ended)");
	return buffer;
}

char *tb_span_text(struct tb_span span, char *buffer, size_t size)
{
	char from[24], to[24];
	if (span.to_ps == 0)
		snprintf(buffer, size, "the whole run");
	else
		snprintf(buffer, size, "%s to %s",
			span.from_ps == 0
				? "0"
				: tb_format_time(span.from_ps, from, sizeof from),
			tb_format_time(span.to_ps, to, sizeof to));
	return buffer;
}

static tb_time_ps to_time(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (tb_time_ps)value;
}

// format_rate writes what happens in a second: "17 /s", "12.35 k/s", "148.8 M/s".
static char *format_rate(uint64_t value, uint64_t model, char *buffer, size_t size)
{
	double unit = model >= 1000000 ? 1e6 : model >= 1000 ? 1e3 : 1;
	snprintf(buffer, size, "%.4g %s/s", (double)value / unit,
		unit > 1e3   ? "M"
		: unit > 1.0 ? "k"
			     : "");
	return buffer;
}

char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size)
{
	return tb_metric_format_as(metric, value, value, buffer, size);
}

char *tb_metric_format_as(
	enum tb_metric metric, uint64_t value, uint64_t model, char *buffer, size_t size)
{
	const struct tb_link_figure *figure = &tb_link_figures[metric];
	char count[32];
	switch (figure->kind) {
	case TB_KIND_TIME:
		return tb_format_time_as(to_time(value), to_time(model), buffer, size);
	case TB_KIND_SIZE:
		return tb_format_size_as(value, model, buffer, size);
	case TB_KIND_RATE:
		return format_rate(value, model, buffer, size);
	case TB_KIND_COUNT:
		snprintf(buffer, size, "%s %.*s",
			tb_format_count(value, count, sizeof count),
			(int)(strlen(figure->unit) - (value == 1)), figure->unit);
		break;
	}
	return buffer;
}

const char *tb_metric_unit(enum tb_metric metric)
{
	return tb_link_figures[metric].unit;
}

const char *tb_metric_title(enum tb_metric metric)
{
	return tb_link_figures[metric].title;
}

char *tb_metric_meaning(enum tb_metric metric, const struct tb_switching_words *switching,
	char *buffer, size_t size)
{
	return tb_fill_words(tb_link_figures[metric].meaning, switching, buffer, size);
}
