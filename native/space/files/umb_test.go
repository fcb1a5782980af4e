package files_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

// umbOf is the UMB file of a space.
func umbOf(t *testing.T, space *explicit.Space, opts files.Options) []byte {
	t.Helper()
	w, err := files.NewWriter(space, opts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.UMB(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What was written in UMB and read is the same model, and is written again as it was.
func TestUMBRoundTrip(t *testing.T) {
	models, err := filepath.Glob("testdata/models/*.prism")
	if err != nil || len(models) == 0 {
		t.Fatal("no models", err)
	}
	for _, file := range models {
		for _, exact := range []bool{false, true} {
			name := filepath.Base(file)
			if exact {
				name += " exact"
			}
			t.Run(name, func(t *testing.T) {
				space, err := build(t.Context(), file, nil, explicit.Options{Exact: exact})
				if err != nil {
					t.Fatal(err)
				}
				for _, raw := range []bool{false, true} {
					first := umbOf(t, space, files.Options{Raw: raw})
					read, err := files.ReadUMB(t.Context(), files.Source{Name: "out.umb", Text: first}, files.ReadOptions{Exact: exact})
					if err != nil {
						t.Fatal(err)
					}
					if again := umbOf(t, read, files.Options{Raw: raw}); !bytes.Equal(again, first) {
						t.Errorf("raw %v: written again, %d bytes are not the first %d", raw, len(again), len(first))
					}
					opts := files.Options{Precision: files.MaxPrecision, Zeros: true}
					compareTexts(t, writeAll(t, read, opts), writeAll(t, space, opts), "")
				}
			})
		}
	}
}

// Variables without bounds are read again, with the values that they have: as far apart
// as numbers of 32 bits are, too.
func TestUMBUnbounded(t *testing.T) {
	for _, text := range []string{
		"ctmc module m s:int init -1; [] s<3 -> 0.5:(s'=s+1) + 0.5:(s'=0); endmodule",
		"dtmc module m s:int init -2147483647-1; [] s<3 -> 0.5:(s'=3) + 0.5:(s'=0); endmodule",
		"mdp module m s:int init 3; [] s>=0 -> (s'=-2147483647-1); [] s<0 -> (s'=2147483647); endmodule",
	} {
		file := filepath.Join(t.TempDir(), "m.prism")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		space, err := build(t.Context(), file, nil, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		read, err := files.ReadUMB(t.Context(), files.Source{Name: "out.umb", Text: umbOf(t, space, files.Options{})}, files.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		values := func(space *explicit.Space) (out []int32) {
			for s := range space.Model().NumStates() {
				out = append(out, space.State(nil, s)...)
			}
			slices.Sort(out) // numbers of states are those of the writer
			return out
		}
		if got, want := values(read), values(space); !slices.Equal(got, want) {
			t.Errorf("%s: states are %v, want %v", text, got, want)
		}
		if w := read.Warnings(); slices.ContainsFunc(w, func(w string) bool { return strings.Contains(w, "used") }) {
			t.Errorf("%s: %q", text, w)
		}
	}
}

const intervals = `%s
module m
  s : [0..3];
  [a] s=0 -> [0.1,1/3]:(s'=1) + [0.7,0.9]:(s'=2);
  %s
  [] s=1 -> [0.5,0.9]:(s'=3) + [0.1,0.5]:(s'=2);
  [] s>=2 -> true;
endmodule
label "end" = s=3;
rewards "r" s=1 : 1/7; endrewards
`

// TestUMBIntervals: models with intervals are written and read back, as fractions without
// loss and as doubles with the nearest ones; what is no interval is refused.
func TestUMBIntervals(t *testing.T) {
	for _, src := range []string{fmt.Sprintf(intervals, "dtmc", ""), fmt.Sprintf(intervals, "mdp", "[b] s=0 -> [0.2,0.25]:(s'=3) + [0.75,0.8]:(s'=2);")} {
		space, err := buildText(t.Context(), "m.prism", []byte(src), nil, explicit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		read := func(text []byte) (*explicit.Space, error) {
			return files.ReadUMB(t.Context(), files.Source{Name: "m.umb", Text: text}, files.ReadOptions{})
		}
		for _, fractions := range []bool{true, false} {
			text := umbOf(t, space, files.Options{Raw: true, Fractions: fractions})
			again, err := read(text)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(umbOf(t, again, files.Options{Raw: true, Fractions: fractions}), text) {
				t.Errorf("fractions %v: written again, it is another file", fractions)
			}
			if got, want := ends(again, fractions), ends(space, fractions); !slices.Equal(got, want) || again.Program().Type != space.Program().Type {
				t.Errorf("fractions %v: %s with %v, want %s with %v", fractions, again.Program().Type, got, space.Program().Type, want)
			}
		}
		names, original := umbParts(t, umbOf(t, space, files.Options{Raw: true}))
		for _, tt := range []struct {
			change func(parts map[string][]byte)
			want   string
		}{
			{func(p map[string][]byte) { // the ends change places
				b := p["branch-to-probability.bin"]
				copy(b[:16], append(bytes.Clone(b[8:16]), b[:8]...))
			}, "wanted one of probabilities from 0 to 1"},
			{func(p map[string][]byte) { copy(p["branch-to-target.bin"][8:16], p["branch-to-target.bin"][:8]) }, "found a second transition to state 1"},
			{func(p map[string][]byte) { p["branch-to-probability.bin"] = p["branch-to-probability.bin"][8:] }, "branch-to-probability.bin: found"},
			{func(p map[string][]byte) { copy(p["branch-to-probability.bin"][24:32], make([]byte, 8)) }, "wanted one of probabilities from 0 to 1"},
		} {
			parts := maps.Clone(original)
			for name := range parts {
				parts[name] = bytes.Clone(parts[name])
			}
			tt.change(parts)
			if _, err := read(umbFrom(t, names, parts, 0)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		}
	}
}

// ends are the intervals of a model, choice by choice and in the order of their targets: as
// they are, or those of the nearest doubles.
func ends(space *explicit.Space, fractions bool) []string {
	var out []string
	m := space.Model()
	text := func(x *big.Rat) string {
		if f, _ := x.Float64(); !fractions {
			x = new(big.Rat).SetFloat64(f)
		}
		return x.RatString()
	}
	for c := range m.NumChoices() {
		var row []string
		lo, hi := m.Transitions(c)
		for i := lo; i < hi; i++ {
			row = append(row, fmt.Sprintf("%d: [%s,%s]", m.Target[i], text(m.Fraction(i)), text(m.HighFraction(i))))
		}
		slices.Sort(row)
		out = append(out, row...)
	}
	return out
}

// TestUMBWithPRISM: what PRISM writes is read as the model that its explicit files
// have, and what is written here PRISM reads as it reads what it wrote itself: states,
// choices, probabilities, labels, rewards and actions, byte for byte. The rates of a
// CTMC, which PRISM divides and we multiply, are the same but for their last digit.
//
//	TILECHECK_PRISM=/path/to/bin/prism go test ./native/space/files -run TestUMBWithPRISM
func TestUMBWithPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	own, err := filepath.Glob("testdata/models/*.prism")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		umbWithPRISM(t, prism, file, nil)
		umbWithPRISM(t, prism, file, nil, "-exact")
	}
	for _, e := range examples {
		file := filepath.Join(filepath.Dir(prism), "..", "..", "prism-examples", e.file)
		if _, err := os.Stat(file); err != nil {
			t.Logf("no example %s", e.file)
			continue
		}
		var consts []string
		if e.consts != "" {
			consts = []string{e.consts}
		}
		umbWithPRISM(t, prism, file, consts)
	}
	for name, cfg := range boards(t) {
		umbWithPRISM(t, prism, writeBoard(t, name, cfg), nil)
	}
}

func umbWithPRISM(t *testing.T, prism, file string, consts []string, args ...string) {
	exact := len(args) > 0
	t.Run(strings.Join(append([]string{filepath.Base(file)}, args...), " "), func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		run := func(args ...string) error {
			log, err := exec.CommandContext(t.Context(), prism, args...).CombinedOutput()
			if i := bytes.Index(log, []byte("\nError")); i >= 0 {
				err = fmt.Errorf("%q: %s", args, log[i+1:])
			}
			return err
		}
		first := append([]string{file, "-ex", "-exportmodel", dir + "/out.all", "-exportmodel", dir + "/out.umb"}, args...)
		if len(consts) > 0 {
			first = append(first, "-const", strings.Join(consts, ","))
		}
		if err := run(first...); exact && err != nil && strings.Contains(err.Error(), "Error exporting UMB file") {
			t.Logf("PRISM cannot write this: %v", err) // fractions of more than 64 bits, or no rewards at all
			return
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(dir + "/out.umb")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := files.ReadUMB(t.Context(), files.Source{Name: "out.umb", Text: text}, files.ReadOptions{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		space, err := build(t.Context(), file, consts, explicit.Options{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/ours.umb", umbOf(t, space, files.Options{}), 0o666); err != nil {
			t.Fatal(err)
		}
		for name, from := range map[string]string{"own": "out", "again": "ours"} {
			if err := run(append([]string{"-importmodel", dir + "/" + from + ".umb", "-ex", "-exportmodel", dir + "/" + name + ".all"}, args...)...); err != nil {
				t.Fatal(err)
			}
		}
		got := writeAll(t, theirs, files.Options{})
		entries, err := filepath.Glob(dir + "/out*.*")
		if err != nil || len(entries) < 4 {
			t.Fatalf("PRISM wrote %q, %v", entries, err)
		}
		for _, name := range entries {
			base := filepath.Base(name)
			if base == "out.umb" {
				continue
			}
			want, err1 := os.ReadFile(name)
			own, err2 := os.ReadFile(dir + "/own" + strings.TrimPrefix(base, "out"))
			again, err3 := os.ReadFile(dir + "/again" + strings.TrimPrefix(base, "out"))
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			rates := base == "out.tra" && space.Program().Type == syntax.CTMC && !exact
			for _, x := range []struct{ what, got, want string }{
				{"read from PRISM", got[base], string(want)}, {"read by PRISM", string(again), string(own)},
			} {
				if line, g, w := firstDifference(x.got, x.want); line > 0 && !(rates && sameRates(x.got, x.want)) {
					t.Errorf("%s, %s:%d: %q, PRISM has %q", x.what, base, line, g, w)
				}
			}
		}
	})
}

// umbParts are the members of a file, to be changed.
func umbParts(t *testing.T, text []byte) (names []string, parts map[string][]byte) {
	t.Helper()
	parts = make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names, parts
		}
		data, err2 := io.ReadAll(r)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		names, parts[h.Name] = append(names, h.Name), data
	}
}

func umbFrom(t *testing.T, names []string, parts map[string][]byte, kind byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(parts[name])), Mode: 0o644}
		if kind != 0 && name == names[len(names)-1] {
			h.Typeflag, h.Size, h.Linkname = kind, 0, "/etc/passwd"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(parts[name][:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestUMBRefused: what is wrong with a file is named, and no size that it tells is believed.
func TestUMBRefused(t *testing.T) {
	const model = `mdp module m x:[-2..5]; b:bool; [a] x<5 -> 0.5:(x'=x+1) + 0.5:(b'=!b); [b] x>0 -> (x'=x-1); [a] x=5 -> true; endmodule
label "top" = x=5; rewards "r" x=5:2; [a] true:1; endrewards`
	space, err := buildText(t.Context(), "m.prism", []byte(model), nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := umbOf(t, space, files.Options{Raw: true})
	read := func(text []byte) error {
		_, err := files.ReadUMB(t.Context(), files.Source{Name: "m.umb", Text: text}, files.ReadOptions{})
		return err
	}
	names, original := umbParts(t, text)
	index := func(old, new string) func(parts map[string][]byte) {
		return func(parts map[string][]byte) {
			changed := strings.Replace(string(parts["index.json"]), old, new, 1)
			if changed == string(parts["index.json"]) {
				t.Errorf("the index has no %s", old)
			}
			parts["index.json"] = []byte(changed)
		}
	}
	n := fmt.Sprint(space.Model().NumStates())
	for _, tt := range []struct {
		change func(parts map[string][]byte)
		want   string
	}{
		{index(`"#states": `+n, `"#states": 18446744073709551615`), "numbers that fit 32 bits"},
		{index(`"#states": `+n, `"#states": 2000000000`), "needs more than 134217728 states"},
		{index(`"#states": `+n, `"#states": 100000000`), "state-to-choices.bin: found"},
		{index(`"#states": `+n, `"#states": -1`), "cannot unmarshal"},
		{index(`"#choices": `, `"#choices": 1`), "state-to-choices.bin: found"},
		{index(`"#branches": `, `"#branches": 1`), "choice-to-branches.bin: found"},
		{index(`"#players": 1`, `"#players": 2`), "state-to-player.bin is missing"},
		{index(`"discrete"`, `"urgent-stochastic"`), "exit-rate-type: "},
		{index(`"discrete"`, `"clocks"`), `time "clocks"`},
		{index(`"double"`, `"double-interval"`), `found numbers of type "double" with 32 bits`},
		{index(`"format-version": 1`, `"format-version": 2`), "version 2 of the format"},
		{index(`"#initial-states": 1`, `"#initial-states": 2`), "found 1 initial states, wanted 2"},
		{index(`"top": {`, `"../top": {`), "found the identifier"},
		{index(`"alias": "top"`, `"alias": "a b"`), `found the label "a b"`},
		{index(`"#observations": 0`, `"#observations": 3`), "3 observations"},
		{func(p map[string][]byte) { p["index.json"] = p["index.json"][:100] }, "index.json: unexpected end"},
		{func(p map[string][]byte) { p["branch-to-target.bin"][0] = 0xff }, "branch-to-target.bin: found 255"},
		{func(p map[string][]byte) { p["choice-to-branches.bin"][8] = 0xff }, "choice-to-branches.bin: found"},
		{func(p map[string][]byte) { p["state-to-choices.bin"][0] = 1 }, "state-to-choices.bin: found 1 as offset 0"},
		{func(p map[string][]byte) { p["branch-to-probability.bin"][7] = 0x40 }, "found probability"},
		{func(p map[string][]byte) { copy(p["branch-to-probability.bin"], "\x00\x00\x00\x00\x00\x00\xf8\x7f") }, "found the number NaN"},
		{func(p map[string][]byte) { copy(p["branch-to-probability.bin"], "\x00\x00\x00\x00\x00\x00\xd0\x3f") }, "sum to 0.75"},
		{func(p map[string][]byte) { p["state-is-initial.bin"] = make([]byte, 8) }, "the file state-is-initial.bin is missing or empty"},
		{func(p map[string][]byte) { p["state-is-initial.bin"][7] = 0x80 }, "found a bit for state 63"},
		{func(p map[string][]byte) { p["actions/choices/values.bin"][0] = 9 }, "found 9 as value 0"},
	} {
		parts := maps.Clone(original)
		for name := range parts {
			parts[name] = bytes.Clone(parts[name])
		}
		tt.change(parts)
		if err := read(umbFrom(t, names, parts, 0)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	for name, want := range map[string]string{
		"../index.json": "found the member", "/etc/x": "found the member", "a/../b": "found the member", "branch-to-target.bin": "found branch-to-target.bin twice", "A.bin": "found the member",
	} {
		more := append(slices.Clone(names), name)
		parts := maps.Clone(original)
		if parts[name] == nil {
			parts[name] = []byte("x")
		}
		if err := read(umbFrom(t, more, parts, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeChar, tar.TypeFifo} {
		if err := read(umbFrom(t, append(slices.Clone(names), "x.bin"), original, kind)); err == nil || !strings.Contains(err.Error(), "found the member") {
			t.Errorf("a member of type %c: %v", kind, err)
		}
	}
	rng := rand.New(rand.NewPCG(16, 1))
	zipped := umbOf(t, space, files.Options{})
	for i := range 1000 { // none may end the program or go on for long
		mutant := bytes.Clone(text)
		if i%3 == 0 {
			mutant = bytes.Clone(zipped)
		}
		for range 1 + rng.IntN(4) {
			mutant[rng.IntN(len(mutant))] = byte(rng.Uint32())
		}
		if i%5 == 0 {
			mutant = mutant[:rng.IntN(len(mutant))]
		}
		if err := read(mutant); err == nil && i%5 == 0 && len(mutant) < len(names)*512 {
			t.Errorf("%d bytes of %d are taken for a model", len(mutant), len(text))
		}
	}
}

// sameRates reports whether two texts differ in the last digits of numbers alone.
func sameRates(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		f, err1 := strconv.ParseFloat(x[i], 64)
		g, err2 := strconv.ParseFloat(y[i], 64)
		if x[i] != y[i] && (err1 != nil || err2 != nil || math.Abs(f-g) > 1e-14*math.Abs(f)) {
			return false
		}
	}
	return true
}
