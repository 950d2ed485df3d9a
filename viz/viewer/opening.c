#include "opening.h"

#include "child.h"
#include "network.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_OFFERS 16
#define LEAST_NODES 16
#define MOST_NODES  4096
#define ROW_H	    30
#define WIDTH	    560

struct offer {
	char network[48];
	uint32_t n_nodes;
};

struct tb_opening {
	char *trace;
	char folder[256]; // "" until a replay was begun
	char store[288], said[288];
	struct tb_child child;
	bool begun;
	struct offer offers[MOST_OFFERS];
	int n_offers, chosen;
	char trouble[512];
};

// offer_sizes offers a preset in the sizes from LEAST_NODES to MOST_NODES.
static void offer_sizes(struct tb_opening *opening, const char *preset)
{
	struct tb_network_params params;
	if (tb_network_preset(&params, preset, NULL) != TB_OK)
		return;
	uint32_t natural = params.levels;
	uint64_t n_nodes = 1;
	for (uint32_t levels = 1; n_nodes * params.arity <= MOST_NODES; levels++) {
		n_nodes *= params.arity;
		if (n_nodes < LEAST_NODES || opening->n_offers == MOST_OFFERS)
			continue;
		struct offer *offer = &opening->offers[opening->n_offers++];
		snprintf(offer->network, sizeof offer->network,
			levels == natural ? "%s" : "%s,levels=%" PRIu32, preset, levels);
		offer->n_nodes = (uint32_t)n_nodes;
		if (levels == natural && opening->chosen < 0)
			opening->chosen = opening->n_offers - 1;
	}
}

int tb_opening_new(struct tb_opening **opening, const char *trace, struct tb_error *error)
{
	struct tb_opening *made = calloc(1, sizeof *made);
	if (!made || !(made->trace = strdup(trace))) {
		free(made);
		return tb_fail_in(error, TB_ENOMEM, trace, "no memory to open it");
	}
	made->chosen = -1;
	for (size_t i = 0; tb_network_preset_name(i); i++)
		offer_sizes(made, tb_network_preset_name(i));
	if (made->chosen < 0)
		made->chosen = 0;
	*opening = made;
	return TB_OK;
}

static void discard(struct tb_opening *opening)
{
	char journal[304];
	if (!opening->folder[0])
		return;
	snprintf(journal, sizeof journal, "%s-journal", opening->store);
	unlink(journal);
	unlink(opening->store);
	unlink(opening->said);
	rmdir(opening->folder);
	opening->folder[0] = '\0';
	opening->begun = false;
}

void tb_opening_free(struct tb_opening *opening)
{
	if (!opening)
		return;
	if (opening->child.pid) {
		// Twice: at the first signal it stores what there is.
		kill(opening->child.pid, SIGTERM);
		kill(opening->child.pid, SIGKILL);
		tb_child_wait(&opening->child);
	}
	discard(opening);
	free(opening->trace);
	free(opening);
}

const char *tb_opening_store(const struct tb_opening *opening)
{
	return opening->begun ? opening->store : NULL;
}

bool tb_opening_runs(const struct tb_opening *opening)
{
	return opening->child.pid != 0;
}

const char *tb_opening_trouble(const struct tb_opening *opening)
{
	return opening->trouble;
}

static void told(struct tb_opening *opening, const char *text)
{
	snprintf(opening->trouble, sizeof opening->trouble, "%s", text);
}

static bool make_folder(struct tb_opening *opening)
{
	const char *temporary = getenv("TMPDIR");
	int n = snprintf(opening->folder, sizeof opening->folder,
		"%s/tailback-view-XXXXXX", temporary ? temporary : "/tmp");
	if (n >= (int)sizeof opening->folder || !mkdtemp(opening->folder)) {
		opening->folder[0] = '\0';
		told(opening, "no temporary folder can be made for the store");
		return false;
	}
	snprintf(opening->store, sizeof opening->store, "%s/run.db", opening->folder);
	snprintf(opening->said, sizeof opening->said, "%s/said", opening->folder);
	return true;
}

static void begin(struct tb_opening *opening)
{
	struct tb_error error;
	char text[512];
	if (opening->begun || opening->n_offers == 0 || !make_folder(opening))
		return;
	const char *const arguments[] = {"replay", "-q", "-n",
		opening->offers[opening->chosen].network, "-o", opening->store, "--",
		opening->trace, NULL};
	const struct tb_child_options options = {.arguments = arguments,
		.input = -1,
		.apart = true,
		.said = opening->said};
	opening->trouble[0] = '\0';
	opening->begun = true;
	if (tb_child_start(&opening->child, &options, &error) == TB_OK)
		return;
	told(opening, tb_error_format(&error, text, sizeof text));
	discard(opening);
}

bool tb_opening_key(struct tb_opening *opening, const char *key)
{
	if (opening->begun)
		return false;
	if (strcmp(key, "Up") == 0)
		opening->chosen -= opening->chosen > 0;
	else if (strcmp(key, "Down") == 0)
		opening->chosen += opening->chosen + 1 < opening->n_offers;
	else if (strcmp(key, "Return") == 0)
		begin(opening);
	else
		return false;
	return true;
}

void tb_opening_press(struct tb_opening *opening, struct tb_pick pick)
{
	if (opening->begun || pick.kind != TB_PICK_PART ||
		pick.index >= (uint32_t)opening->n_offers)
		return;
	opening->chosen = (int)pick.index;
	begin(opening);
}

// read_said takes the replay's sentence without its "tailback: ".
static void read_said(struct tb_opening *opening)
{
	static const char prefix[] = "tailback: ";
	char line[512] = "";
	FILE *file = fopen(opening->said, "r");
	if (file && !fgets(line, sizeof line, file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	bool whole = strncmp(line, prefix, sizeof prefix - 1) == 0;
	told(opening, line[0] == '\0' ? "the replay failed without a word"
		      : whole	      ? line + sizeof prefix - 1
				      : line);
}

bool tb_opening_poll(struct tb_opening *opening)
{
	int code;
	if (!opening->child.pid || !tb_child_ended(&opening->child, &code))
		return false;
	if (code != 0) {
		read_said(opening);
		discard(opening);
	}
	return true;
}

static void draw_offer(const struct tb_opening *opening, enum tb_theme theme,
	struct tb_picture *picture, struct tb_box box, int index)
{
	const struct tb_palette *palette = tb_palette_of(theme);
	const struct offer *offer = &opening->offers[index];
	bool chosen = index == opening->chosen;
	char count[32];
	tb_picture_rect(picture, box, chosen ? palette->raised : palette->panel);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, (uint32_t)index});
	if (chosen)
		tb_picture_rect(picture, (struct tb_box){box.x, box.y, 3, box.h},
			palette->accent);
	tb_picture_text(picture, (struct tb_box){box.x + 16, box.y, box.w - 180, box.h},
		(struct tb_type){TB_FONT_MONO, 13, TB_ALIGN_LEFT, palette->text},
		offer->network);
	tb_picture_printf(picture,
		(struct tb_box){box.x + box.w - 164, box.y, 150, box.h},
		(struct tb_type){TB_FONT_TEXT, 13, TB_ALIGN_RIGHT, palette->muted},
		"%s nodes", tb_format_count(offer->n_nodes, count, sizeof count));
}

void tb_opening_draw(
	const struct tb_opening *opening, enum tb_theme theme, struct tb_picture *picture)
{
	const struct tb_palette *palette = tb_palette_of(theme);
	struct tb_type text = {TB_FONT_TEXT, 13, TB_ALIGN_LEFT, palette->muted};
	double w = fmin(WIDTH, picture->width - 32);
	double h = 110 + opening->n_offers * (double)ROW_H;
	double x = (picture->width - w) / 2;
	double y = fmax((picture->height - h) / 2, 16);
	const char *name = strrchr(opening->trace, '/');
	tb_picture_printf(picture, (struct tb_box){x, y, w, 26},
		(struct tb_type){TB_FONT_BOLD, 18, TB_ALIGN_LEFT, palette->text},
		opening->begun ? "Replaying %s" : "%s is a trace",
		name ? name + 1 : opening->trace);
	y += 32;
	if (opening->begun) {
		tb_picture_printf(picture, (struct tb_box){x, y, w, 20}, text,
			"on %s; the matrix appears as soon as there is something to see.",
			opening->offers[opening->chosen].network);
		return;
	}
	tb_picture_text(picture, (struct tb_box){x, y, w, 20}, text,
		"On which network shall it be replayed? Return or a click begins.");
	y += 28;
	for (int i = 0; i < opening->n_offers; i++, y += ROW_H)
		draw_offer(
			opening, theme, picture, (struct tb_box){x, y, w, ROW_H - 2}, i);
	y += 8;
	tb_picture_text(picture, (struct tb_box){x, y, w, 20}, text,
		"'tailback replay -o run.db' keeps the result, and knows more options.");
	text.colour = palette->accent;
	text.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture, (struct tb_box){16, y + 24, picture->width - 32, 20},
		text, opening->trouble);
}
