// Names that are too wide for their boxes.
#include "picture.h"

#include "visible.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
	double room = box.w + 0.5; // as tb_picture_text
	if (type.size >= SHRINKING_PX && tb_text_width(type.font, type.size, text) > room)
		type.size -= 1;
	const char *arrow = strstr(text, between);
	const char *second = arrow ? arrow + strlen(between) : "";
	struct name_end from =
		name_end_of(type, text, arrow ? (size_t)(arrow - text) : strlen(text));
	struct name_end to = name_end_of(type, second, strlen(second));
	if (arrow)
		room -= tb_text_width(type.font, type.size, between);
	// Give each end half of the room, and what one does not need to the
	// other.
	from.room = fmin(from.width, fmax(room / 2, room - to.width));
	to.room = room - from.room;
	if (from.width + to.width > room && name_cut(&from, type) &&
		name_cut(&to, type)) {
		snprintf(shorter, sizeof shorter, "%s%.*s%s%s%s", from.dots,
			(int)(from.text + from.n - from.shown), from.shown,
			arrow ? between : "", to.dots, to.shown);
		text = shorter;
	}
	tb_picture_text(picture, box, type, text);
}
