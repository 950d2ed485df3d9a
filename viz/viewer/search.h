// Finding things by their names.
#ifndef TB_SEARCH_H
#define TB_SEARCH_H

#include "prompt.h"
#include "viewer_data.h"

// tb_search_find offers what is called as the prompt's text says: switches ("2.13"),
// links, nodes by number or host name, jobs. A first word "switch", "link", "node",
// "host" or "job" looks for that alone. Linear in all of them.
void tb_search_find(const struct tb_viewer_data *data, struct tb_prompt *prompt);

#endif
