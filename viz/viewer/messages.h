// Messages on top of the picture: trouble with the store, until it can be read again,
// notices, for a few seconds, and what is being read.
#ifndef TB_MESSAGES_H
#define TB_MESSAGES_H

#include "status.h"

#include <stdarg.h>
#include <stdbool.h>

struct tb_messages {
	char trouble[640]; // "" for none
	char notice[640];
	double notice_s;     // how long it still stays
	const char *reading; // what is being read; NULL: nothing that takes long
};

void tb_messages_trouble(struct tb_messages *messages, const struct tb_error *error);
void tb_messages_notice(struct tb_messages *messages, const char *format, va_list args)
	TB_PRINTF(2, 0);

// tb_messages_tick advances time; true when the notice has just expired.
bool tb_messages_tick(struct tb_messages *messages, double elapsed_s);

#endif
