#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double tb_clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void tb_progress_init(struct tb_progress *progress, int fd)
{
	*progress = (struct tb_progress){.fd = fd >= 0 && isatty(fd) ? fd : -1};
	progress->started_s = tb_clock_s();
	progress->next_s = progress->started_s + 0.3; // short work draws nothing
}

bool tb_progress_due(struct tb_progress *progress)
{
	return progress->fd >= 0 && tb_clock_s() >= progress->next_s;
}

void tb_progress_show(struct tb_progress *progress, double fraction, const char *text)
{
	if (progress->fd < 0)
		return;
	double now = tb_clock_s();
	progress->next_s = now + 0.1;
	progress->drawn = true;
	char percent[16] = "", left[32] = "";
	if (fraction != progress->fraction)
		progress->changed_s = now;
	progress->fraction = fraction;
	if (fraction >= 0)
		snprintf(percent, sizeof percent, "  %.0f %%", fraction * 100);
	if (fraction > 0.001) { // earlier the estimate would be wild
		double took_s = progress->changed_s - progress->started_s;
		double left_s = progress->started_s + took_s / fraction - now;
		int seconds = left_s < 0 ? 0 : (int)(left_s + 0.5);
		snprintf(left, sizeof left, "  %d:%02d left", seconds / 60, seconds % 60);
	}
	dprintf(progress->fd, "\r\033[K%s%s%s", text, percent, left);
}

void tb_progress_done(struct tb_progress *progress)
{
	if (progress->drawn)
		dprintf(progress->fd, "\r\033[K");
	progress->drawn = false;
}
