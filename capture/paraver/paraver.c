#include "paraver.h"

#include "infile.h"
#include "paraver_impl.h"
#include "stop.h"
#include "text_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool tb_paraver_begins(struct tb_bytes first)
{
	return first.n >= 10 && memcmp(first.data, "#Paraver (", 10) == 0;
}

// prv_read_line takes a line. The last one may be cut: also within a number, so that it
// does not look so.
static int prv_read_line(
	struct prv_trace *trace, const struct tb_text_lines *lines, bool lenient)
{
	trace->line = lines->number;
	trace->is_cut = !lines->is_ended && trace->line > 1;
	if (trace->is_cut && lenient)
		return TB_EFORMAT;
	return trace->line == 1 ? tb_prv_read_header(trace, lines->text)
				: tb_prv_read_record(trace, lines->text);
}

static int prv_read_lines(
	struct prv_trace *trace, FILE *stream, const struct tb_reading *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, trace->file, trace->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		status = prv_read_line(trace, &lines, reading->lenient);
		if (trace->line % 4096 == 0 && tb_stop_asked(reading->stop))
			status = tb_fail_in(
				trace->error, TB_ESTOPPED, trace->file, "stopped");
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	if (status == TB_OK && trace->line == 0)
		status = tb_fail_in(trace->error, TB_EFORMAT, trace->file, "is empty");
	return status;
}

static int prv_read_file(struct prv_trace *trace, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	int status = tb_infile_open(&stream, &file, trace->file, trace->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = prv_read_lines(trace, stream, reading);
	// What cut the stream off is the cause of what the reader stumbled over.
	int cause = tb_infile_check(file, trace->error);
	fclose(stream);
	trace->is_cut = trace->line > 1 && (trace->is_cut || cause == TB_EFORMAT);
	status = cause != TB_OK ? cause : status;
	if (!trace->is_cut || status != TB_EFORMAT)
		return status;
	trace->end_ns = trace->last_ns;
	return tb_reading_breaks_off(reading, status, &trace->n_broken, trace->error);
}

static struct prv_application *application_of(struct prv_trace *trace, uint32_t task)
{
	uint32_t i = 0;
	while (task - trace->applications[i].first_task >= trace->applications[i].n_tasks)
		i++;
	return &trace->applications[i];
}

static bool communicates(const struct prv_task *task)
{
	for (size_t i = 0; i < task->n; i++)
		if (task->spans[i].kind.act != PRV_OTHER)
			return true;
	return false;
}

// prv_number_ranks makes ranks of the tasks of applications that communicate.
static int prv_number_ranks(struct prv_trace *trace)
{
	for (size_t i = 0; i < trace->n_messages; i++) {
		application_of(trace, trace->messages[i].from)->communicates = true;
		application_of(trace, trace->messages[i].to)->communicates = true;
	}
	for (uint32_t a = 0; a < trace->n_applications; a++) {
		struct prv_application *of = &trace->applications[a];
		for (uint32_t i = 0; i < of->n_tasks && !of->communicates; i++)
			of->communicates =
				communicates(&trace->tasks[of->first_task + i]);
		for (uint32_t i = 0; i < of->n_tasks && of->communicates; i++)
			trace->tasks[of->first_task + i].rank = trace->n_ranks++;
	}
	if (trace->n_ranks == 0)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"has neither messages nor MPI calls: expected those of a program "
			"with MPI");
	return TB_OK;
}

int tb_paraver_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	static const struct tb_reading defaults = {0};
	struct prv_trace trace = {.file = paths[0], .error = error};
	struct tb_calls *read = NULL;
	if (n != 1)
		return tb_fail_in(error, TB_EUSAGE, paths[1],
			"is another Paraver trace: a trace is one file");
	int status = tb_prv_names_read(&trace.names, paths[0], error);
	if (status == TB_OK)
		status = prv_read_file(&trace, reading ? reading : &defaults);
	if (status == TB_OK) {
		status = prv_number_ranks(&trace);
		if (status == TB_OK)
			status = tb_prv_find_calls(&trace);
		if (status == TB_OK)
			status = tb_calls_new(&read, trace.n_ranks, trace.error);
		if (status == TB_OK)
			status = tb_prv_make_calls(&trace, read);
		if (status == TB_OK)
			tb_reading_note_breaks(read, trace.n_broken);
		if (status == TB_OK)
			status = tb_prv_name_hosts(&trace, trace.file, read);
	}
	tb_prv_trace_fini(&trace);
	if (status != TB_OK) {
		tb_calls_free(read);
		return status;
	}
	*calls = read;
	*made = NULL;
	return TB_OK;
}
