#include "paper.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>

#define MAX_SIDE 32767

static void paper_source(cairo_t *cairo, struct tb_colour colour)
{
	cairo_set_source_rgba(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0,
		colour.a / 255.0);
}

static void paper_rect(void *context, const struct tb_item *item)
{
	cairo_t *cairo = context;
	paper_source(cairo, item->colour);
	cairo_rectangle(cairo, item->box.x, item->box.y, item->box.w, item->box.h);
	cairo_fill(cairo);
}

static void paper_frame(void *context, const struct tb_item *item)
{
	cairo_t *cairo = context;
	double half = item->size / 2;
	paper_source(cairo, item->colour);
	cairo_set_line_width(cairo, item->size);
	cairo_rectangle(cairo, item->box.x + half, item->box.y + half,
		fmax(item->box.w - item->size, 0), fmax(item->box.h - item->size, 0));
	cairo_stroke(cairo);
}

static void paper_line(void *context, const struct tb_item *item)
{
	cairo_t *cairo = context;
	paper_source(cairo, item->colour);
	cairo_set_line_width(cairo, item->size);
	cairo_move_to(cairo, item->box.x, item->box.y);
	cairo_line_to(cairo, item->box.x + item->box.w, item->box.y + item->box.h);
	cairo_stroke(cairo);
}

static void paper_text(void *context, const struct tb_item *item, const char *string)
{
	cairo_t *cairo = context;
	bool sans = item->font == TB_FONT_TEXT || item->font == TB_FONT_BOLD;
	cairo_select_font_face(cairo, sans ? "DejaVu Sans" : "DejaVu Sans Mono",
		CAIRO_FONT_SLANT_NORMAL,
		item->font == TB_FONT_BOLD ? CAIRO_FONT_WEIGHT_BOLD
					   : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, item->size);
	cairo_text_extents_t extents;
	cairo_text_extents(cairo, string, &extents);
	double x =
		item->box.x + (item->box.w - extents.x_advance) * (double)item->align / 2;
	paper_source(cairo, item->colour);
	cairo_move_to(cairo, x, item->box.y + item->box.h / 2 + TB_BASELINE * item->size);
	cairo_show_text(cairo, string);
}

static void paper_clip(void *context, const struct tb_box *box)
{
	cairo_t *cairo = context;
	cairo_reset_clip(cairo);
	if (!box)
		return;
	cairo_rectangle(cairo, box->x, box->y, box->w, box->h);
	cairo_clip(cairo);
}

static int paper_draw(
	const struct tb_picture *picture, cairo_surface_t *surface, double scale)
{
	cairo_t *cairo = cairo_create(surface);
	const struct tb_backend backend = {
		cairo, paper_rect, paper_frame, paper_line, paper_text, paper_clip};
	cairo_font_options_t *options = cairo_font_options_create();
	// Without hinting, metrics do not depend on the scale: a figure has one layout.
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	cairo_set_font_options(cairo, options);
	cairo_font_options_destroy(options);
	cairo_scale(cairo, scale, scale);
	paper_source(cairo, picture->page);
	cairo_paint(cairo);
	tb_picture_draw(picture, &backend);
	int status = cairo_status(cairo) == CAIRO_STATUS_SUCCESS ? TB_OK : TB_ENOMEM;
	cairo_destroy(cairo);
	return status;
}

// Report success even if the write fails: the caller checks ferror, and errno names the
// cause.
static cairo_status_t paper_put(
	void *stream, const unsigned char *data, unsigned int length)
{
	fwrite(data, 1, length, stream);
	return CAIRO_STATUS_SUCCESS;
}

int tb_picture_png(const struct tb_picture *picture, double width, FILE *stream,
	struct tb_error *error)
{
	double scale = width / picture->width;
	double height = ceil(picture->height * scale);
	if (width > MAX_SIDE || height > MAX_SIDE)
		return tb_fail(error, TB_ECAPACITY,
			"the picture would be more than %d pixels wide or high: lower "
			"--width, or write an SVG",
			MAX_SIDE);
	cairo_surface_t *surface = cairo_image_surface_create(
		CAIRO_FORMAT_RGB24, (int)lround(width), (int)height);
	int status = paper_draw(picture, surface, scale);
	if (status == TB_OK && cairo_surface_write_to_png_stream(surface, paper_put,
				       stream) != CAIRO_STATUS_SUCCESS)
		status = TB_ENOMEM;
	cairo_surface_destroy(surface);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the picture");
}

int tb_pictures_pdf(const struct tb_picture *pictures, size_t n, double width,
	const char *title, FILE *stream, struct tb_error *error)
{
	int status = TB_OK;
	double scale = width / pictures[0].width;
	cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
		paper_put, stream, width, pictures[0].height * scale);
	// A date would make two equal figures differ.
	cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
	if (title)
		cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		cairo_pdf_surface_set_size(
			surface, pictures[i].width * scale, pictures[i].height * scale);
		status = paper_draw(&pictures[i], surface, scale);
		cairo_surface_show_page(surface);
	}
	cairo_surface_finish(surface);
	if (status == TB_OK && cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
		status = TB_ENOMEM;
	cairo_surface_destroy(surface);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "the picture");
}

int tb_pixels_png(uint32_t *pixels, int w, int h, FILE *stream)
{
	cairo_surface_t *surface = cairo_image_surface_create_for_data(
		(unsigned char *)pixels, CAIRO_FORMAT_RGB24, w, h, w * 4);
	cairo_status_t status =
		cairo_surface_write_to_png_stream(surface, paper_put, stream);
	cairo_surface_destroy(surface);
	return status == CAIRO_STATUS_SUCCESS ? TB_OK : TB_ENOMEM;
}
