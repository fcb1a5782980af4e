package cache_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"tilecheck/internal/needs"
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
