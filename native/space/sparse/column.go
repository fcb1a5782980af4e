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
func (c *column[T]) len() int { return c.pagedLen + len(c.page) }

// add appends an element.
func (c *column[T]) add(element T) {
	if len(c.page) == cap(c.page) {
		c.newPage()
	}
	c.page = append(c.page, element)
}

// newPage makes room for at least one element. It lets the first page grow to pageLen, and starts a new page if
// the current page is full.
func (c *column[T]) newPage() {
	switch length := len(c.page); {
	case length >= pageLen:
		c.pages = append(c.pages, c.page)
		c.pagedLen += length
		c.page = make([]T, 0, pageLen)
	case 2*length > pageLen: // append would grow the page beyond pageLen
		c.reserve(pageLen - length)
	}
}

// reserve makes room for n elements if the current page is empty or can hold them.
func (c *column[T]) reserve(n int) {
	fits := len(c.page) == 0 || len(c.page)+n <= pageLen
	if hasRoom := cap(c.page)-len(c.page) >= n; fits && !hasRoom {
		c.page = append(make([]T, 0, len(c.page)+n), c.page...)
	}
}

// cap returns the number of elements that fit without growing.
func (c *column[T]) cap() int { return c.pagedLen + cap(c.page) }

// flatten returns the sequence as one slice and empties the column.
func (c *column[T]) flatten() []T {
	sequence := c.page
	if len(c.pages) > 0 {
		sequence = make([]T, 0, c.len())
		for _, page := range c.pages {
			sequence = append(sequence, page...)
		}
		sequence = append(sequence, c.page...)
	}
	*c = column[T]{}
	if len(sequence) > freeLen { // otherwise the columns of a model would be in memory twice
		debug.FreeOSMemory()
	}
	return sequence
}

// freeLen is the length from which flatten returns memory to the operating system.
const freeLen = 1 << 20
