#include "question.h"

#include "errand.h"
#include "progress.h"

#include <stdlib.h>

struct tb_reader {
	struct tb_run *run;
	struct tb_errands *errands;
	struct tb_question *waiting;   // in the order in which they begin
	struct tb_question *under_way; // NULL: none
	bool stopped;		       // it shall end early
	bool news;		       // for tb_reader_poll
	double begun_s;
	int status; // of its read
	struct tb_error error;
};

static bool reader_stops(void *context)
{
	return tb_errands_stops(context);
}

int tb_reader_new(struct tb_reader **reader, struct tb_run *run, struct tb_error *error)
{
	struct tb_reader *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the reader of the run");
	int status = tb_errands_new(&made->errands, error);
	if (status != TB_OK) {
		free(made);
		return status;
	}
	made->run = run;
	tb_run_stop_by(run, reader_stops, made->errands);
	*reader = made;
	return TB_OK;
}

void tb_reader_free(struct tb_reader *reader)
{
	if (!reader)
		return;
	while (reader->waiting)
		tb_question_drop(reader->waiting);
	if (reader->under_way)
		tb_question_drop(reader->under_way);
	tb_errands_free(reader->errands);
	tb_run_free(reader->run);
	free(reader);
}

static void reader_work(void *context)
{
	struct tb_reader *reader = context;
	struct tb_question *question = reader->under_way;
	reader->status = question->read(question, reader->run, &reader->error);
}

static void begin_next(struct tb_reader *reader)
{
	struct tb_question *question = reader->waiting;
	if (!question || reader->under_way)
		return;
	reader->waiting = question->next;
	question->next = NULL;
	reader->under_way = question;
	reader->stopped = false;
	reader->begun_s = tb_clock_s();
	tb_errands_begin(reader->errands, reader_work, reader);
}

void tb_reader_ask(struct tb_reader *reader, struct tb_question *question)
{
	if (question->state == TB_ASKED)
		return;
	// Urgent questions go first, idle ones last.
	struct tb_question **at = &reader->waiting;
	while (*at && ((*at)->urgent || !question->urgent) && !(*at)->idle)
		at = &(*at)->next;
	question->state = TB_ASKED;
	question->reader = reader;
	question->next = *at;
	*at = question;
	if (reader->under_way && reader->under_way->idle)
		tb_reader_stop(reader, reader->under_way);
	begin_next(reader);
}

void tb_reader_stop(struct tb_reader *reader, const struct tb_question *question)
{
	if (reader->under_way != question)
		return;
	reader->stopped = true;
	tb_errands_stop(reader->errands);
}

static void remove_waiting(struct tb_reader *reader, const struct tb_question *question)
{
	struct tb_question **at = &reader->waiting;
	while (*at && *at != question)
		at = &(*at)->next;
	if (*at)
		*at = question->next;
}

void tb_question_drop(struct tb_question *question)
{
	struct tb_reader *reader = question->reader;
	bool asked = question->state == TB_ASKED;
	question->state = TB_UNASKED;
	if (!asked)
		return;
	if (reader->under_way != question) {
		remove_waiting(reader, question);
		return;
	}
	tb_reader_stop(reader, question);
	(void)tb_errands_fetch(reader->errands, -1);
	reader->under_way = NULL;
	begin_next(reader);
}

// reader_fetch takes the answer under way, if it comes within some seconds, and begins
// the next question.
static bool reader_fetch(struct tb_reader *reader, double seconds)
{
	if (!reader->under_way || !tb_errands_fetch(reader->errands, seconds))
		return false;
	// Take the question under way, which is done. An answer that came in spite
	// of a stop counts.
	struct tb_question *question = reader->under_way;
	reader->under_way = NULL;
	question->state = reader->status >= 0 ? TB_ANSWERED
			  : reader->stopped   ? TB_UNASKED
					      : TB_REFUSED;
	if (question->state == TB_REFUSED)
		question->error = reader->error;
	reader->news |= !question->silent && question->state != TB_UNASKED;
	question->error.code = (enum tb_status)reader->status;
	if (question->state == TB_ANSWERED && question->taken)
		question->taken(question, reader->run);
	begin_next(reader);
	return true;
}

bool tb_reader_poll(struct tb_reader *reader)
{
	while (reader_fetch(reader, 0))
		continue;
	bool news = reader->news;
	reader->news = false;
	return news;
}

void tb_reader_wait(
	struct tb_reader *reader, const struct tb_question *question, double seconds)
{
	double end_s = tb_clock_s() + seconds;
	while (question->state == TB_ASKED) {
		double left_s = end_s - tb_clock_s();
		if (!reader_fetch(reader, seconds < 0 ? -1 : left_s > 0 ? left_s : 0))
			return;
	}
}

void tb_reader_wait_all(struct tb_reader *reader)
{
	while (reader->under_way)
		(void)reader_fetch(reader, -1);
}

bool tb_reader_busy(const struct tb_reader *reader)
{
	return reader->under_way != NULL;
}

const char *tb_reader_doing(const struct tb_reader *reader, double seconds)
{
	const struct tb_question *question = reader->under_way;
	if (!question || question->idle || tb_clock_s() - reader->begun_s < seconds)
		return NULL;
	return question->what;
}
