// The keys of network presets: those of all networks, and those that only networks of one
// switching have. Private to replay/.
//
// A preset names its switching (`switching = circuits`, which is also what it has when it
// names none) before the keys that this one adds, and takes these and no others.
#ifndef TB_PRESET_KEYS_H
#define TB_PRESET_KEYS_H

#include "parameters.h"
#include "switching_words.h"

// How a key's value is written.
enum tb_preset_form {
	TB_FORM_WORD,
	TB_FORM_SWITCHING,
	TB_FORM_ASCENT,
	TB_FORM_COUNT,
	TB_FORM_SIZE,
	TB_FORM_TIME,
	TB_FORM_RATE,
	TB_FORM_REAL, // from 0 to 1
	TB_FORM_LIBRARY,
	TB_FORM_HANDSHAKE,
	TB_FORM_LOCAL,
	TB_FORM_RAILS_POLICY,
	TB_FORM_SWITCH, // yes or no
	TB_FORM_QUEUES,
	TB_FORM_FORWARDING,
	TB_FORM_FLOW_CONTROL,
	TB_FORM_QUEUE_PAIRS,
	TB_FORM_VL_TABLE, // as struct tb_credit_params has it; commas become blanks
	TB_FORM_SL_TO_VL,
	TB_FORM_SHAPE, // as shape.h has it
	TB_FORM_LEVEL_RATES,
	TB_FORM_LEVEL_TIMES,
};

struct tb_preset_key {
	const char *section;
	const char *name;
	enum tb_preset_form form;
	size_t offset; // into the network's parameters or, in a section of a host, the
		       // host's
	uint64_t min, max; // of counts and sizes; of times in ps
	enum {
		TB_KEY_NEEDED,
		TB_KEY_MAY_LACK,   // in presets
		TB_KEY_CAME_LATER, // may lack in stores too, made before there was such
				   // a key: 0
		TB_KEY_MAY_BE_NONE,
	} need;
};

#define TB_PRESET_HOST "host" // sections [host.NAME]

// What a switching model adds.
struct tb_preset_model {
	const char *name;
	const struct tb_preset_key *keys;
	size_t n_keys;
	// check looks at what keys mean together, of a preset that `source` names.
	int (*check)(const struct tb_network_params *params, const char *source,
		struct tb_error *error);
	struct tb_switching_words words;
	const struct tb_switching_words
		*paused; // with flow_control = pause; NULL: the same
};

// check_credits.c: what the keys of `credits` mean together.
int tb_preset_check_credits(const struct tb_network_params *params, const char *source,
	struct tb_error *error) TB_MUST_USE;

// Those of all networks.
extern const struct tb_preset_key tb_preset_keys[];
extern const size_t tb_preset_n_keys;

// Those of each switching, the one that presets have when they say nothing first.
extern const struct tb_preset_model tb_preset_models[];
extern const size_t tb_preset_n_models;

// tb_preset_model_find finds a switching by its name; NULL when there is none.
const struct tb_preset_model *tb_preset_model_find(const char *name);

// tb_preset_keys_of lists the keys of all networks and those that `model` adds (NULL:
// none), at most TB_PARAMETERS_MOST, and returns how many.
size_t tb_preset_keys_of(const struct tb_preset_model *model,
	struct tb_preset_key keys[TB_PARAMETERS_MOST]);

// tb_preset_choice is word number `i` of a form that offers a choice of words, an enum's
// value; NULL beyond the last and for other forms. tb_preset_find_choice finds the word.
const char *tb_preset_choice(enum tb_preset_form form, unsigned i);
bool tb_preset_find_choice(enum tb_preset_form form, const char *word, unsigned *i);

// tb_preset_text_room is how many bytes the text of such a form has, its end included; 0:
// it is no text that is kept as it is.
size_t tb_preset_text_room(enum tb_preset_form form);

// tb_preset_shape_text writes a shape, or a list of rates or times by level, as it is
// kept; `text` has room for TB_SHAPE_TEXT. TB_EUSAGE when it is none.
int tb_preset_shape_text(enum tb_preset_form form, char *text, const char *value,
	struct tb_error *error) TB_MUST_USE;

// tb_preset_hardest is what a switching has to bear: the highest rate and latency of all
// levels.
struct tb_network_params tb_preset_hardest(const struct tb_network_params *params);

// tb_preset_simplified has a shape that is a k-ary n-tree as its arity and levels, and
// the rate and latency of the nodes' links as those of the network.
struct tb_network_params tb_preset_simplified(const struct tb_network_params *params);

// tb_network_preset_of is tb_network_preset with other models than those there are.
int tb_network_preset_of(struct tb_network_params *params, const char *name,
	const struct tb_preset_model *models, size_t n_models,
	struct tb_error *error) TB_MUST_USE;

#endif
