// The report as plain text and Markdown.
#include "report_cells.h"

#include <inttypes.h>
#include <string.h>

void tb_report_write_text(const struct tb_report *report, FILE *stream)
{
	fprintf(stream, "Run %" PRId64 "\n", report->info->id);
	tb_report_findings_text(&report->findings, stream);
	fputs("\nConfiguration and totals\n", stream);
	for (int i = 0; i < report->n_facts; i++)
		fprintf(stream, "  %-10s %s\n", report->facts[i].name,
			report->facts[i].text);
	for (int i = 0; i < report->n_tables; i++)
		tb_report_table_text(&report->tables[i], stream);
	tb_report_notes_text(report, stream);
}

void tb_report_write_markdown(const struct tb_report *report, FILE *stream)
{
	fputs("# Congestion of ", stream);
	tb_report_markdown(stream, report->info->input_name);
	fputc('\n', stream);
	tb_report_findings_markdown(&report->findings, stream);
	fputs("\n## Configuration and totals\n\n", stream);
	for (int i = 0; i < report->n_facts; i++) {
		fprintf(stream, "- **%s**: ", report->facts[i].name);
		tb_report_markdown(stream, report->facts[i].text);
		fputc('\n', stream);
	}
	for (int i = 0; i < report->n_tables; i++)
		tb_report_table_markdown(&report->tables[i], stream);
	tb_report_notes_markdown(report, stream);
}
