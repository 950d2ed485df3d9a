// Finding a command by words of what it does.
#ifndef TB_COMMAND_SEARCH_H
#define TB_COMMAND_SEARCH_H

#include "panes.h"
#include "prompt.h"

// tb_command_search offers the requests whose help holds every word of the prompt's text:
// of a choice, such as the metric or the view, each by itself.
void tb_command_search(const struct tb_panes *panes, struct tb_prompt *prompt);

#endif
