package sparse

import "runtime/debug"

// column is a sequence that grows page by page, so that growing copies nothing
// and leaves no garbage.
type column[T any] struct {
	full [][]T
	last []T
	n    int // in full
}

// pageLen is the length of a page. The first one grows to it step by step.
const pageLen = 1 << 16

func (c *column[T]) len() int { return c.n + len(c.last) }

func (c *column[T]) add(x T) {
	if len(c.last) == cap(c.last) {
		c.page()
	}
	c.last = append(c.last, x)
}

// page begins another page if the last one has the size of one.
func (c *column[T]) page() {
	if n := len(c.last); n >= pageLen {
		c.full, c.n = append(c.full, c.last), c.n+n
		c.last = make([]T, 0, pageLen)
	} else if 2*n > pageLen {
		c.reserve(pageLen - n)
	}
}

// reserve makes room for n more.
func (c *column[T]) reserve(n int) {
	if len(c.last) == 0 || len(c.last)+n <= pageLen {
		if cap(c.last)-len(c.last) < n {
			c.last = append(make([]T, 0, len(c.last)+n), c.last...)
		}
	}
}

// cap returns how many there is room for.
func (c *column[T]) cap() int { return c.n + cap(c.last) }

// flatten returns the sequence and empties the column. The pages of a large one
// are given back at once: otherwise a model that is made of several columns
// would be in memory twice.
func (c *column[T]) flatten() []T {
	out := c.last
	if len(c.full) > 0 {
		out = make([]T, 0, c.len())
		for _, page := range c.full {
			out = append(out, page...)
		}
		out = append(out, c.last...)
	}
	*c = column[T]{}
	if len(out) > large {
		debug.FreeOSMemory()
	}
	return out
}

// large is a length from which on memory is worth the time to give it back.
const large = 1 << 20
