// Finding a command by words of what it does.
#ifndef TB_COMMANDS_H
#define TB_COMMANDS_H

#include "panes.h"
#include "prompt.h"

// tb_commands_find offers the requests whose help holds every word of the prompt's text:
// of a choice, such as the metric or the view, each by itself.
void tb_commands_find(const struct tb_panes *panes, struct tb_prompt *prompt);

#endif
