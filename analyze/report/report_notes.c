// The notes of a run in all formats of the report.
#include "json.h"
#include "markup.h"
#include "report_cells.h"

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
struct form {
	const char *title, *begin, *end, *close;
	void (*put)(FILE *stream, const char *text);
};

static void put_plain(FILE *stream, const char *text)
{
	fputs(text, stream);
}

static void write_notes(
	const struct tb_report *report, const struct form *form, FILE *stream)
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

void tb_report_notes_text(const struct tb_report *report, FILE *stream)
{
	static const struct form form = {"\nNotes\n", "  ", "\n", "", put_plain};
	write_notes(report, &form, stream);
}

void tb_report_notes_markdown(const struct tb_report *report, FILE *stream)
{
	static const struct form form = {
		"\n## Notes\n\n", "- ", "\n", "", tb_report_markdown};
	write_notes(report, &form, stream);
}

void tb_report_notes_html(const struct tb_report *report, FILE *stream)
{
	static const struct form form = {
		"<section class=\"card\" id=\"notes\">\n<h2>Notes</h2>\n<ul>\n", "<li>",
		"</li>\n", "</ul>\n</section>\n", tb_markup_put};
	write_notes(report, &form, stream);
}

json_t *tb_report_notes_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (size_t i = 0; array && i < tb_report_n_notes(report); i++) {
		const struct tb_run_note *at = &report->info->notes[i];
		struct tb_json_object note = tb_json_object_new();
		tb_json_add(&note, "job",
			at->job == TB_ID_NONE ? json_null() : tb_json_count(at->job));
		tb_json_add_text(&note, "about", tb_run_note_about(report->run, at));
		tb_json_add_text(&note, "text", at->text);
		array = tb_json_append(array, tb_json_object_take(&note));
	}
	return array;
}
