// The formats of fabrics, in one table; and beside it those that are known, but not read.
#ifndef TB_FABRIC_FORMATS_H
#define TB_FABRIC_FORMATS_H

#include "cabling.h"

#include <stdio.h>

struct tb_fabric_format {
	const char *name;
	const char *presets;	      // with what names of presets that suit it begin
	bool (*is)(const char *line); // whether a line tells that a file is one
	int (*read)(struct tb_cabling *cabling, FILE *stream); // adds what it holds
};

// tb_fabric_format returns format i, NULL beyond the last.
const struct tb_fabric_format *tb_fabric_format(size_t i);

// tb_fabric_kind stores the format of a file, NULL when it may be a preset. TB_EFORMAT
// when it is of another format, named where it is known, or no text; TB_EIO, TB_ENOMEM.
int tb_fabric_kind(const struct tb_fabric_format **format, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_fabric_refuse takes the error of a file that is no trace (TB_EFOREIGN). Where it is
// a fabric's, it says so and what takes it; a list of cables, which other texts may look
// like, stays what it is.
void tb_fabric_refuse(struct tb_error *error);

// tb_fabric_format_of returns the format of a file with this line, NULL when the line
// does not tell.
const struct tb_fabric_format *tb_fabric_format_of(const char *line);

#endif
