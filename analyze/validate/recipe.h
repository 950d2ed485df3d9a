// Rows that are not experiments of a paper: a job that is written here, or a file that
// was recorded, replayed as a user would, and what its time comes to.
//
// A recipe is the text in a claim's column `measured`, such as
//
//     pingpong 4096 1: -n roce-100 -H mpi
//     long collective allreduce 1048576 64: -n ib-ndr,rails=4 -H nccl --per-node 4
//     file farm8_20m.tbt 0.006832: -n ethernet,rate=20Mbit/s
//     pattern complement 4: ib-hdr,buffer=16640
//
// a kind of job (tb_recipe_kinds) with its numbers, and behind the colon what replay gets
// besides. "long" marks those that take more than some seconds.
#ifndef TB_RECIPE_H
#define TB_RECIPE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

// tb_recipe_is_long returns whether a recipe takes more than some seconds.
bool tb_recipe_is_long(const char *recipe);

// tb_recipe_check stores the name of the file that a recipe replays where the folder does
// not have it, else "". TB_EFORMAT for a text that is no recipe.
int tb_recipe_check(const char *recipe, const char *folder, char *lacks, size_t size,
	struct tb_error *error) TB_MUST_USE;

// tb_recipe_run stores the figure: microseconds, GB/s, seconds or a share, see the kinds.
// Its process is this program's. TB_EFORMAT for a text that is no recipe, TB_EIO; when
// the replay fails, its status is TB_EUSAGE and its last sentence the error's.
int tb_recipe_run(double *figure, const char *recipe, const char *folder,
	struct tb_error *error) TB_MUST_USE;

// tb_recipe_folder finds the folder with recorded files: beside the program, or where it
// is installed; "" when there is none.
void tb_recipe_folder(char *folder, size_t size);

#endif
