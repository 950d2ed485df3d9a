// The files of a log.
#include "nccl_log.h"

#include "infile.h"
#include "input_files.h"
#include "nccl_impl.h"
#include "stop.h"
#include "text_lines.h"
#include "trace_files.h"

#include <string.h>

#define LINE_MOST    ((size_t)1 << 20)
#define MENTION_MOST ((size_t)1 << 20)
#define MARK	     " NCCL INFO "

static bool has_mark(const void *data, size_t n)
{
	return memmem(data, n, MARK, strlen(MARK)) != NULL;
}

bool tb_nccl_begins(struct tb_bytes first)
{
	return has_mark(first.data, first.n);
}

static bool log_is_among(const char *path, bool further)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	if (!tb_input_is_file(path) ||
		tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, NULL) == TB_OK;
	if (is)
		is = tb_nccl_begins(first) ||
		     (further && (first.n > 0 && !memchr(first.data, 0, first.n)) &&
			     tb_infile_mentions(stream, MARK, MENTION_MOST));
	fclose(stream);
	return is;
}

bool tb_nccl_mentions(const char *path)
{
	return log_is_among(path, true);
}

static bool begins_log(const char *path, const char *name)
{
	(void)name;
	return log_is_among(path, false);
}

bool tb_nccl_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, begins_log);
}

// log_take_line takes a line. One of a call that is broken is left out with --lenient:
// processes that write to one file may cut each other's lines.
static int log_take_line(struct nl_log *log, const char *text, bool lenient)
{
	struct nl_line line;
	tb_nl_version(log, text);
	if (!tb_nl_line(&line, text))
		return TB_OK;
	log->n_lines++;
	if (line.has_time) {
		if (log->first_ns == 0 || line.at_ns < log->first_ns)
			log->first_ns = line.at_ns;
		if (line.at_ns > log->last_ns)
			log->last_ns = line.at_ns;
	}
	int status = tb_nl_call(log, &line);
	if (status == TB_OK)
		status = tb_nl_choice(log, &line);
	if (status == TB_OK)
		status = tb_nl_topology(log, &line);
	if (status == TB_EFORMAT && lenient) {
		log->n_broken_lines++;
		return TB_OK;
	}
	return status;
}

static int log_read_lines(
	struct nl_log *log, FILE *stream, const struct tb_reading *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, log->file, log->error);
	lines.most = LINE_MOST;
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		log->line = lines.number;
		status = log_take_line(log, lines.text, reading->lenient);
		if (lines.number % 4096 == 0 && tb_stop_asked(reading->stop))
			status =
				tb_fail_in(log->error, TB_ESTOPPED, log->file, "stopped");
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

static int log_read_file(struct nl_log *log, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	int status = tb_infile_open(&stream, &file, log->file, log->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = log_read_lines(log, stream, reading);
	int cause = tb_infile_check(file, log->error);
	fclose(stream);
	if (cause == TB_EFORMAT)
		return tb_reading_breaks_off(
			reading, cause, &log->n_broken_files, log->error);
	return cause != TB_OK ? cause : status;
}

int tb_nl_read(struct nl_log *log, const struct tb_reading *reading, uint32_t clone_ranks,
	const char *const *paths, size_t n)
{
	struct tb_trace_files files = {0};
	log->file = paths[0];
	log->parts = "logs";
	log->lane = "stream";
	int status = tb_trace_files_list(&files, paths, n, begins_log, log->error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		log->file = files.paths[i];
		status = log_read_file(log, reading);
	}
	log->file = paths[0];
	tb_trace_files_fini(&files);
	if (status == TB_OK && log->n_lines == 0)
		status = tb_fail_in(log->error, TB_EFORMAT, log->file,
			"has no line of NCCL's: expected HOST:PID:TID [DEVICE] NCCL "
			"INFO");
	if (status == TB_OK && clone_ranks > 0)
		status = tb_nl_clone(log, clone_ranks);
	return status == TB_OK ? tb_nl_group(log) : status;
}
