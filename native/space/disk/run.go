package disk

import "slices"

// digitBits is the size of a digit of the radix sort. The counters of such a digit fit the first-level cache.
const digitBits = 11

// sortKeys sorts keys of the given number of words and removes duplicates. It returns the sorted keys and the
// other buffer.
func sortKeys(keys, scratch []uint64, wordsPerKey int) (sorted, newScratch []uint64) {
	sorted, newScratch = sortRecords(keys, scratch, wordsPerKey, wordsPerKey)
	return removeDuplicates(sorted, wordsPerKey), newScratch
}

// sortRecords sorts records by their first words with a radix sort. recordSize is the number of words of a record, and wordsPerKey the number of words
// to compare. It returns the sorted records and a scratch buffer; both may use the memory of either argument.
func sortRecords(records, scratch []uint64, recordSize, wordsPerKey int) (sorted, newScratch []uint64) {
	scratch = slices.Grow(scratch[:0], len(records))[:len(records)]
	for word := wordsPerKey - 1; word >= 0; word-- {
		varyingBits := uint64(0) // the bits that are not the same in all records
		for i := word; i < len(records); i += recordSize {
			varyingBits |= records[i] ^ records[word]
		}
		for shift := 0; shift < 64; shift += digitBits {
			if varyingBits>>shift&(1<<digitBits-1) != 0 {
				sortByDigit(scratch, records, recordSize, word, shift)
				records, scratch = scratch, records
			}
		}
	}
	return records, scratch
}

// sortByDigit copies records to sorted, ordered by one digit of the radix sort: the digitBits bits of the given word of each record, from bit shift on.
// Records with equal digits keep their order. recordSize is the number of words of a record.
func sortByDigit(sorted, records []uint64, recordSize, word, shift int) {
	var starts [1 << digitBits]int
	const mask = 1<<digitBits - 1
	for i := word; i < len(records); i += recordSize {
		starts[records[i]>>shift&mask] += recordSize
	}
	next := 0
	for digit, count := range starts {
		starts[digit] = next
		next += count
	}
	if recordSize == 1 {
		for _, key := range records {
			digit := key >> shift & mask
			sorted[starts[digit]] = key
			starts[digit]++
		}
		return
	}
	for i := 0; i < len(records); i += recordSize {
		digit := records[i+word] >> shift & mask
		copy(sorted[starts[digit]:], records[i:i+recordSize])
		starts[digit] += recordSize
	}
}

// removeDuplicates removes repeated keys from sorted keys, in place. wordsPerKey is the number of words of a key.
func removeDuplicates(keys []uint64, wordsPerKey int) []uint64 {
	if wordsPerKey == 1 {
		return slices.Compact(keys)
	}
	length := 0
	for i := 0; i < len(keys); i += wordsPerKey {
		if length > 0 && slices.Equal(keys[length-wordsPerKey:length], keys[i:i+wordsPerKey]) {
			continue
		}
		copy(keys[length:], keys[i:i+wordsPerKey])
		length += wordsPerKey
	}
	return keys[:length]
}

// keySource yields keys in ascending order; nil after the last one.
type keySource interface {
	Next() ([]uint64, error)
}

// memoryRun is a sorted list of keys.
type memoryRun struct {
	keys        []uint64
	wordsPerKey int
}

// Next implements keySource: it returns the next of the keys in memory, or nil after the last key.
func (r *memoryRun) Next() ([]uint64, error) {
	if len(r.keys) == 0 {
		return nil, nil
	}
	key := r.keys[:r.wordsPerKey]
	r.keys = r.keys[r.wordsPerKey:]
	return key, nil
}

// merger merges sorted sources. It yields equal keys once.
type merger struct {
	wordsPerKey int
	heap        []mergeEntry // the least key is the first
	lastKey     []uint64
	hasLastKey  bool
}

// mergeEntry is a source with its next key.
type mergeEntry struct {
	key    []uint64
	source keySource
}

// newMerger returns a source of the merged keys of several sources, each of which must yield its keys in ascending order. It reads the first key of each
// source.
func newMerger(sources []keySource, wordsPerKey int) (*merger, error) {
	merger := &merger{wordsPerKey: wordsPerKey, lastKey: make([]uint64, wordsPerKey)}
	for _, source := range sources {
		key, err := source.Next()
		if err != nil {
			return nil, err
		}
		if key != nil {
			merger.heap = append(merger.heap, mergeEntry{key, source})
		}
	}
	for i := len(merger.heap)/2 - 1; i >= 0; i-- {
		merger.siftDown(i)
	}
	return merger, nil
}

// Next implements keySource: it returns the least key of all sources that it has not returned before, or nil after the last key. So a key that occurs
// several times is returned once.
func (merger *merger) Next() ([]uint64, error) {
	for len(merger.heap) > 0 {
		least := &merger.heap[0]
		isNew := !merger.hasLastKey || compareKeys(merger.lastKey, least.key) != 0
		if isNew {
			copy(merger.lastKey, least.key)
			merger.hasLastKey = true
		}
		key, err := least.source.Next()
		if err != nil {
			return nil, err
		}
		if key == nil {
			end := len(merger.heap) - 1
			merger.heap[0] = merger.heap[end]
			merger.heap = merger.heap[:end]
		} else {
			least.key = key
		}
		merger.siftDown(0)
		if isNew {
			return merger.lastKey, nil
		}
	}
	return nil, nil
}

// siftDown moves the entry at a position of the heap down until no child is less.
func (merger *merger) siftDown(position int) {
	for {
		child := 2*position + 1
		if child >= len(merger.heap) {
			return
		}
		if child+1 < len(merger.heap) && compareKeys(merger.heap[child+1].key, merger.heap[child].key) < 0 {
			child++
		}
		if compareKeys(merger.heap[position].key, merger.heap[child].key) <= 0 {
			return
		}
		merger.heap[position], merger.heap[child] = merger.heap[child], merger.heap[position]
		position = child
	}
}

// hashKey returns a hash of a key. If all words of the key are 0, the hash is 0.
//
// Source: the finalizer of MurmurHash3 (Appleby 2011).
func hashKey(key []uint64) uint64 {
	hash := uint64(0)
	for _, word := range key {
		hash ^= word
		hash = (hash ^ hash>>33) * 0xff51afd7ed558ccd
		hash = (hash ^ hash>>33) * 0xc4ceb9fe1a85ec53
		hash ^= hash >> 33
	}
	return hash
}
