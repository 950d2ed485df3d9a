// Finds switches, links, nodes and jobs by name.
#ifndef TB_SEARCH_H
#define TB_SEARCH_H

#include "prompt.h"
#include "viewer_data.h"

// tb_search_find offers what matches the prompt's text: switches ("2.13"), links, nodes
// by number or host name, jobs. A first word "switch", "link", "node", "host" or "job"
// narrows the search to that kind. Linear in all of them.
void tb_search_find(const struct tb_viewer_data *data, struct tb_prompt *prompt);

#endif
