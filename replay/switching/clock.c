#include "clock.h"

int tb_clock_pass_bins(struct tb_replay *replay, const struct tb_switching *model,
	tb_time_ps next, struct tb_error *error)
{
	struct tb_books *books = &replay->books;
	while (next >= books->bin_end) {
		bool lasts = model->settle(replay, books->bin_end);
		int status = tb_books_close(books, error);
		if (status != TB_OK)
			return status;
		if (!lasts && next >= books->bin_end && tb_books_idle(books))
			tb_books_jump(books, next);
	}
	return TB_OK;
}

int tb_clock_end(struct tb_replay *replay, struct tb_error *error)
{
	const struct tb_source *source = replay->source;
	replay->over = true;
	return source->finish ? source->finish(source->context, error) : 0;
}

int tb_clock_finish(struct tb_replay *replay, const struct tb_switching *model,
	struct tb_error *error)
{
	// A replay that failed has said so, and what it counted until then is kept.
	bool was_well = !tb_clock_failed(replay);
	tb_time_ps end = model->lasts_until(replay);
	int status = tb_clock_pass_bins(replay, model, end, error);
	if (status != TB_OK)
		return status;
	(void)model->settle(replay, end);
	model->blame_open(replay, end);
	if (was_well && tb_clock_failed(replay)) {
		if (error)
			*error = replay->failure;
		return replay->failure.code;
	}
	status = tb_books_close(&replay->books, error);
	return status == TB_OK ? tb_books_finish(&replay->books, error) : status;
}
