package regress_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// exactSuite is the part of our suite whose values are computed.
func exactSuite(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for name, f := range own(t) {
		if d := path.Dir(name); d == "dtmc" || d == "mdp" || d == "ctmc" {
			out[name] = f
		}
	}
	return out
}

// with returns a file system with another text of one file.
func with(fsys fstest.MapFS, name string, text []byte) fstest.MapFS {
	out := maps.Clone(fsys)
	out[name] = &fstest.MapFile{Data: text}
	return out
}

func names(fsys fstest.MapFS, ext string) []string {
	out := slices.Sorted(maps.Keys(fsys))
	return slices.DeleteFunc(out, func(n string) bool { return path.Ext(n) != ext })
}

// key tells results of one run from each other. Properties of our suite have
// different texts in every file.
func key(r *report.TestResult) string {
	return fmt.Sprint(r.Props, r.Args, r.Property, r.Constants)
}

// TestMutatedAnnotations: whatever becomes of an annotation, a result passes only
// if the annotation, read by a slow judge of our own, is true; a property whose
// annotation became false or unreadable does not pass, and what is said about it
// has its place. No seed can fail, but those whose mutants the slow judge cannot
// tell apart from rounding, which it leaves alone.
func TestMutatedAnnotations(t *testing.T) {
	fsys := exactSuite(t)
	clean := make(map[string]*report.TestResult)
	rep := test(t, fsys, regress.Options{})
	for i := range rep.Results {
		clean[key(&rep.Results[i])] = &rep.Results[i]
	}
	rng := rand.New(rand.NewPCG(7, 1))
	props := names(fsys, ".props")
	judged := make(map[string]int)
	for n := range needs.Some(400) {
		name := props[rng.IntN(len(props))]
		text := mutateComment(rng, fsys[name].Data)
		rep := test(t, with(fsys, name, text), regress.Options{})
		if len(rep.Results) != len(clean) {
			t.Fatalf("mutant %d: %d results, want %d\n%s", n, len(rep.Results), len(clean), text)
		}
		lines := bytes.Split(text, []byte("\n"))
		for i := range rep.Results {
			r := &rep.Results[i]
			old := clean[key(r)]
			if old == nil || r.Got != old.Got {
				t.Fatalf("mutant %d: another verdict on %s: %s", n, r.Property, r.Got)
			}
			if r.Props != name {
				continue
			}
			if r.Line < 1 || r.Line > len(lines) || r.File != r.Props || r.ExpectedLine < 0 || r.ExpectedLine > r.Line {
				t.Errorf("mutant %d: %s is at %s:%d, its annotation in line %d", n, r.Property, r.File, r.Line, r.ExpectedLine)
			}
			want := slowJudge(commentsAbove(lines, r.Line), r)
			judged[want]++
			got := map[bool]string{true: "pass", false: "other"}[r.Outcome == report.TestPassed]
			if want != "unknown" && got != want {
				t.Errorf("mutant %d: %s %v: %s (%s), the slow judge says %s\n%s", n, r.Property, r.Constants, r.Outcome, r.Reason, want, bytes.Join(commentsAbove(lines, r.Line), []byte("\n")))
			}
		}
		for _, f := range rep.Findings {
			if f.File != name || f.Line < 1 || f.Line > len(lines) || f.Col < 1 || f.Col > len(lines[f.Line-1])+1 || !bytes.Contains(lines[f.Line-1], []byte("//")) {
				t.Errorf("mutant %d: finding at %s:%d:%d", n, f.File, f.Line, f.Col)
			}
		}
	}
	if judged["other"] < needs.Some(400) || judged["pass"] < needs.Some(400) {
		t.Errorf("judgments: %v, want many of both", judged)
	}
}

// mutateComment changes some bytes of comments.
func mutateComment(rng *rand.Rand, text []byte) []byte {
	const alphabet = "0123456789/.[](),~:= RESULTNkpx?Errorae-+\"|\tTILECHECK"
	lines := bytes.Split(bytes.Clone(text), []byte("\n"))
	var comments []int
	for i, l := range lines {
		if bytes.HasPrefix(l, []byte("//")) && (bytes.Contains(l, []byte("RESULT")) || bytes.Contains(l, []byte("TILECHECK"))) {
			comments = append(comments, i)
		}
	}
	for range 1 + rng.IntN(3) {
		i := comments[rng.IntN(len(comments))]
		l := lines[i]
		at := 2 + rng.IntN(len(l)-1)
		c := alphabet[rng.IntN(len(alphabet))]
		switch rng.IntN(5) {
		case 0:
			l = slices.Insert(slices.Clone(l), at, c)
		case 1:
			if at < len(l) && len(l) > 4 {
				l = slices.Delete(slices.Clone(l), at, at+1)
			}
		case 2:
			if at < len(l) {
				l = slices.Clone(l)
				l[at] = c
			}
		case 3: // another value
			if k := bytes.LastIndexByte(l, ':'); k > 0 {
				l = fmt.Appendf(slices.Clone(l[:k]), ": %d/%d", rng.IntN(20), 1+rng.IntN(20))
			}
		case 4: // another kind of value
			kinds := []string{"true", "FALSE", "NaN", "Infinity", "-Infinity", "?", "Error", "Error:no", "[0,0.1]", "[0.9,1]", "[0.3,9]", "~0.5", "-3"}
			value := kinds[rng.IntN(len(kinds))]
			if bytes.HasSuffix(l, []byte(": false")) {
				value = "true"
			}
			if k := bytes.LastIndexByte(l, ':'); k > 0 {
				l = fmt.Appendf(slices.Clone(l[:k]), ": %s", value)
			}
		}
		lines[i] = l
	}
	return bytes.Join(lines, []byte("\n"))
}

// commentsAbove are the comments of the lines directly above a line, from 1.
func commentsAbove(lines [][]byte, line int) [][]byte {
	var out [][]byte
	for i := line - 2; i >= 0 && bytes.Contains(lines[i], []byte("//")); i-- {
		_, comment, _ := bytes.Cut(lines[i], []byte("//"))
		out = append([][]byte{comment}, out...)
	}
	return out
}

// slowJudge reads RESULT annotations by hand: "pass" if the first that fits is
// true of the value, "other" if not, "unknown" where that depends on rounding,
// on expressions, on -exact or on terms.
//
// Source: reference, tools and options, section 1.
func slowJudge(comments [][]byte, r *report.TestResult) string {
	text := string(bytes.Join(comments, []byte("\n")))
	if strings.Contains(text, "TILECHECK") || slices.Contains(r.Args, "-exact") {
		return "unknown"
	}
	value, how := chosenValue(text, r)
	if how != "" {
		return how
	}
	x := r.Verdict.Value
	switch {
	case strings.HasPrefix(value, "Error"), value == "?":
		return "other"
	case strings.EqualFold(value, "true"), strings.EqualFold(value, "false"):
		if x.Kind != result.Boolean {
			return "other"
		}
		return map[bool]string{true: "pass", false: "other"}[strings.EqualFold(value, strconv.FormatBool(x.Bool))]
	case x.Kind == result.Boolean:
		if _, err := strconv.ParseFloat(value, 64); err == nil {
			return "other"
		}
		return "unknown"
	}
	return closeTo(strings.TrimPrefix(value, "~"), x)
}

// closeTo compares a number.
func closeTo(value string, x result.Value) string {
	if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
		lo, hi, ok := strings.Cut(value[1:len(value)-1], ",")
		a, err := strconv.ParseFloat(lo, 64)
		b, err2 := strconv.ParseFloat(hi, 64)
		if !ok || err != nil || err2 != nil {
			return "other"
		}
		if slack := 1e-4 * math.Abs(x.Num); math.Abs(x.Num-a) < slack || math.Abs(x.Num-b) < slack {
			return "unknown"
		}
		return map[bool]string{true: "pass", false: "other"}[a <= x.Num && x.Num <= b]
	}
	if special, err := strconv.ParseFloat(value, 64); err == nil && (value == "NaN" || strings.HasSuffix(value, "Infinity")) {
		same := special == x.Num || math.IsNaN(special) && math.IsNaN(x.Num)
		return map[bool]string{true: "pass", false: "other"}[same]
	}
	for _, c := range value {
		if !strings.ContainsRune("0123456789./-", c) {
			return "unknown" // an expression, an infinity
		}
	}
	want, ok := new(big.Rat).SetString(value)
	if !ok || strings.ContainsAny(value, "/") && strings.ContainsAny(value, ".") || strings.HasPrefix(value, "/") {
		return "unknown"
	}
	f, _ := want.Float64()
	if x.Kind == result.Integer {
		if strings.ContainsAny(value, "./") {
			return "unknown"
		}
		return map[bool]string{true: "pass", false: "other"}[f == x.Num]
	}
	if math.IsInf(x.Num, 0) {
		return "other"
	}
	off := math.Abs(f - x.Num)
	switch scale := math.Abs(x.Num); {
	case off <= 1e-7*scale:
		return "pass"
	case off > 1e-4*max(scale, 1):
		return "other"
	}
	return "unknown"
}

// chosenValue returns the value of the first annotation that fits, or what
// becomes of the result without one.
func chosenValue(text string, r *report.TestResult) (value, how string) {
	for {
		i := strings.Index(text, "RESULT")
		if i < 0 {
			return "", "other"
		}
		text = text[i+len("RESULT"):]
		rest := strings.TrimLeft(text, " \t")
		fits := true
		if strings.HasPrefix(rest, "(") {
			end := strings.IndexByte(rest, ')')
			if end <= 1 {
				continue
			}
			for c := range strings.SplitSeq(rest[1:end], ",") {
				if c = strings.TrimSpace(c); c == "" {
					continue
				}
				parts := strings.Split(strings.TrimRight(c, "="), "=")
				after := strings.TrimLeft(rest[end+1:], " \t")
				if !strings.HasPrefix(after, ":") || strings.TrimSpace(strings.TrimPrefix(after, ":")) == "" {
					break // no annotation at all
				}
				if len(parts) != 2 {
					return "", "other"
				}
				ok, sure := holds(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), r)
				if !sure {
					return "", "unknown"
				}
				fits = fits && ok
			}
			rest = strings.TrimLeft(rest[end+1:], " \t")
		}
		after, colon := strings.CutPrefix(rest, ":")
		if !colon {
			continue
		}
		after = strings.TrimLeft(after, " \t")
		end := strings.IndexAny(after+" ", " \t\r\n")
		if end == 0 {
			continue
		}
		text = after[end:]
		if fits {
			return after[:end], ""
		}
	}
}

// holds compares a constant; sure is false for those that are no numbers.
func holds(name, value string, r *report.TestResult) (ok, sure bool) {
	for _, c := range r.Constants {
		if c.Name != name {
			continue
		}
		want, numeric := new(big.Rat).SetString(value)
		got, ok := new(big.Rat).SetString(c.Value)
		if !numeric || !ok || strings.ContainsAny(value, "eE_xXpPbBoO") || strings.ContainsAny(value, "/") && !strings.ContainsAny(c.Value, ".") {
			return false, false
		}
		a, _ := want.Float64()
		b, _ := got.Float64()
		if c.Value != value && !strings.ContainsAny(c.Value, ".") {
			return false, true // integers are compared as text
		}
		return math.Abs(a-b) <= 1e-12*math.Abs(b), true
	}
	// Constants of the model that have a value there are not known here.
	return false, !strings.Contains("K lambda mu", name)
}

// TestMutatedModels: a model that changed is never judged by what the cache has
// of another, and what is wrong with it has its place. No seed can fail.
func TestMutatedModels(t *testing.T) {
	fsys := exactSuite(t)
	c := newCache(t)
	test(t, fsys, regress.Options{Cache: c})
	rng := rand.New(rand.NewPCG(7, 2))
	models := names(fsys, ".prism")
	outcomes := make(map[report.TestOutcome]int)
	told := make(map[string]bool) // mutants that came before
	for n := range needs.Some(300) {
		name := models[rng.IntN(len(models))]
		text := mutate(rng, fsys[name].Data)
		changed := with(fsys, name, text)
		opt := regress.Options{Time: 5 * time.Second, Memory: 64 << 20}
		fresh := test(t, changed, opt)
		opt.Cache = c
		cached := test(t, changed, opt)
		if slices.ContainsFunc(fresh.Results, func(r report.TestResult) bool { return r.Outcome == report.TestLimit }) {
			continue
		}
		if a, b := lines(fresh), lines(cached); a != b {
			t.Errorf("mutant %d: without the cache\n%swith it\n%s", n, a, b)
		}
		for _, r := range cached.Results {
			if r.Model != name {
				continue
			}
			outcomes[r.Outcome]++
			if r.Cached && !bytes.Equal(text, fsys[name].Data) && !told[string(text)] {
				t.Errorf("mutant %d: a verdict about another model: %s", n, r.Property)
			}
			if r.Outcome == report.TestError && r.Property == "" && (r.Line < 1 && r.File == name && strings.Contains(r.Reason, "found ") || r.File == "") {
				t.Errorf("mutant %d: %s:%d: %s has no place", n, r.File, r.Line, r.Reason)
			}
		}
		told[string(text)] = true
	}
	if outcomes[report.TestError] < needs.Some(300)/5 || outcomes[report.TestPassed] < needs.Some(300)/5 {
		t.Errorf("outcomes %v, want many of both", outcomes)
	}
}

// mutate changes some bytes.
func mutate(rng *rand.Rand, text []byte) []byte {
	const alphabet = "0123456789/.[]()';:->=&|+*<! sdxnfp\n"
	out := bytes.Clone(text)
	for range 1 + rng.IntN(2) {
		at := rng.IntN(len(out))
		switch rng.IntN(3) {
		case 0:
			out = slices.Insert(out, at, alphabet[rng.IntN(len(alphabet))])
		case 1:
			out = slices.Delete(out, at, at+1)
		case 2:
			out[at] = alphabet[rng.IntN(len(alphabet))]
		}
	}
	return out
}

// TestMutatedCaches: whatever becomes of entries, results are those without a
// cache, and damaged entries are written again. No seed can fail.
func TestMutatedCaches(t *testing.T) {
	fsys := exactSuite(t)
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	c := newCache(t)
	clean := lines(testAll(t, t.Context(), tests, fsys, regress.Options{Cache: c}))
	rng := rand.New(rand.NewPCG(7, 3))
	for n := range needs.Some(300) {
		files := entries(t, c)
		damaged := make(map[string]bool)
		for range 1 + rng.IntN(4) {
			name := files[rng.IntN(len(files))]
			damage(t, rng, name, files[rng.IntN(len(files))])
			damaged[name] = true
		}
		rep := testAll(t, t.Context(), tests, fsys, regress.Options{Cache: c})
		if got := lines(rep); got != clean {
			t.Fatalf("mutant %d: got\n%swant\n%s", n, got, clean)
		}
		again := testAll(t, t.Context(), tests, fsys, regress.Options{Cache: c})
		if cached, all := counts(again); cached != all {
			t.Fatalf("mutant %d: %d of %d results from the cache, want all again", n, cached, all)
		}
	}
}

// damage changes a file, perhaps into another.
func damage(t *testing.T, rng *rand.Rand, name, other string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	switch rng.IntN(5) {
	case 0:
		text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
	case 1:
		text = text[:rng.IntN(len(text))]
	case 2:
		text = append(text, byte(rng.IntN(256)))
	case 3:
		text = nil
	case 4:
		if text, err = os.ReadFile(other); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
