package slurm_test

import (
	"testing"

	"tilecheck/cluster/slurm/slurmtest"
)

func TestUp(t *testing.T) {
	c := slurmtest.Start(t)
	out, err := c.Run("sacct", "-D")
	t.Log(out, err)
	c.RestartController()
	out, err = c.Run("sinfo", "-N")
	t.Log(out, err)
}
