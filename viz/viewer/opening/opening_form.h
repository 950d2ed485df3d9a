// The form of a trace that is opened: on which network, of how many nodes, and how fast
// to replay it. It holds what was chosen and handles keys; opening.h draws it and acts.
//
// A glance at the trace (glance.h) suggests nodes, and a time scale where a capture asks
// for so little that its replay would show nothing (underload.h).
#ifndef TB_OPENING_FORM_H
#define TB_OPENING_FORM_H

#include "glance.h"

#include <stddef.h>

enum tb_form_row {
	TB_FORM_NETWORK,
	TB_FORM_NODES,
	TB_FORM_SCALE, // of captures
	TB_FORM_N_ROWS
};

struct tb_opening_form {
	size_t preset;	   // number of its name, tb_network_preset_name
	uint32_t arity;	   // of the preset
	uint32_t natural;  // its own levels
	uint32_t levels;   // that were chosen
	bool chose_levels; // by the user: a glance does not change them
	char scale[16];	   // as typed
	bool typing;	   // the scale: the next character does not replace it
	enum tb_form_row row;
	bool glanced;
	struct tb_glance_answer trace;
};

void tb_opening_form_init(struct tb_opening_form *form);

// tb_opening_form_key moves between the rows ("Up", "Down"), changes a value ("Left",
// "Right"), types a time scale, or takes the suggested one ("h"); false for other keys.
bool tb_opening_form_key(struct tb_opening_form *form, const char *key);

// tb_opening_form_step changes the value of a row (by -1 or 1).
void tb_opening_form_step(struct tb_opening_form *form, enum tb_form_row row, int by);

// tb_opening_form_take takes what a glance found.
void tb_opening_form_take(
	struct tb_opening_form *form, const struct tb_glance_answer *answer);

// tb_opening_form_n_rows returns how many rows there are: a job has no time scale.
int tb_opening_form_n_rows(const struct tb_opening_form *form);

// tb_opening_form_network writes the network as tb_network_preset parses it; 64 bytes
// suffice.
char *tb_opening_form_network(
	const struct tb_opening_form *form, char *buffer, size_t size);
uint32_t tb_opening_form_n_nodes(const struct tb_opening_form *form);

// tb_opening_form_share returns what the busiest node of a capture asks for at the time
// scale that is chosen, as a share of what its link carries; 0: unknown.
double tb_opening_form_share(const struct tb_opening_form *form);

// tb_opening_form_suggestion writes the time scale to try, "" for none; 16 bytes suffice.
char *tb_opening_form_suggestion(
	const struct tb_opening_form *form, char *buffer, size_t size);

#endif
