// Peers that are threads of a test, with mailboxes instead of a network.
#ifndef TB_TESTS_PEERS_IN_THREADS_H
#define TB_TESTS_PEERS_IN_THREADS_H

#include "peers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS_MOST = 6 };

struct letter {
	struct letter *next;
	uint32_t from;
	size_t n;
	unsigned char bytes[TB_PEERS_MESSAGE_MOST];
};

struct mail {
	pthread_mutex_t mutex;
	uint32_t n;
	struct letter *first[RANKS_MOST], *last[RANKS_MOST];
};

struct desk {
	struct mail *mail;
	uint32_t rank;
};

static inline int mail_send(void *context, uint32_t to, const void *bytes, size_t n)
{
	struct desk *desk = context;
	struct letter *letter = calloc(1, sizeof *letter);
	assert_non_null(letter);
	assert_true(n <= TB_PEERS_MESSAGE_MOST && to < desk->mail->n);
	letter->from = desk->rank;
	letter->n = n;
	memcpy(letter->bytes, bytes, n);
	pthread_mutex_lock(&desk->mail->mutex);
	if (desk->mail->last[to])
		desk->mail->last[to]->next = letter;
	else
		desk->mail->first[to] = letter;
	desk->mail->last[to] = letter;
	pthread_mutex_unlock(&desk->mail->mutex);
	return TB_OK;
}

static inline int mail_receive(void *context, uint32_t *from, void *bytes, size_t *n)
{
	struct desk *desk = context;
	pthread_mutex_lock(&desk->mail->mutex);
	struct letter *letter = desk->mail->first[desk->rank];
	if (letter)
		desk->mail->first[desk->rank] = letter->next;
	if (letter && !letter->next)
		desk->mail->last[desk->rank] = NULL;
	pthread_mutex_unlock(&desk->mail->mutex);
	if (!letter)
		return 0;
	*from = letter->from;
	*n = letter->n;
	memcpy(bytes, letter->bytes, letter->n);
	free(letter);
	return 1;
}

static inline void mail_leave(void *context, bool together)
{
	(void)context;
	(void)together;
}

static inline struct tb_peers peers_of(struct desk *desk)
{
	return (struct tb_peers){.context = desk,
		.rank = desk->rank,
		.n = desk->mail->n,
		.send = mail_send,
		.receive = mail_receive,
		.leave = mail_leave};
}

#endif
