package bridge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Values returns the tool's value of a property in every state, under one valuation of the constants, in PRISM's order
// of states.
func (e *Engine) Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error) {
	if err := e.tool.refuse(plan); err != nil {
		return nil, unsupported(err.Error())
	}
	item := &workItem{task: plan.Tasks[task], model: model, property: property, number: task + 1}
	return e.tool.values(ctx, e, &job{Plan: plan, opt: &e.opt, single: true, telling: new(sync.Mutex)}, item)
}

// values lets PRISM write a file with one number per line, one for each state.
func (p prism) values(ctx context.Context, e *Engine, j *job, item *workItem) ([]float64, error) {
	const file = "values.txt"
	command, err := p.command(ctx, j, []*workItem{item})
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

// values lets Storm export the values of all states with their valuations, and sorts them into PRISM's order.
func (storm) values(ctx context.Context, e *Engine, j *job, item *workItem) ([]float64, error) {
	j.storm = &stormJob{queries: make(map[*instance]int)}
	in, err := newInstance(j, item.model)
	if err != nil {
		return nil, refusal(err)
	}
	q, err := ask(j, item, in, allValues)
	if err != nil {
		return nil, refusal(err)
	}
	if err := e.answer(ctx, j, q.asked); err != nil {
		return nil, err
	}
	if v := q.gather(q.root); v.Err != nil {
		return nil, v.Err
	}
	values, rows, err := q.nodeValues(j, q.root)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(rows[a].state, rows[b].state) })
	out := make([]float64, len(rows))
	for i, k := range order {
		out[i] = values[k].value.Float
	}
	return out, nil
}
