// Matches messages of two jobs, and compares what their sends wait for.
#include "judge.h"
#include "judge_impl.h"

#include <stdlib.h>

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

// counterpart returns the receive of the other job that goes with a receive.
static uint32_t counterpart(
	const struct judge_side *side, const struct judge_side *other, uint32_t recv)
{
	uint32_t message = side->message_of[recv];
	if (message == JUDGE_NONE || side->messages[message].other == JUDGE_NONE)
		return JUDGE_NONE;
	return other->messages[side->messages[message].other].recv;
}

// count_holds counts the receives that `send` of one side waits for, whose counterparts
// the other side's `same` waits for, too.
static uint64_t count_holds(
	struct judge_side *side, struct judge_side *other, uint32_t same)
{
	uint64_t n = 0;
	for (size_t i = 0; i < side->n_waits; i++) {
		uint32_t recv = counterpart(side, other, side->waits[i]);
		n += recv != JUDGE_NONE && judge_holds(other, same, recv);
	}
	return n;
}

// count_right compares the last receives of both sides, as receives of the truth.
static void count_right(
	struct judge_side *truth, struct judge_side *inferred, struct judge_score *score)
{
	size_t n = 0;
	uint32_t *named = inferred->waits; // is not needed any more
	for (size_t i = 0; i < inferred->n_waits; i++) {
		uint32_t recv = counterpart(inferred, truth, inferred->waits[i]);
		if (recv == JUDGE_NONE)
			score->n_inferred_last++; // of no message of the truth: wrong
		else
			named[n++] = recv;
	}
	n = judge_reduce(truth, named, n);
	score->n_inferred_last += n;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < truth->n_waits; k++)
			score->n_right += truth->waits[k] == named[i];
}

static int compare_waits(
	struct judge_side *truth, struct judge_side *inferred, struct judge_score *score)
{
	int status = TB_OK;
	for (size_t t = 0; t < truth->n && status == TB_OK; t++) {
		const struct judge_message *message = &truth->messages[t];
		if (message->other == JUDGE_NONE)
			continue;
		uint32_t same = inferred->messages[message->other].send;
		status = judge_waits(truth, message->send);
		if (status == TB_OK)
			status = judge_waits(inferred, same);
		if (status != TB_OK)
			break;
		truth->n_waits = judge_reduce(truth, truth->waits, truth->n_waits);
		score->n_true_last += truth->n_waits;
		score->n_inferred_waits += inferred->n_waits;
		score->n_inferred_holds += count_holds(inferred, truth, message->send);
		score->n_true_holds += count_holds(truth, inferred, same);
		count_right(truth, inferred, score);
	}
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
