// Package cluster runs the shards of one command on other people's engines, and
// merges them: Slurm ([tilecheck/cluster/slurm]), Kubernetes
// ([tilecheck/cluster/kubernetes]) and processes of this machine
// ([tilecheck/cluster/local]) are back ends of it. There is no daemon: everything
// is in one directory that driver and tasks share, and a driver that was killed
// goes on from there.
//
//	submit.json        the job, its settings, the rounds: checksummed, replaced as a whole
//	submit.lock        kept by the driver that is attached
//	bin/, inputs/      the program and what it reads, staged under their digests
//	rounds/R.tasks     the shards of round R, one line a task; rounds/R.sh or R.yaml its script or manifest
//	parts/I.part       shard I is finished
//	runs/R-I           how the run of shard I in round R ended: code, seconds, host, restarts
//	log/R-T.log        what task T of round R said
//
// A shard is finished when its partial file is there and valid, and in no other
// way; all that a back end says is which tasks it still has. A shard that is
// neither finished nor with a task that is waiting or running is submitted again,
// in another round, a bounded number of times.
package cluster
