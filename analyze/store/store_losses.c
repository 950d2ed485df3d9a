#include "store_impl.h"

#include "store_row.h"

static int write_ports(sqlite3 *db, const char *path, int64_t run,
	const struct tb_loss_record *record, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO port_loss ("
		"run, link, frames, bytes) "
		"VALUES (?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < record->n_ports; i++) {
		const struct tb_port_loss_sample *at = &record->ports[i];
		tb_row_put(&row, run);
		tb_row_put(&row, at->link.id);
		tb_row_put(&row, (int64_t)at->n_frames);
		tb_row_put(&row, (int64_t)at->bytes);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static int loss_write_flows(sqlite3 *db, const char *path, int64_t run,
	const struct tb_loss_record *record, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO flow_loss ("
		"run, job, source, destination, frames, bytes, resent) "
		"VALUES (?,?,?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < record->n_flows; i++) {
		const struct tb_flow_loss_sample *at = &record->flows[i];
		tb_row_put(&row, run);
		tb_row_put(&row, at->job);
		tb_row_put(&row, at->source.id);
		tb_row_put(&row, at->destination.id);
		tb_row_put(&row, (int64_t)at->n_frames);
		tb_row_put(&row, (int64_t)at->bytes);
		tb_row_put(&row, (int64_t)at->n_resent);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

int tb_store_write_losses(sqlite3 *db, const char *path, int64_t run,
	const struct tb_loss_record *record, struct tb_error *error)
{
	int status = write_ports(db, path, run, record, error);
	return status ? status : loss_write_flows(db, path, run, record, error);
}
