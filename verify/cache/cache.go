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

// Key returns the hash of a list of parts. Lists that differ only in how the bytes are divided into parts have
// different hashes.
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

// Open returns the cache in a directory, which it creates if necessary.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	return &Cache{dir}, nil
}

// Dir returns the directory.
func (c *Cache) Dir() string { return c.dir }

// format is the first line of an entry. Change it whenever the meaning of entries changes.
const format = "tilecheck cache 4\n"

// maxEntry is the greatest size of an entry that is read, in bytes.
const maxEntry = 1 << 28

func (c *Cache) path(key Hash) string {
	name := key.String()
	return filepath.Join(c.dir, name[:2], name[2:])
}

// Get returns the contents of an entry; false if it is missing or damaged.
func (c *Cache) Get(key Hash) ([]byte, bool) {
	name := c.path(key)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, false // opening a pipe would block
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

// Put writes an entry, replacing an existing one.
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

// replace writes a temporary file and renames it. It does not sync to disk: if a crash truncates the entry, its checksum is wrong.
func replace(name string, key Hash, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the first error is returned
		}
	}()
	sum := checksum(key, data)
	_, err = tmp.Write(bytes.Join([][]byte{[]byte(format), sum[:], data}, nil))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// checksum covers the key, too, so that an entry under a wrong name counts as damaged.
func checksum(key Hash, data []byte) Hash {
	h := sha256.New()
	h.Write([]byte(format))
	h.Write(key[:])
	h.Write(data)
	return Hash(h.Sum(nil))
}
