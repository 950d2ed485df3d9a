// How long it takes to look at the routes of full fat trees of 36-port switches: what
// `tailback network` does but for reading and writing.
#include "fabric.h"
#include "network_open.h"
#include "progress.h"
#include "route_study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(int status, const struct tb_error *error)
{
	if (status == TB_OK)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static void look(const char *label, const char *name)
{
	struct tb_error error = {0};
	struct tb_network *net = NULL;
	struct tb_fabric fabric;
	struct tb_route_study study;
	struct tb_route_study_options options = {.seed = 1};
	double built = cpu_s();
	check(tb_network_open(
		      &net, &(struct tb_network_description){.name = name}, &error),
		&error);
	double begun = cpu_s(), wall = tb_clock_s();
	check(tb_fabric_init(&fabric, net, NULL, &error), &error);
	check(tb_route_study_init(&study, net, &options, &error), &error);
	printf("network_%s_build,%.3f,s\n", label, begun - built);
	printf("network_%s_processor,%.3f,s\n", label, cpu_s() - begun);
	printf("network_%s_wall,%.3f,s\n", label, tb_clock_s() - wall);
	tb_route_study_fini(&study);
	tb_fabric_fini(&fabric);
	tb_network_free(net);
}

int main(int argc, char **argv)
{
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	look("648", "ib-edr,ascent=deterministic,shape=pgft(2; 18,36; 1,18; 1,1)");
	if (smoke)
		return 0;
	look("648_adaptive", "ib-edr,ascent=adaptive,shape=pgft(2; 18,36; 1,18; 1,1)");
	look("11664",
		"ib-edr,ascent=deterministic,shape=pgft(3; 18,18,36; 1,18,18; 1,1,1)");
	look("11664_adaptive",
		"ib-edr,ascent=adaptive,shape=pgft(3; 18,18,36; 1,18,18; 1,1,1)");
	return 0;
}
