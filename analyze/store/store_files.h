// The files that SQLite may touch for a store: the store itself, its journal, and the
// write-ahead log and its index of those who turned that on. Private to analyze/.
//
// A journal or log beside a store comes from whoever made the store, and SQLite believes
// it: a journal may name a "super-journal", a file anywhere, which SQLite reads and then
// deletes (sqlite.org/fileformat.html, 3 "The Rollback Journal"; sqlite.org/atomiccommit,
// 5.1). No journal of Tailback's names one. So stores are opened through a file system of
// SQLite's that refuses such a journal, every other file name, and a journal or log that
// is a link, has a second name, or is no file.
#ifndef TB_STORE_FILES_H
#define TB_STORE_FILES_H

#include <sqlite3.h>

// tb_store_files_open opens the database at `path` as sqlite3_open_v2 does. The file
// system ends with the connection.
int tb_store_files_open(sqlite3 **db, const char *path, int flags);

// tb_store_files_refusal returns why a file was refused, which SQLite reports as
// SQLITE_AUTH: a part of a sentence behind the store's name; NULL: none was.
const char *tb_store_files_refusal(sqlite3 *db);

#endif
