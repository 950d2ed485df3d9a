// A question to the run that is shown, and the thread that answers questions.
//
// Nothing on the way from an input to its picture waits for a query: the run belongs to
// the reader, whose thread alone asks it. Everyone else has it as const, which no
// question takes. A question that is not answered yet leaves its view with what it had,
// or with nothing; the picture shows that it is under way and is drawn again with the
// answer.
//
// To ask one, embed a struct tb_question as the first member of a struct that has room
// for the answer, which `read` fills in. While the state is TB_ASKED that room is the
// thread's: do not touch it, and drop the question before you free it. One caller's
// thread.
#ifndef TB_QUESTION_H
#define TB_QUESTION_H

#include "run.h"

struct tb_reader; // opaque

enum tb_answer {
	TB_UNASKED,
	TB_ASKED,
	TB_ANSWERED,
	TB_REFUSED // `read` failed; `error` is why
};

struct tb_question {
	const char *what; // for the picture: "reading the flows"
	// read asks the run and fills in the answer, in the reader's thread.
	int (*read)(
		struct tb_question *question, struct tb_run *run, struct tb_error *error);
	// taken is called in the caller's thread before another question begins. NULL:
	// nothing is to be done.
	void (*taken)(struct tb_question *question, struct tb_run *run);
	bool urgent; // goes before the others
	bool idle;   // is stopped, to be asked again, when another question comes
	bool silent; // the answer changes no picture
	enum tb_answer state;
	struct tb_error error;
	struct tb_reader *reader; // that was asked
	struct tb_question *next; // the reader's
};

// tb_reader_new takes over a run and frees it at the end; on failure it stays the
// caller's. TB_ENOMEM.
int tb_reader_new(struct tb_reader **reader, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
// tb_reader_free takes back what is asked. NULL is fine.
void tb_reader_free(struct tb_reader *reader);

// tb_reader_ask queues a question unless it is asked already.
void tb_reader_ask(struct tb_reader *reader, struct tb_question *question);

// tb_question_drop takes a question back, whatever its state; it is unasked afterwards.
// Cost: if it is under way, the time until its thread notices, some milliseconds.
void tb_question_drop(struct tb_question *question);

// tb_reader_stop ends the question under way if it is this one; it is then unasked.
void tb_reader_stop(struct tb_reader *reader, const struct tb_question *question);

// tb_reader_poll takes the answers that are there; true when one that is not silent was
// taken since the last call, by tb_reader_wait too. Call it now and then: only these
// begin the next question.
bool tb_reader_poll(struct tb_reader *reader);

// tb_reader_wait waits for an answer, `seconds` at most (negative: as long as it takes),
// and takes those before it.
void tb_reader_wait(
	struct tb_reader *reader, const struct tb_question *question, double seconds);

// tb_reader_wait_all waits until no question is asked any more.
void tb_reader_wait_all(struct tb_reader *reader);

// tb_reader_busy is true while a question is under way. tb_reader_doing returns what it
// is, for the picture, when it has taken longer than `seconds`, else NULL; idle ones do
// not count.
bool tb_reader_busy(const struct tb_reader *reader);
const char *tb_reader_doing(const struct tb_reader *reader, double seconds);

#endif
