// Reading a sweep: axes, their values, and what a key means. Private to replay/.
#ifndef TB_SWEEP_IMPL_H
#define TB_SWEEP_IMPL_H

#include "sweep.h"
#include "value_list.h"

#include <stdio.h>

struct tb_sweep_axis {
	char *name;
	int key; // place in tb_sweep_keys; -1: a key of the network
	struct tb_value_list list;
	char file[256]; // where it stands; "" and 0: on the command line
	uint64_t line;
};

struct tb_sweep_axes {
	struct tb_sweep_axis *axes;
	size_t n, room;
	const struct tb_sweep_job *job; // NULL: it is of experiments
};

// Indices in tb_sweep_keys of the keys that the code asks for.
enum {
	TB_KEY_EXPERIMENT,
	TB_KEY_NODES,
	TB_KEY_MESSAGE,
	TB_KEY_LOAD,
	TB_KEY_SIZES,
	TB_KEY_TIMES,
	TB_KEY_READS,
	TB_KEY_IO_NODES,
	TB_KEY_IO_LOAD,
	TB_KEY_WARM,
	TB_KEY_WINDOW,
	TB_KEY_SEED,
	TB_N_KEYS
};

enum tb_value_form tb_sweep_key_form(int key);

// tb_sweep_key_find returns the index of a key, or -1.
int tb_sweep_key_find(const char *name);

// tb_sweep_key_set sets a key of the point to `text`. On failure the error has a
// sentence and no place.
int tb_sweep_key_set(struct tb_sweep_point *point, int key, const char *text,
	struct tb_error *error) TB_MUST_USE;

// tb_sweep_key_applies finds out whether a key that was given means something for the
// point's experiment.
int tb_sweep_key_applies(
	const struct tb_sweep_point *point, int key, struct tb_error *error) TB_MUST_USE;

// tb_sweep_key_print writes the value of a key at the point.
void tb_sweep_key_print(const struct tb_sweep_point *point, int key, FILE *stream);

// tb_sweep_file_read reads axes and hints of a file.
int tb_sweep_file_read(const char *path, struct tb_sweep_axes *axes,
	struct tb_sweep *sweep, struct tb_error *error) TB_MUST_USE;

// tb_sweep_axes_add finds the axis `name` of [sweep] or [network], making it when there
// is none, and appends `text` to its values. The name is checked.
int tb_sweep_axes_add(struct tb_sweep_axes *axes, bool of_network, const char *name,
	const char *text, struct tb_sweep_axis **axis,
	struct tb_error *error) TB_MUST_USE;
struct tb_sweep_axis *tb_sweep_axes_find(
	const struct tb_sweep_axes *axes, const char *name);
void tb_sweep_axes_fini(struct tb_sweep_axes *axes);

#endif
