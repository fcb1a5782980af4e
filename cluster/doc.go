// Package cluster runs the shards of one command on a cluster and merges them.
// Its back ends are Slurm ([tilecheck/cluster/slurm]), Kubernetes
// ([tilecheck/cluster/kubernetes]) and processes on this machine
// ([tilecheck/cluster/local]). There is no daemon: all state is in one directory
// that the driver and the tasks share, and a killed driver can be started again.
//
//	submit.json        the job, its settings, the rounds: checksummed, replaced as a whole
//	submit.lock        locked by the attached driver
//	bin/, inputs/      the program and what it reads, staged under their digests
//	rounds/R.tasks     the shards of round R, one line for each task; rounds/R.sh or R.yaml is its script or manifest
//	parts/I.part       the partial file of shard I, which is then finished
//	runs/R-I           how the run of shard I in round R ended: code, seconds, host, restarts
//	log/R-T.log        the output of task T of round R
//
// A shard is finished if and only if its partial file exists and is valid. A back
// end only says which tasks it still has. A shard that is not finished and has no
// waiting or running task is submitted again in another round, a limited number of
// times.
package cluster
