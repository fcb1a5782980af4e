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

// WritePartition writes a partition of the states. The first line after a comment has the numbers of states and of blocks, such as 399 46. Each
// further line has a state, numbered in PRISM's order, and its block, such as 17=3.
func WritePartition(ctx context.Context, out io.Writer, space *explicit.Space, partition *quotient.Partition) error {
	writer := bufio.NewWriter(out)
	fmt.Fprintf(writer, "# Partition: the block of each state\n%d %d\n", len(partition.Block), len(partition.First))
	for prismIndex, s := range space.Order() {
		if prismIndex&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(writer, "%d=%d\n", prismIndex, partition.Block[s])
	}
	return writer.Flush()
}

// ReadPartition parses text, a file that WritePartition wrote. It checks that every state has a block and that every block has a state. It does
// not check that the partition is a bisimulation. An error names the file and the line, or is ctx.Err().
func ReadPartition(ctx context.Context, file string, text []byte, space *explicit.Space) (*quotient.Partition, error) {
	order := space.Order()
	reader := &partitionReader{file: file, blockOf: make([]uint32, len(order)), numStates: -1}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		reader.line++
		if reader.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := reader.readLine(strings.TrimSpace(lines.Text()), order); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	partition := quotient.New(reader.blockOf)
	switch {
	case reader.nextState != len(order):
		return nil, reader.errorf("found the end of the file after %s, want %d", noun.Count(reader.nextState, "state"), len(order))
	case len(partition.First) != reader.numBlocks:
		return nil, reader.errorf("found %s, want %d as in the first line", noun.Count(len(partition.First), "block"), reader.numBlocks)
	}
	return partition, nil
}

// partitionReader reads a file of WritePartition line by line.
type partitionReader struct {
	file                 string
	line                 int      // the number of the current line
	numStates, numBlocks int      // the numbers in the first line; states is -1 before it is read
	nextState            int      // the state of the next line
	blockOf              []uint32 // the block of each state
}

// errorf returns an error at the current line.
func (reader *partitionReader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d:1: "+format, append([]any{reader.file, reader.line}, args...)...)
}

// readLine reads one line of a partition file. order has the states of the model in PRISM's order.
func (reader *partitionReader) readLine(line string, order []uint32) error {
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case reader.numStates < 0:
		return reader.readSizes(line, len(order))
	}
	return reader.readBlock(line, order)
}

// readSizes parses the line with the numbers of states and of blocks, such as 399 46. modelStates is the number of states of the model.
func (reader *partitionReader) readSizes(line string, modelStates int) error {
	numStates, numBlocks, ok := parseTwoNumbers(line, " ")
	switch {
	case !ok:
		return reader.errorf("found %.60q, want the numbers of states and of blocks, such as 399 46", line)
	case numStates != modelStates:
		return reader.errorf("found a partition of %s, the model has %d", noun.Count(numStates, "state"), modelStates)
	}
	reader.numStates, reader.numBlocks = numStates, numBlocks
	return nil
}

// readBlock parses a line with PRISM's number of a state and with its block, such as 17=3. The lines must have the numbers in increasing order;
// order[number] is the model's state with a number.
func (reader *partitionReader) readBlock(line string, order []uint32) error {
	number, block, ok := parseTwoNumbers(line, "=")
	switch {
	case !ok:
		return reader.errorf("found %.60q, want a state and its block, such as 17=3", line)
	case number != reader.nextState || number >= len(order):
		return reader.errorf("found state %d, want each of the %d states once, in order", number, len(order))
	}
	reader.blockOf[order[number]] = uint32(block)
	reader.nextState++
	return nil
}

// parseTwoNumbers parses two integers with a separator between them. ok is false for any other text, and if the second integer is negative or has
// more than 31 bits.
func parseTwoNumbers(text, separator string) (first, second int, ok bool) {
	left, right, _ := strings.Cut(text, separator)
	first, firstErr := strconv.Atoi(left)
	unsigned, secondErr := strconv.ParseUint(right, 10, 31)
	return first, int(unsigned), firstErr == nil && secondErr == nil
}
