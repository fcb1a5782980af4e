package check

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/quotient"
)

// WritePartition writes the block of each state, in PRISM's order: 17=3, below a line with the
// numbers of states and of blocks.
func WritePartition(ctx context.Context, w io.Writer, space *explicit.Space, p *quotient.Partition) error {
	writer := bufio.NewWriter(w)
	fmt.Fprintf(writer, "# Partition: the block of each state\n%d %d\n", len(p.Block), len(p.First))
	for k, s := range space.Order() {
		if k&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(writer, "%d=%d\n", k, p.Block[s])
	}
	return writer.Flush()
}

// ReadPartition reads a file of WritePartition. It checks that every state has a block and every block a
// state, but not that the partition is a bisimulation. Errors have a file and a line, or are the context's.
func ReadPartition(ctx context.Context, file string, text []byte, space *explicit.Space) (*quotient.Partition, error) {
	order := space.Order()
	r := &partitionReader{file: file, block: make([]uint32, len(order)), states: -1}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		r.line++
		if r.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := r.read(strings.TrimSpace(lines.Text()), order); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := quotient.New(r.block)
	switch {
	case r.next != len(order):
		return nil, r.errorf("found the end of the file after %s, want %d", noun.Count(r.next, "state"), len(order))
	case len(p.First) != r.blocks:
		return nil, r.errorf("found %s, want %d as the first line says", noun.Count(len(p.First), "block"), r.blocks)
	}
	return p, nil
}

// partitionReader reads a file of WritePartition line by line.
type partitionReader struct {
	file           string
	line           int      // the number of the current line
	states, blocks int      // the numbers in the first line; states is -1 before it is read
	next           int      // the state of the next line
	block          []uint32 // the block of each state
}

// errorf returns an error at the current line.
func (r *partitionReader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d:1: "+format, append([]any{r.file, r.line}, args...)...)
}

// read reads one line: the numbers of states and blocks, or the block of the next state.
func (r *partitionReader) read(line string, order []uint32) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	separator := "="
	if r.states < 0 {
		separator = " "
	}
	left, right, _ := strings.Cut(line, separator)
	first, firstErr := strconv.Atoi(left)
	second, secondErr := strconv.ParseUint(right, 10, 31)
	isNumbers := firstErr == nil && secondErr == nil
	switch {
	case r.states < 0 && !isNumbers:
		return r.errorf("found %.60q, want the numbers of states and of blocks, such as 399 46", line)
	case r.states < 0 && first != len(order):
		return r.errorf("found a partition of %s, the model has %d", noun.Count(first, "state"), len(order))
	case r.states < 0:
		r.states = first
		r.blocks = int(second)
	case !isNumbers:
		return r.errorf("found %.60q, want a state and its block, such as 17=3", line)
	case first != r.next || first >= len(order):
		return r.errorf("found state %d, want states in order, each once, and %d of them", first, len(order))
	default:
		r.block[order[first]] = uint32(second)
		r.next++
	}
	return nil
}
