// A picture: a list of rectangles, frames, lines, texts and clips, back to front, with
// ids for what a hover or a click hits. Prepared once, drawn by any backend.
//
// Lengths are abstract pixels from the upper left corner; a backend scales them. A
// picture for a terminal has one pixel per character. Fonts are named by role; text
// widths come from built-in tables (DejaVu), so a layout depends neither on the backend
// nor on the installed fonts.
//
// Memory grows with the items, and tb_picture_clear keeps it. When it runs out, `status`
// becomes TB_ENOMEM: code that prepares a picture adds items without checks and reads
// `status` once at the end. One thread at a time per object.
#ifndef TB_PICTURE_H
#define TB_PICTURE_H

#include "colour.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tb_box {
	double x, y, w, h;
};

enum tb_font {
	TB_FONT_TEXT, // DejaVu Sans
	TB_FONT_BOLD, // DejaVu Sans Bold
	TB_FONT_MONO, // DejaVu Sans Mono
	TB_FONT_CELL, // one pixel per character: the terminal
};
#define TB_N_FONTS 4

enum tb_align { TB_ALIGN_LEFT, TB_ALIGN_CENTRE, TB_ALIGN_RIGHT };

// What an item stands for. All views share these kinds, so a selection made in one means
// the same in the others.
enum tb_pick_kind {
	TB_PICK_NONE,
	TB_PICK_LINK,	 // index: link id
	TB_PICK_SWITCH,	 // index: switch id
	TB_PICK_PART,	 // index: a part of a view, numbered by the view
	TB_PICK_METRIC,	 // index: enum tb_metric
	TB_PICK_BUTTON,	 // index: enum tb_request
	TB_PICK_VIEW,	 // index: a view of the viewer
	TB_PICK_NODE,	 // index: node id
	TB_PICK_JOB,	 // index: job
	TB_PICK_FLOW,	 // index: row of the run's flow table
	TB_PICK_PAIR,	 // index: row of the run's blame
	TB_PICK_JOBS,	 // index: cell of the jobs' square, numbered by the view
	TB_PICK_CELL,	 // index: cell of a view's grid, numbered by the view
	TB_PICK_COLUMN,	 // index: column of a table
	TB_PICK_MESSAGE, // index: of the selected flow's messages, in their order
	TB_PICK_RESULT,	 // index: line of the prompt
	TB_PICK_SPAN,	 // index: span or call of a rank, as chosen in the view of ranks
	TB_PICK_ROW,	 // index: row of a list of the report, numbered by the view
};

struct tb_pick {
	enum tb_pick_kind kind;
	uint32_t index;
};

enum tb_item_kind {
	TB_ITEM_RECT,	// filled
	TB_ITEM_FRAME,	// outlined, the line inside the box
	TB_ITEM_LINE,	// from (x, y) to (x + w, y + h)
	TB_ITEM_TEXT,	// one line, centred vertically in the box
	TB_ITEM_CLIP,	// what follows shows only inside the box ...
	TB_ITEM_UNCLIP, // ... until here; clips nest
};

struct tb_item {
	enum tb_item_kind kind;
	struct tb_box box;
	struct tb_colour colour;
	double size; // text: em; frame, line: width
	enum tb_font font;
	enum tb_align align;
	struct tb_pick pick;
	uint32_t text; // offset in the picture's strings, 0: ""
	uint32_t
		tip; // a sentence on the item, which some backends show on hover; 0: none
};

struct tb_picture {
	double width, height;
	struct tb_colour page;
	struct tb_item *items;
	size_t n_items, items_room;
	char *strings; // strings[0] is ""
	size_t n_strings, strings_room;
	int status; // TB_OK, or TB_ENOMEM once an item was lost
};

// A zeroed struct is an empty picture. tb_picture_fini frees it and leaves it empty.
void tb_picture_fini(struct tb_picture *picture);

// tb_picture_clear drops the items and keeps the memory.
void tb_picture_clear(
	struct tb_picture *picture, double width, double height, struct tb_colour page);

// These add an item on top of all others.
void tb_picture_rect(
	struct tb_picture *picture, struct tb_box box, struct tb_colour colour);
void tb_picture_frame(struct tb_picture *picture, struct tb_box box, double width,
	struct tb_colour colour);
// A line goes from (x, y) to (x + w, y + h), half of its width on either side.
void tb_picture_line(struct tb_picture *picture, struct tb_box box, double width,
	struct tb_colour colour);
void tb_picture_clip(struct tb_picture *picture, struct tb_box box);
void tb_picture_unclip(struct tb_picture *picture);

struct tb_type { // how to set a text
	enum tb_font font;
	double size;
	enum tb_align align;
	struct tb_colour colour;
};

// tb_picture_text adds one line of text (UTF-8, copied) with control characters escaped
// (visible.h), so that no backend receives any. A line wider than the box is cut and ends
// in "..."; a box with no room for one character and the dots gets no text.
void tb_picture_text(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *text);
void tb_picture_printf(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *format, ...) TB_PRINTF(4, 5);

// tb_picture_fitting adds the first of some texts, a list that ends with NULL, for which
// the box is wide enough, or else the last one, cut: say the same in fewer words.
void tb_picture_fitting(struct tb_picture *picture, struct tb_box box,
	struct tb_type type, const char *const *texts);

// tb_picture_name adds a name in the same way, but where the box is too narrow a little
// smaller (from 12 px on), and if that is not enough without its beginning; of both ends
// of a link's, "a > b", without that of each: names of a fabric differ at their ends.
void tb_picture_name(struct tb_picture *picture, struct tb_box box, struct tb_type type,
	const char *name);

// tb_text_line returns how much of a text, up to a space or its end, fits into a line; a
// word that does not fit is a line of its own.
size_t tb_text_line(struct tb_type type, double room, const char *text);

// tb_picture_paragraph adds a text of up to 511 bytes in as many lines as the width of
// the box asks for, broken at spaces, each as high as the box and the first in it.
// Returns the number of lines, at least 1.
uint32_t tb_picture_paragraph(struct tb_picture *picture, struct tb_box box,
	struct tb_type type, const char *text);

// tb_picture_place adds all items of another picture, scaled, with its upper left corner
// at (x, y). Its page is not painted.
void tb_picture_place(struct tb_picture *picture, const struct tb_picture *other,
	double x, double y, double scale);

// tb_picture_pick and tb_picture_tip attach an id and a sentence to the newest item.
void tb_picture_pick(struct tb_picture *picture, struct tb_pick pick);
void tb_picture_tip(struct tb_picture *picture, const char *text);

// tb_picture_string returns the text at an item's offset.
const char *tb_picture_string(const struct tb_picture *picture, uint32_t offset);

// tb_picture_hit finds the topmost item with an id at a point: the box, or a line up to
// 2.5 pixels away, must be there after clipping. False when there is none. `box` may be
// NULL. Linear in items.
bool tb_picture_hit(const struct tb_picture *picture, double x, double y,
	struct tb_pick *pick, struct tb_box *box);

// tb_text_width returns the width of a line of text in abstract pixels.
double tb_text_width(enum tb_font font, double size, const char *text);

static inline bool tb_box_holds(struct tb_box box, double x, double y)
{
	return x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h;
}

static inline bool tb_pick_equal(struct tb_pick one, struct tb_pick other)
{
	return one.kind == other.kind && one.index == other.index;
}

// From the baseline up to the middle of capitals and digits, in ems: a backend adds it to
// the middle of the box to find the baseline.
#define TB_BASELINE 0.365

// A place to draw. All functions get `context`.
struct tb_backend {
	void *context;
	void (*rect)(void *context, const struct tb_item *item);
	void (*frame)(void *context, const struct tb_item *item);
	void (*line)(void *context, const struct tb_item *item);
	void (*text)(void *context, const struct tb_item *item, const char *text);
	void (*clip)(void *context, const struct tb_box *box); // NULL: the whole picture
};

// tb_picture_draw hands every item to the backend, back to front. Nested clips arrive as
// their intersection; items that lie wholly outside the clip are skipped.
void tb_picture_draw(const struct tb_picture *picture, const struct tb_backend *backend);

// tb_picture_dump writes one line per item: kind, box, colour, size, id, text. For golden
// tests. Write errors show in ferror(stream).
void tb_picture_dump(const struct tb_picture *picture, FILE *stream);

#endif
