package cache_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/cache"
)

func open(t *testing.T) *cache.Cache {
	t.Helper()
	c, err := cache.Open(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entry returns the one file of a cache.
func entry(t *testing.T, c *cache.Cache) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(c.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files, %v", len(found), err)
	}
	return found[0]
}

func TestKey(t *testing.T) {
	seen := make(map[cache.Hash][]string)
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"b", "a"}} {
		k := cache.Key(parts...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", parts, other)
		}
		seen[k] = parts
	}
}

func TestGetPut(t *testing.T) {
	c := open(t)
	key := cache.Key("a")
	if _, ok := c.Get(key); ok {
		t.Error("an empty cache has an entry")
	}
	for _, data := range [][]byte{[]byte("one"), {}, bytes.Repeat([]byte{0, 255}, 1000)} {
		if err := c.Put(key, data); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(key); !ok || !bytes.Equal(got, data) {
			t.Errorf("got %q, %v, want %q", got, ok, data)
		}
	}
	entry(t, c) // and nothing temporary
}

// TestDamage: no damaged entry is believed. Every byte of an entry counts.
func TestDamage(t *testing.T) {
	c := open(t)
	key, data := cache.Key("a"), []byte("the value is 1/6")
	if err := c.Put(key, data); err != nil {
		t.Fatal(err)
	}
	name := entry(t, c)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	try := func(text []byte, what string) {
		t.Helper()
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(key); ok {
			t.Errorf("%s: believed %q", what, got)
		}
	}
	for i := range whole {
		text := bytes.Clone(whole)
		text[i] ^= 1
		try(text, fmt.Sprintf("byte %d", i))
		try(whole[:i], fmt.Sprintf("the first %d bytes", i))
	}
	try(append(bytes.Clone(whole), 'x'), "a byte more")
	if err := c.Put(key, data); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get(key); !ok || !bytes.Equal(got, data) {
		t.Errorf("written again: got %q, %v", got, ok)
	}
}

// TestWrongName: an entry that was copied to another name is not believed.
func TestWrongName(t *testing.T) {
	c := open(t)
	if err := c.Put(cache.Key("a"), []byte("a")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(entry(t, c))
	if err != nil {
		t.Fatal(err)
	}
	other := cache.Key("b")
	dir := filepath.Join(c.Dir(), other.String()[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, other.String()[2:]), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get(other); ok {
		t.Errorf("believed %q", got)
	}
}

// TestConcurrent: readers see a whole entry or none, whoever writes.
func TestConcurrent(t *testing.T) {
	c := open(t)
	other, err := cache.Open(c.Dir())
	if err != nil {
		t.Fatal(err)
	}
	key := cache.Key("a")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				if err := c.Put(key, bytes.Repeat([]byte{byte(i)}, 5000)); err != nil {
					t.Error(err)
				}
				got, ok := other.Get(key)
				if !ok || len(got) != 5000 || bytes.Count(got, got[:1]) != 5000 {
					t.Errorf("read %d bytes, %v", len(got), ok)
				}
			}
		})
	}
	wg.Wait()
}

func TestVerdicts(t *testing.T) {
	half, seed := 0.0, uint64(math.MaxUint64)
	verdicts := []result.Verdict{
		{},
		{
			Property: "P=? [ F \"a\" ]", Name: "x", Constants: []result.Constant{{Name: "N", Value: "3"}}, Engine: "native", Tool: "t", Method: "exact",
			Value:    result.Value{Kind: result.Number, Num: 1.0 / 3, Rat: big.NewRat(1, 3)},
			Accuracy: result.Exact, Resolution: result.Maximum, States: 1, Choices: 2, Transitions: 3, Seconds: 0.25, Warnings: []string{"w"}, Doubt: "d",
		},
		{
			Value: result.Value{Kind: result.Range, Num: math.Inf(-1), Hi: math.Inf(1)}, Accuracy: result.Probable,
			Bound: &result.Interval{Lo: math.Copysign(0, -1), Hi: math.SmallestNonzeroFloat64}, BoundMethod: "m", HalfWidth: &half,
			Confidence: 0.99, Samples: 1 << 60, Steps: &result.Steps{Min: 1, Max: 2, Mean: 1.5}, Seed: &seed,
		},
		{Err: &result.Failure{Class: result.Model, Message: "m", File: "f", Pos: syntax.Pos{Offset: 1, Line: 2, Col: 3}}},
		{Value: result.Value{Kind: result.Boolean, Bool: true}, Accuracy: result.Claimed, Doubt: "results are unreliable"},
		{Listings: []result.Listing{{Zeros: true, Left: 7, Values: []result.StateValue{
			{State: 3, Valuation: "(1,true)", Value: result.Value{Kind: result.Number, Num: 0.5, Rat: big.NewRat(1, 2)}}, {Valuation: "()"},
		}}}},
	}
	data, err := cache.EncodeVerdicts(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cache.DecodeVerdicts(data)
	if err != nil || !reflect.DeepEqual(got, verdicts) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, verdicts)
	}
	if !math.Signbit(got[2].Bound.Lo) {
		t.Error("a negative zero became positive")
	}
	nan, err := cache.EncodeVerdicts([]result.Verdict{{Value: result.Value{Kind: result.Number, Num: math.NaN()}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cache.DecodeVerdicts(nan); err != nil || !math.IsNaN(got[0].Value.Num) {
		t.Errorf("NaN: got %+v, %v", got, err)
	}
}

// TestAllFields: whoever adds a field to a verdict is reminded of this package.
func TestAllFields(t *testing.T) {
	for typ, want := range map[reflect.Type]int{
		reflect.TypeFor[result.Verdict](): 24, reflect.TypeFor[result.Value](): 5, reflect.TypeFor[result.Failure](): 4,
		reflect.TypeFor[result.Steps](): 3, reflect.TypeFor[result.Interval](): 2, reflect.TypeFor[result.Listing](): 3, reflect.TypeFor[result.StateValue](): 3,
	} {
		if n := typ.NumField(); n != want {
			t.Errorf("%v has %d fields, %d are kept", typ, n, want)
		}
	}
}

// TestDecodeDamage: damaged text is an error or some verdicts, and no panic.
// The seed is fixed; no other can fail either.
func TestDecodeDamage(t *testing.T) {
	data, err := cache.EncodeVerdicts([]result.Verdict{{Property: "p", Bound: &result.Interval{Lo: 1, Hi: 2}, Err: &result.Failure{Class: result.Model}}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 2000 {
		text := bytes.Clone(data)
		text[rng.IntN(len(text))] = byte(rng.IntN(256))
		if _, err := cache.DecodeVerdicts(text); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

func ExampleCache() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, err := cache.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	key := cache.Key("prism 4.10", "dtmc …", "P=? [ F s=2 ]", "N=3")
	if err := c.Put(key, []byte("1/6")); err != nil {
		fmt.Println(err)
		return
	}
	data, ok := c.Get(key)
	fmt.Println(string(data), ok)
	// Output: 1/6 true
}

// TestPipe: an entry that is a named pipe is no entry, and is not waited for.
func TestPipe(t *testing.T) {
	c := open(t)
	key := cache.Key("a")
	if err := c.Put(key, []byte("x")); err != nil {
		t.Fatal(err)
	}
	name := entry(t, c)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", name).Run(); err != nil {
		needs.Have(t, needs.System, err)
	}
	if data, ok := c.Get(key); ok {
		t.Errorf("got %q", data)
	}
	if err := c.Put(key, []byte("y")); err != nil {
		t.Fatal(err)
	}
	if data, ok := c.Get(key); !ok || string(data) != "y" {
		t.Errorf("got %q, %t, want it written again", data, ok)
	}
}
