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

// Values returns the value of a property in every state, as the tool computes it under one valuation of the constants, in PRISM's order of states.
func (e *Engine) Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error) {
	if err := e.tool.refuse(plan); err != nil {
		return nil, unsupported(err.Error())
	}
	item := &workItem{task: plan.Tasks[task], model: model, property: property, number: task + 1}
	return e.tool.values(ctx, e, &job{Plan: plan, opt: &e.opt, isSingle: true, progressMutex: new(sync.Mutex)}, item)
}

// values returns the values of an item's property in all states, which PRISM writes to a file, one number per line.
func (p prism) values(ctx context.Context, engine *Engine, job *job, item *workItem) ([]float64, error) {
	const file = "values.txt"
	command, err := p.command(ctx, job, []*workItem{item})
	if err != nil {
		return nil, err
	}
	collected, err := engine.collect(ctx, command.Files, append(command.Args, "-exportvector", file), file)
	if err != nil {
		return nil, err
	}
	var values []float64
	lines := bufio.NewScanner(bytes.NewReader(collected[file].Text))
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		value, err := strconv.ParseFloat(text, 64)
		if fraction, ok := new(big.Rat).SetString(text); err != nil && ok {
			value, _ = fraction.Float64()
		} else if err != nil {
			return nil, fmt.Errorf("%s:%d: found %q, want a number", file, len(values)+1, text)
		}
		values = append(values, value)
	}
	return values, lines.Err()
}

// values returns the values of an item's property in all states, sorted in PRISM's order. Storm exports them together with the valuations of the states.
func (storm) values(ctx context.Context, engine *Engine, job *job, item *workItem) ([]float64, error) {
	job.storm = &stormJob{queries: make(map[*instance]int)}
	instance, err := newInstance(job, item.model)
	if err != nil {
		return nil, refusal(err)
	}
	question, err := newQuestion(job, item, instance, allValues)
	if err != nil {
		return nil, refusal(err)
	}
	if err := engine.answer(ctx, job, question.asked); err != nil {
		return nil, err
	}
	if merged := question.mergeVerdicts(question.root); merged.Err != nil {
		return nil, merged.Err
	}
	values, rows, err := question.nodeValues(job, question.root)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(rows))
	for place := range order {
		order[place] = place
	}
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(rows[i].state, rows[j].state) })
	sorted := make([]float64, len(rows))
	for place, row := range order {
		sorted[place] = values[row].value.Float
	}
	return sorted, nil
}
