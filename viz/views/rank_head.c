// What is above the rows of ranks: the title, the order of the rows, what the critical
// path is made of, and the legend.
#include "parts.h"
#include "rank_calls.h"
#include "rank_impl.h"
#include "share_bar.h"

#include <math.h>
#include <stdio.h>

#define BAR_Y	  28 // of the causes, below the title
#define BAR_LINES 2  // of the legend of the path's causes; where it is low, one
#define ORDER_W	  168

struct tb_colour tb_ranks_span_colour(const struct tb_style *style, uint32_t kind)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	static const uint32_t hues[TB_SPAN_KINDS] = {
		[TB_SPAN_COMPUTE] = 2, [TB_SPAN_SEND] = 0, [TB_SPAN_RECEIVE] = 4};
	return kind == TB_SPAN_WAIT
		       ? palette->empty
		       : tb_colour_mix(palette->panel,
				 tb_job_colour(style->theme, hues[kind]), 0.6);
}

struct tb_colour tb_ranks_step_colour(const struct tb_style *style, uint32_t cause)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	return cause == TB_PATH_HELD_UP ? palette->dead : palette->accent;
}

// draw_rank_head_legend names the colours.
static void draw_rank_head_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	static const char *const names[] = {"computes", "sends", "receives",
		"waits until the other sends", "critical path", "held up", "calls"};
	uint32_t n = TB_SPAN_KINDS + (tb_ranks_shown(pane)->calls.n ? 3 : 2);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	double x = pane->place.x + TB_RANKS_PAD,
	       y = pane->place.y + tb_ranks_of(pane)->top_h - 20;
	for (uint32_t i = 0; i < n; i++) {
		double w = tb_text_width(type.font, type.size, names[i]) + 6;
		bool is_step = i >= TB_SPAN_KINDS;
		struct tb_colour colour =
			i == TB_SPAN_KINDS + 2 ? tb_rank_calls_colour(pane->style, 0)
			: is_step	       ? tb_ranks_step_colour(pane->style,
						 i == TB_SPAN_KINDS ? TB_PATH_TRANSFER
									    : TB_PATH_HELD_UP)
					       : tb_ranks_span_colour(pane->style, i);
		if (x + 20 + w > pane->place.x + pane->place.w)
			return;
		tb_picture_rect(picture,
			(struct tb_box){x, y + (is_step ? 5 : 2), 14, is_step ? 4 : 10},
			colour);
		tb_picture_text(
			picture, (struct tb_box){x + 20, y, w, 14}, type, names[i]);
		x += w + 34;
	}
}

// cause_colour gives what the path's bars show their colour there.
static struct tb_colour cause_colour(const struct tb_style *style, uint32_t cause)
{
	// No two parts of the bar have one hue.
	static const uint32_t hues[TB_PATH_CAUSES] = {[TB_PATH_START] = 0,
		[TB_PATH_CLOSED] = 4,
		[TB_PATH_QUEUE] = 1,
		[TB_PATH_SOFTWARE] = 3,
		[TB_PATH_LOST] = 5,
		[TB_PATH_ACKNOWLEDGE] = 6,
		[TB_PATH_END] = 7};
	if (cause == TB_PATH_HELD_UP || cause == TB_PATH_TRANSFER)
		return tb_ranks_step_colour(style, cause);
	if (cause == TB_PATH_COMPUTE)
		return tb_ranks_span_colour(style, TB_SPAN_COMPUTE);
	return tb_colour_mix(tb_palette_of(style->theme)->panel,
		tb_job_colour(style->theme, hues[cause]), 0.6);
}

// draw_shares draws what the critical path is made of as a bar.
static double draw_shares(const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_critical_path *path)
{
	struct tb_share shares[TB_PATH_CAUSES];
	for (size_t i = 0; i < path->n_shares; i++) {
		uint32_t cause = path->shares[i].cause;
		shares[i] = (struct tb_share){.amount = path->shares[i].percent,
			.colour = cause_colour(pane->style, cause)};
		snprintf(shares[i].text, sizeof shares[i].text, "%.3g %% %s",
			path->shares[i].percent,
			tb_path_words((enum tb_path_cause)cause));
	}
	return tb_share_bar_draw(picture, pane->style,
		(struct tb_box){pane->place.x + TB_RANKS_PAD, pane->place.y + BAR_Y,
			pane->place.w - 2 * TB_RANKS_PAD, 0},
		shares, path->n_shares, pane->place.h < TB_RANKS_LOW_H ? 1 : BAR_LINES);
}

double tb_ranks_head_h(const struct tb_pane *pane)
{
	const struct tb_critical_path *path = &tb_ranks_shown(pane)->path;
	double bar_h = path->n_shares ? draw_shares(pane, NULL, path) : 0;
	return BAR_Y + bar_h + TB_RANKS_LEGEND_H;
}

// draw_order has a button that says how the rows are ordered, and changes it.
static void draw_order(struct tb_pane *pane, struct tb_picture *picture)
{
	static const char *const orders[TB_RANKS_ORDERS] = {
		[TB_RANKS_BY_JOB] = "Rows by job and rank",
		[TB_RANKS_BY_WAIT] = "Rows by wait for others",
		[TB_RANKS_BY_END] = "Rows by time of end"};
	struct tb_box place = pane->place;
	tb_pane_button(pane, picture,
		(struct tb_box){place.x + place.w - TB_RANKS_PAD - ORDER_W, place.y + 5,
			ORDER_W, 20},
		TB_REQUEST_FIGURE, orders[tb_ranks_of(pane)->order]);
}

void tb_ranks_head_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_critical_path *path = &tb_ranks_shown(pane)->path;
	tb_picture_text(picture,
		(struct tb_box){pane->place.x + TB_RANKS_PAD, pane->place.y + 6,
			pane->place.w - 3 * TB_RANKS_PAD - ORDER_W, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		path->n_shares ? "Critical path of the run" : "What ranks did");
	draw_order(pane, picture);
	if (path->n_shares)
		(void)draw_shares(pane, picture, path);
	draw_rank_head_legend(pane, picture);
}
