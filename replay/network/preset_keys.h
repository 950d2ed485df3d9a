// The keys of network presets: what each is, which values it takes, and where its value
// stands. Those of all networks are listed here, those that only networks of one
// switching have in its row (switchings.h).
//
// A preset names its switching (`switching = circuits`, which is also what it has when it
// names none) before the keys that this one adds, and takes these and no others.
#ifndef TB_PRESET_KEYS_H
#define TB_PRESET_KEYS_H

#include "network_params.h"
#include "parameters.h"
#include "status.h"

// How a key's value is written.
enum tb_preset_form {
	TB_FORM_WORD,
	TB_FORM_SWITCHING,
	TB_FORM_LIBRARY,
	TB_FORM_CHOICE, // of the key's words: an enum's value, or 1 for "yes"
	TB_FORM_COUNT,
	TB_FORM_SIZE,
	TB_FORM_TIME,
	TB_FORM_RATE,
	TB_FORM_REAL,	  // from 0 to 1
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
	const char *const *words; // of a choice, up to NULL
	uint64_t min, max; // of counts and sizes; of times in ps; of a choice `max` is
			   // the last word that presets take, stores take all
	size_t offset; // into the network's parameters or, in a section of a host, the
		       // host's
	enum {
		TB_KEY_NEEDED,
		TB_KEY_MAY_LACK,   // in presets
		TB_KEY_CAME_LATER, // may lack in stores too, made before there was such
				   // a key: 0
		TB_KEY_MAY_BE_NONE,
		TB_KEY_NONE_LATER, // may be none, and came later
	} need;
	const char *meaning;
};

#define TB_PRESET_HOST "host" // sections [host.NAME]

// Those of all networks.
extern const struct tb_preset_key tb_preset_keys[];
extern const size_t tb_preset_n_keys;

// tb_preset_key_expects writes what values a key takes, for messages and lists: "network,
// memory or links", "a whole number from 2 to 4096". Returns buffer; 240 bytes suffice.
char *tb_preset_key_expects(const struct tb_preset_key *key, char *buffer, size_t size);

// tb_preset_key_choice finds the number of a choice's word; false when it is none.
bool tb_preset_key_choice(
	const struct tb_preset_key *key, const char *word, unsigned *number);

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

#endif
