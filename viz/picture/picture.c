#include "picture.h"

#include "array.h"
#include "visible.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Widths of text, from the advances of DejaVu's glyphs.
//
// Measuring with the backend's fonts would make layouts depend on the backend and on the
// installed fonts, and golden pictures impossible.

// Advances of U+0020..U+007E in thousandths of an em (DejaVu 2.37).
static const uint16_t sans[] = {318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500,
	838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337,
	337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295,
	656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685,
	390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278,
	579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525,
	636, 337, 636, 838};

static const uint16_t bold[] = {348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523,
	838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696, 696, 696, 696, 696, 400,
	400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372,
	775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725,
	457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343,
	665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582,
	712, 365, 712, 838};

#define MONO_ADVANCE 602
// Characters beyond ASCII are rare (host names): count each as a wide letter.
#define OTHER_ADVANCE 838

static double text_advance(enum tb_font font, unsigned char byte)
{
	bool ascii = byte >= ' ' && byte < 0x7f;
	switch (font) {
	case TB_FONT_TEXT:
		return ascii ? sans[byte - ' '] : OTHER_ADVANCE;
	case TB_FONT_BOLD:
		return ascii ? bold[byte - ' '] : OTHER_ADVANCE;
	case TB_FONT_MONO:
		return MONO_ADVANCE;
	case TB_FONT_CELL:
		break;
	}
	return 1000;
}

double tb_text_width(enum tb_font font, double size, const char *text)
{
	double thousandths = 0;
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80)
			thousandths += text_advance(font, (unsigned char)*at);
	return thousandths * size / 1000;
}

#define MAX_CLIPS     8
#define VISIBLE_BYTES 512 // of a text with control characters, once they are escaped
#define LINE_GRIP     2.5 // pixels beside a line that still hit it

void tb_picture_fini(struct tb_picture *picture)
{
	free(picture->items);
	free(picture->strings);
	*picture = (struct tb_picture){0};
}

void tb_picture_clear(
	struct tb_picture *picture, double width, double height, struct tb_colour page)
{
	picture->width = width;
	picture->height = height;
	picture->page = page;
	picture->n_items = 0;
	picture->n_strings = 0;
	picture->status = TB_OK;
}

static struct tb_item *item_add(struct tb_picture *picture, const struct tb_item *item)
{
	if (TB_ARRAY_RESERVE(&picture->items, &picture->items_room,
		    picture->n_items + 1) != TB_OK) {
		picture->status = TB_ENOMEM;
		return NULL;
	}
	struct tb_item *slot = &picture->items[picture->n_items++];
	*slot = *item;
	return slot;
}

// string_keep appends `length` bytes of text to the strings and returns their offset.
// Offset 0 is the empty string.
static uint32_t string_keep(struct tb_picture *picture, const char *text, size_t length)
{
	if (length == 0)
		return 0;
	size_t at = picture->n_strings ? picture->n_strings : 1;
	size_t needed = at + length + 1;
	if (needed > UINT32_MAX || TB_ARRAY_RESERVE(&picture->strings,
					   &picture->strings_room, needed) != TB_OK) {
		picture->status = TB_ENOMEM;
		return 0;
	}
	picture->strings[0] = '\0';
	memcpy(picture->strings + at, text, length);
	picture->strings[at + length] = '\0';
	picture->n_strings = needed;
	return (uint32_t)at;
}

const char *tb_picture_string(const struct tb_picture *picture, uint32_t offset)
{
	return offset == 0 ? "" : picture->strings + offset;
}

void tb_picture_rect(
	struct tb_picture *picture, struct tb_box box, struct tb_colour colour)
{
	item_add(picture,
		&(struct tb_item){.kind = TB_ITEM_RECT, .box = box, .colour = colour});
}

void tb_picture_frame(struct tb_picture *picture, struct tb_box box, double width,
	struct tb_colour colour)
{
	item_add(picture, &(struct tb_item){.kind = TB_ITEM_FRAME,
				  .box = box,
				  .size = width,
				  .colour = colour});
}

void tb_picture_line(struct tb_picture *picture, struct tb_box box, double width,
	struct tb_colour colour)
{
	item_add(picture, &(struct tb_item){.kind = TB_ITEM_LINE,
				  .box = box,
				  .size = width,
				  .colour = colour});
}

void tb_picture_clip(struct tb_picture *picture, struct tb_box box)
{
	item_add(picture, &(struct tb_item){.kind = TB_ITEM_CLIP, .box = box});
}

void tb_picture_unclip(struct tb_picture *picture)
{
	item_add(picture, &(struct tb_item){.kind = TB_ITEM_UNCLIP});
}

void tb_picture_text(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *text)
{
	char shown[VISIBLE_BYTES];
	text = tb_visible(text, shown, sizeof shown);
	// Half a pixel of tolerance: a box computed from the text's own width must hold
	// it.
	double room = box.w + 0.5;
	uint32_t offset;
	if (tb_text_width(type.font, type.size, text) <= room) {
		offset = string_keep(picture, text, strlen(text));
	} else {
		char cut[256];
		double dots = tb_text_width(type.font, type.size, "...");
		// Find how many bytes of `text`, whole characters only, fit into
		// `width`.
		double width = room - dots;
		size_t length = 0;
		double used = 0;
		while (text[length]) {
			size_t next = length + 1;
			while (((unsigned char)text[next] & 0xc0) == 0x80)
				next++;
			char one[8] = {0};
			memcpy(one, text + length, next - length < 8 ? next - length : 7);
			used += tb_text_width(type.font, type.size, one);
			if (used > width)
				break;
			length = next;
		}
		if (length == 0)
			return;
		int n = snprintf(cut, sizeof cut, "%.*s...",
			(int)(length < 240 ? length : 240), text);
		offset = string_keep(picture, cut, (size_t)n);
	}
	item_add(picture, &(struct tb_item){.kind = TB_ITEM_TEXT,
				  .box = box,
				  .colour = type.colour,
				  .size = type.size,
				  .font = type.font,
				  .align = type.align,
				  .text = offset});
}

void tb_picture_printf(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	tb_picture_text(picture, box, type, text);
}

size_t tb_text_line(struct tb_type type, double room, const char *text)
{
	char line[512];
	size_t length = strcspn(text, " ");
	while (text[length]) {
		size_t more = length + 1 + strcspn(text + length + 1, " ");
		snprintf(line, sizeof line, "%.*s", (int)more, text);
		if (tb_text_width(type.font, type.size, line) > room + 0.5)
			break;
		length = more;
	}
	return length;
}

uint32_t tb_picture_paragraph(struct tb_picture *picture, struct tb_box box,
	struct tb_type type, const char *text)
{
	uint32_t lines = 0;
	do {
		char line[512];
		size_t length = tb_text_line(type, box.w, text);
		snprintf(line, sizeof line, "%.*s", (int)length, text);
		tb_picture_text(picture, box, type, line);
		text += length + (text[length] == ' ');
		box.y += box.h;
		lines++;
	} while (*text);
	return lines;
}

void tb_picture_place(struct tb_picture *picture, const struct tb_picture *other,
	double x, double y, double scale)
{
	if (other->status != TB_OK)
		picture->status = other->status;
	for (size_t i = 0; i < other->n_items; i++) {
		struct tb_item item = other->items[i];
		const char *text = tb_picture_string(other, item.text);
		item.box = (struct tb_box){x + scale * item.box.x, y + scale * item.box.y,
			scale * item.box.w, scale * item.box.h};
		item.size *= scale;
		item.text = *text ? string_keep(picture, text, strlen(text)) : 0;
		item.tip = 0;
		item_add(picture, &item);
	}
}

void tb_picture_pick(struct tb_picture *picture, struct tb_pick pick)
{
	if (picture->n_items)
		picture->items[picture->n_items - 1].pick = pick;
}

void tb_picture_tip(struct tb_picture *picture, const char *text)
{
	char shown[VISIBLE_BYTES];
	text = tb_visible(text, shown, sizeof shown);
	if (picture->n_items)
		picture->items[picture->n_items - 1].tip =
			string_keep(picture, text, strlen(text));
}

// The clips that apply to an item while walking the items.
struct clips {
	struct tb_box stack[MAX_CLIPS];
	int depth;
};

// clips_take applies a clip or unclip item; false for other items.
static bool clips_take(struct clips *clips, const struct tb_item *item)
{
	if (item->kind == TB_ITEM_CLIP) {
		assert(clips->depth < MAX_CLIPS);
		struct tb_box box = item->box;
		if (clips->depth > 0) {
			struct tb_box other = clips->stack[clips->depth - 1];
			double left = fmax(box.x, other.x);
			double top = fmax(box.y, other.y);
			double right = fmin(box.x + box.w, other.x + other.w);
			double bottom = fmin(box.y + box.h, other.y + other.h);
			box = (struct tb_box){
				left, top, fmax(right - left, 0), fmax(bottom - top, 0)};
		}
		clips->stack[clips->depth++] = box;
		return true;
	}
	if (item->kind == TB_ITEM_UNCLIP) {
		assert(clips->depth > 0);
		clips->depth--;
		return true;
	}
	return false;
}

static const struct tb_box *clips_top(const struct clips *clips)
{
	return clips->depth ? &clips->stack[clips->depth - 1] : NULL;
}

// is_near_line is true for a point on the line or up to LINE_GRIP beside it.
static bool is_near_line(const struct tb_item *line, double x, double y)
{
	const struct tb_box *box = &line->box;
	double square = box->w * box->w + box->h * box->h;
	double along =
		square > 0 ? ((x - box->x) * box->w + (y - box->y) * box->h) / square : 0;
	along = fmin(fmax(along, 0), 1);
	return hypot(box->x + along * box->w - x, box->y + along * box->h - y) <=
	       line->size / 2 + LINE_GRIP;
}

void tb_picture_fitting(struct tb_picture *picture, struct tb_box box,
	struct tb_type type, const char *const *texts)
{
	while (texts[1] && tb_text_width(type.font, type.size, *texts) > box.w)
		texts++;
	tb_picture_text(picture, box, type, *texts);
}

bool tb_picture_hit(const struct tb_picture *picture, double x, double y,
	struct tb_pick *pick, struct tb_box *box)
{
	// The clip of an item depends on all items before it, so walk forwards and let
	// the last hit win.
	struct clips clips = {.depth = 0};
	const struct tb_item *hit = NULL;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (clips_take(&clips, item))
			continue;
		if (item->pick.kind == TB_PICK_NONE ||
			!(item->kind == TB_ITEM_LINE ? is_near_line(item, x, y)
						     : tb_box_holds(item->box, x, y)))
			continue;
		const struct tb_box *clip = clips_top(&clips);
		if (!clip || tb_box_holds(*clip, x, y))
			hit = item;
	}
	if (!hit)
		return false;
	*pick = hit->pick;
	if (box)
		*box = hit->box;
	return true;
}

static bool outside(const struct tb_box *clip, const struct tb_box *box)
{
	double left = fmin(box->x, box->x + box->w);
	double top = fmin(box->y, box->y + box->h);
	return left > clip->x + clip->w || left + fabs(box->w) < clip->x ||
	       top > clip->y + clip->h || top + fabs(box->h) < clip->y;
}

void tb_picture_draw(const struct tb_picture *picture, const struct tb_backend *backend)
{
	struct clips clips = {.depth = 0};
	void *context = backend->context;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (clips_take(&clips, item)) {
			backend->clip(context, clips_top(&clips));
			continue;
		}
		const struct tb_box *clip = clips_top(&clips);
		if (clip && outside(clip, &item->box))
			continue;
		switch (item->kind) {
		case TB_ITEM_RECT:
			backend->rect(context, item);
			break;
		case TB_ITEM_FRAME:
			backend->frame(context, item);
			break;
		case TB_ITEM_LINE:
			backend->line(context, item);
			break;
		case TB_ITEM_TEXT:
			backend->text(
				context, item, tb_picture_string(picture, item->text));
			break;
		case TB_ITEM_CLIP:
		case TB_ITEM_UNCLIP:
			break;
		}
	}
}

static void dump_item(
	const struct tb_picture *picture, const struct tb_item *item, FILE *stream)
{
	static const char *const kinds[] = {
		"rect", "frame", "line", "text", "clip", "unclip"};
	static const char *const fonts[] = {"sans", "bold", "mono", "cell"};
	static const char aligns[] = "lcr";
	static const char *const picks[] = {"", "link", "switch", "part", "metric",
		"button", "view", "node", "job", "flow", "pair", "jobs", "cell", "column",
		"message", "result", "span", "row"};
	_Static_assert(sizeof picks / sizeof *picks == TB_PICK_ROW + 1, "all kinds");
	fputs(kinds[item->kind], stream);
	if (item->kind == TB_ITEM_UNCLIP) {
		fputc('\n', stream);
		return;
	}
	fprintf(stream, " %.1f %.1f %.1f %.1f", item->box.x, item->box.y, item->box.w,
		item->box.h);
	struct tb_colour colour = item->colour;
	if (item->kind != TB_ITEM_CLIP)
		fprintf(stream, " #%02x%02x%02x%02x", colour.r, colour.g, colour.b,
			colour.a);
	if (item->kind == TB_ITEM_TEXT)
		fprintf(stream, " %s %.1f%c", fonts[item->font], item->size,
			aligns[item->align]);
	if (item->pick.kind != TB_PICK_NONE)
		fprintf(stream, " %s=%u", picks[item->pick.kind], item->pick.index);
	if (item->text)
		fprintf(stream, " \"%s\"", tb_picture_string(picture, item->text));
	fputc('\n', stream);
}

void tb_picture_dump(const struct tb_picture *picture, FILE *stream)
{
	fprintf(stream, "picture %.1f %.1f\n", picture->width, picture->height);
	for (size_t i = 0; i < picture->n_items; i++)
		dump_item(picture, &picture->items[i], stream);
}

// Names that are too wide for their boxes.

#define SHRINKING_PX 12	 // from then on a name is first set smaller, then cut
#define NAME_BYTES   512 // of what is measured; names of links are half as long

static const char between[] = " > ";

// An end of a link's name, or all of another name.
struct name_end {
	const char *text;
	size_t n;
	double width;	   // of all of it
	double room;	   // that it gets
	const char *dots;  // before what is left of it
	const char *shown; // that: a part of `text`
};

static double name_width_of(
	struct tb_type type, const char *dots, const char *text, size_t n)
{
	char part[NAME_BYTES];
	snprintf(part, sizeof part, "%s%.*s", dots, (int)n, text);
	return tb_text_width(type.font, type.size, part);
}

static struct name_end name_end_of(struct tb_type type, const char *text, size_t n)
{
	return (struct name_end){.text = text,
		.n = n,
		.width = name_width_of(type, "", text, n),
		.dots = ""};
}

// name_cut keeps as much of the end's last characters as its room holds; false when it
// holds none.
static bool name_cut(struct name_end *end, struct tb_type type)
{
	const char *stop = end->text + end->n;
	end->shown = end->text;
	if (end->width <= end->room + 0.01)
		return true;
	end->dots = "..";
	do
		end->shown++;
	while (end->shown < stop &&
		(((unsigned char)*end->shown & 0xc0) == 0x80 ||
			name_width_of(type, end->dots, end->shown,
				(size_t)(stop - end->shown)) > end->room + 0.01));
	return end->shown < stop;
}

void tb_picture_name(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *name)
{
	char visible[NAME_BYTES], shorter[NAME_BYTES];
	const char *text = tb_visible(name, visible, sizeof visible);
	double fits_w = box.w + 0.5; // as tb_picture_text
	if (type.size >= SHRINKING_PX &&
		tb_text_width(type.font, type.size, text) > fits_w)
		type.size -= 1;
	const char *arrow = strstr(text, between);
	const char *second = arrow ? arrow + strlen(between) : "";
	struct name_end from =
		name_end_of(type, text, arrow ? (size_t)(arrow - text) : strlen(text));
	struct name_end to = name_end_of(type, second, strlen(second));
	if (arrow)
		fits_w -= tb_text_width(type.font, type.size, between);
	// Give each end half of the room, and what one does not need to the
	// other.
	from.room = fmin(from.width, fmax(fits_w / 2, fits_w - to.width));
	to.room = fits_w - from.room;
	if (from.width + to.width > fits_w && name_cut(&from, type) &&
		name_cut(&to, type)) {
		snprintf(shorter, sizeof shorter, "%s%.*s%s%s%s", from.dots,
			(int)(from.text + from.n - from.shown), from.shown,
			arrow ? between : "", to.dots, to.shown);
		text = shorter;
	}
	tb_picture_text(picture, box, type, text);
}
