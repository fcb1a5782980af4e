package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"tilecheck/internal/atomicfile"
	"tilecheck/internal/processes"
)

const (
	manifestName   = "manifest.json"
	lockName       = "lock"
	formatVersion  = 1
	nameSeparator  = "-"
	manifestIndent = "  "
)

// Directory is a directory with the states of one model. One process works in it at a time, or the processes of a Team. Its manifest lists the files that
// are complete; other files are left over from an interrupted process and are removed.
type Directory struct {
	path     string
	team     Team
	lockFile *os.File

	mutex    sync.Mutex
	manifest Manifest
	// oldManifest is the manifest when a process that is not process 1 began. Its failures may be those of an earlier run.
	oldManifest Manifest
	// obsoleteFiles are the files that the next manifest does not list. The last one on the disk may, so they are removed after it is written.
	obsoleteFiles []string

	usedBytes   atomic.Int64 // bytes in files that were written
	quotaBytes  int64        // of used; 0 for none
	neededBytes atomic.Int64 // bytes that the current step still needs, as far as it is known
}

// Manifest is the state of the work in a directory.
type Manifest struct {
	Version int
	// Model describes the model with its constants, and Digest identifies its text. Both must be the same in each process.
	Model  string
	Digest string
	// Starts is the number of processes that have written the manifest, and Next the number of the next new file. Both are part of its name.
	Starts int
	Next   int
	// Exploration and Columns say how far the first two stages are; nil before they begin.
	Exploration *Exploration `json:",omitempty"`
	Columns     *ColumnFiles `json:",omitempty"`
	// Solutions has, by the text of a property, how far its solution is.
	Solutions map[string]json.RawMessage `json:",omitempty"`
	// Failures has the errors of process 1 since its start, by the stage that has failed, so that the other processes do not wait for it.
	Failures map[string]string `json:",omitempty"`
}

// OtherModelError says that a directory belongs to another model.
type OtherModelError struct{ Dir, Found, Want string }

func (e *OtherModelError) Error() string {
	if e.Found == e.Want {
		return fmt.Sprintf("the directory %q has states of another version of %s: want an empty or a new directory", e.Dir, e.Want)
	}
	return fmt.Sprintf("the directory %q has states of %s, want those of %s: name an empty or a new directory", e.Dir, e.Found, e.Want)
}

// FullError says that the disk of a directory is full. Everything in the manifest is kept, so the same command goes on when there is
// space.
type FullError struct {
	Dir  string
	Need int64 // bytes that the step still needs
	Used int64 // bytes that this process wrote to files that are kept
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the disk of %q is full: at least %d more bytes were needed, beside %d bytes in use there; nothing is lost, and the same command goes on when there is space", e.Dir, e.Need, e.Used)
}

// OpenDirectory opens the directory of a model, and creates it if it does not exist. An existing directory must be empty, or have states of
// the same model. Only one process can have it open, or one for each number of the team.
func OpenDirectory(path, model, digest string, team Team) (directory *Directory, err error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	directory = &Directory{path: path, team: team}
	if directory.manifest, err = directory.readManifest(model, digest); err != nil {
		return nil, err
	}
	if directory.lockFile, err = processes.Lock(directory.Path(team.lockName())); err != nil {
		return nil, fmt.Errorf("use %q: %w", path, err)
	}
	if err := directory.start(model, digest); err != nil {
		return nil, errors.Join(err, directory.Close())
	}
	return directory, nil
}

// start makes a locked directory ready for work. Process 1 first ends the task of its last start, because it then removes the files of that task.
func (directory *Directory) start(model, digest string) (err error) {
	if err := directory.agree(model, digest); err != nil || directory.team.helps() {
		directory.oldManifest = directory.manifest
		return err
	}
	if directory.manifest, err = directory.readManifest(model, digest); err != nil { // another process may have changed it before the lock was taken
		return err
	}
	if err := directory.Commit(func(manifest *Manifest) { manifest.Starts, manifest.Failures = manifest.Starts+1, nil }); err != nil {
		return err
	}
	if err := directory.Rest(); err != nil {
		return err
	}
	return directory.removeUnlisted()
}

// readManifest reads the manifest of the directory. If the directory is empty, it returns a new manifest. The error is an *OtherModelError
// if the manifest is for another model.
func (directory *Directory) readManifest(model, digest string) (Manifest, error) {
	manifest := Manifest{Version: formatVersion, Model: model, Digest: digest}
	text, err := os.ReadFile(directory.Path(manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = checkEmpty(directory.path)
	case err == nil:
		manifest = Manifest{}
		if err := json.Unmarshal(text, &manifest); err != nil {
			return Manifest{}, fmt.Errorf("read %q: %w", directory.Path(manifestName), err)
		}
		if manifest.Version != formatVersion || manifest.Digest != digest {
			return Manifest{}, &OtherModelError{Dir: directory.path, Found: manifest.Model, Want: model}
		}
	}
	if manifest.Solutions == nil {
		manifest.Solutions = map[string]json.RawMessage{}
	}
	return manifest, err
}

// checkEmpty returns an error if a directory contains files. It ignores the files of a team and files that were written only in part.
func checkEmpty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == manifestName { // another process has just written it
			return nil
		}
	}
	for _, entry := range entries {
		if !belongsToTeam(entry.Name()) && !atomicfile.IsPart(entry.Name()) {
			return fmt.Errorf("the directory %q has files of something else, such as %q: want an empty or a new directory", path, entry.Name())
		}
	}
	return nil
}

// Close ends the use of the directory. Its files stay.
func (directory *Directory) Close() error { return directory.lockFile.Close() }

// Path returns the path of a file of the directory.
func (directory *Directory) Path(name string) string { return filepath.Join(directory.path, name) }

// Limit makes a write that would exceed a number of bytes in the files of the directory fail as on a full disk. 0 is no limit.
func (directory *Directory) Limit(bytes int64) { directory.quotaBytes = bytes }

// Used returns the number of bytes in the files of the directory.
func (directory *Directory) Used() int64 { return directory.usedBytes.Load() }

// Expect says how many further bytes the current step needs, for the message when the disk is full.
func (directory *Directory) Expect(bytes int64) { directory.neededBytes.Store(bytes) }

// Manifest returns a copy of the manifest.
func (directory *Directory) Manifest() Manifest {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	return directory.manifest
}

// Commit changes the manifest, writes it to the disk, and then removes the obsolete files. If the manifest cannot be written, the manifest
// on the disk stays unchanged.
func (directory *Directory) Commit(change func(*Manifest)) error {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	change(&directory.manifest)
	text, err := json.MarshalIndent(&directory.manifest, "", manifestIndent)
	if err != nil {
		return err
	}
	path := directory.Path(manifestName)
	if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }); err != nil {
		return directory.writeError(err, int64(len(text)))
	}
	obsolete := directory.obsoleteFiles
	directory.obsoleteFiles = nil
	var errs []error
	for _, name := range obsolete {
		errs = append(errs, directory.removeFile(name))
	}
	return errors.Join(errs...)
}

// Obsolete says that a file is not needed after the next Commit.
func (directory *Directory) Obsolete(name string) {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	directory.obsoleteFiles = append(directory.obsoleteFiles, name)
}

// keepObsolete keeps the obsolete files until the directory is opened again. After an error the manifest may list them, because it has an earlier state of a
// solution than the memory.
func (directory *Directory) keepObsolete() {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	directory.obsoleteFiles = nil
}

// NewName returns a name that no other file of the directory has.
func (directory *Directory) NewName(kind string) string {
	directory.mutex.Lock()
	defer directory.mutex.Unlock()
	directory.manifest.Next++
	return fmt.Sprintf("%s%s%d%s%06d", kind, nameSeparator, directory.manifest.Starts, nameSeparator, directory.manifest.Next)
}

// removeUnlisted removes the data files that are not in the manifest, and counts the bytes of the other data files.
func (directory *Directory) removeUnlisted() error {
	text, err := json.Marshal(&directory.manifest)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(directory.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		isListed := strings.Contains(string(text), `"`+entry.Name()+`"`)
		if err := directory.removeOrCount(entry, isListed); err != nil {
			return err
		}
	}
	return nil
}

// removeOrCount removes a file that was written only in part, or a data file that is not listed in the manifest. It counts the bytes of other data files,
// and ignores all other files.
func (directory *Directory) removeOrCount(entry fs.DirEntry, isListed bool) error {
	isData := strings.Contains(entry.Name(), nameSeparator) && !entry.IsDir() && !belongsToTeam(entry.Name())
	switch {
	case atomicfile.IsPart(entry.Name()), isData && !isListed:
		return removeIfThere(directory.Path(entry.Name())) // another process may have renamed or removed the file since it was listed
	case !isData:
		return nil
	}
	info, err := entry.Info()
	if err == nil {
		directory.usedBytes.Add(info.Size())
	}
	return err
}

// createFile creates a file, or opens it for writing from its beginning. Writes to it are counted. A file that exists is not truncated: a process that is
// started again may take its part of a task a second time, and writes the same bytes while another process already reads the file.
func (directory *Directory) createFile(name string) (*os.File, error) {
	file, err := os.OpenFile(directory.Path(name), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, directory.writeError(err, 0)
	}
	return file, nil
}

// output counts the bytes that are written to a file of a directory, and gives errors of a full disk their message.
type output struct {
	dir  *Directory
	file *os.File
}

// Write implements io.Writer, and counts the written bytes. The error is a *FullError if the disk is full or the quota is exceeded.
func (out output) Write(data []byte) (int, error) {
	if quota := out.dir.quotaBytes; quota > 0 && out.dir.usedBytes.Load()+int64(len(data)) > quota {
		return 0, out.dir.fullError(int64(len(data)))
	}
	written, err := out.file.Write(data)
	out.dir.usedBytes.Add(int64(written))
	if err != nil {
		return written, out.dir.writeError(err, int64(len(data)-written))
	}
	return written, nil
}

// writeError converts the error of a full disk to a *FullError. missing is the number of bytes that were not
// written.
func (directory *Directory) writeError(err error, missing int64) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return directory.fullError(missing)
}

// fullError returns the error of a full disk.
func (directory *Directory) fullError(missing int64) *FullError {
	return &FullError{Dir: directory.path, Need: max(missing, directory.neededBytes.Load()), Used: directory.usedBytes.Load()}
}

// removeFile removes a file and subtracts its size from the number of used bytes. It does nothing if the file does not exist.
func (directory *Directory) removeFile(name string) error {
	info, err := os.Stat(directory.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	directory.usedBytes.Add(-info.Size())
	return removeIfThere(directory.Path(name))
}

// removeIfThere removes a file. It does nothing if the file does not exist.
func removeIfThere(path string) error {
	if err := os.Remove(path); !isMissing(err) {
		return err
	}
	return nil
}
