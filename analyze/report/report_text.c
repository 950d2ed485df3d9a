// The report as plain text and Markdown.
#include "report_impl.h"
#include "wrap.h"

#include <inttypes.h>
#include <string.h>

#define FACT_WIDTH 10 // of the longest name of a fact

int tb_report_write_text(const struct tb_report *report, unsigned width, FILE *stream)
{
	int status = TB_OK;
	fprintf(stream, "Run %" PRId64 "\n", report->info->id);
	tb_report_findings_text(&report->findings, width, stream);
	fputs("\nConfiguration and totals\n", stream);
	for (int i = 0; i < report->n_facts; i++) {
		fprintf(stream, "  %-*s ", FACT_WIDTH, report->facts[i].name);
		tb_wrap(stream, FACT_WIDTH + 3, FACT_WIDTH + 3, width,
			report->facts[i].text);
	}
	for (int i = 0; i < TB_REPORT_LISTS && !status; i++)
		if (report->tables[i].n_shown)
			status = tb_table_text(&report->tables[i], width, stream);
	return status ? status : tb_report_notes_text(report, width, stream);
}

void tb_report_write_markdown(const struct tb_report *report, FILE *stream)
{
	fputs("# Congestion of ", stream);
	tb_markdown_put(stream, report->info->input_name);
	fputc('\n', stream);
	tb_report_findings_markdown(&report->findings, stream);
	fputs("\n## Configuration and totals\n\n", stream);
	for (int i = 0; i < report->n_facts; i++) {
		fprintf(stream, "- **%s**: ", report->facts[i].name);
		tb_markdown_put(stream, report->facts[i].text);
		fputc('\n', stream);
	}
	for (int i = 0; i < TB_REPORT_LISTS; i++)
		if (report->tables[i].n_shown)
			tb_table_markdown(&report->tables[i], stream);
	tb_report_notes_markdown(report, stream);
}
