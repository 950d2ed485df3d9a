// A store with a thread for each of 8 connections, which ends when they have, and 4
// clients of two threads, one process per address 10.94.0.1 (the store) and on: RANK
// ROUNDS. Computation is usleep.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CLIENTS = 4,
	EACH = 2,
	ALL = CLIENTS * EACH,
	PUT = 200000,
	GET = 100000,
	WORD = 16
};

static int n_rounds;

static void move_all(int fd, int n, int sends)
{
	static _Thread_local char bytes[PUT];
	while (n > 0) {
		ssize_t part = sends ? send(fd, bytes, n, 0) : recv(fd, bytes, n, 0);
		if (part <= 0)
			exit(1);
		n -= (int)part;
	}
}

static void *serve(void *of)
{
	int fd = *(int *)of;
	for (int i = 0; i < n_rounds; i++) {
		move_all(fd, PUT, 0);
		usleep(2000);
		move_all(fd, WORD, 1);
		move_all(fd, WORD, 0);
		move_all(fd, GET, 1);
	}
	close(fd);
	return NULL;
}

static const struct sockaddr *store(void)
{
	static struct sockaddr_in at = {.sin_family = AF_INET};
	at.sin_port = htons(5002);
	at.sin_addr.s_addr = inet_addr("10.94.0.1");
	return (const void *)&at;
}

static void *work(void *of)
{
	int *fd = of;
	for (; connect(*fd = socket(AF_INET, SOCK_STREAM, 0), store(),
	       sizeof(struct sockaddr_in));
		usleep(20000))
		close(*fd);
	for (int i = 0; i < n_rounds; i++) {
		move_all(*fd, PUT, 1);
		move_all(*fd, WORD, 0);
		move_all(*fd, WORD, 1);
		move_all(*fd, GET, 0);
		usleep(4000);
	}
	close(*fd);
	return NULL;
}

int main(int n_words, char **words)
{
	pthread_t threads[ALL];
	int fds[ALL], on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	if (n_words != 3)
		return 2;
	n_rounds = atoi(words[2]);
	int serves = atoi(words[1]) == 0, n = serves ? ALL : EACH;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (serves && (bind(listener, store(), sizeof(struct sockaddr_in)) ||
			      listen(listener, ALL)))
		return 1;
	for (int i = 0; i < n; i++) {
		if (serves)
			fds[i] = accept(listener, NULL, NULL);
		pthread_create(&threads[i], NULL, serves ? serve : work, &fds[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
