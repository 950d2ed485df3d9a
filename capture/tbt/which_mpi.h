// Finds which MPI a command runs.
//
// Rule: the first word of the command that is a program with an MPI among the libraries
// that its dynamic section needs decides (libmpi.so.40 and the like: Open MPI;
// libmpich.so.12, libmpi.so.12: MPICH). If none is (a script, a static program), what
// starts it does: mpirun's file, after links, is orterun or mpiexec.hydra, or ends in
// .openmpi or .mpich.
#ifndef TB_WHICH_MPI_H
#define TB_WHICH_MPI_H

#include "tbt_format.h"

#include <stdbool.h>
#include <stddef.h>

// tb_which_mpi stores which MPI a command uses (an array that ends with NULL); false when
// nothing shows it.
bool tb_which_mpi(enum tb_tbt_mpi *mpi, char *const *command);

// tb_mpi_against returns the word of a command that is a program of another MPI than
// `mpi`; NULL if there is none, or if one is of `mpi` too.
const char *tb_mpi_against(enum tb_tbt_mpi mpi, char *const *command);

// tb_not_preloaded returns the first word of a command that is a program into which the
// system preloads nothing, and stores why; NULL: there is none.
const char *tb_not_preloaded(char *const *command, const char **why);

// tb_is_program returns whether a word is a program, by its path or found in PATH.
bool tb_is_program(const char *word);

// tb_mpi_name returns "openmpi" or "mpich" for an enum tb_tbt_mpi; NULL beyond the last.
const char *tb_mpi_name(size_t mpi);

#endif
