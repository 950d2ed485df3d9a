// The question for the sparklines that a picture wants, a few at a time.
#ifndef TB_SPARK_QUESTION_H
#define TB_SPARK_QUESTION_H

#include "question.h"
#include "spark.h"

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
