// A preset while it is read: what its file and the changes behind its name have set so
// far. Private to replay/.
//
// preset.c finds the file, reads it and the list of changes, and checks what the values
// mean together; preset_keys.c turns the text of a value into what a key has.
#ifndef TB_PRESET_READING_H
#define TB_PRESET_READING_H

#include "network_params.h"
#include "switchings.h"

#include <limits.h>

#define TB_PRESET_HOSTS_MOST 16

struct tb_preset_library {
	struct tb_host_params params;
	uint8_t seen[TB_PARAMETERS_MOST]; // keys of its section, as those of a reading
	char like[32];			  // the hosts that it is like, or ""
};

// A file that is being read, and those that are like it.
struct tb_preset_file {
	const char *name;   // as it was given
	const char *source; // in messages, while the one it is like is read
	const struct tb_preset_file *derived;
	uint8_t depth; // 1: that of the network, 2: which this one is like, ...
	bool has_keys; // some were read
};

struct tb_preset_reading {
	struct tb_network_params params;
	struct tb_preset_library hosts[TB_PRESET_HOSTS_MOST]; // [host.NAME]; "none" first
	uint32_t n_hosts;
	struct tb_preset_library *host; // whose keys are being set
	char library[32];		// chosen
	const char *source;		// file or preset name, for messages
	struct tb_preset_file *file;	// being read
	char own_path[PATH_MAX];	// of a preset in the user's folder
	struct tb_preset_key keys[TB_PARAMETERS_MOST]; // that it may have
	size_t n_keys;
	uint8_t seen[TB_PARAMETERS_MOST];      // by the file of that depth; 0: not
	bool changed[TB_PARAMETERS_MOST];      // by the list of changes
	bool in_list;			       // whose keys are being set
	const struct tb_switching_kind *kinds; // that there are
	size_t n_kinds;
	const struct tb_switching_kind *kind; // chosen
	char switching[32]; // by the list of changes; "": it chooses none
	bool has_taper;	    // else it is as the shape has it
	char taper[32];	    // "2" or "3:2"
	struct tb_error *error;
	int status;
};

// tb_preset_built_in finds a preset that is built in, or NULL. tb_preset_own_path writes
// the path of one in the user's folder; false when it has none of that name.
const struct tb_schema_network *tb_preset_built_in(const char *name);
bool tb_preset_own_path(const char *name, char *path, size_t size);

// tb_preset_set_switching takes a switching, and with it the keys that the preset may
// have. TB_EUSAGE when there is none of that name.
int tb_preset_set_switching(
	struct tb_preset_reading *reading, const char *name) TB_MUST_USE;

// tb_preset_set sets one key; `section` NULL finds it in any, for changes. TB_EUSAGE when
// there is no such key, or the value is none of its own.
int tb_preset_set(struct tb_preset_reading *reading, const char *section,
	const char *name, const char *value) TB_MUST_USE;

// tb_preset_take_taper puts a shape in place of the tree: with so many cables up from a
// leaf switch that there are as many times as many down. TB_EUSAGE where that is no whole
// number, or there is nothing above the leaf switches.
int tb_preset_take_taper(struct tb_preset_reading *reading) TB_MUST_USE;

// tb_preset_set_value sets a key to the value that a text gives, in the parameters or in
// the library whose keys are being set. TB_EUSAGE names what was expected.
int tb_preset_set_value(struct tb_preset_reading *reading,
	const struct tb_preset_key *key, const char *value) TB_MUST_USE;

// tb_preset_like_host sets which section of hosts.ini the library is like whose keys are
// being set. tb_preset_take_hosts gives the chosen library what it is like, with its own
// keys over that. TB_EUSAGE where there are no such hosts, and what reading a file gives.
// (preset_hosts.c)
int tb_preset_like_host(struct tb_preset_reading *reading, const char *section,
	const char *value) TB_MUST_USE;
int tb_preset_take_hosts(struct tb_preset_reading *reading) TB_MUST_USE;

// tb_preset_item_length returns how long the first item of a list of changes is: to the
// next comma that does not stand in parentheses.
size_t tb_preset_item_length(const char *list);

// tb_preset_change sets the keys of a list of changes, "key=value,key=value", which it
// takes apart. TB_EUSAGE.
int tb_preset_change(struct tb_preset_reading *reading, char *list) TB_MUST_USE;

// A window of packets in a fluid: the words of a list of changes that make it,
// "KEY=VALUE, KEY=VALUE", taken out of the list, and the switching that stands for
// another one.
struct tb_preset_window {
	char list[96];
	char switching[32];
};

// tb_preset_has_window returns whether a list (NULL: none) gives a switching that stands
// for another one a window. tb_preset_take_window takes the window out of the list.
bool tb_preset_has_window(const struct tb_preset_reading *reading, const char *list);
void tb_preset_take_window(struct tb_preset_window *window, char *list);

// tb_network_preset_of is tb_network_preset with other switchings than those there are.
int tb_network_preset_of(struct tb_network_params *params, const char *name,
	const struct tb_switching_kind *kinds, size_t n_kinds,
	struct tb_error *error) TB_MUST_USE;

// tb_preset_check refuses with TB_EUSAGE what is missing, what the switching cannot do,
// and keys that were given a value and cannot change anything.
int tb_preset_check(const struct tb_preset_reading *reading) TB_MUST_USE;

#endif
