#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NUMBERS "progress "

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

void tb_progress_init_numbers(struct tb_progress *progress, int fd)
{
	*progress = (struct tb_progress){.fd = fd, .numbers = true};
	progress->started_s = tb_clock_s();
	progress->next_s = progress->started_s;
}

bool tb_progress_parse(const char *line, double *fraction, double *left_s)
{
	double part, seconds;
	if (sscanf(line, NUMBERS "%lf %lf", &part, &seconds) != 2 ||
		!(part >= 0 && part <= 1 && seconds >= 0))
		return false;
	*fraction = part;
	*left_s = seconds;
	return true;
}

bool tb_progress_due(struct tb_progress *progress)
{
	return progress->fd >= 0 && tb_clock_s() >= progress->next_s;
}

// left_s foresees how long the rest takes, from when the fraction was reached.
static double left_s(const struct tb_progress *progress, double now_s)
{
	double took_s = progress->changed_s - progress->started_s;
	double left = progress->started_s + took_s / progress->fraction - now_s;
	return left < 0 ? 0 : left;
}

void tb_progress_show(struct tb_progress *progress, double fraction, const char *text)
{
	if (progress->fd < 0)
		return;
	double now = tb_clock_s();
	progress->next_s = now + (progress->numbers ? 0.5 : 0.1);
	progress->drawn = !progress->numbers;
	char percent[16] = "", left[32] = "";
	if (fraction != progress->fraction)
		progress->changed_s = now;
	progress->fraction = fraction;
	bool known = fraction > 0.001; // earlier the estimate would be wild
	if (progress->numbers) {
		if (known)
			dprintf(progress->fd, NUMBERS "%.4f %.1f\n", fraction,
				left_s(progress, now));
		return;
	}
	if (fraction >= 0)
		snprintf(percent, sizeof percent, "  %.0f %%", fraction * 100);
	if (known) {
		int seconds = (int)(left_s(progress, now) + 0.5);
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
