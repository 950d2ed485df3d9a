#include "sheets.h"

#include "array.h"
#include "paper.h"

#include <stdlib.h>
#include <string.h>

const struct tb_colour sheets_ink = {0x1b, 0x22, 0x30, 255};
const struct tb_colour sheets_muted = {0x5d, 0x66, 0x75, 255};
const struct tb_colour sheets_rule = {0xbb, 0xbb, 0xbb, 255};
const struct tb_colour sheets_tint = {0xee, 0xf1, 0xf7, 255};

void sheets_fini(struct sheets *sheets)
{
	for (size_t i = 0; i < sheets->n; i++)
		tb_picture_fini(&sheets->pages[i]);
	free(sheets->pages);
}

static void put_heading(struct sheets *sheets, const char *text)
{
	const struct tb_type type = {TB_FONT_BOLD, 10.5, TB_ALIGN_LEFT, sheets_ink};
	const struct tb_box box = {SHEET_MARGIN, sheets->y, SHEET_ROOM, 14};
	sheets->y += 14 * (double)sheets_put(sheets, box, type, text) + 2;
}

void sheets_turn(struct sheets *sheets)
{
	static const struct tb_colour white = {255, 255, 255, 255};
	if (TB_ARRAY_RESERVE(&sheets->pages, &sheets->room, sheets->n + 1) != TB_OK) {
		sheets->status = TB_ENOMEM; // what follows overwrites the newest page
	} else {
		sheets->pages[sheets->n++] = (struct tb_picture){.width = 0};
		tb_picture_clear(sheets_page(sheets), SHEET_WIDTH, SHEET_HEIGHT, white);
	}
	sheets->y = SHEET_MARGIN;
	if (sheets->section[0]) {
		char text[sizeof sheets->section + 16];
		snprintf(text, sizeof text, "%s (continued)", sheets->section);
		put_heading(sheets, text);
	}
}

struct tb_picture *sheets_page(struct sheets *sheets)
{
	return &sheets->pages[sheets->n - 1];
}

bool sheets_need(struct sheets *sheets, double height)
{
	if (sheets->y + height <= SHEET_BOTTOM || sheets->y <= SHEET_MARGIN)
		return false;
	sheets_turn(sheets);
	return true;
}

// page_width is the width of the first bytes of a text.
static double page_width(enum tb_font font, double size, const char *text, size_t length)
{
	double width = 0;
	char part[64];
	for (size_t at = 0; at < length;) {
		size_t n = length - at < 60 ? length - at : 60;
		while (n && ((unsigned char)text[at + n] & 0xc0) == 0x80)
			n--;
		n = n ? n : 1;
		memcpy(part, text + at, n);
		part[n] = '\0';
		width += tb_text_width(font, size, part);
		at += n;
	}
	return width;
}

// page_broken returns how much of a word fits, at least one character: up to a mark at
// which names break, if that leaves no short line.
static size_t page_broken(enum tb_font font, double size, double width, const char *text)
{
	size_t length = 0, marked = 0;
	while (text[length] && text[length] != ' ') {
		size_t next = length + 1;
		while (((unsigned char)text[next] & 0xc0) == 0x80)
			next++;
		if (length && page_width(font, size, text, next) > width)
			return 2 * marked > length ? marked : length;
		length = next;
		if (strchr("/_-.,=", text[length - 1]))
			marked = length;
	}
	return length;
}

// page_is_bound returns whether what stands around a blank belongs together: a number and
// what it counts or its interval, both ends of a link.
static bool page_is_bound(const char *text, size_t blank)
{
	char before = blank ? text[blank - 1] : ' ', after = text[blank + 1];
	if (strncmp(text + blank + 1, "+- ", 3) == 0 ||
		(blank > 2 && strncmp(text + blank - 3, " +-", 3) == 0))
		return true;
	return after == '%' || after == '>' || before == '>' ||
	       (before >= '0' && before <= '9' &&
		       ((after >= 'a' && after <= 'z') ||
			       (after >= 'A' && after <= 'Z')));
}

size_t sheets_line_length(enum tb_font font, double size, double width, const char *text)
{
	size_t length = strcspn(text, " "), good = 0;
	if (page_width(font, size, text, length) > width)
		return page_broken(font, size, width, text);
	while (text[length]) {
		size_t more = length + 1 + strcspn(text + length + 1, " ");
		if (!page_is_bound(text, length))
			good = length;
		if (page_width(font, size, text, more) > width)
			return good ? good : length;
		length = more;
	}
	return length;
}

// page_next_line returns where the line behind one of `length` bytes begins.
static const char *page_next_line(const char *text, size_t length)
{
	text += length;
	return *text == ' ' ? text + 1 : text;
}

size_t sheets_n_lines(enum tb_font font, double size, double width, const char *text)
{
	size_t n = 0;
	do {
		text = page_next_line(text, sheets_line_length(font, size, width, text));
		n++;
	} while (*text);
	return n;
}

static void put_line(struct sheets *sheets, struct tb_box box, struct tb_type type,
	const char *text, size_t length)
{
	char line[1024];
	snprintf(line, sizeof line, "%.*s", (int)length, text);
	box.w += 2; // what was measured to fit is not cut for a rounding
	if (type.align == TB_ALIGN_RIGHT)
		box.x -= 2;
	tb_picture_text(sheets_page(sheets), box, type, line);
}

size_t sheets_put(
	struct sheets *sheets, struct tb_box box, struct tb_type type, const char *text)
{
	size_t n = 0;
	do {
		size_t length = sheets_line_length(type.font, type.size, box.w, text);
		put_line(sheets, box, type, text, length);
		text = page_next_line(text, length);
		box.y += box.h;
		n++;
	} while (*text);
	return n;
}

void sheets_flow(struct sheets *sheets, double x, double width, struct tb_type type,
	double leading, const char *text)
{
	do {
		size_t length = sheets_line_length(type.font, type.size, width, text);
		sheets_need(sheets, leading);
		put_line(sheets, (struct tb_box){x, sheets->y, width, leading}, type,
			text, length);
		text = page_next_line(text, length);
		sheets->y += leading;
	} while (*text);
}

void sheets_end_section(struct sheets *sheets)
{
	sheets->section[0] = '\0';
}

void sheets_heading(struct sheets *sheets, const char *text, double with)
{
	sheets_end_section(sheets);
	if (sheets->y > SHEET_MARGIN)
		sheets->y += 12;
	sheets_need(sheets, 16 + with);
	put_heading(sheets, text);
	snprintf(sheets->section, sizeof sheets->section, "%s", text);
}

static int status_of(const struct sheets *sheets)
{
	int status = sheets->status;
	for (size_t i = 0; i < sheets->n && status == TB_OK; i++)
		status = sheets->pages[i].status;
	return status;
}

int sheets_finish(struct sheets *sheets, const char *foot, const char *title,
	FILE *stream, struct tb_error *error)
{
	const struct tb_type left = {TB_FONT_TEXT, 7, TB_ALIGN_LEFT, sheets_muted};
	struct tb_type right = left;
	right.align = TB_ALIGN_RIGHT;
	const double width = SHEET_ROOM - 90;
	for (size_t i = 0; i < sheets->n; i++) {
		struct tb_picture *page = &sheets->pages[i];
		struct tb_box box = {SHEET_MARGIN, SHEET_HEIGHT - 34, width, 10};
		// A long name stands on the first page.
		if (tb_text_width(left.font, left.size, foot) <= width)
			tb_picture_text(page, box, left, foot);
		box.w = SHEET_ROOM;
		tb_picture_printf(page, box, right, "page %zu of %zu", i + 1, sheets->n);
	}
	if (status_of(sheets) != TB_OK)
		return tb_fail_memory(error, "a report");
	return tb_pictures_pdf(
		sheets->pages, sheets->n, sheets->pages[0].width, title, stream, error);
}
