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
	writer *bufio.Writer
	hash   hash.Hash
	cells  int
	line   []byte
}

// newCertificate begins a certificate and writes its header to w. strategy is the strategy that the bound came from; it is for information only.
func newCertificate(w io.Writer, shape game.Shape, canonical bool, maxExp int, strategy string) *certificate {
	cert := &certificate{hash: sha256.New(), cells: shape.Cells()}
	cert.writer = bufio.NewWriter(io.MultiWriter(w, cert.hash))
	// The buffered writer keeps an error of these writes until finish.
	boards := "raw"
	if canonical {
		boards = "canonical"
	}
	fmt.Fprintf(cert.writer, "tilecheck certificate 2\nboard %s\nboards %s\nmax %d\nscale %d\nstrategy %q\n",
		shape, boards, game.Value(maxExp), Scale, strategy)
	return cert
}

// writeEntries writes an entry on each line: the board, the move and the value. A nil certificate writes nothing.
func (c *certificate) writeEntries(entries []certificateEntry) error {
	if c == nil {
		return nil
	}
	for _, entry := range entries {
		c.line = c.line[:0]
		for cell := range c.cells {
			c.line = append(c.line, "0123456789abcdef"[entry.board>>(4*cell)&15])
		}
		c.line = fmt.Appendf(c.line, " %s %d\n", entry.dir, uint64(entry.value))
		if _, err := c.writer.Write(c.line); err != nil {
			return err
		}
	}
	return nil
}

// writeEnd writes the last two lines: the bound, and the SHA-256 digest of all lines before. A nil certificate writes nothing.
func (c *certificate) writeEnd(bound Fixed) error {
	if c == nil {
		return nil
	}
	fmt.Fprintf(c.writer, "bound %d\n", uint64(bound))
	if err := c.writer.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.writer, "sha256 %x\n", c.hash.Sum(nil))
	return c.writer.Flush()
}
