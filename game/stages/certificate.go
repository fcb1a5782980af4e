package stages

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"tilecheck/game"
)

// WriteCertificate writes the stages and the bound, as text in lines:
//
//	tilecheck stages 1
//	board 4x4
//	max 2048
//	scale 2147483648
//	stage small 16 sum 48 columns any upper 0 locked
//	stage small 16 sum 48 columns 0,1 upper 1 locked 16
//	…
//	bound 2113929216
//	sha256 …
//
// A stage line has the fields of [Stage], as values of tiles. The bound is in units of 1/scale. The last line has the SHA-256 of all lines before
// it. CheckStages of package certify/tiles defines when a certificate is valid.
func (p *Proof) WriteCertificate(w io.Writer) error {
	hash := sha256.New()
	buffered := bufio.NewWriter(io.MultiWriter(w, hash))
	// The buffered writer keeps an error until Flush.
	fmt.Fprintf(buffered, "tilecheck stages 1\nboard %s\nmax %d\nscale %d\n", p.Shape, game.Value(p.Max), Scale)
	for i := range p.Stages {
		fmt.Fprintln(buffered, p.Stages[i].line())
	}
	fmt.Fprintf(buffered, "bound %d\n", p.Bound)
	if err := buffered.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "sha256 %x\n", hash.Sum(nil))
	return err
}

// line returns the line of a stage in a certificate.
func (s *Stage) line() string {
	columns := "any"
	if s.Columns != nil {
		columns = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Columns), " ", ","), "[]")
	}
	line := fmt.Sprintf("stage small %d sum %d columns %s upper %d locked", game.Value(s.Small), s.Sum, columns, s.Upper)
	for _, exponent := range s.Locked {
		line += fmt.Sprintf(" %d", game.Value(exponent))
	}
	return line
}
