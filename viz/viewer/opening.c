#include "opening.h"

#include "beside.h"
#include "network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct tb_beside beside;
	bool begun;
	struct offer offers[MOST_OFFERS];
	int n_offers, chosen;
	char trouble[512];
};

// offer_sizes offers a preset in sizes from LEAST_NODES to MOST_NODES.
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

void tb_opening_free(struct tb_opening *opening)
{
	if (!opening)
		return;
	tb_beside_end(&opening->beside, true);
	free(opening->trace);
	free(opening);
}

const char *tb_opening_store(const struct tb_opening *opening)
{
	return opening->begun ? opening->beside.store : NULL;
}

bool tb_opening_runs(const struct tb_opening *opening)
{
	return opening->beside.child.pid != 0;
}

const char *tb_opening_trouble(const struct tb_opening *opening)
{
	return opening->trouble;
}

static void begin(struct tb_opening *opening)
{
	struct tb_error error;
	if (opening->begun || opening->n_offers == 0)
		return;
	const struct tb_beside_options options = {
		.network = opening->offers[opening->chosen].network,
		.trace = opening->trace,
		.input = -1};
	opening->trouble[0] = '\0';
	opening->begun = tb_beside_start(&opening->beside, &options, &error) == TB_OK;
	if (!opening->begun)
		tb_error_format(&error, opening->trouble, sizeof opening->trouble);
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

bool tb_opening_poll(struct tb_opening *opening)
{
	struct tb_beside *beside = &opening->beside;
	int code;
	if (!beside->child.pid || !tb_child_ended(&beside->child, &code))
		return false;
	if (code != 0) {
		tb_beside_sentence(beside, opening->trouble, sizeof opening->trouble);
		tb_beside_end(beside, true);
		opening->begun = false;
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
			"on %s; the matrix appears with the first results.",
			opening->offers[opening->chosen].network);
		return;
	}
	tb_picture_text(picture, (struct tb_box){x, y, w, 20}, text,
		"Choose a network to replay it on: press Return, or click.");
	y += 28;
	for (int i = 0; i < opening->n_offers; i++, y += ROW_H)
		draw_offer(
			opening, theme, picture, (struct tb_box){x, y, w, ROW_H - 2}, i);
	y += 8;
	tb_picture_text(picture, (struct tb_box){x, y, w, 20}, text,
		"'tailback replay -o run.db' keeps the result and has more options.");
	text.colour = palette->accent;
	text.align = TB_ALIGN_CENTRE;
	tb_picture_text(picture, (struct tb_box){16, y + 24, picture->width - 32, 20},
		text, opening->trouble);
}
