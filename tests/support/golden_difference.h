// How a picture differs from its golden description: a few lines of text, and a picture
// of the difference in the build folder (TB_BUILD, else the current one), named after the
// golden file.
#ifndef TB_GOLDEN_DIFFERENCE_TEST_H
#define TB_GOLDEN_DIFFERENCE_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// golden_text_difference compares two descriptions: tb_picture_dump(), SVG, or what a
// terminal shows, which are told apart by the name's last part and the first word.
// Returns whether they differ, and then writes to `report` what does: items that are gone
// and new, or the cells of the terminal.
bool golden_text_difference(
	const char *name, const char *wanted, const char *got, FILE *report);

// golden_path_of_difference gives the file to which the difference of `name` is drawn,
// ending in `ending`; it makes its folder.
void golden_path_of_difference(char path[512], const char *name, const char *ending);

#endif
