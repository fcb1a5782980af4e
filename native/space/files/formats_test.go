package files_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/limited"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/compile"
)

// variant is a way to write PRISM's files, and how PRISM is asked for it.
type variant struct {
	name   string
	opts   files.Options
	suffix string // of -exportmodel out.all
	args   []string
}

func variants() []variant {
	symbolic := func(o files.Options) files.Options { o.Symbolic = true; return o }
	return []variant{
		{"explicit", files.Options{}, "", []string{"-ex"}},
		{"symbolic", symbolic(files.Options{}), "", nil},
		{"symbolic-no-actions", symbolic(files.Options{NoActions: true}), ":actions=false", nil},
		{"rows", symbolic(files.Options{Format: files.Rows}), ":rows", nil},
		{"rows-no-actions", symbolic(files.Options{Format: files.Rows, NoActions: true}), ":rows,actions=false", nil},
		{"matlab", symbolic(files.Options{Format: files.Matlab}), ":matlab", nil},
		{"matlab-no-actions", symbolic(files.Options{Format: files.Matlab, NoActions: true}), ":matlab,actions=false", nil},
	}
}

// archive reads files that are one behind the other, each under a line -- name --.
func archive(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(rest, " --\n") {
			name = strings.TrimSuffix(rest, " --\n")
			continue
		}
		out[name] += line
	}
	return out
}

// writeFormat writes the files of a variant, and the combined one where there is one.
func writeFormat(t *testing.T, s *explicit.Space, opts files.Options) map[string]string {
	t.Helper()
	out := writeAll(t, s, opts)
	delete(out, "out.dot")
	delete(out, "out.drn")
	if opts.Format == files.Plain {
		out["out.pexp"] = writeWith(t, s, opts, (*files.Writer).Combined)
	}
	return out
}

func writeWith(t *testing.T, s *explicit.Space, opts files.Options, write func(*files.Writer, context.Context, io.Writer) error) string {
	t.Helper()
	w, err := files.NewWriter(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(w, t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFormats compares variants of the files with those that PRISM 4.10.2-dev
// wrote of the same models, byte for byte. What PRISM wrote is in testdata/formats;
// with TILECHECK_PRISM, its launcher, that is written again.
func TestFormats(t *testing.T) {
	archives, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil || len(archives) == 0 {
		t.Fatal("no models", err)
	}
	for _, file := range archives {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := archive(t, file)
			model := want["model.prism"]
			delete(want, "model.prism")
			if prism := os.Getenv("TILECHECK_PRISM"); prism != "" {
				compareTexts(t, want, record(t, prism, model), "")
			}
			space, err := buildText(t.Context(), "model.prism", []byte(model), nil, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range variants() {
				for name, got := range writeFormat(t, space, v.opts) {
					name = v.name + "/" + name
					text, ok := want[name]
					if !ok {
						continue // the archive has one of several that are the same
					}
					delete(want, name)
					if line, g, w := firstDifference(got, text); line > 0 {
						t.Errorf("%s:%d: %q, PRISM has %q", name, line, g, w)
					}
				}
			}
			for name := range want {
				t.Errorf("%s was not written", name)
			}
		})
	}
}

// record has PRISM write the files of all variants.
func record(t *testing.T, prism, model string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, v := range variants() {
		dir := t.TempDir()
		file := filepath.Join(dir, "model.prism")
		if err := os.WriteFile(file, []byte(model), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{file, "-exportmodel", dir + "/out.all" + v.suffix}, v.args...)
		if v.opts.Format == files.Plain {
			args = append(args, "-exportmodel", dir+"/out.pexp"+v.suffix)
		}
		if log, err := exec.CommandContext(t.Context(), prism, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		written, err := filepath.Glob(dir + "/out*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range written {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out[path.Join(v.name, filepath.Base(name))] = string(text)
		}
	}
	return out
}

// parallel has two transitions with one target that only the action tells apart.
const parallel = `dtmc
module m
  x : [0..2] init 0;
  [a] x=0 -> 0.25:(x'=1) + 0.75:(x'=2);
  [b] x=0 -> (x'=1);
  [] x>0 -> true;
endmodule
rewards "r" [a] true : 4; [b] true : 1; endrewards
`

// TestMerged: where no action is written, transitions with one target are one,
// unlike in PRISM's explicit engine, which drops the second, and in its MATLAB
// code, where the second replaces the first.
func TestMerged(t *testing.T) {
	for _, exact := range []bool{false, true} {
		space, err := buildText(t.Context(), "m.prism", []byte(parallel), nil, explicit.Options{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		third, mean := "0.625", "1.6" // (0.125*4 + 0.5*1) / 0.625
		if exact {
			third, mean = "5/8", "8/5"
		}
		check := func(opts files.Options, tra, trew string) {
			t.Helper()
			if got := writeWith(t, space, opts, (*files.Writer).Transitions); !strings.Contains(got, tra) {
				t.Errorf("%+v: transitions\n%swanted\n%s", opts, got, tra)
			}
			got := writeWith(t, space, opts, func(w *files.Writer, ctx context.Context, out io.Writer) error {
				return w.TransitionRewards(ctx, out, 0)
			})
			if !strings.Contains(got, trew) {
				t.Errorf("%+v: rewards\n%swanted\n%s", opts, got, trew)
			}
		}
		check(files.Options{NoActions: true}, "3 4\n0 1 "+third+"\n0 2 ", "3 2\n0 1 "+mean+"\n0 2 4\n")
		check(files.Options{Format: files.Rows}, "3 4\n0 "+third+":1 ", "3 2\n0 "+mean+":1 4:2\n1\n2\n")
		check(files.Options{Format: files.Matlab}, "P = sparse(3,3);\nP(1,2)="+third+";\nP(1,3)=", "C1 = sparse(3,3);\nC1(1,2)="+mean+";\nC1(1,3)=4;\n")
		if got := writeWith(t, space, files.Options{Format: files.Matlab}, (*files.Writer).States); got != "% (x)\nstates=[\n0\n1\n2\n];\n" {
			t.Errorf("states\n%s", got)
		}
		if got := writeWith(t, space, files.Options{NoActions: true}, (*files.Writer).DOT); !strings.Contains(got, `0 -> 1 [label="`+third+`"];`) || strings.Contains(got, ":a") {
			t.Errorf("graph\n%s", got)
		}
	}
}

// TestNoActionsAgain: what is written without actions is read again, and earns the same.
func TestNoActionsAgain(t *testing.T) {
	space, err := buildText(t.Context(), "m.prism", []byte(parallel), nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := writeWith(t, space, files.Options{NoActions: true}, (*files.Writer).Combined)
	read, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "m.pexp", Text: []byte(text)}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := space.Reward(0)
	if err != nil {
		t.Fatal(err)
	}
	after, err := read.Reward(0)
	if err != nil {
		t.Fatal(err)
	}
	if before.Choice[0] != 2.5 || after.Choice[0] != 2.5 {
		t.Errorf("the first state earns %v and %v, wanted 2.5", before.Choice[0], after.Choice[0])
	}
}

// TestCombinedRoundTrip: a .pexp file is read and written again as it was.
func TestCombinedRoundTrip(t *testing.T) {
	archives, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range archives {
		text := archive(t, file)["explicit/out.pexp"]
		space, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "out.pexp", Text: []byte(text)}, files.ReadOptions{})
		if filepath.Base(file) == "queue.txt" {
			if err == nil || !strings.Contains(err.Error(), "they have different actions") {
				t.Errorf("found %v, wanted a refusal: the rewards do not say of which transition they are", err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		n++
		if line, g, w := firstDifference(writeWith(t, space, files.Options{}, (*files.Writer).Combined), text); line > 0 {
			t.Errorf("%s: line %d is %q, wanted %q", file, line, g, w)
		}
		// The choices of an imported model keep their order.
		if line, g, w := firstDifference(writeWith(t, space, files.Options{Symbolic: true}, (*files.Writer).Combined), text); line > 0 && strings.Contains(text, "(MDP)") {
			t.Errorf("%s: line %d is %q, wanted %q", file, line, g, w)
		}
	}
	if n < 3 {
		t.Errorf("%d files only", n)
	}
}

// TestCombinedParts: parts may have another order and be left out; mistakes have
// their place in the whole file.
func TestCombinedParts(t *testing.T) {
	const tra = "# Transitions (DTMC)\n2 2\n0 1 1\n1 1 1\n\n"
	srew := func(name string) string {
		return "# Reward structure \"" + name + "\"\n# State rewards\n2 1\n1 5\n\n"
	}
	trew := func(name string) string {
		return "# Reward structure \"" + name + "\"\n# Transition rewards\n2 1\n0 1 7\n\n"
	}
	read := func(text string) (*explicit.Space, error) {
		return files.ReadCombinedFile(t.Context(), files.Source{Name: "a.pexp", Text: []byte(text)}, files.ReadOptions{})
	}
	names := func(s *explicit.Space) string {
		var out []string
		for i, r := range s.Program().Rewards {
			x, err := s.Reward(i)
			if err != nil {
				t.Fatal(err)
			}
			name := r.Name
			if x.State != nil {
				name += " state"
			}
			if x.Choice != nil {
				name += " choice"
			}
			out = append(out, name)
		}
		return strings.Join(out, ", ")
	}
	for text, want := range map[string]string{
		tra:                         "",
		"2 2\n0 1 1\n1 1 1\n":       "",
		tra + srew("r") + trew("r"): "r state choice",
		tra + srew("r") + trew("s"): "r state, s choice",
		tra + trew("r") + srew("r"): "r state choice",
		tra + srew("r") + srew("s"): "r state, s state",
		tra + "# States\n(x)\n0:(3)\n1:(4)\n\n" + srew("r") + "# Labels\n0=\"init\"\n0: 0\n": "r state",
	} {
		s, err := read(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := names(s); got != want {
			t.Errorf("%q has rewards %q, wanted %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"# States\n(x)\n0:(3)\n": "a.pexp:1:1: found the header of states, wanted transitions as the first part",
		tra + "# Labels\n0=\"init\"\n0: 0\n\n# Labels\n0=\"init\"\n0: 0\n": "a.pexp:10:1: found labels again, wanted each part once",
		tra + tra: "a.pexp:6:1: found transitions again, wanted each part once",
		tra + "# Reward structure \"r\"\n2 1\n1 5\n":     "a.pexp:6:1: found a reward structure, wanted # State rewards or # Transition rewards behind its name",
		tra + "# Observations\n(o)\n0:(1)\n":             "a.pexp:7:1: found observations of a model of type DTMC, wanted a POMDP",
		tra + "# States\n(x)\n0:(3)\n1:(true)\n":         "a.pexp:9:4: found \"true\", wanted an integer of 32 bits for \"x\"",
		tra + srew("r") + "# Labels\n0=\"init\"\n7: 0\n": "a.pexp:13:1: found state 7, wanted one below 2",
		tra + srew("r") + "# Labels\n0=\"init\"\n":       "a.pexp:13:1: found no state with the label \"init\", wanted at least one",
		"": "a.pexp:1:1: found the end of the file, wanted the numbers of states and transitions",
	} {
		_, err := read(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, wanted %s", text, err, want)
		}
	}
}

// TestLTS: what is wanted was written by PRISM 4.10.2-dev.
func TestLTS(t *testing.T) {
	space, err := buildText(t.Context(), "lock.prism", []byte(`module lock
  s : [0..3] init 0;
  [turn] s=0 -> (s'=1);
  [] s=0 -> (s'=2);
  [turn] s=1 -> (s'=3);
  [kick] s=2 -> (s'=0);
  [] s=3 -> true;
endmodule
rewards [turn] true : 2; s=1 : 4; endrewards
`), nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, symbolic := range []bool{false, true} {
		opts := files.Options{Symbolic: symbolic}
		if got := writeWith(t, space, opts, (*files.Writer).Transitions); got != lockTra {
			t.Errorf("transitions\n%swanted\n%s", got, lockTra)
		}
		got := writeWith(t, space, opts, func(w *files.Writer, ctx context.Context, out io.Writer) error {
			return w.TransitionRewards(ctx, out, 0)
		})
		if got != lockTrew {
			t.Errorf("rewards\n%swanted\n%s", got, lockTrew)
		}
	}
	if got := writeWith(t, space, files.Options{}, (*files.Writer).DOT); got != lockDOT {
		t.Errorf("graph\n%swanted\n%s", got, lockDOT)
	}
	text := umbOf(t, space, files.Options{})
	for _, exact := range []bool{false, true} {
		read, err := files.ReadUMB(t.Context(), files.Source{Name: "lock.umb", Text: text}, files.ReadOptions{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		if again := umbOf(t, read, files.Options{}); !exact && !bytes.Equal(again, text) || read.Program().Type != space.Program().Type {
			t.Errorf("UMB written again, %d bytes of a %s, are not the first %d", len(again), read.Program().Type, len(text))
		}
		if got := writeWith(t, read, files.Options{}, (*files.Writer).Transitions); got != lockTra {
			t.Errorf("read from UMB\n%swanted\n%s", got, lockTra)
		}
	}
}

const (
	lockTra = `# Transitions (LTS)
4 5 5
0 0 2
0 1 1 turn
1 0 3 turn
2 0 0 kick
3 0 3
`
	lockTrew = `# Reward structure
# Transition rewards
4 5 2
0 1 1 2
1 0 3 2
`
	lockDOT = `digraph M {
node [label="",shape="box"];
0 [label="0\n(0)"];
0 -> 2 [label="0"];
0 -> 1 [label="1:turn"];
1 [label="1\n(1)"];
1 -> 3 [label="0:turn"];
2 [label="2\n(2)"];
2 -> 0 [label="0:kick"];
3 [label="3\n(3)"];
3 -> 3 [label="0"];
}
`
)

// TestFormatErrors: what cannot be written is refused.
func TestFormatErrors(t *testing.T) {
	space, err := buildText(t.Context(), "m.prism", []byte(parallel), nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range []files.Options{{NoHeaders: true}, {Format: files.Rows}, {Format: files.Matlab}} {
		w, err := files.NewWriter(space, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Combined(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), ".pexp") {
			t.Errorf("%+v: found %v, wanted a refusal", opts, err)
		}
	}
	const labelled = "2 2\n0 1 1\n1 1 1\n"
	named, err := files.Read(t.Context(), bundle{tra: labelled, lab: "0=\"init\" 1=\"not a name\"\n0: 0 1\n"}.sources(), files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := files.NewWriter(named, files.Options{Format: files.Matlab})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Labels(t.Context(), io.Discard); err == nil || err.Error() != `label "not a name" is not a valid name in MATLAB` {
		t.Errorf("found %v, wanted a refusal", err)
	}
	refused := func(model string, opts files.Options, write func(*files.Writer) error, want string) {
		t.Helper()
		s, err := buildText(t.Context(), "m.prism", []byte(model), nil, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := files.NewWriter(s, opts)
		if err == nil {
			err = write(w)
		}
		if _, ok := errors.AsType[*compile.UnsupportedError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, wanted %s", err, want)
		}
	}
	const system = "mdp\nmodule a x:[0..1] init 0; [p] true -> (x'=0); [q] true -> (x'=1); endmodule\nsystem a endsystem\n"
	refused(system, files.Options{Symbolic: true}, func(w *files.Writer) error { return w.Transitions(t.Context(), io.Discard) }, "a model with a system block")
	const lts = "module a x:[0..1] init 0; [] true -> (x'=1); endmodule\n"
	refused(lts, files.Options{Format: files.Matlab}, nil, "LTSs are exported in PRISM's explicit format only")
	refused(lts, files.Options{}, func(w *files.Writer) error { return w.DRN(t.Context(), io.Discard) }, "the DRN format cannot express an LTS")
}

// TestGunzip: the text comes back, and neither a bomb nor a broken file is read.
func TestGunzip(t *testing.T) {
	zipped, err := os.ReadFile("testdata/two.tra.gz")
	if err != nil {
		t.Fatal(err)
	}
	got, err := files.Gunzip(zipped, 100)
	if err != nil || string(got) != "2 2\n0 1 1\n1 1 1\n" {
		t.Errorf("found %q, %v", got, err)
	}
	if _, err := files.Gunzip(zipped, 5); err != limited.TooLarge(5) {
		t.Errorf("found %v, wanted a refusal", err)
	}
	for _, broken := range [][]byte{zipped[:len(zipped)-6], []byte("2 2\n")} {
		if _, err := files.Gunzip(broken, 100); err == nil || !strings.HasPrefix(err.Error(), "not a valid gzip file: ") {
			t.Errorf("found %v, wanted an error", err)
		}
	}
}
