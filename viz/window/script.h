// Scripts for the viewer: what a user would do, one step per line, for tests.
//
//	# a comment
//	key SPACE          a key by name, or a character
//	hover X Y          moves the pointer (abstract pixels)
//	type TEXT          its characters, one key after the other
//	click X Y
//	double X Y         a double click
//	drag X1 Y1 X2 Y2
//	wheel X Y STEPS    up is positive
//	resize W H         the window, in points
//	wait MS            advances the viewer's time, without sleeping
//	await TEXT         goes on, by the clock, until a text of the picture contains
//	                   TEXT, as a replay comes to it; fails after TB_AWAIT_S
//	outlast TEXT       the same until none does
//	expect TEXT        fails unless a text of the picture contains TEXT
//	refuse TEXT        fails if one does
//	dump FILE          writes the picture's description
//	screenshot FILE    writes the window's pixels as PNG
#ifndef TB_SCRIPT_H
#define TB_SCRIPT_H

#include "status.h"

#include <stddef.h>

#define TB_AWAIT_S 200

enum tb_step_kind {
	TB_STEP_KEY,
	TB_STEP_HOVER,
	TB_STEP_TYPE,
	TB_STEP_CLICK,
	TB_STEP_DOUBLE,
	TB_STEP_DRAG,
	TB_STEP_WHEEL,
	TB_STEP_RESIZE,
	TB_STEP_WAIT,
	TB_STEP_AWAIT,
	TB_STEP_OUTLAST,
	TB_STEP_EXPECT,
	TB_STEP_REFUSE,
	TB_STEP_DUMP,
	TB_STEP_SCREENSHOT,
};

struct tb_step {
	enum tb_step_kind kind;
	unsigned line;
	double numbers[4];
	char *text; // key, text or file; NULL for other kinds
};

struct tb_script {
	struct tb_step *steps;
	size_t n, room;
};

// tb_script_parse reads a script from memory; `name` is for messages. TB_EFORMAT with the
// line. A zeroed struct is an empty script.
int tb_script_parse(struct tb_script *script, const char *text, size_t length,
	const char *name, struct tb_error *error) TB_MUST_USE;

// tb_script_load reads a file, or standard input for "-".
int tb_script_load(
	struct tb_script *script, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_script_fini(struct tb_script *script);

#endif
