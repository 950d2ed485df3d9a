#include "job_waits.h"

#include "waits_impl.h"

#include <stdlib.h>

#define RECORD struct tb_job_pair
static const struct tb_stored_table job_pairs = TB_STORED_TABLE("job_wait", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),
	TB_COLUMN_AS(TB_STORED_JOB, "culprit_job", culprit_job),
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD

static const struct tb_waits_query pairs_of_jobs = {.table = &job_pairs,
	.rows = "SELECT victim_job, culprit_job, sum(waits) AS waits, sum(wait_ps) AS "
		"wait_ps FROM job_wait WHERE run = ?1 AND bin >= ?3 AND bin < ?4 GROUP "
		"BY victim_job, culprit_job",
	.ids = "victim_job, culprit_job"};

int tb_job_pairs_init(struct tb_job_pairs *pairs, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error)
{
	struct tb_job_pairs made = {0};
	void *rows = NULL;
	int status = tb_waits_slices(run, span, &made.listed, error);
	if (!status)
		status = tb_waits_list(
			run, &pairs_of_jobs, top, &rows, &made.listed, error);
	made.rows = rows;
	if (status)
		tb_job_pairs_fini(&made);
	else
		*pairs = made;
	return status;
}

void tb_job_pairs_fini(struct tb_job_pairs *pairs)
{
	free(pairs->rows);
	*pairs = (struct tb_job_pairs){0};
}

uint64_t tb_job_pairs_wait(
	const struct tb_job_pairs *pairs, uint32_t victim_job, uint32_t culprit_job)
{
	for (uint32_t i = 0; i < pairs->listed.n; i++)
		if (pairs->rows[i].victim_job == victim_job &&
			pairs->rows[i].culprit_job == culprit_job)
			return pairs->rows[i].wait_ps;
	return 0;
}

static uint64_t with_others(const struct tb_job_pairs *pairs, uint32_t job, bool caused)
{
	uint64_t wait_ps = 0;
	for (uint32_t i = 0; i < pairs->listed.n; i++) {
		const struct tb_job_pair *pair = &pairs->rows[i];
		if (pair->victim_job != pair->culprit_job &&
			(caused ? pair->culprit_job : pair->victim_job) == job)
			wait_ps += pair->wait_ps;
	}
	return wait_ps;
}

uint64_t tb_job_pairs_for_others(const struct tb_job_pairs *pairs, uint32_t job)
{
	return with_others(pairs, job, false);
}

uint64_t tb_job_pairs_of_others(const struct tb_job_pairs *pairs, uint32_t job)
{
	return with_others(pairs, job, true);
}

// A run has no job_link when all that waits is of job 0; nor when it was replayed with
// --no-blame, but then no job is known to wait.
#define JOB_LINKS                                                                        \
	"(SELECT link, job, wait_ps, blamed_ps FROM job_link "                           \
	"WHERE run = ?1 AND link = ?2 "                                                  \
	"UNION ALL SELECT link, 0, came_by_ps, came_by_ps FROM unpacked_total "          \
	"WHERE run = ?1 AND link = ?2 AND came_by_ps > 0 "                               \
	"AND NOT EXISTS (SELECT 1 FROM job_link WHERE run = ?1) "                        \
	"AND EXISTS (SELECT 1 FROM root_total WHERE run = ?1) ORDER BY 3 DESC, 2)"

int tb_job_links_init(struct tb_job_links *jobs, struct tb_run *run,
	const struct tb_link *links, uint32_t n_links, struct tb_error *error)
{
	struct tb_job_links made = {0};
	size_t n = 0, room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < n_links; i++) {
		struct tb_row_reader rows =
			tb_waits_read(run, &tb_job_links_stored, JOB_LINKS, error);
		tb_row_bind(&rows, 2, links[i].id);
		status = tb_row_read_all(&rows, &made.rows, &n, &room, "blame");
	}
	made.n = (uint32_t)n;
	if (status)
		tb_job_links_fini(&made);
	else
		*jobs = made;
	return status;
}

void tb_job_links_fini(struct tb_job_links *jobs)
{
	free(jobs->rows);
	*jobs = (struct tb_job_links){0};
}
