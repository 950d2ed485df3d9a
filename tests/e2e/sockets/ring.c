// A ring all-reduce over sockets of TCP, one process per address 10.94.0.1 and on:
// RANK OF STEPS BYTES. Computation is sleep. Rank 0 prints how many seconds its steps
// took.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
	struct timespec most = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&most, NULL);
}

// exchange sends n bytes to the next rank while it receives n of the one before.
static void exchange(int to, int from, char *out, char *in, size_t n)
{
	for (size_t sent = 0, got = 0; sent < n || got < n;) {
		struct pollfd ready[] = {{.fd = to, .events = sent < n ? POLLOUT : 0},
			{.fd = from, .events = got < n ? POLLIN : 0}};
		poll(ready, 2, -1);
		ssize_t k = ready[0].revents & POLLOUT ? send(to, out + sent, n - sent, 0)
						       : 0;
		if (k < 0 && errno != EAGAIN)
			exit(1);
		sent += k > 0 ? (size_t)k : 0;
		k = ready[1].revents & POLLIN ? recv(from, in + got, n - got, 0) : 0;
		if (k < 0 && errno != EAGAIN)
			exit(1);
		got += k > 0 ? (size_t)k : 0;
	}
}

static struct sockaddr_in address_of(int rank)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(6000),
		.sin_addr.s_addr = htonl(0x0a5e0001u + (unsigned)rank)};
}

int main(int n_words, char **words)
{
	if (n_words < 5)
		return 2;
	int rank = atoi(words[1]), n = atoi(words[2]), on = 1, to;
	size_t bytes = (size_t)atoi(words[4]), part = bytes / (size_t)n;
	char *out = calloc(1, bytes), *in = calloc(1, bytes);
	struct sockaddr_in own = address_of(rank), next = address_of((rank + 1) % n);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&own, sizeof own) != 0 ||
		listen(listener, 1) != 0)
		return 1;
	while (to = socket(AF_INET, SOCK_STREAM, 0),
		connect(to, (struct sockaddr *)&next, sizeof next) != 0) {
		close(to);
		compute(.01);
	}
	int from = accept(listener, NULL, NULL);
	setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	fcntl(to, F_SETFL, O_NONBLOCK);
	fcntl(from, F_SETFL, O_NONBLOCK);
	exchange(to, from, out, in, 8);
	exchange(to, from, out, in, 8);
	srand48(rank);
	double begin = now();
	for (int i = 0; i < atoi(words[3]); i++) {
		compute(.006 + .004 * drand48());
		for (int k = 0; k < 2 * (n - 1); k++) {
			exchange(to, from, out, in, part);
			if (k < n - 1)
				compute(.0004);
		}
	}
	if (rank == 0)
		printf("%.4f\n", now() - begin);
	return 0;
}
