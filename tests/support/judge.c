// Matches messages of two jobs, and compares what their sends wait for.
#include "judge.h"
#include "judge_impl.h"

#include <stdlib.h>
#include <string.h>

enum step { SKIP_TRUE, SKIP_INFERRED, MATCH };

// The messages of an ordered pair in both jobs.
struct pair {
	struct judge_message *truth, *inferred;
	size_t n_true, n_inferred;
	uint32_t first_true, first_inferred; // their numbers in the sides
};

static bool fits(const struct judge_message *truth, const struct judge_message *inferred)
{
	return inferred->least >= truth->least && inferred->least <= truth->most;
}

static void match(struct pair *pair, size_t t, size_t i)
{
	pair->truth[t].other = pair->first_inferred + (uint32_t)i;
	pair->inferred[i].other = pair->first_true + (uint32_t)t;
}

// fill_steps finds the longest common subsequence: the best step from each state, in
// which so many messages of either are still to come.
static int fill_steps(const struct pair *pair, uint8_t *steps)
{
	size_t width = pair->n_inferred + 1;
	uint32_t *above = calloc(width, sizeof *above), *row = calloc(width, sizeof *row);
	if (!above || !row) {
		free(above);
		free(row);
		return TB_ENOMEM;
	}
	for (size_t t = 1; t <= pair->n_true; t++) {
		for (size_t i = 1; i < width; i++) {
			uint8_t *step = &steps[t * width + i];
			if (fits(&pair->truth[t - 1], &pair->inferred[i - 1])) {
				*step = MATCH;
				row[i] = above[i - 1] + 1;
			} else {
				*step = above[i] >= row[i - 1] ? SKIP_TRUE
							       : SKIP_INFERRED;
				row[i] = *step == SKIP_TRUE ? above[i] : row[i - 1];
			}
		}
		uint32_t *other = above;
		above = row;
		row = other;
	}
	free(above);
	free(row);
	return TB_OK;
}

static int match_in_order(struct pair *pair, struct judge_score *score)
{
	size_t width = pair->n_inferred + 1, t = pair->n_true, i = pair->n_inferred;
	uint8_t *steps = calloc(t + 1, width);
	int status = steps ? fill_steps(pair, steps) : TB_ENOMEM;
	while (status == TB_OK && t > 0 && i > 0) {
		uint8_t step = steps[t * width + i];
		t -= step != SKIP_INFERRED;
		i -= step != SKIP_TRUE;
		if (step != MATCH)
			continue;
		match(pair, t, i);
		score->n_in_order++;
	}
	free(steps);
	return status;
}

static void match_the_rest(struct pair *pair)
{
	for (size_t t = 0; t < pair->n_true; t++) {
		if (pair->truth[t].other != JUDGE_NONE)
			continue;
		for (size_t i = 0; i < pair->n_inferred; i++) {
			if (pair->inferred[i].other != JUDGE_NONE ||
				!fits(&pair->truth[t], &pair->inferred[i]))
				continue;
			match(pair, t, i);
			break;
		}
	}
}

static int compare_pairs(const struct judge_message *a, const struct judge_message *b)
{
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

// run_of returns how many messages from `first` on are of the pair of `like`.
static size_t run_of(
	const struct judge_side *side, size_t first, const struct judge_message *like)
{
	size_t n = 0;
	while (first + n < side->n &&
		compare_pairs(&side->messages[first + n], like) == 0)
		n++;
	return n;
}

static int match_all(
	struct judge_side *truth, struct judge_side *inferred, struct judge_score *score)
{
	int status = TB_OK;
	size_t i = 0;
	for (size_t t = 0; t < truth->n && status == TB_OK;) {
		const struct judge_message *like = &truth->messages[t];
		while (i < inferred->n && compare_pairs(&inferred->messages[i], like) < 0)
			i++;
		struct pair pair = {
			.truth = &truth->messages[t],
			.n_true = run_of(truth, t, like),
			.n_inferred = run_of(inferred, i, like),
			.first_true = (uint32_t)t,
			.first_inferred = (uint32_t)i,
		};
		t += pair.n_true;
		if (pair.n_inferred == 0)
			continue;
		pair.inferred = &inferred->messages[i];
		status = match_in_order(&pair, score);
		if (status == TB_OK)
			match_the_rest(&pair);
	}
	for (size_t t = 0; t < truth->n; t++)
		score->n_matched += truth->messages[t].other != JUDGE_NONE;
	score->n_true = truth->n;
	score->n_inferred = inferred->n;
	return status;
}

// find_counterparts gives sends and receives those of the other job, or JUDGE_NONE.
static uint32_t *find_counterparts(
	const struct judge_side *side, const struct judge_side *other)
{
	size_t n = side->job->n_ops;
	uint32_t *of = malloc((n + 1) * sizeof *of);
	if (!of)
		return NULL;
	memset(of, 0xff, n * sizeof *of); // JUDGE_NONE
	for (size_t i = 0; i < side->n; i++) {
		const struct judge_message *message = &side->messages[i];
		if (message->other == JUDGE_NONE)
			continue;
		of[message->send] = other->messages[message->other].send;
		of[message->recv] = other->messages[message->other].recv;
	}
	return of;
}

// What is compared: both sides, and for the operations of one those of the
// other.
struct comparison {
	struct judge_side *truth, *inferred;
	uint32_t *to_inferred, *to_truth;
	struct judge_score *score;
};

// compare_send compares what `send` of the truth waits for with what `same` does.
static int compare_send(const struct comparison *c, uint32_t send, uint32_t same)
{
	const struct judge_last *truth = &c->truth->last[send];
	const struct judge_last *inferred = &c->inferred->last[same];
	const uint32_t *wanted = c->truth->lasts + truth->first;
	const uint32_t *named = c->inferred->lasts + inferred->first;
	struct judge_score *score = c->score;
	score->n_true_last += truth->n;
	score->n_inferred_last += inferred->n;
	for (uint32_t t = 0; t < truth->n; t++) {
		uint32_t recv = c->to_inferred[wanted[t]];
		score->n_true_holds +=
			recv != JUDGE_NONE && judge_holds(c->inferred, same, recv);
		for (uint32_t i = 0; i < inferred->n; i++)
			score->n_right += wanted[t] == named[i];
	}
	int status = judge_waits(c->inferred, same);
	for (size_t i = 0; status == TB_OK && i < c->inferred->n_waits; i++) {
		uint32_t recv = c->to_truth[c->inferred->waits[i]];
		score->n_inferred_waits++;
		score->n_inferred_last += recv == JUDGE_NONE; // of no message: wrong
		score->n_inferred_holds +=
			recv != JUDGE_NONE && judge_holds(c->truth, send, recv);
	}
	return status;
}

static int compare_all(const struct comparison *c)
{
	if (!c->to_inferred || !c->to_truth)
		return TB_ENOMEM;
	int status = judge_find_lasts(c->truth, c->truth, NULL);
	if (status == TB_OK)
		status = judge_find_lasts(c->inferred, c->truth, c->to_truth);
	for (size_t t = 0; t < c->truth->n && status == TB_OK; t++) {
		const struct judge_message *message = &c->truth->messages[t];
		if (message->other == JUDGE_NONE)
			continue;
		status = compare_send(
			c, message->send, c->inferred->messages[message->other].send);
	}
	return status;
}

static int compare_waits(
	struct judge_side *truth, struct judge_side *inferred, struct judge_score *score)
{
	const struct comparison comparison = {truth, inferred,
		find_counterparts(truth, inferred), find_counterparts(inferred, truth),
		score};
	int status = compare_all(&comparison);
	free(comparison.to_inferred);
	free(comparison.to_truth);
	return status;
}

int judge_jobs(struct judge_score *score, const struct tb_job *truth,
	const struct tb_job *inferred, const struct judge_places *places)
{
	struct judge_side sides[2] = {{0}};
	*score = (struct judge_score){0};
	int status = judge_side_init(&sides[0], truth, NULL, truth->n_ranks);
	if (status == TB_OK)
		status = judge_side_init(&sides[1], inferred, places, truth->n_ranks);
	if (status == TB_OK)
		status = match_all(&sides[0], &sides[1], score);
	if (status == TB_OK)
		status = compare_waits(&sides[0], &sides[1], score);
	judge_side_fini(&sides[0]);
	judge_side_fini(&sides[1]);
	return status;
}
