// What the traces of a run recorded, beside what the replay came to: the whole job, each
// kind of call and each rank, and what cannot be compared.
//
// Runs of traces that recorded no times have none of it.
#ifndef TB_QUESTION_RECORDED_H
#define TB_QUESTION_RECORDED_H

#include "run.h"

// A row of any of the lists; what a list lacks is 0 or NULL.
struct tb_recorded_row {
	uint32_t job;
	uint32_t rank;
	// Of a kind of call its name; of a job what is compared ("call"); of calls that
	// are not compared the reason.
	char *name;
	uint64_t n, bytes;    // of calls
	uint64_t n_simulated; // of calls
	int64_t recorded_ps, simulated_ps;
	bool unmodelled; // of a kind: what it takes in the replay is not known
	// Of a kind the median, of a rank when its last call was left, of a check the
	// mean latency of a message.
	int64_t recorded_at_ps, simulated_at_ps;
	uint64_t bytes_per_s; // of a job: of the recorded network's ports; 0: unknown
	double node_percent;  // of a check: by how much nodes end at another time
};

struct tb_recorded_list {
	struct tb_recorded_row *rows;
	size_t n, room;
};

// A rank in one run, or in two of the same recording; NULL where a run lacks it.
struct tb_recorded_beside {
	const struct tb_recorded_row *sides[2];
};

// Zeroed, it is empty. Kinds stand by job, longest first.
struct tb_recorded {
	struct tb_recorded_list jobs, kinds, ranks, uncompared;
	struct tb_recorded_list checks;	   // of inferred jobs, at the captured rate
	struct tb_recorded_beside *beside; // each of the ranks by itself
};

// tb_recorded_init reads them. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_recorded_init(struct tb_recorded *recorded, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_recorded_fini(struct tb_recorded *recorded);

// tb_recorded_put_beside puts the ranks of two runs beside each other, by job and rank;
// those of which not the same was recorded by themselves. *rows gets an array of *n that
// the caller frees; it refers to `a` and `b`. TB_ENOMEM.
int tb_recorded_put_beside(struct tb_recorded_beside **rows, size_t *n,
	const struct tb_recorded *a, const struct tb_recorded *b) TB_MUST_USE;

// tb_recorded_percent returns by how many percent `simulated` is above `recorded`, or
// false when that is not known.
bool tb_recorded_percent(int64_t recorded, int64_t simulated, double *percent);

// tb_recorded_sentence writes both run times of a job and on what network it was
// recorded, and returns `buffer`.
char *tb_recorded_sentence(const struct tb_recorded_row *job, char *buffer, size_t size);

// tb_recorded_check_sentence writes what a check came to, and returns `buffer`.
char *tb_recorded_check_sentence(
	const struct tb_recorded_row *check, char *buffer, size_t size);

#endif
