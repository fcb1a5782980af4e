package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Old temporary files are removed: not those that are being written, and not files of others.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, PartName("m.tra")), filepath.Join(dir, PartName("m.tra"))
	other := filepath.Join(dir, "m.tilecheck-part")
	for _, name := range []string{old, young, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{old, other} {
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Sweep(dir)
	if err != nil || !slices.Equal(removed, []string{old}) {
		t.Errorf("removed %v, %v, want %s", removed, err, old)
	}
}
