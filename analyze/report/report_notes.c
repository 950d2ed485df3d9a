// The notes of a run in all formats of the report.
#include "markup.h"
#include "report_impl.h"
#include "wrap.h"

#include <stdlib.h>

size_t tb_report_n_notes(const struct tb_report *report)
{
	size_t n = report->info->n_notes;
	return report->top && report->top < n ? report->top : n;
}

// about writes before a note what it is about, where that is not the only job.
static const char *about(const struct tb_report *report, const struct tb_run_note *note)
{
	return note->job != TB_ID_NONE && report->info->n_jobs == 1
		       ? ""
		       : tb_run_note_about(report->run, note);
}

// A format: what stands before a note, and how its text is written.
struct notes_form {
	const char *title, *begin, *end, *close;
	void (*put)(FILE *stream, const char *text);
};

static void write_note_text(FILE *stream, const char *text)
{
	fputs(text, stream);
}

void tb_report_notes(const struct tb_report *report, tb_report_put *put, void *context)
{
	for (size_t i = 0; i < tb_report_n_notes(report); i++)
		put(context, about(report, &report->info->notes[i]),
			report->info->notes[i].text);
}

static void write_notes(
	const struct tb_report *report, const struct notes_form *form, FILE *stream)
{
	size_t n = tb_report_n_notes(report), n_all = report->info->n_notes;
	if (n == 0)
		return;
	fputs(form->title, stream);
	for (size_t i = 0; i < n; i++) {
		const char *name = about(report, &report->info->notes[i]);
		fputs(form->begin, stream);
		form->put(stream, name);
		fputs(*name ? ": " : "", stream);
		form->put(stream, report->info->notes[i].text);
		fputs(form->end, stream);
	}
	if (n < n_all)
		fprintf(stream, "%sand %zu more%s", form->begin, n_all - n, form->end);
	fputs(form->close, stream);
}

int tb_report_notes_text(const struct tb_report *report, unsigned width, FILE *stream)
{
	static const struct notes_form form = {
		"\nNotes\n", "  ", "\n", "", write_note_text};
	char *notes = NULL;
	size_t size;
	FILE *memory = open_memstream(&notes, &size);
	if (!memory)
		return TB_ENOMEM;
	write_notes(report, &form, memory);
	bool whole = fclose(memory) == 0;
	if (whole)
		tb_wrap_lines(stream, width, notes);
	free(notes);
	return whole ? TB_OK : TB_ENOMEM;
}

void tb_report_notes_markdown(const struct tb_report *report, FILE *stream)
{
	static const struct notes_form form = {
		"\n## Notes\n\n", "- ", "\n", "", tb_markdown_put};
	write_notes(report, &form, stream);
}

void tb_report_notes_html(const struct tb_report *report, FILE *stream)
{
	static const struct notes_form form = {
		"<section class=\"card\" id=\"notes\">\n<h2>Notes</h2>\n<ul>\n", "<li>",
		"</li>\n", "</ul>\n</section>\n", tb_markup_put};
	write_notes(report, &form, stream);
}

static const void *note_at(const void *of, size_t row)
{
	return &((const struct tb_report *)of)->info->notes[row];
}

static void put_note_job(struct tb_datum *at)
{
	at->unknown = ((const struct tb_run_note *)at->item)->job == TB_ID_NONE;
}

static void put_about(struct tb_datum *at)
{
	at->word = tb_run_note_about(((const struct tb_report *)at->of)->run, at->item);
}

#define NOTE(member) TB_MEMBER(struct tb_run_note, member)

static const struct tb_column columns[] = {
	{"job", NULL, "null: of the network.", TB_DATUM_ID, NOTE(job),
		.put = put_note_job, .flags = TB_COLUMN_NULL},
	{"about", NULL, "Name of the job or the network.", TB_DATUM_TEXT,
		.put = put_about},
	{"text", NULL, "A sentence.", TB_DATUM_TEXT, NOTE(text)},
};

static void list_notes(struct tb_table *table)
{
	table->n_rows = tb_report_n_notes(table->of);
}

const struct tb_table_type tb_list_notes = {"notes", NULL,
	"What is to be known of how the run was made: what the reader of a trace left "
	"out "
	"or assumed, which rules made messages of its calls, where its ranks were put, "
	"what is odd about the network.",
	TB_COLUMNS(columns), .item = note_at, .list = list_notes};
