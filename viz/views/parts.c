#include "parts.h"

#include "ticks.h"

#include <inttypes.h>
#include <math.h>

#define SWATCH_W 10
#define APART	 18
#define BAR_H	 12
#define GAP	 5
#define LINE_H	 17

static void draw_share_bar(struct tb_picture *picture, struct tb_box box,
	const struct tb_share *shares, size_t n)
{
	double all = 0, x = box.x;
	for (size_t i = 0; i < n; i++)
		all += shares[i].amount;
	for (size_t i = 0; i < n && all > 0; i++) {
		double w = box.w * shares[i].amount / all;
		if (w > 0)
			tb_picture_rect(picture, (struct tb_box){x, box.y, w, BAR_H},
				shares[i].colour);
		x += w;
	}
}

static void draw_share_name(struct tb_picture *picture, struct tb_type type,
	struct tb_box box, const struct tb_share *share)
{
	tb_picture_rect(picture, (struct tb_box){box.x, box.y + 3, SWATCH_W, SWATCH_W},
		share->colour);
	box.x += SWATCH_W + 5;
	tb_picture_text(picture, box, type, share->text);
}

double tb_share_bar_draw(struct tb_picture *picture, const struct tb_style *style,
	struct tb_box box, const struct tb_share *shares, size_t n, int lines)
{
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 12, true);
	double x = box.x, y = box.y + BAR_H + GAP;
	if (picture)
		draw_share_bar(picture, box, shares, n);
	for (size_t i = 0; i < n; i++) {
		double w = ceil(tb_text_width(type.font, type.size, shares[i].text)) + 2;
		bool full = x > box.x && x + SWATCH_W + 5 + w > box.x + box.w;
		if (shares[i].amount <= 0)
			continue;
		if (full && --lines == 0)
			break;
		x = full ? box.x : x;
		y += full ? LINE_H : 0;
		if (picture)
			draw_share_name(picture, type,
				(struct tb_box){x, y,
					fmin(w, box.x + box.w - x - SWATCH_W - 5),
					LINE_H - 1},
				&shares[i]);
		x += SWATCH_W + 5 + w + APART;
	}
	return y + LINE_H - box.y;
}

char *tb_share_text(double percent, char *buffer, size_t size)
{
	bool little = percent > 0 && percent < 0.05;
	snprintf(buffer, size, little ? "<0.1 %%" : "%.1f %%", percent);
	return buffer;
}

#define MOST_ZOOM 8

// clamp limits a pan: the middle of the view stays on the span, or all of the span stays
// visible. A tighter limit would pull a zoom at the edges away from the pointer.
static double clamp(double pan, double span, double sight)
{
	double low = fmin(fmin(-sight / 2, span - sight), 0);
	double high = fmax(fmax(span - sight / 2, span - sight), 0);
	return fmin(fmax(pan, low), high);
}

void tb_camera_set(struct tb_camera *camera, double zoom, double pan_x, double pan_y)
{
	camera->zoom = zoom;
	camera->pan_x = clamp(pan_x, camera->world_w, camera->area_w / zoom);
	camera->pan_y = clamp(pan_y, camera->world_h, camera->area_h / zoom);
}

bool tb_camera_zoom(struct tb_camera *camera, double x, double y, double factor)
{
	double zoom = camera->zoom * factor;
	if (zoom <= camera->fit_zoom * 1.01)
		return false;
	zoom = fmin(zoom, fmax(MOST_ZOOM, camera->fit_zoom));
	double world_x = x / camera->zoom + camera->pan_x;
	double world_y = y / camera->zoom + camera->pan_y;
	tb_camera_set(camera, zoom, world_x - x / zoom, world_y - y / zoom);
	return true;
}

void tb_camera_pan(struct tb_camera *camera, double dx, double dy)
{
	tb_camera_set(camera, camera->zoom, camera->pan_x - dx / camera->zoom,
		camera->pan_y - dy / camera->zoom);
}

struct tb_matrix_view tb_camera_matrix_view(
	const struct tb_camera *camera, struct tb_box area, const struct tb_style *style)
{
	return (struct tb_matrix_view){.area = area,
		.zoom = camera->zoom,
		.pan_x = camera->pan_x,
		.pan_y = camera->pan_y,
		.detail = tb_matrix_detail_at(&tb_matrix_on_screen, camera->zoom),
		.colours = style->colours,
		.theme = style->theme,
		.font = TB_FONT_TEXT,
		.bold_font = TB_FONT_BOLD,
		.font_size = TB_MATRIX_FONT_SIZE,
		.names = true};
}

#define LABEL_H 15

void tb_matrix_levels_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box gutter, const struct tb_matrix_layout *layout,
	const struct tb_matrix_view *view)
{
	static const struct tb_matrix_fold none;
	const struct tb_matrix_fold *fold = view->fold ? view->fold : &none;
	const struct tb_type name = tb_style_type(style, TB_FONT_BOLD, 12, false);
	const struct tb_type small = tb_style_type(style, TB_FONT_TEXT, 11, true);
	double end = gutter.y + gutter.h, free_y = gutter.y;
	uint32_t n = layout->n_bands;
	tb_picture_clip(picture, gutter);
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_matrix_band *band = &layout->bands[i];
		double top = view->area.y + (band->y - view->pan_y) * view->zoom;
		double bottom = top + band->h * view->zoom;
		// Keep the label visible as long as its level is.
		struct tb_box line = {gutter.x,
			fmin(fmax(top, gutter.y), fmax(bottom - LABEL_H, top)), gutter.w,
			LABEL_H};
		const char *place = n == 1		   ? ""
				    : band->level == n - 1 ? "top"
				    : band->level == 0	   ? "nodes below"
							   : "";
		if (bottom < gutter.y || top > end || line.y < free_y - 1)
			continue;
		tb_picture_printf(picture, line, name, "level %" PRIu32, band->level);
		char group[32] = "", step[32] = "", part[32] = "";
		if (fold->groups)
			tb_matrix_fold_note(fold, i, group, step);
		tb_matrix_fold_left_out(fold, i, part, sizeof part);
		const char *const notes[] = {part, group[0] ? group : place, step};
		for (int j = 0; j < 3; j++) {
			double w = tb_text_width(small.font, small.size, notes[j]);
			if (!notes[j][0] || w > gutter.w || bottom - line.y < 2 * LABEL_H)
				continue;
			line.y += LABEL_H;
			tb_picture_text(picture, line, small, notes[j]);
		}
		free_y = line.y + LABEL_H;
	}
	tb_picture_unclip(picture);
}

char *tb_scale_top_text(const struct tb_scale *scale, char *buffer, size_t size)
{
	char top[48];
	buffer[0] = '\0';
	if (!scale->absolute && scale->top > 0)
		snprintf(buffer, size, ", 100 %% is %s",
			tb_quantity_format(scale->quantity, scale->top, top, sizeof top));
	return buffer;
}

void tb_time_axis_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box above, tb_time_ps from_ps, tb_time_ps to_ps)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 11, true);
	double bottom = above.y + above.h, span_ps = (double)(to_ps - from_ps);
	if (span_ps <= 0)
		return;
	double step = tb_tick_time_step(fmax(span_ps * 110 / above.w, 1));
	double at = ceil((double)from_ps / step) * step;
	for (; at <= (double)from_ps + span_ps * 1.0001; at += step) {
		char text[24];
		tb_tick_time(at, step, text, sizeof text);
		double x = above.x + above.w * (at - (double)from_ps) / span_ps;
		double w = ceil(tb_text_width(type.font, type.size, text)) + 2;
		double left = fmin(fmax(x - w / 2, above.x), above.x + above.w - w);
		tb_picture_line(
			picture, (struct tb_box){x, bottom, 0, 4}, 1, palette->line);
		tb_picture_text(
			picture, (struct tb_box){left, bottom + 6, w, 15}, type, text);
	}
}
