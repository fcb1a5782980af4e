package induced

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The Write functions write the chain as PRISM's explicit files of a DTMC. State 0 is the empty board, and state n+1 is state n of the chain. A
// transition is a move with the new tile after it; the first one is two new tiles. States in which the game is over have a self-loop.
//
// Source: prism -exportmodel; reference, section 6.

// WriteTransitions writes the transitions of the chain to w, as a .tra file. Probabilities are decimals with 17 digits, or fractions. PRISM reads
// fractions only with -exact.
func (c *Chain) WriteTransitions(ctx context.Context, w io.Writer, fractions bool) error {
	rows := newTransitions(c, fractions)
	total := 0
	for state := range c.Len() + 1 {
		total += len(rows.transitionsOf(state))
	}
	return c.writeStates(ctx, w, fmt.Sprintf("%d %d\n", c.Len()+1, total), func(writer *bufio.Writer, state int) error {
		for _, edge := range rows.transitionsOf(state) {
			if _, err := fmt.Fprintf(writer, "%d %d %s\n", state, edge.target, rows.format(edge.probability)); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteStates writes the states of the chain to w, as a .sta file. The variables are the tiles by row, as in the models, and the memory of the
// strategy if it has one.
func (c *Chain) WriteStates(ctx context.Context, w io.Writer) error {
	shape := c.opt.Rules.Shape()
	var names []string
	for i := range shape.Cells() {
		names = append(names, fmt.Sprintf("v_%d", i))
	}
	if c.strategy.Memory() > 1 {
		names = append(names, "memory")
	}
	return c.writeStates(ctx, w, "("+strings.Join(names, ",")+")\n", func(writer *bufio.Writer, number int) error {
		var state State
		if number > 0 {
			state = c.states[number-1]
		}
		values := shape.Values(state.Board)
		if c.strategy.Memory() > 1 {
			values = append(values, state.Memory)
		}
		_, err := fmt.Fprintf(writer, "%d:(%s)\n", number, strings.Join(texts(values), ","))
		return err
	})
}

func texts(values []int) []string {
	result := make([]string, len(values))
	for i, value := range values {
		result[i] = strconv.Itoa(value)
	}
	return result
}

// WriteLabels writes the labels of the chain to w, as a .lab file. The labels fail and success are those of the models.
func (c *Chain) WriteLabels(ctx context.Context, w io.Writer) error {
	const header = `0="init" 1="deadlock" 2="fail" 3="success"` + "\n"
	return c.writeStates(ctx, w, header, func(writer *bufio.Writer, number int) error {
		label := 0
		switch {
		case number == 0:
		case c.outcomes[number-1] == Won:
			label = 3
		case c.outcomes[number-1] == Lost:
			label = 2
		default:
			return nil
		}
		_, err := fmt.Fprintf(writer, "%d: %d\n", number, label)
		return err
	})
}

// writeStates writes a header, and then calls writeState for each state, which writes the lines of this state.
func (c *Chain) writeStates(ctx context.Context, w io.Writer, header string, writeState func(writer *bufio.Writer, number int) error) error {
	writer := bufio.NewWriter(w)
	if _, err := writer.WriteString(header); err != nil {
		return err
	}
	for number := range c.Len() + 1 {
		if number&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := writeState(writer, number); err != nil {
			return err
		}
	}
	return writer.Flush()
}
