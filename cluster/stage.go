package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/cluster/settings"
	"tilecheck/internal/shard"
)

// Request describes a job to submit.
type Request struct {
	Given    []string // the command
	Words    []string // the same with a random seed, if the command had none
	Shards   int
	Dir      string   // directory for relative file names
	Inputs   []string // files and directories that the command reads, as it names them
	Build    string
	Program  string // the path of this program
	Backend  string
	Settings settings.Settings
}

// maxStaged is the largest total size in bytes of copied files. Larger files, such as tables of solve, must be on a shared disk.
const maxStaged = 4 << 30

// Describe returns the job of a request without copying files.
func Describe(request Request) (job Job, err error) {
	job = Job{Given: request.Given, Words: request.Words, Shards: request.Shards, Dir: request.Dir, Build: request.Build, Binary: Staged{Name: "tilecheck"}}
	if job.Binary.Digest, _, err = shard.Digest(request.Program); err != nil {
		return job, err
	}
	var total int64
	for _, name := range request.Inputs {
		size, err := job.addInput(request.Dir, name)
		if err != nil {
			return job, err
		}
		total += size
	}
	if total > maxStaged {
		return job, fmt.Errorf("the inputs have %d bytes, want at most %d: what has an absolute name is not copied", total, int64(maxStaged))
	}
	slices.SortFunc(job.Inputs, func(left, right Staged) int { return cmp.Compare(left.Name, right.Name) })
	job.Inputs = slices.CompactFunc(job.Inputs, func(left, right Staged) bool { return left.Name == right.Name })
	hash := sha256.New()
	for _, input := range job.Inputs {
		fmt.Fprintf(hash, "%d %s %s\n", len(input.Name), input.Name, input.Digest)
		if !filepath.IsAbs(input.Name) {
			path, levels := filepath.ToSlash(input.Name), 0
			for strings.HasPrefix(path, "../") {
				path, levels = path[3:], levels+1
			}
			job.Up = max(job.Up, levels)
		}
	}
	job.Tree = hex.EncodeToString(hash.Sum(nil))
	return job, job.check()
}

// addInput adds an input file, or all files in an input directory, and returns the number of bytes to copy.
func (j *Job) addInput(dir, name string) (size int64, err error) {
	name = filepath.Clean(name)
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if info.Mode().IsRegular() {
		text, n, err := shard.Digest(path)
		if filepath.IsAbs(name) {
			n = 0
		}
		j.Inputs = append(j.Inputs, Staged{Name: name, Digest: text})
		return n, err
	}
	if !info.IsDir() {
		return 0, fmt.Errorf("%s is no regular file, which cannot be read by every task", name)
	}
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		if len(j.Inputs) > maxInputs {
			return 0, fmt.Errorf("%s has more than %d files", name, maxInputs)
		}
		if entry.Type()&fs.ModeSymlink != 0 { // a link to a directory can form a cycle
			if to, err := os.Stat(filepath.Join(path, entry.Name())); err != nil || to.IsDir() {
				continue
			}
		} else if !entry.IsDir() && !entry.Type().IsRegular() {
			continue
		}
		n, err := j.addInput(dir, filepath.Join(name, entry.Name()))
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, err
}

// stageFiles copies the files that tasks read and returns the job.
func (d Dir) stageFiles(request Request) (Job, error) {
	job, err := Describe(request)
	if err != nil {
		return job, err
	}
	if err := d.checkInputsOutside(request); err != nil {
		return job, err
	}
	program := d.Program(&job)
	err = createOnce(filepath.Dir(program), func(tempDir string) error {
		return cmp.Or(os.Mkdir(tempDir, 0o777), copyFile(request.Program, filepath.Join(tempDir, filepath.Base(program)), job.Binary.Digest, 0o777))
	})
	if err != nil {
		return job, err
	}
	return job, createOnce(d.path("inputs", job.Tree[:16]), func(tempDir string) error {
		workDir := filepath.Join(tempDir, strings.Repeat("x/", job.Up))
		if err := os.MkdirAll(workDir, 0o777); err != nil {
			return err
		}
		for _, input := range job.Inputs {
			if filepath.IsAbs(input.Name) {
				continue
			}
			target := filepath.Join(workDir, input.Name)
			if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
				return err
			}
			if err := copyFile(filepath.Join(job.Dir, input.Name), target, input.Digest, 0o666); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkInputsOutside returns an error if an input directory contains the job's directory, because staged files would then be inputs too.
func (d Dir) checkInputsOutside(request Request) error {
	jobDir, err := filepath.EvalSymlinks(string(d))
	if err != nil {
		return err
	}
	for _, name := range request.Inputs {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(request.Dir, name)
		}
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(path, jobDir); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s is in %s, which the command reads: want another directory", d, name)
		}
	}
	return nil
}

// createOnce creates a file or directory unless it exists: it calls create with a temporary name, and renames the result.
func createOnce(name string, create func(to string) error) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	tempName := name + ".tmp" // a driver that was killed may have left it; only this driver has the lock
	if err := os.RemoveAll(tempName); err != nil {
		return err
	}
	if err := create(tempName); err != nil {
		return errors.Join(err, os.RemoveAll(tempName))
	}
	return os.Rename(tempName, name)
}

// copyFile copies a file and checks that its digest is still the expected one.
func copyFile(from, to, digest string, mode fs.FileMode) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, target.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(target, hash), source); err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != digest {
		return fmt.Errorf("%s changed while it was copied", from)
	}
	return target.Sync()
}

// verify returns an error if a staged file has changed, or the file from which it was copied, because the merge reads the latter.
func (d Dir) verify(job *Job) error {
	checkFile := func(path, digest, advice string) error {
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() && advice == "" {
			return fmt.Errorf("%s is %s, want a file", path, kind(info))
		}
		var found string
		if err == nil {
			found, _, err = shard.Digest(path)
		}
		switch {
		case err != nil && advice == "":
			return fmt.Errorf("%w: what was staged is gone", err)
		case err != nil:
			return fmt.Errorf("%w: it was read when the job was submitted%s", err, advice)
		case found != digest && advice == "":
			return fmt.Errorf("%s is damaged: its digest is another one", path)
		case found != digest:
			return fmt.Errorf("%s has changed since the job was submitted%s", path, advice)
		}
		return nil
	}
	if err := checkFile(d.Program(job), job.Binary.Digest, ""); err != nil {
		return err
	}
	for _, input := range job.Inputs {
		path, advice := input.Name, ", want it as it was"
		if !filepath.IsAbs(input.Name) {
			staged := filepath.Join(d.Work(job), input.Name)
			if err := checkFile(staged, input.Digest, ""); err != nil {
				return err
			}
			path, advice = filepath.Join(job.Dir, input.Name), ", want it as it was: "+staged
		}
		if err := checkFile(path, input.Digest, advice); err != nil {
			return err
		}
	}
	return nil
}

// Preview returns the first round of a job for a directory that need not exist.
func Preview(dir string, job Job, clusterSettings settings.Settings) (*Round, error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	work := &Work{Dir: Dir(path), Job: job, Settings: clusterSettings, ID: "preview"}
	driver := Driver{Work: work, maxTasks: min(job.Shards, cmp.Or(clusterSettings.Tasks, defaultTasks))}
	shards := make([]int, job.Shards)
	for i := range shards {
		shards[i] = i + 1
	}
	round := &Round{Number: 1, Tasks: driver.divide(shards)}
	work.fillRound(round)
	return round, nil
}
