package regress_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/shard"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/cache"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// counts are the results that come from the cache, and all.
func counts(rep *report.TestReport) (cached, all int) {
	for _, r := range rep.Results {
		if r.Cached {
			cached++
		}
	}
	return cached, len(rep.Results)
}

// entries lists the files of a cache.
func entries(t *testing.T, c *cache.Cache) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(c.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCache(t *testing.T) {
	c := newCache(t)
	fsys := files("coin.prism", coin, "coin.prism.props", "const int k;\n// RESULT: 1/3\nP=? [ F s=k ];\n// RESULT: true\nE [ F<=1 s=1 ];", "coin.prism.props.args", "-const k=1\n")
	e := &engine{name: "double"}
	engine := regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}, Identity: "1"}
	first := test(t, fsys, regress.Options{Cache: c}, engine)
	second := test(t, fsys, regress.Options{Cache: c}, engine)
	compare(t, lines(second), lines(first))
	if cached, all := counts(second); cached != 2 || all != 2 || len(e.plans) != 1 {
		t.Errorf("%d of %d results from the cache, %d jobs", cached, all, len(e.plans))
	}
	for name, change := range map[string]func(){
		"model":      func() { fsys["coin.prism"].Data = append(fsys["coin.prism"].Data, '\n') },
		"properties": func() { fsys["coin.prism.props"].Data = append(fsys["coin.prism.props"].Data, '\n') },
		"constants":  func() { fsys["coin.prism.props.args"].Data = []byte("-const k=2\n") },
		"switches":   func() { fsys["coin.prism.props.args"].Data = []byte("-const k=2 -exact\n") },
		"version":    func() { engine.Identity = "2" },
	} {
		change()
		if cached, _ := counts(test(t, fsys, regress.Options{Cache: c}, engine)); cached != 0 {
			t.Errorf("another %s: %d results from the cache", name, cached)
		}
		if cached, _ := counts(test(t, fsys, regress.Options{Cache: c}, engine)); cached != 2 {
			t.Errorf("another %s, again: %d results from the cache", name, cached)
		}
	}
	engine.Identity = ""
	if cached, _ := counts(test(t, fsys, regress.Options{Cache: c}, engine)); cached != 0 {
		t.Error("an engine without identity has cached results")
	}
	// How it is run does not matter.
	engine.Identity = "2"
	if cached, _ := counts(test(t, fsys, regress.Options{Cache: c, Jobs: 1, Memory: 1 << 30}, engine)); cached != 2 {
		t.Errorf("another number of jobs: %d results from the cache", cached)
	}
}

// TestCacheOnlyLasting: limits and interrupts are tried again.
func TestCacheOnlyLasting(t *testing.T) {
	c := newCache(t)
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];")
	class := result.Timeout
	e := &engine{name: "double", answer: func(_ *runner.Job, v *result.Verdict) {
		*v = result.Verdict{Property: v.Property, Err: &result.Failure{Class: class, Message: "m"}}
	}}
	for _, class = range []result.Class{result.Timeout, result.Memory, result.Killed, result.Interrupted, result.Other, result.Truncated} {
		test(t, fsys, regress.Options{Cache: c}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}, Identity: "1"})
	}
	if n := len(entries(t, c)); n != 0 {
		t.Errorf("%d entries", n)
	}
	class = result.Model
	test(t, fsys, regress.Options{Cache: c}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}, Identity: "1"})
	if n := len(entries(t, c)); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// TestResume: a run that was interrupted goes on where it ended.
func TestResume(t *testing.T) {
	c := newCache(t)
	fsys := own(t)
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	whole := testAll(t, t.Context(), tests, fsys, regress.Options{Flakes: 0.01})
	asked := 0
	for stop := 1; stop <= 3; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		asked = 0
		e := &engine{name: "native", answer: func(*runner.Job, *result.Verdict) {
			if asked++; asked == 20 {
				cancel()
			}
		}}
		testAll(t, ctx, tests, fsys, regress.Options{Cache: c, Jobs: 1, Flakes: 0.01}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}, Identity: "1"})
		cancel()
	}
	e := &engine{name: "native"}
	rep := testAll(t, t.Context(), tests, fsys, regress.Options{Cache: c, Flakes: 0.01}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}, Identity: "1"})
	if cached, all := counts(rep); cached < 40 || cached == all {
		t.Errorf("%d of %d results were there", cached, all)
	}
	// The double exports nothing.
	props := func(rep *report.TestReport) string {
		return strings.Join(slices.DeleteFunc(strings.Split(lines(rep), "\n"), func(l string) bool { return !strings.Contains(l, ".props:") }), "\n")
	}
	compare(t, props(rep), props(whole))
}

// TestCacheThatFails: a cache that cannot be written costs a note and no result.
func TestCacheThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := cache.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	rep := test(t, files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];"), regress.Options{Cache: c})
	compare(t, lines(rep), "pass coin.prism.props:2")
	if len(rep.Notes) != 1 || !strings.HasPrefix(rep.Notes[0], "write cache: ") {
		t.Errorf("notes %q", rep.Notes)
	}
}

// TestShards: the parts of a suite are all of it, each test is in one part, and
// in the same one when tests are added.
func TestShards(t *testing.T) {
	fsys := own(t)
	all := strings.Split(strings.TrimSpace(lines(test(t, fsys, regress.Options{Flakes: 0.01}))), "\n")
	const parts = 5
	part := func(i int) []string {
		return strings.Split(strings.TrimSpace(lines(test(t, fsys, regress.Options{Flakes: 0.01, Shard: shard.Part{Index: i, Count: parts}}))), "\n")
	}
	var union []string
	before := make([][]string, parts)
	for i := range parts {
		before[i] = part(i + 1)
		union = append(union, before[i]...)
		if len(before[i]) == len(all) {
			t.Errorf("part %d is everything", i+1)
		}
	}
	union = slices.DeleteFunc(union, func(l string) bool { return l == "" })
	slices.Sort(union)
	slices.Sort(all)
	if !slices.Equal(union, all) {
		t.Errorf("the parts have %d results, want %d", len(union), len(all))
	}
	for name, text := range files("aaa/new.prism", coin, "aaa/new.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];", "zzz/new.prism", coin, "zzz/new.prism.props", "true;") {
		fsys[name] = text
	}
	for i := range parts {
		now := slices.DeleteFunc(part(i+1), func(l string) bool { return strings.Contains(l, "new.prism") })
		if was := slices.DeleteFunc(before[i], func(l string) bool { return l == "" }); !slices.Equal(slices.DeleteFunc(now, func(l string) bool { return l == "" }), was) {
			t.Errorf("part %d changed", i+1)
		}
	}
}
