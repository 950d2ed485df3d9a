#include "progress.h"

#include <time.h>
#include <unistd.h>

double tb_clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void tb_progress_init(struct tb_progress *progress, FILE *stream)
{
	*progress = (struct tb_progress){0};
	progress->started_s = tb_clock_s();
	if (stream && isatty(fileno(stream)))
		progress->stream = stream;
	progress->next_s = progress->started_s + 0.3;
}

bool tb_progress_due(struct tb_progress *progress)
{
	return progress->stream && tb_clock_s() >= progress->next_s;
}

void tb_progress_show(struct tb_progress *progress, double fraction, const char *text)
{
	if (!progress->stream)
		return;
	double now = tb_clock_s();
	progress->next_s = now + 0.1;
	progress->drawn = true;
	fprintf(progress->stream, "\r\033[K%s", text);
	if (fraction >= 0) {
		fprintf(progress->stream, "  %.0f %%", fraction * 100);
		if (fraction > 0.001) {
			double left =
				(now - progress->started_s) * (1 - fraction) / fraction;
			int seconds = left < 0 ? 0 : (int)left;
			fprintf(progress->stream, "  %d:%02d left", seconds / 60,
				seconds % 60);
		}
	}
	fflush(progress->stream);
}

void tb_progress_done(struct tb_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", progress->stream);
	progress->drawn = false;
}
