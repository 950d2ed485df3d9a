// The congestion matrix as data: CSV and JSON.
//
// Columns: level, switch ("2.13"), port (of the switch; empty for its sum), direction
// ("above" or "below": where the link comes from; "sum"), link (its name), value (in the
// metric's unit), percent. Rows in the order of the matrix.
#ifndef TB_MATRIX_DATA_H
#define TB_MATRIX_DATA_H

#include "matrix.h"

#include <stdio.h>

// Write errors show in ferror(stream).
void tb_matrix_csv(
	const struct tb_run *run, const struct tb_matrix *matrix, FILE *stream);
int tb_matrix_json(const struct tb_run *run, const struct tb_matrix *matrix,
	struct tb_window window, FILE *stream) TB_MUST_USE;

#endif
