// Written directly, not by cairo: cairo's SVG turns text into outlines, which cannot be
// searched, copied or restyled, and has no tooltips.
#include "backends.h"

#include "markup.h"

#include <math.h>

struct svg {
	const struct tb_picture *picture;
	FILE *stream;
	bool clipped;
};

// length writes a coordinate with two decimals at most and no trailing zeros.
static void length(FILE *stream, const char *name, double value)
{
	double rounded = round(value * 100) / 100;
	fprintf(stream, " %s=\"%.10g\"", name, rounded == 0 ? 0 : rounded);
}

static void svg_paint(FILE *stream, const char *name, struct tb_colour colour)
{
	fprintf(stream, " %s=\"#%02x%02x%02x\"", name, colour.r, colour.g, colour.b);
	if (colour.a != 255)
		fprintf(stream, " %s-opacity=\"%.3g\"", name, colour.a / 255.0);
}

static void svg_finish(const struct svg *svg, const struct tb_item *item, const char *tag)
{
	if (!item->tip) {
		fputs("/>\n", svg->stream);
		return;
	}
	fputs("><title>", svg->stream);
	tb_markup_put(svg->stream, tb_picture_string(svg->picture, item->tip));
	fprintf(svg->stream, "</title></%s>\n", tag);
}

static void svg_rect(void *context, const struct tb_item *item)
{
	const struct svg *svg = context;
	fputs("<rect", svg->stream);
	length(svg->stream, "x", item->box.x);
	length(svg->stream, "y", item->box.y);
	length(svg->stream, "width", item->box.w);
	length(svg->stream, "height", item->box.h);
	svg_paint(svg->stream, "fill", item->colour);
	svg_finish(svg, item, "rect");
}

static void svg_frame(void *context, const struct tb_item *item)
{
	const struct svg *svg = context;
	double half = item->size / 2;
	fputs("<rect", svg->stream);
	length(svg->stream, "x", item->box.x + half);
	length(svg->stream, "y", item->box.y + half);
	length(svg->stream, "width", fmax(item->box.w - item->size, 0));
	length(svg->stream, "height", fmax(item->box.h - item->size, 0));
	fputs(" fill=\"none\"", svg->stream);
	svg_paint(svg->stream, "stroke", item->colour);
	length(svg->stream, "stroke-width", item->size);
	svg_finish(svg, item, "rect");
}

static void svg_line(void *context, const struct tb_item *item)
{
	const struct svg *svg = context;
	fputs("<line", svg->stream);
	length(svg->stream, "x1", item->box.x);
	length(svg->stream, "y1", item->box.y);
	length(svg->stream, "x2", item->box.x + item->box.w);
	length(svg->stream, "y2", item->box.y + item->box.h);
	svg_paint(svg->stream, "stroke", item->colour);
	length(svg->stream, "stroke-width", item->size);
	svg_finish(svg, item, "line");
}

static void svg_text(void *context, const struct tb_item *item, const char *string)
{
	static const char *const anchors[] = {"start", "middle", "end"};
	static const char *const fonts[] = {"", " font-weight=\"bold\"",
		" font-family=\"DejaVu Sans Mono, monospace\"",
		" font-family=\"DejaVu Sans Mono, monospace\""};
	const struct svg *svg = context;
	double x = item->box.x + item->box.w * (double)item->align / 2;
	// Text on a cell must not keep the pointer from showing the cell's title.
	fputs("<text pointer-events=\"none\"", svg->stream);
	length(svg->stream, "x", x);
	length(svg->stream, "y",
		item->box.y + item->box.h / 2 + TB_BASELINE * item->size);
	length(svg->stream, "font-size", item->size);
	fputs(fonts[item->font], svg->stream);
	if (item->align != TB_ALIGN_LEFT)
		fprintf(svg->stream, " text-anchor=\"%s\"", anchors[item->align]);
	svg_paint(svg->stream, "fill", item->colour);
	fputc('>', svg->stream);
	tb_markup_put(svg->stream, string);
	fputs("</text>\n", svg->stream);
}

// A nested svg element clips without an id, which would clash in a page with two
// pictures.
static void svg_clip(void *context, const struct tb_box *box)
{
	struct svg *svg = context;
	if (svg->clipped)
		fputs("</svg>\n", svg->stream);
	svg->clipped = box != NULL;
	if (!box)
		return;
	fputs("<svg", svg->stream);
	length(svg->stream, "x", box->x);
	length(svg->stream, "y", box->y);
	length(svg->stream, "width", box->w);
	length(svg->stream, "height", box->h);
	fprintf(svg->stream, " viewBox=\"%.10g %.10g %.10g %.10g\">\n", box->x, box->y,
		box->w, box->h);
}

void tb_picture_svg(const struct tb_picture *picture, double width, FILE *stream)
{
	struct svg svg = {.picture = picture, .stream = stream};
	const struct tb_backend backend = {
		&svg, svg_rect, svg_frame, svg_line, svg_text, svg_clip};
	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", stream);
	fprintf(stream, " viewBox=\"0 0 %.10g %.10g\"", picture->width, picture->height);
	if (width > 0) {
		length(stream, "width", width);
		length(stream, "height", width * picture->height / picture->width);
	}
	fputs(" role=\"img\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
		stream);
	const struct tb_item page = {
		.box = {0, 0, picture->width, picture->height}, .colour = picture->page};
	svg_rect(&svg, &page);
	tb_picture_draw(picture, &backend);
	fputs("</svg>\n", stream);
}
