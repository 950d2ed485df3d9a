// Every way to send and receive over TCP, on the loopback: two processes, then threads.
// Prints how many bytes were written in all, to pipes too. `cost N` instead sends and
// receives a byte N times within the process, and prints ns per call.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000 };
static char bytes[100 * N];

#define CHECK(what)                                                                      \
	do                                                                               \
		if (!(what)) {                                                           \
			perror(#what);                                                   \
			exit(1);                                                         \
		}                                                                        \
	while (0)

// opened stores the two ends of a connection.
static void opened(int ends[2])
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof to;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(bind(listener, (struct sockaddr *)&to, n) == 0 && listen(listener, 1) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&to, &n) == 0);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(ends[0], (struct sockaddr *)&to, n) == 0);
	ends[1] = accept4(listener, NULL, NULL, 0);
	CHECK(ends[1] >= 0);
	close(listener);
}

static int sent(int fd, FILE *file)
{
	int pipes[2], n = 0;
	off_t at = 0;
	struct iovec parts[2] = {{bytes, 300}, {bytes, N - 300}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	struct mmsghdr several[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
	CHECK(write(fd, bytes, N) == N);
	CHECK(send(fd, bytes, N, 0) == N);
	CHECK(sendto(fd, bytes, N, 0, NULL, 0) == N);
	CHECK(writev(fd, parts, 2) == N);
	CHECK(sendmsg(fd, &message, 0) == N);
	CHECK(sendmmsg(fd, several, 2, 0) == 2);
	CHECK(sendfile(fd, fileno(file), &at, N) == N);
	CHECK(pipe(pipes) == 0 && write(pipes[1], bytes, N) == N);
	CHECK(splice(pipes[0], NULL, fd, NULL, N, 0) == N);
	n = 9 * N;
	// stdio's own write is not seen; the kernel's count of the next call has it.
	FILE *stream = fdopen(dup(fd), "w");
	CHECK(stream && fwrite(bytes, 1, N, stream) == N && fflush(stream) == 0);
	CHECK(write(fd, bytes, 1) == 1);
	CHECK(shutdown(fd, SHUT_WR) == 0);
	return n + N + 1;
}

// got returns how many bytes went through a pipe.
static int got(int fd, int n)
{
	char room[3 * N];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), pipes[2], way = 0, piped = 0;
	CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 && pipe(pipes) == 0);
	for (ssize_t k = 1; n > 0; way++) {
		fd_set set;
		struct iovec part = {room, 500};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
		struct mmsghdr several = {.msg_hdr = message};
		switch (way % 9) {
		case 0:
			k = read(fd, room, 700);
			break;
		case 1:
			CHECK(poll(&ready, 1, -1) == 1);
			k = recv(fd, room, 500, MSG_DONTWAIT);
			break;
		case 2:
			CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
			k = readv(fd, &part, 1);
			break;
		case 3:
			k = recvfrom(fd, room, 600, 0, NULL, NULL);
			break;
		case 4:
			k = recvmsg(fd, &message, 0);
			break;
		case 5:
			k = recvmmsg(fd, &several, 1, 0, NULL) == 1
				    ? (ssize_t)several.msg_len
				    : -1;
			break;
		case 6:
			k = splice(fd, NULL, pipes[1], NULL, 400, 0);
			CHECK(read(pipes[0], room, 400) == k);
			piped += (int)k;
			break;
		case 7:
			FD_ZERO(&set);
			FD_SET(fd, &set);
			CHECK(select(fd + 1, &set, NULL, NULL, NULL) == 1);
			CHECK(recv(fd, room, 1, MSG_PEEK) == 1);
			k = read(fd, room, 300);
			break;
		default:
			CHECK(ppoll(&ready, 1, NULL, NULL) == 1);
			k = read(fd, room, 200);
			break;
		}
		CHECK(k > 0);
		n -= (int)k;
	}
	CHECK(read(fd, room, 1) == 0);
	return piped;
}

static void *answer(void *end)
{
	int fd = *(int *)end;
	for (int i = 0; i < 10; i++) {
		char room[N];
		CHECK(recv(fd, room, N, MSG_WAITALL) == N && send(fd, room, 10, 0) == 10);
	}
	return NULL;
}

static int in_threads(void)
{
	int ends[2];
	pthread_t thread;
	opened(ends);
	CHECK(pthread_create(&thread, NULL, answer, &ends[1]) == 0);
	for (int i = 0; i < 10; i++) {
		char room[10];
		CHECK(send(ends[0], bytes, N, 0) == N &&
			recv(ends[0], room, 10, MSG_WAITALL) == 10);
	}
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
	return 10 * (N + 10);
}

// ended has a child end by a signal, as it does untraced.
static int ended(void)
{
	char room[5];
	int ends[2], told[2], how = 0;
	CHECK(pipe(told) == 0);
	pid_t child = fork();
	if (child == 0) {
		opened(ends);
		CHECK(write(ends[0], bytes, 5) == 5 && read(ends[1], room, 5) == 5);
		CHECK(write(told[1], bytes, 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(told[0], room, 1) == 1);
	usleep(50000); // until the child's write is recorded
	CHECK(kill(child, SIGTERM) == 0);
	CHECK(waitpid(child, &how, 0) == child);
	CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
	return 6;
}

// parted has children that share the process's memory, or that libc's fork did not make,
// close a connection and end, of which the process sees nothing.
static int parted(void)
{
	char room[7];
	int ends[2];
	opened(ends);
	CHECK(write(ends[0], bytes, 7) == 7 && read(ends[1], room, 7) == 7);
	for (int way = 0; way < 2; way++) {
		pid_t child = way ? _Fork() : vfork();
		if (child == 0) {
			close(ends[0]);
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	}
	CHECK(write(ends[0], bytes, 7) == 7 && read(ends[1], room, 7) == 7);
	return 14;
}

static void *opened_apart(void *ends)
{
	opened(ends);
	return NULL;
}

static int cost(int n)
{
	int ends[2];
	char byte = 0;
	struct timespec begin, end;
	opened(ends);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < n; i++)
		CHECK(send(ends[0], &byte, 1, 0) == 1 && recv(ends[1], &byte, 1, 0) == 1);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld\n",
		((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec) /
			(2 * n));
	return 0;
}

int main(int n, char **words)
{
	int ends[2];
	if (n > 2)
		return cost(atoi(words[2]));
	if (n > 1 && strcmp(words[1], "closed") == 0) {
		close(STDERR_FILENO);
		opened(ends);
		return 0;
	}
	if (n > 1 && strcmp(words[1], "bare") == 0) {
		opened(ends);
		for (int fd = STDERR_FILENO + 1; fd < 1000; fd++)
			if (fd != ends[0] && fd != ends[1])
				close(fd);
		for (int i = 0; i < 20 * N; i++)
			CHECK(write(ends[0], bytes, 1) == 1 &&
				read(ends[1], bytes, 1) == 1);
		CHECK(open("/dev/null", O_RDONLY) == STDERR_FILENO + 1);
		return 0;
	}
	if (n > 1 && strcmp(words[1], "full") == 0) {
		pthread_t thread;
		opened(ends);
		CHECK(pthread_create(&thread, NULL, opened_apart, ends) == 0);
		pthread_join(thread, NULL);
		CHECK(write(ends[0], bytes, 5) == 5 && read(ends[1], bytes, 5) == 5);
		return 0;
	}
	if (n > 1 && strcmp(words[1], "x") != 0) {
		char *const none[] = {NULL};
		opened(ends);
		if (strcmp(words[1], "execl") == 0)
			execl("/bin/echo", "echo", words[1], "2", NULL);
		if (strcmp(words[1], "execlp") == 0)
			execlp("echo", "echo", words[1], "2", NULL);
		if (strcmp(words[1], "execle") == 0)
			execle("/bin/sh", "sh", "-c", "echo execle$HOME 2", NULL, none);
		printf("%s\n", words[1]);
		fflush(stdout);
		if (strcmp(words[1], "quick_exit") == 0)
			quick_exit(0);
		_Exit(0);
	}
	FILE *file = tmpfile();
	CHECK(file && fwrite(bytes, 1, N, file) == N && fflush(file) == 0);
	opened(ends);
	int all = 10 * N + 1;
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		int piped = got(ends[1], all);
		CHECK(send(ends[1], &piped, sizeof piped, 0) == sizeof piped);
		_exit(0);
	}
	close(ends[1]);
	CHECK(sent(ends[0], file) == all);
	int how = 1, piped;
	CHECK(recv(ends[0], &piped, sizeof piped, MSG_WAITALL) == sizeof piped);
	CHECK(waitpid(child, &how, 0) == child && how == 0);
	printf("%d\n",
		all + N + piped + (int)sizeof piped + in_threads() + ended() + parted());
	fflush(stdout);
	return n > 1 ? raise(SIGKILL) : 0;
}
