// The form of a trace that is opened: on which network, of how many nodes, and how to
// read it. It holds what was chosen and handles keys; opening.h draws it and acts.
//
// Which rows there are depends on the trace: a capture, what the ranks of a program
// called, or a job. A row is an option of the replay command (but for nodes, which is a
// change of the network). Options that were given before, on the command line, fill their
// rows in; those without a row are kept and passed on as they are.
//
// A glance at the trace (glance.h) suggests nodes, and a time scale where a capture asks
// for so little that its replay would show nothing (underload.h).
#ifndef TB_OPENING_FORM_H
#define TB_OPENING_FORM_H

#include "glance.h"
#include "trace.h"

#include <stddef.h>

enum tb_form_row {
	TB_FORM_NETWORK,
	TB_FORM_NODES,
	TB_FORM_SCALE, // this and the next three: of captures
	TB_FORM_LOOP,
	TB_FORM_FROM,
	TB_FORM_TO,
	TB_FORM_LIBRARY, // of what ranks called, to the end
	TB_FORM_COLLECTIVE,
	TB_FORM_CLONES,
	TB_FORM_LENIENT,
	TB_FORM_N_ROWS
};

#define TB_FORM_WORDS_MOST 48

struct tb_opening_form {
	const struct tb_trace_reader *reader;
	const char *given;	// a network that is no preset of its own; NULL: none
	char recorded[256];	// that which a glance found to fit the trace
	bool chose_network;	// by the user: a glance does not change it
	const char *const *own; // the user's presets: names, or paths of files
	size_t n_own;
	size_t preset;	   // number of its name: those of tb_network_preset_name, then
			   // the user's own; past the last: the given one
	uint32_t arity;	   // of the preset; 0: it has its nodes
	uint32_t natural;  // its own levels
	uint32_t levels;   // that were chosen
	bool chose_levels; // by the user: a glance does not change them
	char text[TB_FORM_N_ROWS][64]; // of rows that are typed or stepped; "": default
	bool typing; // the chosen row: the next character does not replace its text
	const char *others[TB_FORM_WORDS_MOST]; // options without a row
	size_t n_others;
	enum tb_form_row row;
	bool glanced;
	struct tb_glance_answer trace;
};

// tb_opening_form_init begins with the options of the replay command in `words`
// ("--closed-loop", "--from=1s", "--network=NAME"), which the form borrows.
void tb_opening_form_init(struct tb_opening_form *form,
	const struct tb_trace_reader *reader, const char *const *words, size_t n_words);

// tb_opening_form_offer adds the user's own presets, which the form borrows, behind those
// built in. What was chosen stays.
void tb_opening_form_offer(
	struct tb_opening_form *form, const char *const *own, size_t n_own);

// tb_opening_form_chosen returns the chosen network without changes.
const char *tb_opening_form_chosen(const struct tb_opening_form *form);

// tb_opening_form_has returns whether the trace has a row.
bool tb_opening_form_has(const struct tb_opening_form *form, enum tb_form_row row);

// tb_opening_form_label and _hint name a row and explain what stands there.
const char *tb_opening_form_label(enum tb_form_row row);
const char *tb_opening_form_hint(
	const struct tb_opening_form *form, enum tb_form_row row);

// tb_opening_form_steps returns whether a row's value changes by steps; others are typed.
bool tb_opening_form_steps(enum tb_form_row row);

// tb_opening_form_value writes what stands in a row and returns it.
const char *tb_opening_form_value(const struct tb_opening_form *form,
	enum tb_form_row row, char *buffer, size_t size);

// tb_opening_form_key moves between the rows ("Up", "Down"), changes a value ("Left",
// "Right"), types one, or takes the suggested time scale ("h"); false for other keys.
bool tb_opening_form_key(struct tb_opening_form *form, const char *key);

// tb_opening_form_step changes the value of a row (by -1 or 1) and chooses the row.
void tb_opening_form_step(struct tb_opening_form *form, enum tb_form_row row, int by);

// tb_opening_form_choose chooses a row.
void tb_opening_form_choose(struct tb_opening_form *form, enum tb_form_row row);

// tb_opening_form_take takes what a glance found.
void tb_opening_form_take(
	struct tb_opening_form *form, const struct tb_glance_answer *answer);

// tb_opening_form_network writes the network as tb_network_open takes it.
char *tb_opening_form_network(
	const struct tb_opening_form *form, char *buffer, size_t size);
// tb_opening_form_n_nodes returns how many that has; 0: unknown.
uint32_t tb_opening_form_n_nodes(const struct tb_opening_form *form);

// The options of the replay command that the rows and the others come to, without the
// network. `texts` is their storage.
struct tb_form_words {
	const char *words[TB_FORM_WORDS_MOST + TB_FORM_N_ROWS];
	char texts[TB_FORM_N_ROWS][96];
	size_t n;
};

// tb_opening_form_words lists them; with `of_info`, those that the info command takes
// too.
void tb_opening_form_words(
	const struct tb_opening_form *form, bool of_info, struct tb_form_words *words);

// tb_opening_form_share returns what the busiest node of a capture asks for at the time
// scale that is chosen, as a share of what its link carries; 0: unknown, or in closed
// loop.
double tb_opening_form_share(const struct tb_opening_form *form);

// tb_opening_form_suggestion writes the time scale to try, "" for none; 16 bytes suffice.
char *tb_opening_form_suggestion(
	const struct tb_opening_form *form, char *buffer, size_t size);

#endif
