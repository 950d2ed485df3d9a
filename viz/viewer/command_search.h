// Finds commands by the words of their help.
#ifndef TB_COMMAND_SEARCH_H
#define TB_COMMAND_SEARCH_H

#include "panes.h"
#include "prompt.h"

// tb_command_search offers the requests whose help contains every word of the prompt's
// text. Each choice of a request, such as a metric or a view, is an offer of its own.
void tb_command_search(const struct tb_panes *panes, struct tb_prompt *prompt);

#endif
