package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tilecheck/internal/needs"
)

// Two open files are two owners, even in one process.
func TestOneOwner(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "plan9" {
		needs.Have(t, needs.System, errors.New("there are no locks"))
	}
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Take(first); err != nil {
		t.Fatal(err)
	}
	if err := Take(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a second owner got %v, want %v", err, ErrLocked)
	}
	if _, err := second.WriteString("x"); err != nil {
		t.Errorf("the lock keeps from writing: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Take(second); err != nil {
		t.Errorf("after the first closed: %v", err)
	}
}
