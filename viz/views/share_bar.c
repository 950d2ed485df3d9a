#include "share_bar.h"

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
