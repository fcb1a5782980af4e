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
	file         *os.File
	firstKeys    []uint64 // the first key of each block
	blockOffsets []int64  // of each block in the file, and the end of the last one
}

// layout says what keys look like: how many words they have, and how many of the lowest bits of each word are zero in all keys. Those bits
// are not stored.
type layout struct {
	wordsPerKey int
	unusedBits  []uint
}

// newLayout returns the layout of the keys of a model's states: the number of words of a key and, for each word, the number of its low bits that no variable
// uses.
func newLayout(packing *compile.Packing) *layout {
	result := &layout{wordsPerKey: packing.Words, unusedBits: make([]uint, packing.Words)}
	for word := range result.unusedBits {
		result.unusedBits[word] = 63
	}
	for _, field := range packing.Fields {
		if field.Mask != 0 {
			result.unusedBits[field.Word] = min(result.unusedBits[field.Word], field.Shift)
		}
	}
	return result
}

// openSet opens the file of a set of keys and reads its index.
func openSet(directory *Directory, name string, layout *layout) (*Set, error) {
	file, err := os.Open(directory.Path(name))
	if err != nil {
		return nil, err
	}
	set, err := readIndex(file, name, layout)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", directory.Path(name), err), file.Close())
	}
	return set, nil
}

// readIndex reads the footer and the index of a set's file, and returns the set.
func readIndex(file *os.File, name string, layout *layout) (*Set, error) {
	wordsPerKey := layout.wordsPerKey
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var footer [footerBytes]byte
	if _, err := file.ReadAt(footer[:], info.Size()-footerBytes); err != nil {
		return nil, err
	}
	magic, numWords := binary.LittleEndian.Uint32(footer[0:]), binary.LittleEndian.Uint32(footer[4:])
	if magic != setMagic || int(numWords) != wordsPerKey {
		return nil, fmt.Errorf("found a footer %x of states of %d words, want %x and %d", magic, numWords, setMagic, wordsPerKey)
	}
	set := &Set{Name: name, Bytes: info.Size(), layout: layout, file: file}
	set.Count = int64(binary.LittleEndian.Uint64(footer[8:]))
	indexStart := int64(binary.LittleEndian.Uint64(footer[16:]))
	numBlocks := int((set.Count + setBlock - 1) / setBlock)
	index := io.NewSectionReader(file, indexStart, info.Size()-footerBytes-indexStart)
	if err := set.readBlocks(index, numBlocks); err != nil {
		return nil, err
	}
	set.blockOffsets = append(set.blockOffsets, indexStart)
	return set, nil
}

// readBlocks reads the first key and the offset of each block from the index of the file.
func (set *Set) readBlocks(index io.Reader, numBlocks int) error {
	set.firstKeys = make([]uint64, 0, numBlocks*set.wordsPerKey)
	set.blockOffsets = make([]int64, 0, numBlocks+1)
	buffered := bufio.NewReaderSize(index, indexBuffer)
	entry := make([]byte, 8*(set.wordsPerKey+1)) // the first key, and the offset
	for range numBlocks {
		if _, err := io.ReadFull(buffered, entry); err != nil {
			return err
		}
		for i := range set.wordsPerKey {
			set.firstKeys = append(set.firstKeys, binary.LittleEndian.Uint64(entry[8*i:]))
		}
		set.blockOffsets = append(set.blockOffsets, int64(binary.LittleEndian.Uint64(entry[8*set.wordsPerKey:])))
	}
	return nil
}

// Close closes the file.
func (set *Set) Close() error { return set.file.Close() }

// numBlocks returns the number of blocks.
func (set *Set) numBlocks() int { return len(set.blockOffsets) - 1 }

// firstKey returns the first key of a block.
func (set *Set) firstKey(block int) []uint64 {
	return set.firstKeys[block*set.wordsPerKey : (block+1)*set.wordsPerKey]
}

// blockOf returns the only block of the set that can contain a key: the last block whose first key is not greater than key. It searches from firstBlock on,
// and returns firstBlock if all these blocks begin with greater keys.
func (set *Set) blockOf(key []uint64, firstBlock int) int {
	// Double the step until a block begins with a greater key (exponential search), because the wanted block is usually near firstBlock.
	step := 1
	low := firstBlock
	for low+step < set.numBlocks() && compareKeys(set.firstKey(low+step), key) <= 0 {
		low += step
		step *= 2
	}
	width := min(step, set.numBlocks()-low-1)
	after := sort.Search(width, func(i int) bool { return compareKeys(set.firstKey(low+1+i), key) > 0 })
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
	blockKeys   []uint64 // of the block
	position    int      // of the next key in keys
	window      []byte
	windowStart int64
}

// NewCursor returns a cursor before the first key.
func (set *Set) NewCursor() *Cursor {
	return &Cursor{set: set, block: -1, blockKeys: make([]uint64, 0, setBlock*set.wordsPerKey)}
}

// loadBlock reads and decodes a block of keys. The next key of the cursor becomes the first one of the block.
func (cursor *Cursor) loadBlock(block int) error {
	set := cursor.set
	data, err := cursor.readBytes(set.blockOffsets[block], set.blockOffsets[block+1])
	if err != nil {
		return fmt.Errorf("read %s: %w", set.file.Name(), err)
	}
	count := int(min(setBlock, set.Count-int64(block)*setBlock))
	cursor.block, cursor.position = block, 0
	cursor.blockKeys = append(cursor.blockKeys[:0], set.firstKey(block)...)
	if cursor.blockKeys, err = set.decodeKeys(cursor.blockKeys, data, count-1); err != nil {
		return fmt.Errorf("read %s: %w", set.file.Name(), err)
	}
	return nil
}

// readBytes returns the bytes of the file from offset start to offset end. It reads more bytes than requested and keeps them, so that most calls need not
// read the file.
func (cursor *Cursor) readBytes(start, end int64) ([]byte, error) {
	isInWindow := start >= cursor.windowStart && end <= cursor.windowStart+int64(len(cursor.window))
	if !isInWindow {
		size := min(max(windowBytes, end-start), cursor.set.blockOffsets[cursor.set.numBlocks()]-start)
		cursor.window = slices.Grow(cursor.window[:0], int(size))[:size]
		cursor.windowStart = start
		if _, err := cursor.set.file.ReadAt(cursor.window, start); err != nil {
			cursor.window = cursor.window[:0]
			return nil, err
		}
	}
	return cursor.window[start-cursor.windowStart : end-cursor.windowStart], nil
}

// errDamaged says that the content of a file cannot be decoded.
var errDamaged = errors.New("the file is damaged")

// decodeKeys decodes count keys and appends them to keys, which must not be empty. Each key is stored relative to the previous one: the
// number of equal words at the start (one byte), the difference of the next word, and all later words. The unused low bits of a word are
// not stored.
func (layout *layout) decodeKeys(keys []uint64, data []byte, count int) ([]uint64, error) {
	wordsPerKey := layout.wordsPerKey
	if wordsPerKey == 1 {
		return decodeWords(keys, data, count, layout.unusedBits[0])
	}
	for range count {
		last := keys[len(keys)-wordsPerKey:]
		if len(data) == 0 || int(data[0]) >= wordsPerKey {
			return nil, errDamaged
		}
		numEqual := int(data[0])
		data = data[1:]
		keys = append(keys, last[:numEqual]...)
		for word := numEqual; word < wordsPerKey; word++ {
			value, size := binary.Uvarint(data)
			if size <= 0 {
				return nil, errDamaged
			}
			data = data[size:]
			value <<= layout.unusedBits[word]
			if word == numEqual {
				value += last[word]
			}
			keys = append(keys, value)
		}
	}
	return keys, nil
}

// decodeWords decodes count keys of one word and appends them to keys, which must not be empty. Each key is stored as its difference to the
// previous key, minus 1. The unused low bits are not stored.
func decodeWords(keys []uint64, data []byte, count int, unused uint) ([]uint64, error) {
	last := keys[len(keys)-1]
	for range count {
		difference, size := shortUvarint(data)
		if size <= 0 {
			return nil, errDamaged
		}
		data = data[size:]
		last += (difference + 1) << unused
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
func (cursor *Cursor) Next() ([]uint64, error) {
	wordsPerKey := cursor.set.wordsPerKey
	if cursor.position*wordsPerKey >= len(cursor.blockKeys) {
		if cursor.block+1 >= cursor.set.numBlocks() {
			return nil, nil
		}
		if err := cursor.loadBlock(cursor.block + 1); err != nil {
			return nil, err
		}
	}
	key := cursor.blockKeys[cursor.position*wordsPerKey : (cursor.position+1)*wordsPerKey]
	cursor.position++
	return key, nil
}

// Range appends the keys of the blocks from first to end-1 to the slice keys. Blocks beyond the last one are ignored.
func (cursor *Cursor) Range(keys []uint64, first, end int) ([]uint64, error) {
	for block := first; block < min(end, cursor.set.numBlocks()); block++ {
		if err := cursor.loadBlock(block); err != nil {
			return nil, err
		}
		keys = append(keys, cursor.blockKeys...)
	}
	return keys, nil
}

// Find returns the rank of a key in the set. ok is false if the set does not contain the key. Successive calls must have ascending keys.
func (cursor *Cursor) Find(key []uint64) (rank int64, ok bool, err error) {
	if cursor.set.Count == 0 {
		return 0, false, nil
	}
	if err := cursor.loadBlockOf(key); err != nil {
		return 0, false, err
	}
	if cursor.set.wordsPerKey == 1 {
		ok = cursor.advanceToWord(key[0])
	} else {
		ok = cursor.advanceToKey(key)
	}
	return int64(cursor.block)*setBlock + int64(cursor.position), ok, nil
}

// loadBlockOf loads the block that can contain a key, unless it is loaded already.
func (cursor *Cursor) loadBlockOf(key []uint64) error {
	block := max(cursor.block, 0)
	if block+1 < cursor.set.numBlocks() && compareKeys(cursor.set.firstKey(block+1), key) <= 0 {
		block = cursor.set.blockOf(key, block+1)
	}
	if block == cursor.block {
		return nil
	}
	return cursor.loadBlock(block)
}

// advanceToKey moves the cursor within its block to the first key that is at least wanted. It reports whether this key equals wanted.
func (cursor *Cursor) advanceToKey(wanted []uint64) bool {
	wordsPerKey := cursor.set.wordsPerKey
	for cursor.position*wordsPerKey < len(cursor.blockKeys) {
		order := slices.Compare(cursor.blockKeys[cursor.position*wordsPerKey:(cursor.position+1)*wordsPerKey], wanted)
		if order >= 0 {
			return order == 0
		}
		cursor.position++
	}
	return false
}

// advanceToWord does the same as advanceToKey for keys of one word, but faster.
func (cursor *Cursor) advanceToWord(wanted uint64) bool {
	keys, pos := cursor.blockKeys, cursor.position
	for pos < len(keys) && keys[pos] < wanted {
		pos++
	}
	cursor.position = pos
	return pos < len(keys) && keys[pos] == wanted
}

// setWriter writes a set. Keys are added in ascending order.
type setWriter struct {
	*layout
	dir          *Directory
	name         string
	file         *os.File
	out          *bufio.Writer
	err          error
	numKeys      int64
	numBytes     int64
	lastKey      []uint64
	firstKeys    []uint64
	blockOffsets []int64
	buffer       []byte
}

// newSetWriter creates a file with a new name, and returns a writer that writes a set to it.
func newSetWriter(directory *Directory, layout *layout) (*setWriter, error) {
	name := directory.NewName("set")
	file, err := directory.createFile(name)
	if err != nil {
		return nil, err
	}
	return &setWriter{
		layout: layout, dir: directory, name: name, file: file, out: bufio.NewWriterSize(output{directory, file}, 1<<18),
		lastKey: make([]uint64, layout.wordsPerKey), buffer: make([]byte, 0, 16*layout.wordsPerKey),
	}, nil
}

// addKey appends a key to the set. Keys must be added in ascending order. The first key of a block is stored in the index, and every other key as its
// difference from the key before.
func (writer *setWriter) addKey(key []uint64) {
	switch {
	case writer.numKeys%setBlock == 0:
		writer.firstKeys = append(writer.firstKeys, key...)
		writer.blockOffsets = append(writer.blockOffsets, writer.numBytes)
	case writer.wordsPerKey == 1:
		writer.writeNumber((key[0]-writer.lastKey[0])>>writer.unusedBits[0] - 1)
	default:
		writer.writeBytes(writer.appendDifference(writer.buffer[:0], key))
	}
	copy(writer.lastKey, key)
	writer.numKeys++
}

// appendDifference appends a key in the form that decodeKeys reads, relative to the previous key: the number of equal words at the start,
// the difference of the next word, and all later words.
func (writer *setWriter) appendDifference(data []byte, key []uint64) []byte {
	numEqual := 0
	for key[numEqual] == writer.lastKey[numEqual] {
		numEqual++
	}
	data = append(data, byte(numEqual))
	data = binary.AppendUvarint(data, (key[numEqual]-writer.lastKey[numEqual])>>writer.unusedBits[numEqual])
	for word := numEqual + 1; word < writer.wordsPerKey; word++ {
		data = binary.AppendUvarint(data, key[word]>>writer.unusedBits[word])
	}
	return data
}

// writeNumber writes a number in the variable-length encoding of encoding/binary. It is fast for numbers of one byte.
func (writer *setWriter) writeNumber(number uint64) {
	if number >= 0x80 {
		writer.writeBytes(binary.AppendUvarint(writer.buffer[:0], number))
		return
	}
	writer.numBytes++
	if err := writer.out.WriteByte(byte(number)); err != nil {
		writer.err = err
	}
}

// writeBytes appends bytes to the file.
func (writer *setWriter) writeBytes(data []byte) {
	writer.numBytes += int64(len(data))
	if _, err := writer.out.Write(data); err != nil {
		writer.err = err
	}
}

// finish writes the index and the footer, and returns the set. If a write has failed, it removes the file and returns the error.
func (writer *setWriter) finish() (*Set, error) {
	indexStart := writer.numBytes
	writer.writeIndex()
	var footer [footerBytes]byte
	binary.LittleEndian.PutUint32(footer[0:], setMagic)
	binary.LittleEndian.PutUint32(footer[4:], uint32(writer.wordsPerKey))
	binary.LittleEndian.PutUint64(footer[8:], uint64(writer.numKeys))
	binary.LittleEndian.PutUint64(footer[16:], uint64(indexStart))
	writer.writeBytes(footer[:])
	if err := errors.Join(writer.err, writer.out.Flush()); err != nil {
		return nil, errors.Join(err, writer.removeFile())
	}
	return &Set{
		Name: writer.name, Count: writer.numKeys, Bytes: writer.numBytes, layout: writer.layout,
		file: writer.file, firstKeys: writer.firstKeys, blockOffsets: append(writer.blockOffsets, indexStart),
	}, nil
}

// writeIndex writes the first key and the offset of each block.
func (writer *setWriter) writeIndex() {
	for block := range writer.blockOffsets {
		for _, word := range writer.firstKeys[block*writer.wordsPerKey : (block+1)*writer.wordsPerKey] {
			writer.writeBytes(binary.LittleEndian.AppendUint64(writer.buffer[:0], word))
		}
		writer.writeBytes(binary.LittleEndian.AppendUint64(writer.buffer[:0], uint64(writer.blockOffsets[block])))
	}
}

// removeFile removes the file.
func (writer *setWriter) removeFile() error {
	return errors.Join(writer.file.Close(), writer.dir.removeFile(writer.name))
}
