// A comparison on paper: a PDF of what changed, in sentences, and every list. As a report
// (report_print.h) cuts no text and has the same bytes for the same stores.
#ifndef TB_COMPARE_PRINT_H
#define TB_COMPARE_PRINT_H

#include "compare.h"

// tb_compare_print writes to `stream`; write errors show in ferror(stream). Errors as of
// tb_pictures_pdf.
int tb_compare_print(const struct tb_compare *compare, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

#endif
