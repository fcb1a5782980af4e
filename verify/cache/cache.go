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

// Key returns the hash of a list of texts. It hashes the lengths too, so ("ab", "c") and ("a", "bc") have different keys.
func Key(parts ...string) Hash {
	hash := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}
	return Hash(hash.Sum(nil))
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

// header is the first line of an entry. Change it whenever the meaning of entries changes.
const header = "tilecheck cache 4\n"

// maxEntry is the greatest size of an entry that is read, in bytes.
const maxEntry = 1 << 28

// path returns the name of the file that contains an entry. The first two digits of the key are the name of its directory.
func (c *Cache) path(key Hash) string {
	digits := key.String()
	return filepath.Join(c.dir, digits[:2], digits[2:])
}

// Get returns the contents of an entry. ok is false if the entry is missing, damaged or larger than maxEntry.
func (c *Cache) Get(key Hash) (data []byte, ok bool) {
	file := c.path(key)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, false // to open a pipe would block
	}
	reader, err := os.Open(file)
	if err != nil {
		return nil, false
	}
	defer reader.Close()
	entry, err := limited.Read(reader, maxEntry)
	if err != nil {
		return nil, false
	}
	body, ok := bytes.CutPrefix(entry, []byte(header))
	if !ok || len(body) < sha256.Size {
		return nil, false
	}
	storedSum, data := body[:sha256.Size], body[sha256.Size:]
	if sum := checksum(key, data); !bytes.Equal(storedSum, sum[:]) {
		return nil, false
	}
	return data, true
}

// Put writes an entry. It replaces an entry with the same key.
func (c *Cache) Put(key Hash, data []byte) error {
	file := c.path(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	if err := writeAtomically(file, key, data); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

// writeAtomically writes an entry to a temporary file and renames the file.
func writeAtomically(file string, key Hash, data []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name()) // the first error is returned
		}
	}()
	sum := checksum(key, data) // Get recognises an entry that a crash has truncated, so a sync is not necessary
	_, err = temporary.Write(bytes.Join([][]byte{[]byte(header), sum[:], data}, nil))
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

// checksum returns the checksum of an entry together with its key. So an entry that was stored under another key is detected.
func checksum(key Hash, data []byte) Hash {
	hash := sha256.New()
	hash.Write([]byte(header))
	hash.Write(key[:])
	hash.Write(data)
	return Hash(hash.Sum(nil))
}
