package induced

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"tilecheck/game"
)

// certificate writes the certificate of a lower bound: text in lines, so that a checker is a short program in any language.
//
//	tilecheck certificate 2
//	board 2x2
//	boards raw
//	max 16
//	scale 1000000000000000
//	strategy "pref:left,up,down,right"
//	3232 up 1000000000000000
//	bound 959916307694443
//	sha256 …
//
// An entry has three fields. The first is a board: the exponents of its tiles row by row in hexadecimal, 0 for an empty cell. Then follow a move
// and a lower bound of the probability of winning from the board, in units of 1/scale. With "boards raw" an entry holds for its board only, with
// "boards canonical" also for the images of the board under its symmetries. Entries are ordered by descending sums of tiles. The last line has
// the SHA-256 of all lines before it. CheckBound of package certify/tiles defines when a certificate is valid.
type certificate struct {
	out   *bufio.Writer
	sum   hash.Hash
	cells int
	line  []byte
}

// newCertificate writes the header. strategy says what the certificate was made from, for information only.
func newCertificate(w io.Writer, shape game.Shape, canonical bool, maxExp int, strategy string) *certificate {
	c := &certificate{sum: sha256.New(), cells: shape.Cells()}
	c.out = bufio.NewWriter(io.MultiWriter(w, c.sum))
	// The writer keeps write errors until finish.
	boards := "raw"
	if canonical {
		boards = "canonical"
	}
	fmt.Fprintf(c.out, "tilecheck certificate 2\nboard %s\nboards %s\nmax %d\nscale %d\nstrategy %q\n",
		shape, boards, game.Value(maxExp), Scale, strategy)
	return c
}

// write writes entries. A nil certificate writes nothing.
func (c *certificate) write(entries []certificateEntry) error {
	if c == nil {
		return nil
	}
	for _, e := range entries {
		c.line = c.line[:0]
		for i := range c.cells {
			c.line = append(c.line, "0123456789abcdef"[e.board>>(4*i)&15])
		}
		c.line = fmt.Appendf(c.line, " %s %d\n", e.dir, uint64(e.value))
		if _, err := c.out.Write(c.line); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the last two lines.
func (c *certificate) finish(bound Fixed) error {
	if c == nil {
		return nil
	}
	fmt.Fprintf(c.out, "bound %d\n", uint64(bound))
	if err := c.out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "sha256 %x\n", c.sum.Sum(nil))
	return c.out.Flush()
}
