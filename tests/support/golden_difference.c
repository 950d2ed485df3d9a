#include "golden_difference.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN	   8 // lines of each kind in the report
#define MOST_CELLS 512
#define CELL_W	   8
#define CELL_H	   16

struct lines {
	char **items;
	bool *equal; // to a line of the other
	size_t n;
};

static struct lines split(char *text)
{
	struct lines lines = {0};
	char *rest = text, *line;
	while ((line = strsep(&rest, "\n"))) {
		if (!rest && *line == '\0')
			break;
		lines.items = realloc(lines.items, (lines.n + 1) * sizeof *lines.items);
		lines.items[lines.n++] = line;
	}
	lines.equal = calloc(lines.n + 1, sizeof *lines.equal);
	return lines;
}

static void release(struct lines *lines)
{
	free(lines->items);
	free(lines->equal);
}

// pair_up marks the lines that both have, each with one of the other.
static void pair_up(struct lines *a, struct lines *b)
{
	for (size_t i = 0, next = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++) {
			size_t at = (next + k) % b->n; // mostly in the same order
			if (b->equal[at] || strcmp(a->items[i], b->items[at]) != 0)
				continue;
			a->equal[i] = b->equal[at] = true;
			next = at + 1;
			break;
		}
}

static size_t report_lines(const struct lines *lines, char mark, FILE *report)
{
	size_t n = 0;
	for (size_t i = 0; i < lines->n; i++)
		if (!lines->equal[i] && n++ < SHOWN)
			fprintf(report, "%c %zu: %.160s\n", mark, i + 1, lines->items[i]);
	if (n > SHOWN)
		fprintf(report, "%c ... and %zu more\n", mark, n - SHOWN);
	return n;
}

void golden_path_of_difference(char path[512], const char *name, const char *ending)
{
	const char *build = getenv("TB_BUILD");
	snprintf(path, 512, "%s/differences", build ? build : ".");
	mkdir(path, 0777);
	snprintf(path, 512, "%s/differences/%s%s", build ? build : ".", name, ending);
}

static FILE *begin_svg(const char *name, double width, double height, FILE *report)
{
	char path[512];
	golden_path_of_difference(path, name, ".difference.svg");
	FILE *svg = fopen(path, "w");
	if (!svg)
		return NULL;
	fprintf(report, "the difference: %s\n", path);
	fprintf(svg,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height);
	return svg;
}

static void end_svg(FILE *svg)
{
	fputs("</svg>\n", svg);
	fclose(svg);
}

// draw_items outlines the boxes of a dump: what both have grey, the others in the colour.
static void draw_items(FILE *svg, const struct lines *lines, const char *colour)
{
	for (size_t i = 0; i < lines->n; i++) {
		double x, y, w, h;
		if (sscanf(lines->items[i], "%*s %lf %lf %lf %lf", &x, &y, &w, &h) != 4)
			continue;
		fprintf(svg,
			"<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
			"fill=\"none\" "
			"stroke=\"%s\" stroke-width=\"%d\"/>\n",
			x, y, w, h, lines->equal[i] ? "#ddd" : colour,
			lines->equal[i] ? 1 : 2);
	}
}

static void draw_dumps(const char *name, const struct lines *wanted,
	const struct lines *got, FILE *report)
{
	double width = 1, height = 1;
	if (got->n)
		sscanf(got->items[0], "picture %lf %lf", &width, &height);
	FILE *svg = begin_svg(name, width, height, report);
	if (!svg)
		return;
	draw_items(svg, wanted, "#d00");
	draw_items(svg, got, "#080");
	end_svg(svg);
}

// draw_svgs lays one over the other: what is equal is black.
static void draw_svgs(const char *name, const char *wanted, const char *got, FILE *report)
{
	double width = 1000, height = 1000;
	sscanf(got, "%*[^\"]\"%*[^\"]\" viewBox=\"0 0 %lf %lf", &width, &height);
	FILE *svg = begin_svg(name, width, height, report);
	if (!svg)
		return;
	fprintf(svg, "%s<g style=\"mix-blend-mode:difference\">\n%s</g>\n", wanted, got);
	end_svg(svg);
}

// A cell of a terminal: a character, with the colours that were set before it.
struct cell {
	const char *style, *text;
	int style_length, length;
};

static int cells_of(const char *line, struct cell cells[MOST_CELLS])
{
	int n = 0;
	const char *style = line;
	int style_length = 0;
	while (*line && n < MOST_CELLS) {
		if (*line == '\033') {
			size_t length = strcspn(line, "m");
			style = line;
			style_length = (int)length;
			line += length + (line[length] == 'm');
			continue;
		}
		int length = 1;
		while (((unsigned char)line[length] & 0xc0) == 0x80)
			length++;
		cells[n++] = (struct cell){style, line, style_length, length};
		line += length;
	}
	return n;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->length == b->length && a->style_length == b->style_length &&
	       memcmp(a->text, b->text, (size_t)a->length) == 0 &&
	       memcmp(a->style, b->style, (size_t)a->style_length) == 0;
}

// compare_row reports and draws the cells of a row that differ. Returns their number.
static int compare_row(const char *wanted, const char *got, size_t row, FILE *svg,
	FILE *report, bool shown)
{
	struct cell a[MOST_CELLS], b[MOST_CELLS];
	int n_a = cells_of(wanted, a), n_b = cells_of(got, b), n = 0, first = 0, last = 0;
	for (int i = 0; i < (n_a > n_b ? n_a : n_b); i++) {
		if (i < n_a && i < n_b && same_cell(&a[i], &b[i]))
			continue;
		first = n++ ? first : i;
		last = i;
		if (svg)
			fprintf(svg,
				"<rect x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\" "
				"fill=\"#fbb\"/>\n",
				i * CELL_W, row * CELL_H, CELL_W, CELL_H);
	}
	if (n && shown)
		fprintf(report, "row %zu, %d cells in columns %d to %d\n- %s\n+ %s\n",
			row + 1, n, first + 1, last + 1, wanted, got);
	return n;
}

static void draw_row(FILE *svg, const char *line, size_t row)
{
	struct cell cells[MOST_CELLS];
	int n = cells_of(line, cells);
	for (int i = 0; i < n; i++) {
		bool special = strchr("<>&", *cells[i].text) != NULL;
		if (*cells[i].text != ' ')
			fprintf(svg,
				"<text x=\"%d\" y=\"%zu\" font-size=\"13\">%.*s</text>\n",
				i * CELL_W, row * CELL_H + 12,
				special ? 1 : cells[i].length,
				special ? "?" : cells[i].text);
	}
}

static void compare_cells(const char *name, const struct lines *wanted,
	const struct lines *got, FILE *report)
{
	size_t rows = wanted->n > got->n ? wanted->n : got->n;
	int n = 0, n_rows = 0;
	FILE *svg = begin_svg(name, 120 * CELL_W, (double)(rows * CELL_H), report);
	for (size_t row = 0; row < rows; row++) {
		const char *line = row < got->n ? got->items[row] : "";
		int off = compare_row(row < wanted->n ? wanted->items[row] : "", line,
			row, svg, report, n_rows < SHOWN);
		n += off;
		n_rows += off > 0;
		if (svg)
			draw_row(svg, line, row);
	}
	fprintf(report, "%d cells in %d rows differ\n", n, n_rows);
	if (svg)
		end_svg(svg);
}

static bool ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name), of_ending = strlen(ending);
	return length >= of_ending && strcmp(name + length - of_ending, ending) == 0;
}

bool golden_text_difference(
	const char *name, const char *wanted, const char *got, FILE *report)
{
	if (strcmp(wanted, got) == 0)
		return false;
	char *a = strdup(wanted), *b = strdup(got);
	struct lines of_wanted = split(a), of_got = split(b);
	bool is_dump = strncmp(got, "picture ", 8) == 0;
	fprintf(report, "%s differs (- golden, + now):\n", name);
	if (!is_dump && ends_in(name, ".txt")) {
		compare_cells(name, &of_wanted, &of_got, report);
	} else {
		pair_up(&of_wanted, &of_got);
		size_t n = report_lines(&of_wanted, '-', report);
		n += report_lines(&of_got, '+', report);
		if (n == 0)
			fputs("the same lines in another order\n", report);
		if (is_dump)
			draw_dumps(name, &of_wanted, &of_got, report);
		else if (ends_in(name, ".svg"))
			draw_svgs(name, wanted, got, report);
	}
	release(&of_wanted);
	release(&of_got);
	free(a);
	free(b);
	return true;
}
