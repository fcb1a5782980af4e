package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// TestRerunInContainer repeats two records in a container that has the folder of the records, the static program, and nothing else: no network, no other
// files.
func TestRerunInContainer(t *testing.T) {
	if !needs.Asked(t, needs.Docker) {
		needs.Have(t, needs.Docker, errors.New("builds an image: set TILECHECK_REQUIRE=docker"))
	}
	artifact, work := t.TempDir(), t.TempDir()
	program := filepath.Join(artifact, "tilecheck")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "tilecheck/cmd/tilecheck")
	for from, to := range map[string]string{"../../testdata/suite": "suite", "../../examples": "examples"} {
		if err := os.CopyFS(filepath.Join(work, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	die, suite := filepath.Join(artifact, "die"), filepath.Join(artifact, "suite")
	run(program, "check", "examples/die.prism", "examples/die.prism.props", "--exact", "--certificate", "die.cert", "--record-run", die)
	run(program, "test", "suite", "--no-cache", "--format", "json", "--junit", "junit.xml", "--record-run", suite)

	image := "local/tilecheck-empty:" + strconv.Itoa(os.Getpid())
	var empty bytes.Buffer
	if err := tar.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("docker", "import", "-", image)
	build.Stdin = &empty
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { run("docker", "image", "rm", image) })
	for _, record := range []string{"die", "suite"} {
		out := run("docker", "run", "--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--volume="+artifact+":/artifact:ro", image,
			"/artifact/tilecheck", "rerun", "/artifact/"+record)
		t.Logf("%s:\n%s", record, out)
		if strings.Contains(out, "different") || strings.Count(out, "same") < 3 {
			t.Errorf("%s: want the same exit code, output and files, found\n%s", record, out)
		}
	}
}

// TestRecordedImage: a record has the digest of the image of a tool, also if the command line names the image by a tag or does not name it.
func TestRecordedImage(t *testing.T) {
	requirePRISM(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"die.prism": die, "die.props": "P=? [ F s=7 & d=6 ]\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := tilecheck(t.Context(), "check", "die.prism", "die.props", "--engine", "prism", "--record-run", "record")
	if code != exitOK {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errs)
	}
	record, err := readRecord("record")
	if err != nil || len(record.Images) != 1 {
		t.Fatalf("%+v, %v, want one image", record, err)
	}
	id, err := exec.Command("docker", "image", "inspect", "--format={{.Id}}", record.Images[0].Name).Output()
	if got := record.Images[0]; err != nil || got.Engine != "prism" || got.ID != strings.TrimSpace(string(id)) {
		t.Errorf("%+v, want the identity %s, %v", got, id, err)
	}
	code, out, errs = tilecheck(t.Context(), "rerun", "record")
	if code != exitOK || strings.Contains(out, "another image") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
}

// TestToolNotes: programs and images that are not the recorded ones are named.
func TestToolNotes(t *testing.T) {
	before := runRecord{Images: []recordedImage{{Engine: "prism", Name: "prism:4", ID: "sha256:1"}}}
	same := before.toolNotes(&runRecord{Images: []recordedImage{{Engine: "prism", Name: "prism:5", ID: "sha256:1"}}})
	if len(same) != 0 {
		t.Errorf("%q, want nothing: it is the same image under another name", same)
	}
	got := before.toolNotes(&runRecord{Images: []recordedImage{{Engine: "prism", Name: "prism:4", ID: "sha256:2"}}})
	if len(got) != 1 || got[0] != "prism ran in another image: recorded prism:4 sha256:1, now prism:4 sha256:2" {
		t.Errorf("%q, want a note about the image", got)
	}
}
