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
func Describe(q Request) (j Job, err error) {
	j = Job{Given: q.Given, Words: q.Words, Shards: q.Shards, Dir: q.Dir, Build: q.Build, Binary: Staged{Name: "tilecheck"}}
	if j.Binary.Digest, _, err = shard.Digest(q.Program); err != nil {
		return j, err
	}
	var total int64
	for _, name := range q.Inputs {
		size, err := j.addInput(q.Dir, name)
		if err != nil {
			return j, err
		}
		total += size
	}
	if total > maxStaged {
		return j, fmt.Errorf("the inputs have %d bytes, want at most %d: what has an absolute name is not copied", total, int64(maxStaged))
	}
	slices.SortFunc(j.Inputs, func(a, b Staged) int { return cmp.Compare(a.Name, b.Name) })
	j.Inputs = slices.CompactFunc(j.Inputs, func(a, b Staged) bool { return a.Name == b.Name })
	h := sha256.New()
	for _, in := range j.Inputs {
		fmt.Fprintf(h, "%d %s %s\n", len(in.Name), in.Name, in.Digest)
		if !filepath.IsAbs(in.Name) {
			rest, up := filepath.ToSlash(in.Name), 0
			for strings.HasPrefix(rest, "../") {
				rest, up = rest[3:], up+1
			}
			j.Up = max(j.Up, up)
		}
	}
	j.Tree = hex.EncodeToString(h.Sum(nil))
	return j, j.check()
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
func (d Dir) stageFiles(q Request) (Job, error) {
	j, err := Describe(q)
	if err != nil {
		return j, err
	}
	if err := d.checkInputsOutside(q); err != nil {
		return j, err
	}
	program := d.Program(&j)
	err = createOnce(filepath.Dir(program), func(to string) error {
		return cmp.Or(os.Mkdir(to, 0o777), copyFile(q.Program, filepath.Join(to, filepath.Base(program)), j.Binary.Digest, 0o777))
	})
	if err != nil {
		return j, err
	}
	return j, createOnce(d.path("inputs", j.Tree[:16]), func(to string) error {
		work := filepath.Join(to, strings.Repeat("x/", j.Up))
		if err := os.MkdirAll(work, 0o777); err != nil {
			return err
		}
		for _, in := range j.Inputs {
			if filepath.IsAbs(in.Name) {
				continue
			}
			target := filepath.Join(work, in.Name)
			if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
				return err
			}
			if err := copyFile(filepath.Join(j.Dir, in.Name), target, in.Digest, 0o666); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkInputsOutside returns an error if an input directory contains the job's directory, because staged files would then be inputs too.
func (d Dir) checkInputsOutside(q Request) error {
	own, err := filepath.EvalSymlinks(string(d))
	if err != nil {
		return err
	}
	for _, name := range q.Inputs {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(q.Dir, name)
		}
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(path, own); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s is in %s, which the command reads: want another directory", d, name)
		}
	}
	return nil
}

// createOnce creates a file or directory unless it exists: it calls fill with a temporary name and renames the result.
func createOnce(name string, fill func(to string) error) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	partly := name + ".tmp" // of a driver that was killed; this one has the lock
	if err := os.RemoveAll(partly); err != nil {
		return err
	}
	if err := fill(partly); err != nil {
		return errors.Join(err, os.RemoveAll(partly))
	}
	return os.Rename(partly, name)
}

// copyFile copies a file and checks that its digest is still the expected one.
func copyFile(from, to, digest string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, h), in); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != digest {
		return fmt.Errorf("%s changed while it was copied", from)
	}
	return out.Sync()
}

// verify checks that the staged files are unchanged, and that the files at their original place are too, because the merge reads them there.
func (d Dir) verify(j *Job) error {
	same := func(path, digest, otherwise string) error {
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() && otherwise == "" {
			return fmt.Errorf("%s is %s, want a file", path, kind(info))
		}
		var found string
		if err == nil {
			found, _, err = shard.Digest(path)
		}
		switch {
		case err != nil && otherwise == "":
			return fmt.Errorf("%w: what was staged is gone", err)
		case err != nil:
			return fmt.Errorf("%w: it was read when the job was submitted%s", err, otherwise)
		case found != digest && otherwise == "":
			return fmt.Errorf("%s is damaged: its digest is another one", path)
		case found != digest:
			return fmt.Errorf("%s has changed since the job was submitted%s", path, otherwise)
		}
		return nil
	}
	if err := same(d.Program(j), j.Binary.Digest, ""); err != nil {
		return err
	}
	for _, in := range j.Inputs {
		path, otherwise := in.Name, ", want it as it was"
		if !filepath.IsAbs(in.Name) {
			staged := filepath.Join(d.Work(j), in.Name)
			if err := same(staged, in.Digest, ""); err != nil {
				return err
			}
			path, otherwise = filepath.Join(j.Dir, in.Name), ", want it as it was: "+staged
		}
		if err := same(path, in.Digest, otherwise); err != nil {
			return err
		}
	}
	return nil
}

// Preview returns the first round of a job for a directory that need not exist.
func Preview(dir string, j Job, s settings.Settings) (*Round, error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	w := &Work{Dir: Dir(path), Job: j, Settings: s, ID: "preview"}
	d := Driver{Work: w, maxTasks: min(j.Shards, cmp.Or(s.Tasks, defaultTasks))}
	shards := make([]int, j.Shards)
	for i := range shards {
		shards[i] = i + 1
	}
	r := &Round{Number: 1, Tasks: d.divide(shards)}
	w.fillRound(r)
	return r, nil
}
