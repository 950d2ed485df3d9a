// Pages of paper (A4, upright, in points) that are filled from top to bottom: what has no
// room on a page goes on on the next, and no text is cut. Private to viz/print/.
#ifndef TB_SHEETS_H
#define TB_SHEETS_H

#include "picture.h"

enum {
	SHEET_WIDTH = 595,
	SHEET_HEIGHT = 842,
	SHEET_MARGIN = 36,
	SHEET_BOTTOM = SHEET_HEIGHT - 48, // behind it stands the page's number
	SHEET_ROOM = SHEET_WIDTH - 2 * SHEET_MARGIN
};

struct sheets {
	struct tb_picture *pages;
	size_t n, room;
	double y;	   // where the newest page is filled to
	char section[160]; // the heading of what is being written, "" between sections
	int status;
};

void sheets_fini(struct sheets *sheets);

// sheets_turn begins a page, with the heading of the section that goes on on it.
void sheets_turn(struct sheets *sheets);

// sheets_page returns the newest page.
struct tb_picture *sheets_page(struct sheets *sheets);

// sheets_need begins a page unless the newest has so much room left; it returns whether
// it did.
bool sheets_need(struct sheets *sheets, double height);

// sheets_line_length returns how many bytes of a text are on its first line of a width:
// up to a blank, or where a word is wider than the line, as much of it as fits.
size_t sheets_line_length(enum tb_font font, double size, double width, const char *text);

// sheets_n_lines returns how many lines that gives, at least 1.
size_t sheets_n_lines(enum tb_font font, double size, double width, const char *text);

// sheets_put writes a text from `y` down, in lines of the width of `box` and as high as
// it, on the newest page alone; returns how many lines it took.
size_t sheets_put(
	struct sheets *sheets, struct tb_box box, struct tb_type type, const char *text);

// sheets_flow does so at the current place and moves it down, on to further pages.
void sheets_flow(struct sheets *sheets, double x, double width, struct tb_type type,
	double leading, const char *text);

// sheets_heading writes the heading of a section, on a page on which `with` more has room
// below it. sheets_end_section: what follows does not belong to it.
void sheets_heading(struct sheets *sheets, const char *text, double with);
void sheets_end_section(struct sheets *sheets);

// sheets_finish writes `foot`, if it has room, and the number at the foot of each page,
// and all pages as a PDF, whose name is `title`. Errors as of tb_pictures_pdf.
int sheets_finish(struct sheets *sheets, const char *foot, const char *title,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

// The colours of paper.
extern const struct tb_colour sheets_ink, sheets_muted, sheets_rule, sheets_tint;

#endif
