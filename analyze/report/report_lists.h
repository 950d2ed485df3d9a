// The lists of a report as arrays of flat objects, for JSON and CSV. Private to analyze/.
#ifndef TB_REPORT_LISTS_H
#define TB_REPORT_LISTS_H

#include "report_impl.h"

#include <jansson.h>

// tb_report_list makes the list called `name` (tb_report_list_name). All its objects have
// the same keys in the same order. NULL when memory runs out. The caller decrefs it.
json_t *tb_report_list(const struct tb_report *report, const char *name);

// tb_report_list_key writes the key that the list has in JSON.
void tb_report_list_key(const char *name, char *key, size_t size);

// The lists that have files of their own. NULL when memory runs out.
json_t *tb_report_times_array(const struct tb_report *report);

#endif
