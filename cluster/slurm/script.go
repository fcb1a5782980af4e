package slurm

import (
	"fmt"
	"strings"

	"tilecheck/cluster"
)

// maxRestarts is the number of times that Slurm may requeue one task. Without a limit, a task that crashes its node could crash all nodes.
const maxRestarts = 8

// Script returns the batch script of a round, in sh. Each task of the array runs the shards in its line of the file Tasks, one after the other.
func Script(r *cluster.Round) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	option := func(format string, args ...any) { fmt.Fprintf(&b, "#SBATCH --"+format+"\n", args...) }
	option("job-name=%s", r.Name)
	option("array=1-%d", len(r.Tasks))
	option("requeue")
	option("chdir=%s", r.Dir)
	option("output=%s", r.Dir.Log(r.Number, "%a"))
	option("open-mode=append")
	s := r.Settings
	if s.Partition != "" {
		option("partition=%s", s.Partition)
	}
	if s.Account != "" {
		option("account=%s", s.Account)
	}
	if s.Time != "" {
		option("time=%s", s.Time)
	}
	if s.Memory > 0 {
		option("mem=%dM", (s.Memory+1<<20-1)>>20)
	}
	if s.CPUs > 0 {
		option("cpus-per-task=%d", s.CPUs)
	}
	for _, extra := range s.Sbatch {
		fmt.Fprintf(&b, "#SBATCH %s\n", extra)
	}
	fmt.Fprintf(&b, `
# Round %d of tilecheck submit. Every task does the shards of its line of the list,
# but for those that are finished, and writes how each of them ended.
set -u
if [ "${SLURM_RESTART_COUNT:-0}" -gt %d ]; then
  echo "tilecheck: requeued $SLURM_RESTART_COUNT times, given up" >&2
  exit 1
fi
export GOMAXPROCS="${SLURM_CPUS_ON_NODE:-1}"
cd %s || exit 1
worst=0
for shard in $(sed -n "${SLURM_ARRAY_TASK_ID}p" %s); do
  part=%s
  [ ! -e "$part" ] || continue
  start=$(date +%%s)
  %s %s
  code=$?
  run=%s
  echo "$code $(($(date +%%s) - start)) ${SLURMD_NODENAME:-$(uname -n)} ${SLURM_RESTART_COUNT:-0}" > "$run.tmp" && mv "$run.tmp" "$run"
  [ -e "$part" ] || worst=$code
  [ "$code" -ne 80 ] || break
done
exit "$worst"
`, r.Number, maxRestarts, quoted(r.Dir.Work(r.Job)), quoted(r.Dir.Tasks(r.Number)), r.Dir.Part(`"$shard"`),
		quoted(r.Dir.Program(r.Job)), shardArgs(r.Job), r.Dir.Run(r.Number, `"$shard"`))
	return b.String()
}

// shardArgs returns the arguments of the command of a shard, as words of sh in which $shard and $part are variables.
func shardArgs(job *cluster.Job) string {
	const shard, partFile = "\x00shard", "\x00part" // placeholders; arguments contain no zero bytes
	variables := strings.NewReplacer(shard, `'"$shard"'`, partFile, `'"$part"'`)
	var words []string
	for _, arg := range job.Args(shard, partFile) {
		words = append(words, variables.Replace(quoted(arg)))
	}
	return strings.Join(words, " ")
}

// quoted returns a text as one word of sh.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
