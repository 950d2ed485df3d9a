// One thread reads 20 requests and wakes another one, which answers: WAY, by which that
// one waits (1 to 6). The requests come 20 ms apart.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COND = 1, COND_TIMED, COND_CLOCK, SEM, SEM_TIMED, SEM_CLOCK, REQUESTS = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int n_asked, end, way;

static void wait_for_one(void)
{
	struct timespec most;
	clock_gettime(CLOCK_REALTIME, &most);
	most.tv_sec += 60;
	if (way == SEM)
		sem_wait(&semaphore);
	else if (way == SEM_TIMED)
		sem_timedwait(&semaphore, &most);
	else if (way == SEM_CLOCK)
		sem_clockwait(&semaphore, CLOCK_REALTIME, &most);
	if (way >= SEM)
		return;
	pthread_mutex_lock(&mutex);
	while (n_asked == 0)
		if (way == COND)
			pthread_cond_wait(&some, &mutex);
		else if (way == COND_TIMED)
			pthread_cond_timedwait(&some, &mutex, &most);
		else
			pthread_cond_clockwait(&some, &mutex, CLOCK_REALTIME, &most);
	n_asked--;
	pthread_mutex_unlock(&mutex);
}

static void *answer(void *of)
{
	for (int i = 0; i < REQUESTS; i++) {
		wait_for_one();
		if (send(end, "answer", 6, 0) != 6)
			exit(1);
	}
	return of;
}

static int ask(const struct sockaddr_in *of)
{
	char room[6];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (const void *)of, sizeof *of) != 0)
		return 1;
	for (int i = 0; i < REQUESTS; i++) {
		usleep(20000);
		if (send(fd, "?", 1, 0) != 1 || recv(fd, room, 6, MSG_WAITALL) != 6)
			return 1;
	}
	return 0;
}

int main(int n, char **words)
{
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof own;
	int listener = socket(AF_INET, SOCK_STREAM, 0), how = 1;
	pthread_t worker;
	char room;
	way = n == 2 ? atoi(words[1]) : 0;
	sem_init(&semaphore, 0, 0);
	if (way < COND || way > SEM_CLOCK ||
		bind(listener, (void *)&own, sizeof own) != 0 ||
		listen(listener, 1) != 0 || getsockname(listener, (void *)&own, &size))
		return 2;
	if (fork() == 0)
		_exit(ask(&own));
	end = accept(listener, NULL, NULL);
	pthread_create(&worker, NULL, answer, NULL);
	for (int i = 0; i < REQUESTS; i++) {
		if (recv(end, &room, 1, 0) != 1)
			return 1;
		pthread_mutex_lock(&mutex);
		n_asked++;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&mutex);
		sem_post(&semaphore);
	}
	pthread_join(worker, NULL);
	wait(&how);
	return how != 0;
}
