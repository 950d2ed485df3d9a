// Presets: the parameters of a network by the name of a preset that is built in, or from
// an INI file.
//
// Each INI file in schemas/ is built in, by the file's name. Further ones are NAME.ini in
// the folder that the environment variable TAILBACK_NETWORKS names.
#ifndef TB_PRESET_H
#define TB_PRESET_H

#include "network_params.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// tb_network_preset loads a built-in preset ("qsnet", "ib-hdr") or an INI file of the
// same keys; the error names keys that are unknown or out of range. `name` may carry
// overrides after commas: "qsnet,arity=4,levels=2,ascent=deterministic",
// "qsnet2,rails=2,host=mpi". Keys of a host are those of the library that `host` names:
// one of the network's, or LIBRARY@GENERATION of hosts.ini; "none" has no overheads.
int tb_network_preset(struct tb_network_params *params, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_network_preset_like reads which preset or file a file says that it is like; "" where
// it says nothing, is no preset, or cannot be read. So many networks may each be like the
// next one.
enum { TB_PRESET_LIKE_SIZE = 256, TB_PRESET_LIKE_MOST = 8 };
void tb_network_preset_like(const char *path, char like[TB_PRESET_LIKE_SIZE]);

// tb_preset_write writes parameters as the INI text that tb_network_preset reads. Every
// key that the network has stands in it, so it does not depend on the preset that it came
// from. Times are in ps, sizes in bytes, rates in B/s, to the last digit. Of libraries
// that hosts may use it has the one that they do. Write errors show in ferror(stream).
void tb_preset_write(const struct tb_network_params *params, FILE *stream);

#define TB_NETWORK_DEFAULT "qsnet"

// tb_network_preset_name returns the name of built-in preset i, in the order of the
// alphabet, NULL beyond the last.
const char *tb_network_preset_name(size_t i);

// tb_network_preset_names returns the names of all presets, the user's own behind those
// built in, one a line, to be freed; NULL when memory runs out.
char *tb_network_preset_names(void);

// tb_host_preset_names returns the sections of hosts.ini, the built-in ones and those in
// the user's folder, likewise.
char *tb_host_preset_names(void);

// tb_network_preset_files returns the paths of the INI files in a folder that are
// presets, one a line, to be freed; NULL when memory runs out. Files beyond the 256th in
// order of names are not looked at, and those in the user's own folder are no matter of
// this.
char *tb_network_preset_files(const char *folder);

// tb_network_preset_summary writes the sentence of a preset, the comment with which its
// text begins, and returns buffer; "" where it has none.
char *tb_network_preset_summary(const char *name, char *buffer, size_t size);

// tb_network_repeats returns the first key that the changes behind a network's name give
// twice, of `length` bytes; NULL: none. Programs append changes of their own, of which
// the last holds; what a user typed twice is a mistake.
const char *tb_network_repeats(const char *name, size_t *length);

// tb_network_has_key returns whether a preset has a key of this name.
bool tb_network_has_key(const char *name);

// tb_network_near_key returns the key of a preset that is near to a mistyped name
// (nearest.h), or NULL.
const char *tb_network_near_key(const char *typed);

// Keys that only stand behind the name of a fabric's file (replay/fabric).
enum tb_fabric_word {
	TB_FABRIC_PRESET,
	TB_FABRIC_ROOTS,
	TB_FABRIC_NICS,
	TB_FABRIC_NAMES,
	TB_FABRIC_ADAPTERS,
	TB_FABRIC_PART
};
extern const char *const tb_fabric_words[]; // NULL behind the last

#endif
