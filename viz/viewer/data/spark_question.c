#include "spark_question.h"

#include "series.h"

#include <string.h>

#define MOST_LOOKS 4096 // into the store per question: about 8 ms

static struct tb_spark_question *of(struct tb_question *question)
{
	return (struct tb_spark_question *)question;
}

static int read(struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_spark_question *asked = of(question);
	uint64_t looks = tb_run_info(run)->n_bins, n_looks = 0;
	looks = looks < TB_SERIES_LOOKS ? looks : TB_SERIES_LOOKS;
	for (asked->n_read = 0; asked->n_read < asked->n && n_looks < MOST_LOOKS;
		n_looks += looks) {
		struct tb_link link = asked->links[asked->n_read];
		// A line that cannot be read is flat: the window's numbers report why.
		(void)!tb_spark_read(
			&asked->lines[asked->n_read++], run, link, asked->metric, error);
	}
	return TB_OK;
}

static void taken(struct tb_question *question, struct tb_run *run)
{
	struct tb_spark_question *asked = of(question);
	(void)run;
	question->state = TB_UNASKED;
	for (uint32_t i = 0; asked->metric == asked->sparks->metric && i < asked->n_read;
		i++)
		tb_sparks_keep(asked->sparks, &asked->lines[i]);
}

void tb_spark_question_init(struct tb_spark_question *asked, struct tb_sparks *sparks)
{
	*asked = (struct tb_spark_question){
		.question = {.what = "sparklines", .read = read, .taken = taken},
		.sparks = sparks};
}

void tb_spark_question_ask(struct tb_spark_question *asked, struct tb_reader *reader)
{
	const struct tb_sparks *sparks = asked->sparks;
	if (asked->question.state == TB_ASKED || sparks->n_wanted == 0)
		return;
	asked->n = sparks->n_wanted < TB_SPARKS_A_QUESTION ? sparks->n_wanted
							   : TB_SPARKS_A_QUESTION;
	asked->metric = sparks->metric;
	memcpy(asked->links, sparks->wanted, asked->n * sizeof *asked->links);
	tb_reader_ask(reader, &asked->question);
}
