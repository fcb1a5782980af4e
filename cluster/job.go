package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/cluster/settings"
)

// Job is a command with a number of shards. It does not change after it is submitted.
type Job struct {
	Given  []string `json:"given"`  // the command as the user gave it
	Words  []string `json:"words"`  // the same with a random seed, if the command had none
	Shards int      `json:"shards"` // the N of --shard I/N
	Dir    string   `json:"dir"`    // absolute working directory of the command
	Build  string   `json:"build"`  // build of the program
	Binary Staged   `json:"binary"`
	Inputs []Staged `json:"inputs"`
	Tree   string   `json:"tree"` // the digest of all inputs
	Up     int      `json:"up"`   // number of directories above Dir in which the first inputs are
}

// Staged is a file that tasks read.
type Staged struct {
	Name   string `json:"name"` // as in the command; for a file in a directory, with the path in it
	Digest string `json:"digest"`
}

// Limits for files that are read from the directory of a job.
const (
	maxWords  = 10_000
	maxWord   = 1 << 20
	maxInputs = 100_000
	maxRounds = 10_000
	maxUp     = 100
)

// Args returns the arguments for one shard. It inserts flags before "--".
func (j *Job) Args(shard, partial string) []string {
	at := slices.Index(j.Words, "--")
	if at < 0 {
		at = len(j.Words)
	}
	return slices.Concat(j.Words[:at], []string{"--shard", fmt.Sprintf("%s/%d", shard, j.Shards), "--partial", partial}, j.Words[at:])
}

// Same reports whether two jobs are the same: the same command with the same files, program and directory. A drawn seed may differ.
func (j *Job) Same(k *Job) bool {
	return slices.Equal(j.Given, k.Given) && j.Build == k.Build && j.Binary.Digest == k.Binary.Digest && j.Tree == k.Tree && j.Dir == k.Dir
}

// ID returns a hash of everything that Same compares.
func (j *Job) ID() string {
	text, _ := json.Marshal([]any{j.Given, j.Build, j.Binary.Digest, j.Tree, j.Dir}) // never fails
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:6])
}

func (j *Job) check() error {
	if len(j.Words) == 0 || len(j.Words) > maxWords || slices.ContainsFunc(j.Words, func(word string) bool { return strings.ContainsRune(word, 0) || len(word) > maxWord }) {
		return fmt.Errorf("found %d words that are no command", len(j.Words))
	}
	if j.Shards < 1 || j.Shards > settings.MaxShards {
		return fmt.Errorf("found %d shards, want 1 to %d", j.Shards, settings.MaxShards)
	}
	if !filepath.IsAbs(j.Dir) || strings.ContainsRune(j.Dir, 0) {
		return fmt.Errorf("found the directory %q, want an absolute one", j.Dir)
	}
	if len(j.Inputs) > maxInputs || j.Up < 0 || j.Up > maxUp {
		return fmt.Errorf("found %d inputs, %d directories up", len(j.Inputs), j.Up)
	}
	err := cmp.Or(checkDigest(j.Binary.Digest), checkDigest(j.Tree))
	for _, input := range j.Inputs {
		err = cmp.Or(err, checkDigest(input.Digest))
	}
	return err
}

// checkDigest checks a digest that becomes the name of a file.
func checkDigest(s string) error {
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("found the digest %q, want 64 hexadecimal digits", s)
	}
	return nil
}
