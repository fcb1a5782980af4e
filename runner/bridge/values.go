package bridge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Values has the tool tell what a property is in every state, under one valuation of
// the constants, in the order of PRISM.
func (e *Engine) Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error) {
	if e.tool != (prism{}) {
		return nil, unsupported(e.Name() + " is not asked for the values of all states")
	}
	if err := e.tool.refuse(&plan.Job); err != nil {
		return nil, unsupported(err.Error())
	}
	const file = "values.txt"
	it := &item{task: plan.Tasks[task], model: model, property: property, number: task + 1}
	command, err := e.tool.command(&job{Plan: plan, opt: &e.opt, single: true}, []*item{it})
	if err != nil {
		return nil, err
	}
	got, err := e.collect(ctx, command.Files, append(command.Args, "-exportvector", file), file)
	if err != nil {
		return nil, err
	}
	var out []float64
	lines := bufio.NewScanner(bytes.NewReader(got[file].Text))
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		x, err := strconv.ParseFloat(text, 64)
		if r, ok := new(big.Rat).SetString(text); err != nil && ok {
			x, _ = r.Float64()
		} else if err != nil {
			return nil, fmt.Errorf("%s:%d: found %q, want a number", file, len(out)+1, text)
		}
		out = append(out, x)
	}
	return out, lines.Err()
}
