// The findings as text, Markdown, HTML and JSON.
#include "markup.h"
#include "report_cells.h"

#include <string.h>

// A format writes a heading before what was found, if it has one, and one before what is
// worth trying, and each finding.
struct form {
	const char *found, *tried;
	void (*put)(FILE *stream, const struct tb_finding *finding);
	const char *end; // behind each of the two lists
};

static void write_list(const struct form *form, const struct tb_findings *findings,
	bool remedy, FILE *stream)
{
	bool any = false;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		if (finding->remedy != remedy)
			continue;
		if (!any)
			fputs(remedy ? form->tried : form->found, stream);
		form->put(stream, finding);
		any = true;
	}
	if (any)
		fputs(form->end, stream);
}

static void write_both(
	const struct form *form, const struct tb_findings *findings, FILE *stream)
{
	write_list(form, findings, false, stream);
	write_list(form, findings, true, stream);
}

// As wide as the longest names of rules that are common, so that sentences align.
#define RULE_WIDTH 14

static void put_text(FILE *stream, const struct tb_finding *finding)
{
	fprintf(stream, "  %-*s  %s\n", RULE_WIDTH, finding->rule, finding->sentence);
	if (finding->command)
		fprintf(stream, "  %*s  %s\n", RULE_WIDTH, "", finding->command);
}

void tb_report_findings_text(const struct tb_findings *findings, FILE *stream)
{
	static const struct form form = {
		"\nFindings\n", "\nWorth trying\n", put_text, ""};
	write_both(&form, findings, stream);
}

// A block of code needs a fence longer than any in the command.
static void put_fence(FILE *stream, const char *command)
{
	size_t longest = 2;
	for (const char *at = command; *at; at++) {
		size_t run = strspn(at, "`");
		longest = run > longest ? run : longest;
	}
	fputs("  ", stream);
	while (longest-- + 1 > 0)
		fputc('`', stream);
}

static void put_markdown(FILE *stream, const struct tb_finding *finding)
{
	fprintf(stream, "- **%s**: ", finding->rule);
	tb_report_markdown(stream, finding->sentence);
	fputc('\n', stream);
	if (!finding->command)
		return;
	fputc('\n', stream);
	put_fence(stream, finding->command);
	fprintf(stream, "sh\n  %s\n", finding->command);
	put_fence(stream, finding->command);
	fputc('\n', stream);
}

void tb_report_findings_markdown(const struct tb_findings *findings, FILE *stream)
{
	static const struct form form = {
		"\n## Findings\n\n", "\n## Worth trying\n\n", put_markdown, ""};
	write_both(&form, findings, stream);
}

static void put_html(FILE *stream, const struct tb_finding *finding)
{
	fprintf(stream, "<dt>%s</dt><dd>", finding->rule);
	tb_markup_put(stream, finding->sentence);
	if (finding->command) {
		fputs("<code>", stream);
		tb_markup_put(stream, finding->command);
		fputs("</code>", stream);
	}
	fputs("</dd>\n", stream);
}

void tb_report_findings_html(const struct tb_findings *findings, FILE *stream)
{
	static const struct form form = {"<dl class=\"findings\">\n",
		"<h2>Worth trying</h2>\n<dl class=\"findings\">\n", put_html, "</dl>\n"};
	write_both(&form, findings, stream);
}

static json_t *figures_object(const struct tb_finding *finding)
{
	struct tb_json_object figures = tb_json_object_new();
	for (size_t i = 0; i < finding->n_figures; i++) {
		const struct tb_figure *figure = &finding->figures[i];
		if (figure->whole)
			tb_json_add_count(&figures, figure->key, figure->count);
		else
			tb_json_add_real(&figures, figure->key, figure->real);
	}
	return tb_json_object_take(&figures);
}

json_t *tb_report_findings_array(const struct tb_report *report)
{
	const struct tb_findings *findings = &report->findings;
	json_t *array = json_array();
	for (size_t i = 0; array && i < findings->n; i++) {
		const struct tb_finding *at = &findings->list[i];
		struct tb_json_object finding = tb_json_object_new();
		tb_json_add_text(&finding, "rule", at->rule);
		tb_json_add(&finding, "remedy", json_boolean(at->remedy));
		tb_json_add_text(&finding, "sentence", at->sentence);
		tb_json_add(&finding, "command",
			at->command ? tb_json_text(at->command) : json_null());
		tb_json_add(&finding, "figures", figures_object(at));
		array = tb_json_append(array, tb_json_object_take(&finding));
	}
	return array;
}
