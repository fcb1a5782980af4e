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

// Request is what is to be submitted.
type Request struct {
	Given    []string // the command
	Words    []string // the same with a seed, if that was drawn
	Shards   int
	Dir      string   // that names of files are relative to
	Inputs   []string // files and directories that the command reads, as it names them
	Build    string
	Program  string // the path of this program
	Backend  string
	Settings settings.Settings
}

// maxStaged is how many bytes are copied. Larger files, such as tables of solve,
// are to be where tasks can read them.
const maxStaged = 4 << 30

// Describe returns the job of a request, without copying anything.
func Describe(q Request) (j Job, err error) {
	j = Job{Given: q.Given, Words: q.Words, Shards: q.Shards, Dir: q.Dir, Build: q.Build, Binary: Staged{Name: "tilecheck"}}
	if j.Binary.Digest, _, err = shard.Digest(q.Program); err != nil {
		return j, err
	}
	var total int64
	for _, name := range q.Inputs {
		size, err := j.add(q.Dir, name)
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

// add adds an input, of a directory all files below it. It returns how much is to be copied.
func (j *Job) add(dir, name string) (size int64, err error) {
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
	for _, e := range entries {
		if len(j.Inputs) > maxInputs {
			return 0, fmt.Errorf("%s has more than %d files", name, maxInputs)
		}
		if e.Type()&fs.ModeSymlink != 0 { // of a directory, it can lead above
			if to, err := os.Stat(filepath.Join(path, e.Name())); err != nil || to.IsDir() {
				continue
			}
		} else if !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		n, err := j.add(dir, filepath.Join(name, e.Name()))
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, err
}

// stage copies what tasks read, each once, and returns the job.
func (d Dir) stage(q Request) (Job, error) {
	j, err := Describe(q)
	if err != nil {
		return j, err
	}
	if err := d.outside(q); err != nil {
		return j, err
	}
	program := d.Program(&j)
	err = keep(filepath.Dir(program), func(to string) error {
		return cmp.Or(os.Mkdir(to, 0o777), copyFile(q.Program, filepath.Join(to, filepath.Base(program)), j.Binary.Digest, 0o777))
	})
	if err != nil {
		return j, err
	}
	return j, keep(d.in("inputs", j.Tree[:16]), func(to string) error {
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

// outside refuses a directory of inputs that has this one in it: what is staged
// would be an input, too.
func (d Dir) outside(q Request) error {
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

// keep fills a file or directory under another name, and renames it, unless it is there.
func keep(name string, fill func(to string) error) error {
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

// copyFile copies a file that must still be the one that was looked at.
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

// verify reports whether what tasks read is what was staged, and whether the merge,
// which reads the files where the command was given, still finds the same.
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

// Preview returns the first round of a job as it would be, of a directory that need
// not be there.
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
	r := &Round{Number: 1, Tasks: d.bundle(shards)}
	w.complete(r)
	return r, nil
}
