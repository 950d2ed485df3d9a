#!/bin/bash
# What mpirun starts in place of rsh: HOST COMMAND... in the namespace of that name, as a host of
# that name.
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; cd '$PWD'; $*"
