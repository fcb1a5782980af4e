package tempdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tilecheck/internal/ending"
)

func TestSweepTakesWhatIsAbandoned(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // Windows
	ctx, clean := ending.Keep(t.Context())
	live, remove, err := Make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	old := func(dir string) {
		at := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, ownerName), at, at); err != nil {
			t.Fatal(err)
		}
	}
	old(live)
	left := filepath.Join(os.TempDir(), prefix+"left")
	young := filepath.Join(os.TempDir(), prefix+"young")
	foreign := filepath.Join(os.TempDir(), prefix+"foreign") // no owner file: not made here
	for _, dir := range []string{left, young, foreign} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if dir != foreign {
			if err := os.WriteFile(filepath.Join(dir, ownerName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	old(left)
	removed, err := Sweep()
	if err != nil || len(removed) != 1 || removed[0] != left {
		t.Errorf("removed %v, %v, want %s", removed, err, left)
	}
	for _, dir := range []string{live, young, foreign} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	second, _, err := Make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	clean()
	for _, dir := range []string{live, second} {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", dir, err)
		}
	}
}
