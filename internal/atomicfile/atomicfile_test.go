package atomicfile

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

const helperPath = "ATOMICFILE_TEST_PATH"

// TestMain writes to the named path instead of running the tests when it is
// started by [TestOpenFiles], whose standard output it then inherits.
func TestMain(m *testing.M) {
	if path, ok := os.LookupEnv(helperPath); ok {
		os.Stdout.WriteString("before ")
		if err := Write(path, text("written ")); err != nil {
			os.Stdout.WriteString(err.Error())
		}
		os.Stdout.WriteString("after")
		return
	}
	os.Exit(m.Run())
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func put(t *testing.T, path, contents string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, contents string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != contents {
		t.Errorf("%s holds %q, want %q", path, got, contents)
	}
}

// wantEntries checks that the directory holds these names only: no temporary file.
func wantEntries(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("directory holds %q, want %q", got, names)
	}
}

func wantMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != mode {
		t.Errorf("mode of %s is %v, want %v", path, info.Mode().Perm(), mode)
	}
}

func TestNewFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new.txt")
	if err := Write(path, text("hello")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "hello")
	wantEntries(t, dir, "new.txt")

	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	info, err := plain.Stat()
	if err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, info.Mode().Perm())
}

func TestRelativeName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("new.txt", text("hello")); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, ".", "new.txt")
}

func TestExistingFileKeepsMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old.txt")
	put(t, path, "a longer text than the new one", 0o640)
	if err := Write(path, text("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "new")
	wantMode(t, path, 0o640)
	wantEntries(t, dir, "old.txt")
}

func TestFailureLeavesEverythingAsItWas(t *testing.T) {
	boom := errors.New("boom")
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	put(t, old, "old", 0o600)
	for _, path := range []string{old, filepath.Join(dir, "new.txt")} {
		err := Write(path, func(w io.Writer) error {
			// More than a buffer, so that some of it reaches the temporary file.
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that wraps %v and names %s", err, boom, path)
		}
	}
	wantFile(t, old, "old")
	wantEntries(t, dir, "old.txt")
}

func TestPanicLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	defer func() {
		if recover() == nil {
			t.Error("the panic was swallowed")
		}
		wantEntries(t, dir)
	}()
	Write(filepath.Join(dir, "f"), func(io.Writer) error { panic("bug") })
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	put(t, file, "", 0o600)
	tests := []struct{ name, path, want string }{
		{"empty name", "", `write "": the file name is empty`},
		{"directory", dir, "it is a directory"},
		{"new name with a slash", filepath.Join(dir, "new") + "/", "it is the name of a directory"},
		{"no directory", filepath.Join(dir, "no", "f"), `directory "` + filepath.Join(dir, "no") + `" does not exist`},
		{"file as directory", filepath.Join(file, "f"), "not a directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := Write(test.path, text("x"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), ".tilecheck-part") {
				t.Errorf("error %v names a temporary file", err)
			}
		})
	}
	wantEntries(t, dir, "file")
}

func TestUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		needs.Have(t, needs.System, errors.New("permission bits do not bind root"))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "old.txt")
	put(t, path, "old", 0o444)
	err := Write(path, text("new"))
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("read-only file: error %v, want permission denied", err)
	}
	wantFile(t, path, "old")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) }) // or TempDir could not be removed
	err = Write(filepath.Join(dir, "new.txt"), text("new"))
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), `create a file in directory "`+dir+`"`) {
		t.Errorf("read-only directory: error %v, want permission denied for the directory", err)
	}
	wantEntries(t, dir, "old.txt")
}

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	put(t, target, "old", 0o600)
	for name, to := range map[string]string{link: target, dangling: filepath.Join(dir, "made")} {
		if err := os.Symlink(to, name); err != nil {
			needs.Have(t, needs.System, err)
		}
	}
	for _, name := range []string{link, dangling} {
		if err := Write(name, text("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
	wantFile(t, target, "new")
	wantFile(t, filepath.Join(dir, "made"), "new")
	wantEntries(t, dir, "dangling", "link", "made", "target")
}

func TestDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		needs.Have(t, needs.System, errors.New("there is no /dev"))
	}
	if err := Write(os.DevNull, text("x")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&os.ModeDevice == 0 {
		t.Fatal("the null device was replaced")
	}
}

// The program is run with an appending standard output, as by `>> file`: what
// it prints itself and what Write writes must follow what was there.
func TestOpenFiles(t *testing.T) {
	for _, path := range []string{"/dev/stdout", "/proc/self/fd/1", "/dev/fd/3"} {
		t.Run(path, func(t *testing.T) {
			if _, err := os.Stat(filepath.Dir(path)); err != nil {
				needs.Have(t, needs.System, err)
			}
			file := filepath.Join(t.TempDir(), "out")
			put(t, file, "kept ", 0o600)
			out, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helperPath+"="+path)
			cmd.Stdout = out
			cmd.ExtraFiles = []*os.File{out}
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			wantFile(t, file, "kept before written after")
		})
	}
}

func TestPipe(t *testing.T) {
	if _, err := os.Stat("/dev/stdout"); err != nil {
		needs.Have(t, needs.System, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperPath+"=/dev/stdout")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "before written after"; string(got) != want {
		t.Errorf("the pipe got %q, want %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file, dangling := filepath.Join(dir, "file"), filepath.Join(dir, "dangling")
	put(t, file, "old", 0o600)
	if err := os.Symlink(filepath.Join(dir, "made"), dangling); err != nil {
		needs.Have(t, needs.System, err)
	}
	for _, path := range []string{file, filepath.Join(dir, "new"), dangling, os.DevNull} {
		if err := Check(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	astray := filepath.Join(dir, "astray")
	if err := os.Symlink(filepath.Join("no", "f"), astray); err != nil {
		t.Fatal(err)
	}
	if err := Check(astray); err == nil {
		t.Error("a link into a directory that is not there: no error")
	}
	if err := os.Remove(astray); err != nil {
		t.Fatal(err)
	}
	// What Write says, Check says before.
	for _, path := range []string{"", dir, filepath.Join(dir, "new") + "/", filepath.Join(dir, "no", "f"), filepath.Join(file, "f")} {
		err, want := Check(path), Write(path, text("x"))
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%q: error %v, want %v", path, err, want)
		}
	}
	wantFile(t, file, "old")
	wantEntries(t, dir, "dangling", "file")
}

func TestSamePlace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, "file", "x", 0o600)
	put(t, "other", "x", 0o600)
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("file", "hard"); err != nil {
		needs.Have(t, needs.System, err)
	}
	for name, to := range map[string]string{"soft": "file", "chain": "soft", "up": "sub", "late": "up/new", "later": filepath.Join(dir, "late"), "round": "round"} {
		if err := os.Symlink(to, name); err != nil {
			needs.Have(t, needs.System, err)
		}
	}
	elsewhere := t.TempDir()
	if err := os.Mkdir(filepath.Join(elsewhere, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "deep"), "away"); err != nil {
		needs.Have(t, needs.System, err)
	}
	same := [][]string{
		{"away/../new", filepath.Join(elsewhere, "new")},
		{"file", "./file", "sub/../file", "up/../file", filepath.Join(dir, "file"), "hard", "soft", "chain"},
		{"sub/new", "up/new", "late", "later", filepath.Join(dir, "sub", "new")},
		{"new", "./new", "up/../new"},
		{"no/new", "./no/../no/new"},
		{"other"},
		{"round"},
	}
	for i, group := range same {
		for _, a := range group {
			for j, others := range same {
				for _, b := range others {
					if got := PlaceOf(a).Same(PlaceOf(b)); got != (i == j) {
						t.Errorf("%s and %s are one file: %t, want %t", a, b, got, i == j)
					}
				}
			}
		}
	}
	for name, want := range map[string]bool{"file": true, "new": true, os.DevNull: false, "/dev/stdout": false, "/proc/self/fd/1": false} {
		if got := PlaceOf(name).KeepsOutput(); got != want {
			t.Errorf("%s keeps what is written: %t, want %t", name, got, want)
		}
	}
}

// A process that has to end while it writes leaves nothing.
func TestWriteWithExitHook(t *testing.T) {
	dir := t.TempDir()
	var remove func()
	done := false
	err := WriteWithExitHook(filepath.Join(dir, "new"), func(f func()) func() {
		remove = f
		return func() { done = true }
	}, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("x", 1<<16))
		if done {
			t.Error("the file is removed no longer, although it is not complete")
		}
		remove() // as the end of the process would
		wantEntries(t, dir)
		return err
	})
	if err == nil || !done {
		t.Errorf("error %v, done %t: want the error of a file that is gone, and an end", err, done)
	}
	wantEntries(t, dir)
}

// A server of NFS that restarts can execute a rename twice. The second answer is an error, although the file has its name.
func TestRenameThatWasExecutedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	written := func() completePart {
		t.Helper()
		p, err := target{path: path}.part(nil, text("hello"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := written()
	if err := os.Rename(p.name, p.target); err != nil {
		t.Fatal(err)
	}
	if err := p.rename(); err != nil {
		t.Errorf("the second rename: %v, want no error", err)
	}
	wantFile(t, path, "hello")

	p = written() // this one was removed by somebody else, and path is an older file
	if err := os.Remove(p.name); err != nil {
		t.Fatal(err)
	}
	if err := p.rename(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a rename without its file: %v, want %v", err, os.ErrNotExist)
	}
}
