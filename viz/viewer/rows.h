// The links of the window as rows, filtered and sorted by a column. The list of hot links
// and the table of links show them, and exports write them.
#ifndef TB_ROWS_H
#define TB_ROWS_H

#include "curves_picture.h"
#include "question.h"
#include "style.h"
#include "viewer_data.h"

struct tb_list_row {
	struct tb_link link;
	uint64_t key; // larger keys come first
};

// What links can be sorted by.
enum tb_list_column {
	TB_COLUMN_SHOWN, // the metric that is shown
	TB_COLUMN_NAME,
	TB_COLUMN_METRIC, // plus a metric
	TB_N_COLUMNS = TB_COLUMN_METRIC + TB_N_METRICS
};

struct tb_rows {
	const struct tb_viewer_data *data; // borrowed
	struct tb_list_row *list;
	uint32_t n, n_ranked; // sorted: the first n_ranked
	uint64_t largest;     // of all links, those that the filter hides too
	enum tb_list_column column;
	bool rising;
	char filter[64]; // words, each in a link's name, equal to its kind, or "dead"
	// Listed instead of the window of the run that is shown: of a run of the same
	// shape; NULL: nothing else is.
	const struct tb_link_sample *other;
	const struct tb_run *other_run;
	const uint8_t *outside; // by link: 1 is left out; NULL: none is
	double scroll;		// pixels, of the view that lists them
	struct tb_sparks *sparks;
};

// tb_rows_init allocates rows for all links of the run in `data`, which must outlive
// them. TB_ENOMEM; call tb_rows_fini in either case.
int tb_rows_init(struct tb_rows *rows, const struct tb_viewer_data *data) TB_MUST_USE;
void tb_rows_fini(struct tb_rows *rows);

// tb_rows_read lists the links that pass filter and brush and whose metric is not 0,
// sorted by the chosen column; a filter for the dead lists those that carried nothing,
// too. Linear in links.
void tb_rows_read(struct tb_rows *rows);
// tb_rows_rank sorts only the first n rows: of a hundred thousand links users read a
// page.
void tb_rows_rank(struct tb_rows *rows, double n);

// tb_rows_sample returns a listed link's figures, tb_rows_known how well they are known.
const struct tb_link_sample *tb_rows_sample(const struct tb_rows *rows, uint32_t link);
struct tb_link_known tb_rows_known(const struct tb_rows *rows, uint32_t link);

// tb_rows_metric returns the metric that the rows show, tb_rows_scale its scale over all
// links.
enum tb_metric tb_rows_metric(const struct tb_rows *rows);
struct tb_scale tb_rows_scale(const struct tb_rows *rows, const struct tb_style *style);

// tb_rows_order sorts by a column, or the other way round when it does so already.
void tb_rows_order(struct tb_rows *rows, enum tb_list_column column);

// tb_rows_of returns the row of a link, n when it has none or the pick is no link. Linear
// in rows.
uint32_t tb_rows_of(const struct tb_rows *rows, struct tb_pick pick);

// tb_rows_step finds the link in the row before that of `pick` (by -1) or after it (by
// 1), or in the first row when the pick has none; it stops at the ends of the list. False
// when there are no rows.
bool tb_rows_step(
	struct tb_rows *rows, struct tb_pick pick, int by, struct tb_link *link);

// tb_rows_kind returns the name of a kind of link: "up".
const char *tb_rows_kind(enum tb_link_kind kind);

// tb_rows_put_csv writes all rows with all figures of each, and a line of headings.
void tb_rows_put_csv(struct tb_rows *rows, FILE *stream);

// The question for the sparklines that a picture wants, a few at a time.

#define TB_SPARKS_A_QUESTION 16

struct tb_spark_question {
	struct tb_question question; // first
	struct tb_sparks *sparks;    // borrowed
	enum tb_metric metric;
	struct tb_link links[TB_SPARKS_A_QUESTION];
	uint32_t n;
	struct tb_spark lines[TB_SPARKS_A_QUESTION];
	uint32_t n_read;
};

// tb_spark_question_init prepares the question for lines of `sparks`.
void tb_spark_question_init(struct tb_spark_question *asked, struct tb_sparks *sparks);

// tb_spark_question_ask asks for the first of those that the picture wanted, unless it is
// asked already. The answer goes to the sparks; some lines may be left for the next time.
void tb_spark_question_ask(struct tb_spark_question *asked, struct tb_reader *reader);

#endif
