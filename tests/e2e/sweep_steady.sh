# Points without a steady state are named, those where queues grow apart from those that drift, and the
# table of the curves counts both; of jobs it is not asked.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$TAILBACK" sweep hot -o grows.db --set nodes=4 --set load=0.2,1 --set sizes=fixed --set times=fixed \
	--set message=64K --set warm=1ms --set window=40ms --set seed=1,2 2>said
cat said
grep -qx 'tailback: warning: no steady state at 2 of 4 points, where queues grow: .* (load=1 seed=1, load=1 seed=2)' said
[[ $(grep -c warning said) == 1 ]]
"$TAILBACK" sweep plot grows.db -x nodes --series load -f csv >csv
head -1 csv | grep -q ',points,unsteady,growing$'
grep -q '^load 0.2,.*,2,0,0$' csv
grep -q '^load 1,.*,2,2,2$' csv
"$TAILBACK" sweep plot grows.db -x nodes --series load -f json | tr -d ' \n' >json
grep -q '"points":2,"unsteady":2,"growing":2' json
"$TAILBACK" sweep plot grows.db -x nodes --series load | grep -q '^ *2 of 4 points have no steady state: queues grow in 2$'

"$TAILBACK" sweep uniform -o drifts.db --set message=64K --set warm=1ms --set window=1ms,4ms 2>said
cat said
grep -qx 'tailback: warning: no steady state at 1 of 2 points, where what is accepted drifts (window=1000)' said
"$TAILBACK" sweep plot drifts.db -x window -f csv >csv
grep -q '^,1000,.*,1,1,0$' csv
grep -q '^,4000,.*,1,0,0$' csv

# Beside I/O whose queues grow a job is not steady either.
"$TAILBACK" sweep mix.1i.shared -o mix.db --set nodes=16 --set io_nodes=2 --set io_load=0.9 --set seed=2 \
	--set warm=20ms --set window=100ms 2>said
cat said
grep -q 'no steady state at 1 of 1 points, where queues grow' said

"$TAILBACK" sweep one-way -o job.db --set message=4K,64K 2>said
grep warning said && exit 1
"$TAILBACK" sweep plot job.db -f csv | tail -1 | grep -q ',1,,$'
"$TAILBACK" sweep plot job.db -f json | tr -d ' \n' | grep -q '"unsteady":null,"growing":null'
