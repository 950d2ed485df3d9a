#include "messages.h"

#include <stdio.h>

#define NOTICE_S 5

void tb_messages_trouble(struct tb_messages *messages, const struct tb_error *error)
{
	tb_error_format(error, messages->trouble, sizeof messages->trouble);
}

void tb_messages_notice(struct tb_messages *messages, const char *format, va_list args)
{
	vsnprintf(messages->notice, sizeof messages->notice, format, args);
	messages->notice_s = NOTICE_S;
}

bool tb_messages_tick(struct tb_messages *messages, double elapsed_s)
{
	if (messages->notice_s <= 0)
		return false;
	messages->notice_s -= elapsed_s;
	return messages->notice_s <= 0;
}
