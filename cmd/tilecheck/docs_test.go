package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// TestDocs runs what the README and the pages of docs show. A block is one of
//
//	```sh       commands; the lines after "$ command" are its output
//	```         anything else: ```prism, ```json, ```text, …
//
// and a comment before it says what is special about it:
//
//	<!-- exit 2 -->              the last command ends with this code, not with 0
//	<!-- needs prism,long -->    things of package needs
//	<!-- not run: why -->
//
// The blocks of a page run in one copy of the folders examples and
// testdata/suite, one after the other. In output, "…" stands for any text, and on
// a line of its own for any lines; times, and the widths of columns, do not count.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := blocksOf(filepath.ToSlash(name), string(text))
		if err != nil {
			t.Error(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			if name != "README.md" {
				needs.Full(t)
			}
			t.Parallel()
			if len(blocks) == 0 {
				return
			}
			dir := t.TempDir()
			for _, folder := range []string{"examples", "testdata/suite"} {
				if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
					t.Fatal(err)
				}
			}
			for _, b := range blocks {
				t.Run(strconv.Itoa(b.line), func(t *testing.T) { b.run(t, dir) })
			}
		})
	}
}

// block is one with commands.
type block struct {
	page     string
	line     int // of the first command
	exit     int
	needs    []needs.Thing
	commands []command
}

type command struct {
	line   int
	text   string
	shown  bool // with its output
	output []string
}

// blocksOf returns the blocks of a page that are to be run. What looks like a
// command where nobody runs it is an error.
func blocksOf(page, text string) (blocks []block, err error) {
	var (
		errs    []error
		marks   []string // comments before the block
		kind    string
		within  bool
		current block
		notRun  bool
	)
	fail := func(line int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %s", page, line, fmt.Sprintf(format, args...)))
	}
	commandLike := regexp.MustCompile(`^(\$ |tilecheck |go run |go test |cd |docker run )`)
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		switch mark, isMark := strings.CutPrefix(line, "<!-- "); {
		case strings.HasPrefix(line, "```") && !within:
			within, kind = true, strings.TrimPrefix(line, "```")
			current, notRun = block{page: page, line: n}, false
			for _, m := range marks {
				what, rest, _ := strings.Cut(m, " ")
				switch what {
				case "exit":
					if current.exit, err = strconv.Atoi(rest); err != nil {
						fail(n-1, "%v", err)
					}
				case "needs":
					for thing := range strings.SplitSeq(rest, ",") {
						if !slices.Contains(needs.Things(), needs.Thing(thing)) {
							fail(n-1, "%q is nothing that a test needs, want one of %v", thing, needs.Things())
						}
						current.needs = append(current.needs, needs.Thing(thing))
					}
				case "not":
					notRun = true
				default:
					fail(n-1, "found %q, want exit, needs or not run", m)
				}
			}
			marks = nil
		case strings.HasPrefix(line, "```"):
			within = false
			if len(current.commands) > 0 {
				blocks = append(blocks, current)
			}
		case within && kind == "sh" && !notRun:
			current.add(n, line)
		case within && kind != "sh", !within && strings.HasPrefix(line, "    "):
			if commandLike.MatchString(strings.TrimSpace(line)) && !notRun {
				fail(n, "a command outside of a block ```sh: %s", strings.TrimSpace(line))
			}
		case !within && isMark:
			marks = append(marks, strings.TrimSuffix(mark, " -->"))
		case !within:
			marks = nil
		}
	}
	return blocks, errors.Join(errs...)
}

// add takes in a line of a block: "$ command", output after one, or a command
// in a block that shows no output.
func (b *block) add(n int, line string) {
	last := len(b.commands) - 1
	if text, ok := strings.CutPrefix(line, "$ "); ok {
		b.commands = append(b.commands, command{line: n, text: text, shown: true})
	} else if last >= 0 && b.commands[last].shown {
		b.commands[last].output = append(b.commands[last].output, line)
	} else if strings.TrimSpace(line) != "" {
		b.commands = append(b.commands, command{line: n, text: line})
	}
}

func (b *block) run(t *testing.T, dir string) {
	if _, err := exec.LookPath("sh"); err != nil {
		needs.Have(t, needs.System, err)
	}
	docker := "DOCKER_HOST=" + needs.NoDocker
	env := append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "HOME="+dir, "TILECHECK_PRISM_IMAGE=", "NO_COLOR=1")
	for _, thing := range b.needs {
		switch thing {
		case needs.PRISMTool:
			env = append(env, "TILECHECK_PRISM="+needs.PRISM(t))
		case needs.Minutes:
			needs.Full(t)
		case needs.Time:
			needs.Long(t)
		case needs.PRISMImage, needs.Storm:
			needs.Wanted(t, thing)
			docker = ""
			tool := strings.TrimSuffix(string(thing), "-image")
			if images, err := runIn(t, dir, env, "tilecheck image --format csv"); err != nil || !strings.Contains(images, ","+tool+",") {
				needs.Have(t, thing, fmt.Errorf("there is no image that has %s", tool))
			}
		default:
			needs.Have(t, thing, errors.New("no block of the documentation is run with it"))
		}
	}
	if docker != "" {
		env = append(env, docker)
	}
	for i, c := range b.commands {
		out, err := runIn(t, dir, env, strings.ReplaceAll(c.text, "go run ./cmd/tilecheck", "tilecheck"))
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatalf("%s:%d: %v", b.page, c.line, err)
		}
		want := 0
		if i == len(b.commands)-1 {
			want = b.exit
		}
		if code != want {
			t.Fatalf("%s:%d: %s: exit code %d, want %d\n%s", b.page, c.line, c.text, code, want, out)
		}
		if c.shown && !shows(c.output, out) {
			t.Errorf("%s:%d: %s prints\n%s\nand the page shows\n%s", b.page, c.line, c.text, out, strings.Join(c.output, "\n"))
		}
	}
}

// runIn runs a line of shell in a directory and returns all that it prints.
func runIn(t *testing.T, dir string, env []string, line string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shows reports whether a page shows the output of a command.
func shows(page []string, output string) bool {
	var pattern strings.Builder
	for _, line := range plain(strings.Join(page, "\n")) {
		if line == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`)
	}
	text := strings.Join(plain(output), "\n") + "\n"
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(text)
}

// plain returns the lines of a text without what differs from run to run: times, and the widths that follow from them.
func plain(text string) []string {
	text = regexp.MustCompile(`(^|[ (])<?\d+(\.\d+)?(ns|µs|ms|s|m\d+s)\b`).ReplaceAllString(text, "${1}TIME")
	text = regexp.MustCompile(` {2,}`).ReplaceAllString(text, "  ")
	text = regexp.MustCompile(`--+`).ReplaceAllString(text, "--")
	text = regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
	return strings.Split(strings.Trim(text, "\n"), "\n")
}

func TestShows(t *testing.T) {
	const output = "a   1.5ms  x\n--  -----\nsecond\nthird\n\n12 passed in 51.7ms\n"
	for _, tt := range []struct {
		page string
		want bool
	}{
		{output, true},
		{"a  <1ms  x\n-- ----\nsecond\nthird\n\n12 passed in 3s", false}, // one blank between columns is none
		{"a  <1ms  x\n--  ----\nsecond\nthird\n\n12 passed in 3s", true},
		{"…\n12 passed in 1m2s", true},
		{"a …\n…\nthird\n…", true},
		{"…\n13 passed in 1m2s", false},
		{"…\nthird", false},
		{"a  1ms", false},
		{"", false},
	} {
		if got := shows(strings.Split(tt.page, "\n"), output); got != tt.want {
			t.Errorf("shows(%q) = %v, want %v", tt.page, got, tt.want)
		}
	}
}
