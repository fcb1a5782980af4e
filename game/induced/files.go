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

// WriteTransitions writes the .tra file. Probabilities are decimals with 17 digits, or fractions if fractions is set.
// PRISM reads fractions only with -exact.
func (c *Chain) WriteTransitions(ctx context.Context, w io.Writer, fractions bool) error {
	e := newTransitions(c, fractions)
	total := 0
	for s := range c.Len() + 1 {
		total += len(e.ofState(s))
	}
	return c.write(ctx, w, fmt.Sprintf("%d %d\n", c.Len()+1, total), func(out *bufio.Writer, s int) error {
		for _, t := range e.ofState(s) {
			if _, err := fmt.Fprintf(out, "%d %d %s\n", s, t.target, e.format(t.prob)); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteStates writes the .sta file. Its variables are the tiles by row, as in the models, and the memory if the strategy has one.
func (c *Chain) WriteStates(ctx context.Context, w io.Writer) error {
	shape := c.opt.Rules.Shape()
	var names []string
	for i := range shape.Cells() {
		names = append(names, fmt.Sprintf("v_%d", i))
	}
	if c.strategy.Memory() > 1 {
		names = append(names, "memory")
	}
	return c.write(ctx, w, "("+strings.Join(names, ",")+")\n", func(out *bufio.Writer, s int) error {
		var state State
		if s > 0 {
			state = c.states[s-1]
		}
		values := shape.Values(state.Board)
		if c.strategy.Memory() > 1 {
			values = append(values, state.Memory)
		}
		_, err := fmt.Fprintf(out, "%d:(%s)\n", s, strings.Join(texts(values), ","))
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

// WriteLabels writes the .lab file, with the labels fail and success of the models.
func (c *Chain) WriteLabels(ctx context.Context, w io.Writer) error {
	const header = `0="init" 1="deadlock" 2="fail" 3="success"` + "\n"
	return c.write(ctx, w, header, func(out *bufio.Writer, s int) error {
		label := 0
		switch {
		case s == 0:
		case c.outcomes[s-1] == Won:
			label = 3
		case c.outcomes[s-1] == Lost:
			label = 2
		default:
			return nil
		}
		_, err := fmt.Fprintf(out, "%d: %d\n", s, label)
		return err
	})
}

// write writes a header, and then calls state for each state to write its lines.
func (c *Chain) write(ctx context.Context, w io.Writer, header string, state func(out *bufio.Writer, s int) error) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(header); err != nil {
		return err
	}
	for s := range c.Len() + 1 {
		if s&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := state(out, s); err != nil {
			return err
		}
	}
	return out.Flush()
}
