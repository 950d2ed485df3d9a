// A small fabric whose parts have their own names, GUIDs, LIDs and port numbers.
#ifndef NAMED_FABRIC_H
#define NAMED_FABRIC_H

#include "network_builder.h"
#include "preset.h"

#include <stdio.h>
#include <stdlib.h>

static inline void fabric_check(int status, const struct tb_error *error)
{
	if (status != TB_OK) {
		fprintf(stderr, "%s\n", error->text);
		abort();
	}
}

// fabric_called builds two leaf switches with two hosts each, and a spine, which are
// called as given. Ports have InfiniBand's numbers.
static inline struct tb_network *fabric_called(const char *const names[3])
{
	struct tb_network_params params;
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_switch leaf[2], spine;
	struct tb_error error = {0};
	fabric_check(tb_network_preset(&params, "qsnet", &error), &error);
	fabric_check(tb_network_builder_new(&builder, &params, &error), &error);
	for (uint32_t i = 0; i < 2; i++) {
		struct tb_identity own = {
			.name = names[i], .guid = 0xf100 + i, .lid = 40 + i};
		fabric_check(tb_network_add_switch(builder, 0, 2, 1, &leaf[i], &error),
			&error);
		fabric_check(tb_network_identify_switch(builder, leaf[i], &own, &error),
			&error);
		for (uint32_t port = 0; port < 3; port++)
			fabric_check(tb_network_number_port(
					     builder, leaf[i], port, 20 + port, &error),
				&error);
	}
	fabric_check(tb_network_add_switch(builder, 1, 2, 0, &spine, &error), &error);
	fabric_check(tb_network_identify_switch(builder, spine,
			     &(struct tb_identity){
				     .name = names[2], .guid = 0xf200, .lid = 42},
			     &error),
		&error);
	fabric_check(tb_network_number_port(builder, spine, 0, 7, &error), &error);
	fabric_check(tb_network_number_port(builder, spine, 1, 9, &error), &error);
	static const char *const hosts[] = {"login", "n001", "n002", "n0021"};
	for (uint32_t i = 0; i < 4; i++) {
		struct tb_identity own = {
			.name = hosts[i], .guid = 0xa000 + i, .lid = 11 * (i + 1)};
		fabric_check(
			tb_network_add_node(builder, leaf[i / 2], i % 2, NULL, &error),
			&error);
		fabric_check(tb_network_identify_node(
				     builder, (struct tb_node){i}, &own, &error),
			&error);
	}
	for (uint32_t i = 0; i < 2; i++)
		fabric_check(
			tb_network_add_cable(builder, leaf[i], 2, spine, i, NULL, &error),
			&error);
	fabric_check(tb_network_finish(builder, &net, &error), &error);
	tb_network_builder_free(builder);
	return net;
}

// fabric_new builds one whose leaves have the product's name, like unnamed switches of
// real fabrics.
static inline struct tb_network *fabric_new(void)
{
	return fabric_called((const char *const[]){"MT47396", "MT47396", "spine 1"});
}

#endif
