// The congestion matrix (paper 000, section 5.4, figure 15), from a run and a window of
// time.
//
// A row per level, the top level first; a box per switch, by index. A box has one
// number per link to the upper level at its top, one per link to the lower level or the
// nodes at its bottom, and the switch's sum in the middle. The number at a port is that
// of the link whose packets wait at this switch (docs/model.md): of a wait of packets
// that came by a link, the one that arrives there; of a wait for a link, the one that
// leaves. Other metrics stand as the wait that leads in the network does. Below the
// others stand the other links of the nodes' cables, so every link has one number. With
// circuits a wait of headers that arrived has none there, as in the paper: none wait at
// a node.
//
// Link numbers are percentages of the most loaded link of the matrix, switch numbers of
// the most loaded switch; all are 0 when the metric is 0 everywhere. For the longest wait
// a switch's number is the longest of its links, not their sum.
#ifndef TB_MATRIX_H
#define TB_MATRIX_H

#include "run.h"

struct tb_matrix_cell {
	struct tb_link link; // id is TB_ID_NONE where no cable is plugged
	uint64_t value;	     // in the metric's unit
	double percent;	     // of the most loaded link, 0..100
};

struct tb_matrix_box {
	struct tb_switch sw;
	uint32_t n_above, n_below;
	uint32_t n_nodes; // n_below, or 0: the metric has no links to nodes here
	uint32_t n_cells; // with those to nodes, whether the metric has them or not
	struct tb_matrix_cell *below; // by port
	struct tb_matrix_cell *above; // by port, behind those below
	struct tb_matrix_cell *nodes; // links to the nodes, by port, behind those above
	uint64_t sum;
	double percent; // of the most loaded switch
};

struct tb_matrix_row {
	uint32_t level;
	uint32_t n_boxes;
	const struct tb_matrix_box *boxes; // by index in the level
};

struct tb_matrix {
	bool leaves; // links stand at the switch that they leave
	enum tb_metric metric;
	const struct tb_run *run;
	uint32_t n_rows;
	const struct tb_matrix_row *rows;      // rows[0] is the top level
	uint64_t largest_link, largest_switch; // 100 %, in the metric's unit
	uint32_t n_boxes;
	struct tb_matrix_box *boxes;	  // all of them, row after row
	struct tb_matrix_cell *cells;	  // box after box
	const struct tb_matrix_cell *end; // one past the last cell
	void *memory;
};

// tb_matrix_init computes the matrix of a window. Cost: tb_run_samples, plus linear in
// links. tb_matrix_fini frees it; a zeroed struct is fine to free.
int tb_matrix_init(struct tb_matrix *matrix, struct tb_run *run, struct tb_window window,
	enum tb_metric metric, struct tb_error *error) TB_MUST_USE;
void tb_matrix_fini(struct tb_matrix *matrix);

// The same in two steps, for many windows of one run: tb_matrix_lay_out makes the matrix
// of a run's topology, which it borrows, with all values 0; tb_matrix_fill sets the
// values from samples (n_links, by id) without allocating. Both linear in links.
// tb_matrix_show sets the metric, and which links stand in the boxes.
int tb_matrix_lay_out(struct tb_matrix *matrix, const struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_matrix_fill(struct tb_matrix *matrix, const struct tb_link_sample *samples,
	enum tb_metric metric);
void tb_matrix_show(struct tb_matrix *matrix, enum tb_metric metric);

// tb_matrix_box_of finds the box of a switch, whose cells are `n_below + n_above +
// n_nodes` from `below` on; NULL when there is none. Linear in boxes.
const struct tb_matrix_box *tb_matrix_box_of(
	const struct tb_matrix *matrix, struct tb_switch sw);

#endif
