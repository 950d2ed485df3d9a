// The frame of a page of HTML: one file that fetches nothing, with the style
// (schemas/report.css) and the script (schemas/report.js) of tables. What stands between
// begins with a <header>, then <main>, which tb_page_end closes.
#ifndef TB_PAGE_H
#define TB_PAGE_H

#include "table.h"

// tb_page_begin writes what stands before the header; `title` is shown by browsers and
// followed by `of`, which may be "".
void tb_page_begin(const char *title, const char *of, FILE *stream);

// tb_page_links writes links to the tables that people are shown.
void tb_page_links(const struct tb_table *tables, size_t n, FILE *stream);

// tb_page_end writes the foot, which ends with `remark`, "" for none.
void tb_page_end(const char *remark, FILE *stream);

#endif
