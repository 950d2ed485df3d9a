// The report as one HTML page.
#include "markup.h"
#include "page.h"
#include "report_impl.h"

#include <inttypes.h>
#include <string.h>

static void write_header(const struct tb_report *report, bool has_matrix, FILE *stream)
{
	char title[TB_REPORT_TITLE];
	fprintf(stream,
		"<header>\n<p class=\"eyebrow\">Tailback report &middot; run %" PRId64
		" on ",
		report->info->id);
	tb_markup_put(stream, report->info->network_name);
	tb_markup_put(stream, tb_run_caution(report->info));
	fputs("</p>\n<h1>", stream);
	tb_markup_put(stream, tb_report_title(report, title, sizeof title));
	fputs("</h1>\n", stream);
	if (!report->info->complete)
		fputs("<p class=\"badge\">incomplete</p>\n", stream);
	tb_report_findings_html(&report->findings, stream);
	fputs("<nav>", stream);
	if (has_matrix)
		fputs("<a href=\"#matrix\">Congestion matrix</a>", stream);
	tb_page_links(report->tables, TB_REPORT_LISTS, stream);
	if (tb_report_n_notes(report))
		fputs("<a href=\"#notes\">Notes</a>", stream);
	fputs("<a href=\"#run\">Configuration</a></nav>\n", stream);
	fputs("</header>\n", stream);
}

#define STRIP_WIDTH   1150
#define STRIP_HEIGHT  110
#define STRIP_COLUMNS 230

// The strip shows the mean of groups of bins, at most 230, so that every column is wide
// enough to point at.
struct strip {
	uint64_t bins_a_column;
	uint32_t n_columns;
	double largest_ps; // mean wait in a bin, of the highest column
};

static double column_mean(
	const struct tb_report *report, const struct strip *strip, uint32_t column)
{
	uint64_t first = column * strip->bins_a_column;
	uint64_t end = first + strip->bins_a_column;
	if (end > report->info->n_bins)
		end = report->info->n_bins;
	double sum = 0;
	for (uint64_t bin = first; bin < end; bin++)
		sum += (double)report->wait_by_bin[bin];
	return sum / (double)(end - first);
}

static void write_column(const struct tb_report *report, const struct strip *strip,
	uint32_t i, FILE *stream)
{
	const struct tb_run_info *info = report->info;
	double mean = column_mean(report, strip, i);
	double width = (double)STRIP_WIDTH / strip->n_columns;
	double height = STRIP_HEIGHT * mean / strip->largest_ps;
	uint64_t end = (i + 1) * strip->bins_a_column;
	if (end > info->n_bins)
		end = info->n_bins;
	char from[32], to[32], wait[32];
	tb_format_time((tb_time_ps)(i * strip->bins_a_column) * info->bin_ps, from, 32);
	tb_format_time((tb_time_ps)end * info->bin_ps, to, 32);
	fprintf(stream,
		"<g><title>%s to %s: packets waited %s per bin</title><rect "
		"class=\"hit\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"/><rect "
		"class=\"bin\" "
		"x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/></g>\n",
		from, to, tb_format_long_time(mean, wait, sizeof wait), i * width, width,
		STRIP_HEIGHT, i * width, STRIP_HEIGHT - height,
		width > 3 ? width - 1 : width, height);
}

static void write_time(const struct tb_report *report, FILE *stream)
{
	const struct tb_run_info *info = report->info;
	char width[32], largest[32], end[32];
	if (!report->n_waiting || !info->n_bins)
		return;
	struct strip strip = {0};
	uint64_t n = report->info->n_bins;
	strip.bins_a_column = (n + STRIP_COLUMNS - 1) / STRIP_COLUMNS;
	strip.n_columns = (uint32_t)((n + strip.bins_a_column - 1) / strip.bins_a_column);
	for (uint32_t i = 0; i < strip.n_columns; i++) {
		double mean = column_mean(report, &strip, i);
		if (strip.largest_ps < mean)
			strip.largest_ps = mean;
	}
	if (strip.largest_ps <= 0)
		return;
	fprintf(stream,
		"<section class=\"card\" id=\"time\">\n<h2>Wait over time</h2>\n"
		"<p class=\"remark\">Wait of all packets in a bin of %s; at most "
		"%s.</p>\n<svg class=\"time\" viewBox=\"0 0 %d %d\" "
		"role=\"img\" "
		"aria-label=\"Wait over time\">\n",
		tb_format_time(info->bin_ps, width, sizeof width),
		tb_format_long_time(strip.largest_ps, largest, sizeof largest),
		STRIP_WIDTH, STRIP_HEIGHT + 1);
	for (uint32_t i = 0; i < strip.n_columns; i++)
		write_column(report, &strip, i, stream);
	fprintf(stream,
		"<line x1=\"0\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n</svg>\n"
		"<p class=\"axis\"><span>0</span><span>%s</span></p>\n</section>\n",
		STRIP_HEIGHT, STRIP_WIDTH, STRIP_HEIGHT,
		tb_format_time(info->simulated_ps, end, sizeof end));
}

// write_html_figure writes a picture as a section; `dark` may be NULL.
static void write_html_figure(
	const char *heading, const char *light, const char *dark, FILE *stream)
{
	fputs(heading, stream);
	fprintf(stream, "<div class=\"scroll light%s\">\n%s\n</div>\n",
		dark ? " two" : "", light);
	if (dark)
		fprintf(stream, "<div class=\"scroll dark\">\n%s\n</div>\n", dark);
	fputs("</section>\n", stream);
}

static void write_html_item(void *stream, const char *name, const char *text)
{
	fputs("<dt>", stream);
	tb_markup_put(stream, name);
	fputs("</dt><dd>", stream);
	tb_markup_put(stream, text);
	fputs("</dd>\n", stream);
}

int tb_report_write_html(const struct tb_report *report,
	const struct tb_report_figures *figures, FILE *stream)
{
	char title[TB_REPORT_TITLE];
	int status = TB_OK;
	tb_page_begin(
		"Congestion of ", tb_report_title(report, title, sizeof title), stream);
	write_header(report, figures->light != NULL, stream);
	fputs("<main>\n", stream);
	struct tb_report_tile tiles[TB_REPORT_TILES];
	size_t n = tb_report_tiles(report, tiles);
	fputs("<div class=\"tiles\">\n", stream);
	for (size_t i = 0; i < n; i++)
		fprintf(stream, "<div><b>%s</b><span>%s</span></div>\n", tiles[i].value,
			tiles[i].name);
	fputs("</div>\n", stream);
	write_time(report, stream);
	if (figures->light)
		write_html_figure(
			"<section class=\"card\" id=\"matrix\">\n<h2>Congestion "
			"matrix</h2>\n<p class=\"remark\">Wait, a row per level of "
			"switches, in percent of the most loaded link or "
			"switch.</p>\n",
			figures->light, figures->dark, stream);
	if (figures->recorded[0])
		write_html_figure(
			"<section class=\"card\" id=\"scatter\">\n<h2>Recorded against "
			"simulated</h2>\n<p class=\"remark\">What lies above the "
			"diagonal takes longer in the replay.</p>\n",
			figures->recorded[0], figures->recorded[1], stream);
	for (int i = 0; i < TB_REPORT_LISTS && status == TB_OK; i++)
		status = tb_table_html(&report->tables[i], stream);
	tb_report_notes_html(report, stream);
	// Not folded: what is folded is not printed on paper.
	fputs("<section class=\"card\" id=\"run\">\n<h2>Configuration</h2>\n<dl>\n",
		stream);
	if (status == TB_OK)
		status = tb_report_configuration(report, write_html_item, stream);
	fputs("</dl>\n</section>\n", stream);
	tb_page_end(" Figures are simulated but for those called recorded.", stream);
	return status;
}
