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

// WritePartition writes the numbers of states and of blocks, and then a line for each state in PRISM's order, such as 17=3,
// with the number of its block.
func WritePartition(ctx context.Context, w io.Writer, space *explicit.Space, partition *quotient.Partition) error {
	writer := bufio.NewWriter(w)
	fmt.Fprintf(writer, "# Partition: the block of each state\n%d %d\n", len(partition.Block), len(partition.First))
	for prismIndex, s := range space.Order() {
		if prismIndex&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(writer, "%d=%d\n", prismIndex, partition.Block[s])
	}
	return writer.Flush()
}

// ReadPartition reads a file that WritePartition wrote. It checks that every state has a block and that every block has a
// state, but not that the partition is a bisimulation. An error names the file and the line, unless it comes from the
// context.
func ReadPartition(ctx context.Context, file string, text []byte, space *explicit.Space) (*quotient.Partition, error) {
	order := space.Order()
	reader := &partitionReader{file: file, block: make([]uint32, len(order)), states: -1}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		reader.line++
		if reader.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := reader.read(strings.TrimSpace(lines.Text()), order); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	partition := quotient.New(reader.block)
	switch {
	case reader.next != len(order):
		return nil, reader.errorf("found the end of the file after %s, want %d", noun.Count(reader.next, "state"), len(order))
	case len(partition.First) != reader.blocks:
		return nil, reader.errorf("found %s, want %d as in the first line", noun.Count(len(partition.First), "block"), reader.blocks)
	}
	return partition, nil
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
func (reader *partitionReader) read(line string, order []uint32) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	separator := "="
	if reader.states < 0 {
		separator = " "
	}
	left, right, _ := strings.Cut(line, separator)
	first, firstErr := strconv.Atoi(left)
	second, secondErr := strconv.ParseUint(right, 10, 31)
	isNumbers := firstErr == nil && secondErr == nil
	switch {
	case reader.states < 0 && !isNumbers:
		return reader.errorf("found %.60q, want the numbers of states and of blocks, such as 399 46", line)
	case reader.states < 0 && first != len(order):
		return reader.errorf("found a partition of %s, the model has %d", noun.Count(first, "state"), len(order))
	case reader.states < 0:
		reader.states = first
		reader.blocks = int(second)
	case !isNumbers:
		return reader.errorf("found %.60q, want a state and its block, such as 17=3", line)
	case first != reader.next || first >= len(order):
		return reader.errorf("found state %d, want each of the %d states once, in order", first, len(order))
	default:
		reader.block[order[first]] = uint32(second)
		reader.next++
	}
	return nil
}
