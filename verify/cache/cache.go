package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tilecheck/internal/limited"
)

// Cache is a directory of entries. It is safe for concurrent use.
type Cache struct{ dir string }

// Hash names an entry.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Key returns the name of what is determined by these parts, in this order.
// Parts with the same bytes that are cut differently have different names.
func Key(parts ...string) Hash {
	h := sha256.New()
	var length [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		h.Write(length[:])
		h.Write([]byte(p))
	}
	return Hash(h.Sum(nil))
}

// Open returns the cache in a directory, which is made if it is not there.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	return &Cache{dir}, nil
}

// Dir returns the directory.
func (c *Cache) Dir() string { return c.dir }

// format is the first line of an entry. It changes when entries mean something else.
const format = "tilecheck cache 4\n"

// maxEntry is the largest entry that is read.
const maxEntry = 1 << 28

func (c *Cache) path(key Hash) string {
	name := key.String()
	return filepath.Join(c.dir, name[:2], name[2:])
}

// Get returns the contents of an entry; false if there is none, or none that is whole.
func (c *Cache) Get(key Hash) ([]byte, bool) {
	name := c.path(key)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, false // opening a pipe would wait
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := limited.Read(f, maxEntry)
	if err != nil {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(text, []byte(format))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	data := rest[sha256.Size:]
	if sum := checksum(key, data); !bytes.Equal(rest[:sha256.Size], sum[:]) {
		return nil, false
	}
	return data, true
}

// Put writes an entry, over one that may be there.
func (c *Cache) Put(key Hash, data []byte) error {
	name := c.path(key)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	if err := replace(name, key, data); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

// replace writes an entry beside its place and moves it there. It does not wait
// for the disk: an entry that a crash cuts has a wrong checksum.
func replace(name string, key Hash, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the first error counts
		}
	}()
	sum := checksum(key, data)
	_, err = tmp.Write(bytes.Join([][]byte{[]byte(format), sum[:], data}, nil))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// checksum covers the key, so that an entry under a wrong name is not believed.
func checksum(key Hash, data []byte) Hash {
	h := sha256.New()
	h.Write([]byte(format))
	h.Write(key[:])
	h.Write(data)
	return Hash(h.Sum(nil))
}
