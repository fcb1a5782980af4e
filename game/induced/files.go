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
		total += len(rows.ofState(state))
	}
	return c.write(ctx, w, fmt.Sprintf("%d %d\n", c.Len()+1, total), func(out *bufio.Writer, state int) error {
		for _, edge := range rows.ofState(state) {
			if _, err := fmt.Fprintf(out, "%d %d %s\n", state, edge.target, rows.format(edge.prob)); err != nil {
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
	return c.write(ctx, w, "("+strings.Join(names, ",")+")\n", func(out *bufio.Writer, number int) error {
		var state State
		if number > 0 {
			state = c.states[number-1]
		}
		values := shape.Values(state.Board)
		if c.strategy.Memory() > 1 {
			values = append(values, state.Memory)
		}
		_, err := fmt.Fprintf(out, "%d:(%s)\n", number, strings.Join(texts(values), ","))
		return err
	})
}

func texts(values []int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Itoa(v)
	}
	return out
}

// WriteLabels writes the labels of the chain to w, as a .lab file. The labels fail and success are those of the models.
func (c *Chain) WriteLabels(ctx context.Context, w io.Writer) error {
	const header = `0="init" 1="deadlock" 2="fail" 3="success"` + "\n"
	return c.write(ctx, w, header, func(out *bufio.Writer, number int) error {
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
		_, err := fmt.Fprintf(out, "%d: %d\n", number, label)
		return err
	})
}

// write writes a header, and then calls writeState for each state, which writes the lines of this state.
func (c *Chain) write(ctx context.Context, w io.Writer, header string, writeState func(out *bufio.Writer, number int) error) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(header); err != nil {
		return err
	}
	for number := range c.Len() + 1 {
		if number&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := writeState(out, number); err != nil {
			return err
		}
	}
	return out.Flush()
}
