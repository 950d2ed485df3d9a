// Makes figures of links from two dumps.
#include "measured_impl.h"

#include "array.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INTERVAL_SLACK_S 2.0
#define INTERVAL_PART	 0.05

void tb_measured_fini(struct tb_measured *measured)
{
	for (size_t i = 0; i < measured->n_notes; i++)
		free(measured->notes[i]);
	free(measured->notes);
	free(measured->counts);
	free(measured->links);
	free(measured->known);
	free(measured->tick_bytes);
	*measured = (struct tb_measured){0};
}

int measured_note(
	struct tb_measured *measured, struct tb_error *error, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0 || TB_ARRAY_RESERVE(&measured->notes, &measured->notes_room,
				  measured->n_notes + 1) != TB_OK) {
		free(length < 0 ? NULL : text);
		return tb_fail_memory(error, "the notes");
	}
	measured->notes[measured->n_notes++] = text;
	return TB_OK;
}

// check_interval refuses an interval that the dumps' own times contradict: by more than
// their precision, which is seconds at each end, and what collecting the ports of a large
// fabric takes.
static int check_interval(const struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	double given_s = (double)options->interval_ps / (double)TB_PS_PER_S;
	double told_s =
		(double)(measuring->after.time_us - measuring->before.time_us) / 1e6;
	if (told_s < 0)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"it was printed before %s: the earlier dump comes first",
			options->before);
	if (fabs(told_s - given_s) <= fmax(INTERVAL_SLACK_S, INTERVAL_PART * given_s))
		return TB_OK;
	return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
		"it was printed %.3g s after %s, and --interval gives %.3g s: leave "
		"--interval out, or correct it",
		told_s, options->before, given_s);
}

static int find_interval(struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	const struct tb_counters *before = &measuring->before, *after = &measuring->after;
	tb_time_ps *interval = &measuring->measured->interval_ps;
	bool have_times = options->before && before->has_time && after->has_time;
	*interval = options->interval_ps;
	if (*interval > 0 && have_times)
		return check_interval(measuring);
	if (*interval > 0)
		return TB_OK;
	if (!options->before)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"one dump counts since somebody reset its counters, it does not "
			"say when: give a second dump, or that time as --interval");
	if (!before->has_time || !after->has_time)
		return tb_fail_in(measuring->error, TB_EUSAGE,
			before->has_time ? options->after : options->before,
			"it does not say when it was printed: give the time between the "
			"dumps as --interval");
	int64_t us = after->time_us - before->time_us;
	if (us <= 0)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			us ? "it was printed before %s: the earlier dump comes first"
			   : "it was printed at the same time as %s",
			options->before);
	if (us > INT64_MAX / 1000000)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"it was printed more than 106 days after %s", options->before);
	*interval = us * 1000000;
	return TB_OK;
}

// is_one: both dumps are the same file or folder, between which nothing was counted.
static bool is_one(const struct tb_measured_options *options)
{
	struct stat before, after;
	return options->before && stat(options->before, &before) == 0 &&
	       stat(options->after, &after) == 0 && before.st_dev == after.st_dev &&
	       before.st_ino == after.st_ino;
}

static int read_dumps(struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	int status = TB_OK;
	if (is_one(options))
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"the earlier dump is the same one: the later one is another");
	if (options->before)
		status = tb_counters_read(
			&measuring->before, options->before, measuring->error);
	if (status == TB_OK)
		status = tb_counters_read(
			&measuring->after, options->after, measuring->error);
	measuring->measured->n_ports = measuring->after.n;
	measuring->measured->n_bytes =
		measuring->before.n_bytes + measuring->after.n_bytes;
	return status;
}

static int measure_counters(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	int status = read_dumps(measuring);
	if (status == TB_OK)
		status = find_interval(measuring);
	if (status == TB_OK)
		status = port_index_init(
			&measuring->index, measured->network, measuring->error);
	measuring->links = calloc(n + 1u, sizeof *measuring->links);
	measured->links = calloc(n + 1u, sizeof *measured->links);
	measured->tick_bytes = calloc(n + 1u, sizeof *measured->tick_bytes);
	measured->known = calloc(n + 1u, sizeof *measured->known);
	if (status == TB_OK && !(measuring->links && measured->links && measured->known &&
				       measured->tick_bytes))
		status = tb_fail_memory(measuring->error, "the links");
	if (status == TB_OK)
		status = measured_ticks_find(measured->tick_bytes, measured->network,
			measuring->options->tick_is_given, measuring->error);
	if (status == TB_OK)
		status = measuring_links(measuring);
	if (status == TB_OK && measured->n_matched == 0)
		status = tb_fail_in(measuring->error, TB_EFORMAT,
			measuring->options->after,
			measuring->foreign.n
				? "none of its ports is in the fabric: it counts another "
				  "one (the first: %s)"
				: "none of its ports is in the earlier dump%s",
			measuring->foreign.first);
	if (status != TB_OK)
		return status;
	measuring_samples(measuring);
	return measuring_notes(measuring);
}

int tb_measured_init(struct tb_measured *measured, const struct tb_network *network,
	const struct tb_measured_options *options, struct tb_error *error)
{
	struct tb_measured made = {.network = network};
	struct measuring measuring = {
		.measured = &made, .options = options, .error = error};
	int status = measure_counters(&measuring);
	tb_counters_fini(&measuring.before);
	tb_counters_fini(&measuring.after);
	port_index_fini(&measuring.index);
	free(measuring.links);
	if (status != TB_OK) {
		tb_measured_fini(&made);
		return status;
	}
	*measured = made;
	return TB_OK;
}
