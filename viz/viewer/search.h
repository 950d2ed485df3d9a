// Finds switches, links, nodes and jobs by name.
#ifndef TB_SEARCH_H
#define TB_SEARCH_H

#include "prompt.h"
#include "run_list.h"
#include "viewer_data.h"

// tb_search_find offers what matches the prompt's text: switches ("2.13"), links, nodes
// by number or host name, jobs. A first word "switch", "link", "node", "host" or "job"
// narrows the search to that kind. Linear in all of them.
void tb_search_find(const struct tb_viewer_data *data, struct tb_prompt *prompt);

// Finds runs of the store by words of their numbers, inputs and settings.

// tb_run_search offers the runs that hold every word of the prompt's text, by number, and
// describes the list. `shown` is chosen while nothing is typed.
void tb_run_search(
	const struct tb_run_list *list, int64_t shown, struct tb_prompt *prompt);

#endif
