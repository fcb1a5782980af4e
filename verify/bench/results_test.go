package bench

import (
	"os"
	"path/filepath"
	"testing"

	record "tilecheck/report/bench"
)

// TestOneWriter: a file of results has one writer, which goes on behind the last whole line.
func TestOneWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	const whole = `{"format":1,"case":"a","tool":"native","repetition":1,"outcome":"right"}` + "\n"
	if err := os.WriteFile(name, []byte(whole+`{"format":1,"ca`), 0o666); err != nil {
		t.Fatal(err)
	}
	first, err := OpenResults(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenResults(name); err == nil {
		t.Error("a second writer was let in")
	}
	if err := first.Append(&record.Run{Format: 1, Case: "b", Tool: "native", Repetition: 1}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenResults(name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(again.Runs) != 2 || again.Runs[0].Case != "a" || again.Runs[1].Case != "b" {
		t.Errorf("found %+v, want the runs of a and b", again.Runs)
	}
}
