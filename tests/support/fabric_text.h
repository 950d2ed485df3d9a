// Networks from the text of a fabric's file.
#ifndef FABRIC_TEXT_H
#define FABRIC_TEXT_H

#include "network_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// fabric_open opens the fabric that `text` is, with `keys` behind its name. A name in an
// error is "FILE".
static inline int fabric_open_keys(struct tb_network **net, const char *text, size_t n,
	const char *keys, struct tb_error *error)
{
	char path[] = "/tmp/tailback-fabric-XXXXXX", name[256];
	int file = mkstemp(path);
	if (file < 0 || write(file, text, n) != (ssize_t)n)
		abort();
	close(file);
	snprintf(name, sizeof name, "%s%s", path, keys);
	int status = tb_network_open(
		net, &(struct tb_network_description){.name = name}, error);
	unlink(path);
	if (status != TB_OK && error && strcmp(error->file, path) == 0)
		strcpy(error->file, "FILE");
	return status;
}

static inline struct tb_network *fabric_of(const char *text, const char *keys)
{
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (fabric_open_keys(&net, text, strlen(text), keys, &error) != TB_OK) {
		char sentence[1024];
		fprintf(stderr, "%s\n",
			tb_error_format(&error, sentence, sizeof sentence));
		abort();
	}
	return net;
}

#endif
