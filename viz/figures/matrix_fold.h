// The congestion matrix of a large network, folded: a box stands for neighbouring
// switches of a level, and has of their links up, of the switches, of their links down
// and of those to nodes the worst and the mean.
//
// Left out are the switches at either end of a level that carried nothing in the whole
// run, where that leaves at most half of the level: a job on a part of a network fills
// the picture. Those that died stay.
//
// From TB_FOLDED_NODES nodes on boxes are groups, by the subtrees of the network
// (tree_plan.h): pods, then parts of pods. Opening a group shows its subtree alone, in
// finer groups or, where that has fewer nodes, switch by switch; a group of the top level
// of what is shown opens to its switches alone.
#ifndef TB_MATRIX_FOLD_H
#define TB_MATRIX_FOLD_H

#include "matrix.h"
#include "picture.h"
#include "tree_plan.h"

#define TB_FOLDED_NODES 512

// What of a network is shown: all of it, a subtree, or n switches of a level, by their
// place in its row of subtrees.
struct tb_matrix_focus {
	uint32_t subtree; // TB_ID_NONE: none
	uint32_t level, first, n;
};

#define TB_MATRIX_WHOLE                                                                  \
	(struct tb_matrix_focus)                                                         \
	{                                                                                \
		TB_ID_NONE, 0, 0, 0                                                      \
	}

enum tb_group_part {
	TB_GROUP_ABOVE,
	TB_GROUP_SWITCH,
	TB_GROUP_BELOW,
	TB_GROUP_NODES,
	TB_N_GROUP_PARTS
};

// A figure of the links or switches of a group, in the metric's unit, over those that
// were measured.
struct tb_group_figure {
	uint64_t worst, mean;
	uint32_t at; // the link or switch of the worst; TB_ID_NONE: none was measured
	uint32_t n;  // links or switches
	uint32_t n_unmeasured;
};

struct tb_matrix_group {
	bool folded; // else its one switch is drawn as in a matrix that is not folded
	uint32_t level, first, n; // switches, by their place in the row
	struct tb_group_figure figures[TB_N_GROUP_PARTS];
};

struct tb_matrix_fold {
	struct tb_matrix
		matrix; // of the boxes that are shown; 100 % is that of the whole
	struct tb_matrix_group *groups; // by box
	uint32_t *box_of_switch;	// TB_ID_NONE: not shown
	bool folded;			// whether any box is a group
	uint32_t *n_left_out;		// switches, by row
	uint64_t idle_rows; // bit a row: the switch that is shown carried nothing either
	const struct tb_matrix *whole;
	const struct tb_run *beside;
	const struct tb_subtrees *subtrees;
	uint32_t *source; // by switch: its box in the whole
	struct tb_matrix_row *rows;
};

// tb_matrix_fold_init chooses the boxes of a focus, at most `most` groups in a level, and
// fills them. `beside` is a run of the same network whose traffic counts, too, for what
// is left out; NULL: none. It borrows the matrix, that run and the subtrees. Cost: some
// passes over switches, two over links. TB_ENOMEM. tb_matrix_fold_fini accepts a zeroed
// struct.
int tb_matrix_fold_init(struct tb_matrix_fold *fold, const struct tb_matrix *whole,
	const struct tb_run *beside, const struct tb_subtrees *subtrees,
	struct tb_matrix_focus focus, uint32_t most) TB_MUST_USE;
void tb_matrix_fold_fini(struct tb_matrix_fold *fold);

// tb_matrix_fold_fill takes the values of the whole again. Linear in links.
void tb_matrix_fold_fill(struct tb_matrix_fold *fold);

// tb_matrix_fold_open returns the focus that a box opens to; false: it is not folded.
bool tb_matrix_fold_open(const struct tb_matrix_fold *fold, struct tb_matrix_focus now,
	uint32_t box, struct tb_matrix_focus *focus);

// tb_matrix_fold_step replaces a fold by that of the focus which the group of a switch
// opens to, and returns TB_OK; TB_ENOMEM; TB_EUSAGE: the switch is shown by itself, or
// not at all.
int tb_matrix_fold_step(struct tb_matrix_fold *fold, struct tb_matrix_focus *focus,
	struct tb_switch sw, uint32_t most) TB_MUST_USE;

// tb_matrix_group_of returns the box of the group that a link or a switch is in, or that
// TB_PICK_CELL names; TB_ID_NONE: it is in none. Linear in links.
uint32_t tb_matrix_group_of(const struct tb_matrix_fold *fold, struct tb_pick pick);

// tb_matrix_fold_size returns the most switches that a box of a row stands for; 1 also of
// a zeroed struct.
uint32_t tb_matrix_fold_size(const struct tb_matrix_fold *fold, uint32_t row);

// tb_matrix_fold_text names a group and all that is in it: "2 switches: 2.0, 2.8", "8
// switches: 1.0 to 1.7", "64 switches: 2.0, 2.16 and so on to 2.1008"; of many that are
// not numbered evenly, as many as `size` has room for. Returns `buffer`.
char *tb_matrix_fold_text(const struct tb_matrix_fold *fold,
	const struct tb_matrix_group *group, char *buffer, size_t size);

// How a group is named above or below its box, most first.
enum tb_group_name {
	TB_GROUP_ALL,	// "2.0, 2.8", "1.0 to 1.7"; else as the next
	TB_GROUP_COUNT, // "2.0 +7"
	TB_GROUP_FIRST	// "2.0"
};

// tb_matrix_group_name writes it, in at most `size` bytes. Returns `buffer`.
char *tb_matrix_group_name(const struct tb_matrix_fold *fold,
	const struct tb_matrix_group *group, enum tb_group_name name, char *buffer,
	size_t size);

// tb_matrix_row_name returns the name with most in it that fits `room` for all groups of
// a row, and lowers `type`'s size, by a tenth at most, where that is enough for it and it
// is no terminal's.
enum tb_group_name tb_matrix_row_name(const struct tb_matrix_fold *fold, uint32_t row,
	double room, struct tb_type *type);

// tb_matrix_fold_note writes what a box of a row is: "8 a box", and in `step` "every
// 16th" where all its groups are numbered so; "" where a box is a switch, or the
// numbers follow each other. Of 32 bytes each.
void tb_matrix_fold_note(
	const struct tb_matrix_fold *fold, uint32_t row, char note[32], char step[32]);

// tb_matrix_fold_left_out writes how much of a row is shown, "26 of 400", or "" for all
// of it; of TB_ID_NONE, of all rows. A zeroed fold shows all. Returns `buffer`.
char *tb_matrix_fold_left_out(
	const struct tb_matrix_fold *fold, uint32_t row, char *buffer, size_t size);

// tb_matrix_focus_text names what a focus shows, "the whole network", "a subtree of level
// 2 with 64 nodes", "16 switches of level 5".
char *tb_matrix_focus_text(const struct tb_subtrees *subtrees,
	struct tb_matrix_focus focus, char *buffer, size_t size);

#endif
