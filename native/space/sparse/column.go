package sparse

import "runtime/debug"

// column is a sequence that grows page by page: growing copies nothing and leaves no garbage.
type column[T any] struct {
	pages    [][]T
	page     []T
	pagedLen int // total length of pages
}

// pageLen is the length of a page. The first one grows to it step by step.
const pageLen = 1 << 16

// len returns the number of elements.
func (column *column[T]) len() int { return column.pagedLen + len(column.page) }

// appendElement appends an element.
func (column *column[T]) appendElement(element T) {
	if len(column.page) == cap(column.page) {
		column.newPage()
	}
	column.page = append(column.page, element)
}

// newPage begins a new page if the current page is full. If the page is more than half full, it reserves the rest of the page, because append would
// otherwise allocate more than pageLen elements.
func (column *column[T]) newPage() {
	switch length := len(column.page); {
	case length >= pageLen:
		column.pages = append(column.pages, column.page)
		column.pagedLen += length
		column.page = make([]T, 0, pageLen)
	case 2*length > pageLen: // append would grow the page beyond pageLen
		column.reserve(pageLen - length)
	}
}

// reserve makes room for n elements if the current page is empty or can hold them.
func (column *column[T]) reserve(n int) {
	fits := len(column.page) == 0 || len(column.page)+n <= pageLen
	if hasRoom := cap(column.page)-len(column.page) >= n; fits && !hasRoom {
		column.page = append(make([]T, 0, len(column.page)+n), column.page...)
	}
}

// cap returns the number of elements that fit without growing.
func (column *column[T]) cap() int { return column.pagedLen + cap(column.page) }

// flatten returns all elements as one slice and empties the column.
func (column *column[T]) flatten() []T {
	sequence := column.page
	if len(column.pages) > 0 {
		sequence = make([]T, 0, column.len())
		for _, page := range column.pages {
			sequence = append(sequence, page...)
		}
		sequence = append(sequence, column.page...)
	}
	column.pages, column.page, column.pagedLen = nil, nil, 0
	if len(sequence) > freeLen { // return the memory of the pages to the system before the next column is flattened
		debug.FreeOSMemory()
	}
	return sequence
}

// freeLen is the length from which flatten returns memory to the operating system.
const freeLen = 1 << 20
