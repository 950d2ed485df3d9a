// What was inferred and what could not be, in sentences.
#ifndef TB_INFER_NOTES_H
#define TB_INFER_NOTES_H

#include "infer.h"

// tb_infer_notes returns sentences, one per line, which the caller frees; NULL when there
// is no memory.
char *tb_infer_notes(const struct tb_infer_report *report);

#endif
