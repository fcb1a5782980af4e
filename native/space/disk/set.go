package disk

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"

	"tilecheck/prism/compile"
)

// setBlock is the number of keys of a block of a Set. The first key of a block is in the index, so blocks are read independently.
const setBlock = 256

// setMagic begins the footer of the file of a set.
const setMagic = 0x746b3173 // "tk1s"

// footerBytes is the size of the footer of the file of a set.
const footerBytes = 32

// indexBuffer is the size of the buffer with which an index is read.
const indexBuffer = 1 << 16

// Set is a sorted set of keys in a file. A key is a packed state: a fixed number of words, which are compared lexicographically. Keys are
// stored as differences to the key before. A Set is safe for concurrent use by several cursors.
type Set struct {
	Name  string // of the file in its directory
	Count int64  // of keys
	Bytes int64  // size of the file

	*layout
	file    *os.File
	firsts  []uint64 // the first key of each block
	offsets []int64  // of each block in the file, and the end of the last one
}

// layout says what keys look like: how many words they have, and how many of the lowest bits of each word are zero in all keys. Those bits
// are not stored.
type layout struct {
	words  int
	unused []uint
}

// newLayout returns the layout of the packed states of a model.
func newLayout(packing *compile.Packing) *layout {
	result := &layout{words: packing.Words, unused: make([]uint, packing.Words)}
	for word := range result.unused {
		result.unused[word] = 63
	}
	for _, field := range packing.Fields {
		if field.Mask != 0 {
			result.unused[field.Word] = min(result.unused[field.Word], field.Shift)
		}
	}
	return result
}

// openSet opens the file of a set of keys.
func openSet(dir *Directory, name string, layout *layout) (*Set, error) {
	file, err := os.Open(dir.Path(name))
	if err != nil {
		return nil, err
	}
	set, err := readIndex(file, name, layout)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", dir.Path(name), err), file.Close())
	}
	return set, nil
}

// readIndex reads the footer and the index of a set's file.
func readIndex(file *os.File, name string, layout *layout) (*Set, error) {
	words := layout.words
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var footer [footerBytes]byte
	if _, err := file.ReadAt(footer[:], info.Size()-footerBytes); err != nil {
		return nil, err
	}
	magic, numWords := binary.LittleEndian.Uint32(footer[0:]), binary.LittleEndian.Uint32(footer[4:])
	if magic != setMagic || int(numWords) != words {
		return nil, fmt.Errorf("found a footer %x of states of %d words, want %x and %d", magic, numWords, setMagic, words)
	}
	set := &Set{Name: name, Bytes: info.Size(), layout: layout, file: file}
	set.Count = int64(binary.LittleEndian.Uint64(footer[8:]))
	indexStart := int64(binary.LittleEndian.Uint64(footer[16:]))
	numBlocks := int((set.Count + setBlock - 1) / setBlock)
	index := io.NewSectionReader(file, indexStart, info.Size()-footerBytes-indexStart)
	if err := set.readBlocks(index, numBlocks); err != nil {
		return nil, err
	}
	set.offsets = append(set.offsets, indexStart)
	return set, nil
}

// readBlocks reads the first key and the offset of each block from the index of the file.
func (s *Set) readBlocks(index io.Reader, numBlocks int) error {
	s.firsts = make([]uint64, 0, numBlocks*s.words)
	s.offsets = make([]int64, 0, numBlocks+1)
	buffered := bufio.NewReaderSize(index, indexBuffer)
	entry := make([]byte, 8*(s.words+1)) // the first key, and the offset
	for range numBlocks {
		if _, err := io.ReadFull(buffered, entry); err != nil {
			return err
		}
		for i := range s.words {
			s.firsts = append(s.firsts, binary.LittleEndian.Uint64(entry[8*i:]))
		}
		s.offsets = append(s.offsets, int64(binary.LittleEndian.Uint64(entry[8*s.words:])))
	}
	return nil
}

// Close closes the file.
func (s *Set) Close() error { return s.file.Close() }

// numBlocks returns the number of blocks.
func (s *Set) numBlocks() int { return len(s.offsets) - 1 }

// first returns the first key of a block.
func (s *Set) first(block int) []uint64 { return s.firsts[block*s.words : (block+1)*s.words] }

// blockOf returns the last block with a first key of at most key. It returns the block from if there is none, and
// searches from there on.
func (s *Set) blockOf(key []uint64, from int) int {
	// Exponential search, because the block of the next ascending key is usually near.
	step := 1
	low := from
	for low+step < s.numBlocks() && compareKeys(s.first(low+step), key) <= 0 {
		low += step
		step *= 2
	}
	width := min(step, s.numBlocks()-low-1)
	after := sort.Search(width, func(i int) bool { return compareKeys(s.first(low+1+i), key) > 0 })
	return low + after
}

// compareKeys compares two keys lexicographically.
func compareKeys(left, right []uint64) int {
	if len(left) == 1 { // faster than slices.Compare
		return cmp.Compare(left[0], right[0])
	}
	return slices.Compare(left, right)
}

// windowBytes is the number of bytes that a cursor reads at once.
const windowBytes = 1 << 17

// Cursor reads the keys of a set. It is not safe for concurrent use.
type Cursor struct {
	set         *Set
	block       int      // the decoded block; -1 for none
	keys        []uint64 // of the block
	pos         int      // of the next key in keys
	window      []byte
	windowStart int64
}

// NewCursor returns a cursor before the first key.
func (s *Set) NewCursor() *Cursor {
	return &Cursor{set: s, block: -1, keys: make([]uint64, 0, setBlock*s.words)}
}

// load decodes a block.
func (c *Cursor) load(block int) error {
	set := c.set
	data, err := c.read(set.offsets[block], set.offsets[block+1])
	if err != nil {
		return fmt.Errorf("read %s: %w", set.file.Name(), err)
	}
	count := int(min(setBlock, set.Count-int64(block)*setBlock))
	c.block, c.pos = block, 0
	c.keys = append(c.keys[:0], set.first(block)...)
	if c.keys, err = set.decodeKeys(c.keys, data, count-1); err != nil {
		return fmt.Errorf("read %s: %w", set.file.Name(), err)
	}
	return nil
}

// read returns the bytes of the file from start to end. It reads a larger window, so the next blocks need no reading.
func (c *Cursor) read(start, end int64) ([]byte, error) {
	isInWindow := start >= c.windowStart && end <= c.windowStart+int64(len(c.window))
	if !isInWindow {
		size := min(max(windowBytes, end-start), c.set.offsets[c.set.numBlocks()]-start)
		c.window = slices.Grow(c.window[:0], int(size))[:size]
		c.windowStart = start
		if _, err := c.set.file.ReadAt(c.window, start); err != nil {
			c.window = c.window[:0]
			return nil, err
		}
	}
	return c.window[start-c.windowStart : end-c.windowStart], nil
}

// errDamaged says that the content of a file cannot be decoded.
var errDamaged = errors.New("the file is damaged")

// decodeKeys decodes count keys and appends them to keys. A key is stored as its difference to the key before,
// which for the first one is the last of keys.
func (l *layout) decodeKeys(keys []uint64, data []byte, count int) ([]uint64, error) {
	words := l.words
	if words == 1 {
		return decodeWords(keys, data, count, l.unused[0])
	}
	for range count {
		last := keys[len(keys)-words:]
		if len(data) == 0 || int(data[0]) >= words {
			return nil, errDamaged
		}
		equal := int(data[0])
		data = data[1:]
		keys = append(keys, last[:equal]...)
		for word := equal; word < words; word++ {
			value, size := binary.Uvarint(data)
			if size <= 0 {
				return nil, errDamaged
			}
			data = data[size:]
			value <<= l.unused[word]
			if word == equal {
				value += last[word]
			}
			keys = append(keys, value)
		}
	}
	return keys, nil
}

// decodeWords decodes count keys of one word and appends them to keys. The lowest bits of a key are unused.
func decodeWords(keys []uint64, data []byte, count int, unused uint) ([]uint64, error) {
	last := keys[len(keys)-1]
	for range count {
		delta, size := shortUvarint(data)
		if size <= 0 {
			return nil, errDamaged
		}
		data = data[size:]
		last += (delta + 1) << unused
		keys = append(keys, last)
	}
	return keys, nil
}

// shortUvarint is a faster binary.Uvarint for numbers of one byte.
func shortUvarint(data []byte) (value uint64, size int) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint64(data[0]), 1
	}
	return binary.Uvarint(data)
}

// Next returns the next key, or nil after the last one. The next call overwrites the key.
func (c *Cursor) Next() ([]uint64, error) {
	words := c.set.words
	if c.pos*words >= len(c.keys) {
		if c.block+1 >= c.set.numBlocks() {
			return nil, nil
		}
		if err := c.load(c.block + 1); err != nil {
			return nil, err
		}
	}
	key := c.keys[c.pos*words : (c.pos+1)*words]
	c.pos++
	return key, nil
}

// Range appends the keys of the blocks from first to end-1 to dst.
func (c *Cursor) Range(dst []uint64, first, end int) ([]uint64, error) {
	for block := first; block < min(end, c.set.numBlocks()); block++ {
		if err := c.load(block); err != nil {
			return nil, err
		}
		dst = append(dst, c.keys...)
	}
	return dst, nil
}

// Find returns the rank of a key in the set, if it is there. Keys must be looked up in ascending order.
func (c *Cursor) Find(key []uint64) (rank int64, ok bool, err error) {
	if c.set.Count == 0 {
		return 0, false, nil
	}
	if err := c.loadBlockOf(key); err != nil {
		return 0, false, err
	}
	if c.set.words == 1 {
		ok = c.advanceToWord(key[0])
	} else {
		ok = c.advanceToKey(key)
	}
	return int64(c.block)*setBlock + int64(c.pos), ok, nil
}

// loadBlockOf decodes the block that can contain a key, unless it is decoded already.
func (c *Cursor) loadBlockOf(key []uint64) error {
	block := max(c.block, 0)
	if block+1 < c.set.numBlocks() && compareKeys(c.set.first(block+1), key) <= 0 {
		block = c.set.blockOf(key, block+1)
	}
	if block == c.block {
		return nil
	}
	return c.load(block)
}

// advanceToKey advances in the block to the first key of at least wanted. It reports whether they are equal.
func (c *Cursor) advanceToKey(wanted []uint64) bool {
	words := c.set.words
	for c.pos*words < len(c.keys) {
		order := slices.Compare(c.keys[c.pos*words:(c.pos+1)*words], wanted)
		if order >= 0 {
			return order == 0
		}
		c.pos++
	}
	return false
}

// advanceToWord is a faster advanceToKey for keys of one word.
func (c *Cursor) advanceToWord(wanted uint64) bool {
	keys, pos := c.keys, c.pos
	for pos < len(keys) && keys[pos] < wanted {
		pos++
	}
	c.pos = pos
	return pos < len(keys) && keys[pos] == wanted
}

// setWriter writes a set. Keys are added in ascending order.
type setWriter struct {
	*layout
	dir     *Directory
	name    string
	file    *os.File
	out     *bufio.Writer
	err     error
	count   int64
	size    int64
	last    []uint64
	firsts  []uint64
	offsets []int64
	buffer  []byte
}

// newSetWriter creates a file with a new name for a set.
func newSetWriter(dir *Directory, layout *layout) (*setWriter, error) {
	name := dir.newName("set")
	file, err := dir.create(name)
	if err != nil {
		return nil, err
	}
	return &setWriter{
		layout: layout, dir: dir, name: name, file: file, out: bufio.NewWriterSize(output{dir, file}, 1<<18),
		last: make([]uint64, layout.words), buffer: make([]byte, 0, 16*layout.words),
	}, nil
}

// add appends a key. It must be greater than the key before.
func (w *setWriter) add(key []uint64) {
	switch {
	case w.count%setBlock == 0:
		w.firsts = append(w.firsts, key...)
		w.offsets = append(w.offsets, w.size)
	case w.words == 1:
		w.writeNumber((key[0]-w.last[0])>>w.unused[0] - 1)
	default:
		w.write(w.appendDifference(w.buffer[:0], key))
	}
	copy(w.last, key)
	w.count++
}

// appendDifference encodes the difference of a key to the key before. It appends the number of equal words at the
// start, the difference of the next word, and all later words.
func (w *setWriter) appendDifference(data []byte, key []uint64) []byte {
	equal := 0
	for key[equal] == w.last[equal] {
		equal++
	}
	data = append(data, byte(equal))
	data = binary.AppendUvarint(data, (key[equal]-w.last[equal])>>w.unused[equal])
	for i := equal + 1; i < w.words; i++ {
		data = binary.AppendUvarint(data, key[i]>>w.unused[i])
	}
	return data
}

// writeNumber appends a number to the file. Most numbers need one byte.
func (w *setWriter) writeNumber(number uint64) {
	if number >= 0x80 {
		w.write(binary.AppendUvarint(w.buffer[:0], number))
		return
	}
	w.size++
	if err := w.out.WriteByte(byte(number)); err != nil {
		w.err = err
	}
}

// write appends bytes to the file.
func (w *setWriter) write(data []byte) {
	w.size += int64(len(data))
	if _, err := w.out.Write(data); err != nil {
		w.err = err
	}
}

// finish writes the index and the footer, and returns the set. After an error it removes the file.
func (w *setWriter) finish() (*Set, error) {
	indexStart := w.size
	w.writeIndex()
	var footer [footerBytes]byte
	binary.LittleEndian.PutUint32(footer[0:], setMagic)
	binary.LittleEndian.PutUint32(footer[4:], uint32(w.words))
	binary.LittleEndian.PutUint64(footer[8:], uint64(w.count))
	binary.LittleEndian.PutUint64(footer[16:], uint64(indexStart))
	w.write(footer[:])
	if err := errors.Join(w.err, w.out.Flush()); err != nil {
		return nil, errors.Join(err, w.abandon())
	}
	return &Set{
		Name: w.name, Count: w.count, Bytes: w.size, layout: w.layout, file: w.file, firsts: w.firsts, offsets: append(w.offsets, indexStart),
	}, nil
}

// writeIndex writes the first key and the offset of each block.
func (w *setWriter) writeIndex() {
	for block := range w.offsets {
		for _, word := range w.firsts[block*w.words : (block+1)*w.words] {
			w.write(binary.LittleEndian.AppendUint64(w.buffer[:0], word))
		}
		w.write(binary.LittleEndian.AppendUint64(w.buffer[:0], uint64(w.offsets[block])))
	}
}

// abandon removes the file.
func (w *setWriter) abandon() error {
	return errors.Join(w.file.Close(), w.dir.remove(w.name))
}
