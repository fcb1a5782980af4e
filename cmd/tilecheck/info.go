package main

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"github.com/docker/go-units"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/report"
)

type infoCmd struct {
	spaceFlags `embed:""`
	Format     report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// Run builds the state space and prints what it is like.
func (c *infoCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limit(ctx, c.Timeout)
	defer cancel()
	start := time.Now()
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	t := &report.Table{
		Title:   c.ModelFile,
		Columns: []report.Column{{Name: "item"}, {Name: "value", Align: report.Right}, {Name: "detail"}},
		Notes:   space.Warnings(),
	}
	declarations(t, space)
	if err := structure(ctx, t, space); err != nil {
		return err
	}
	size := space.Bytes()
	t.Append("bits per state", space.StateBits(), nil)
	t.Append("bytes", size, units.HumanSize(float64(size)))
	t.Append("seconds", report.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, "to build or read")
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

// declarations lists what the model declares.
func declarations(t *report.Table, space *explicit.Space) {
	p := space.Program()
	t.Append("type", p.Type.String(), nil)
	if !space.Imported() {
		t.Append("modules", len(p.Modules), nil)
	}
	t.Append("variables", len(p.Vars), nil)
	for _, v := range p.Vars {
		t.Append("variable "+v.Name, bits.Len64(uint64(int64(v.High)-int64(v.Low))), "bits, "+typeText(v))
	}
	t.Append("actions", len(p.Actions), nil)
	t.Append("labels", len(p.Labels), nil)
	t.Append("reward structures", len(p.Rewards), nil)
}

func typeText(v sema.Variable) string {
	switch {
	case v.Type == sema.Bool:
		return "bool"
	case !v.Bounded:
		return "int"
	}
	return fmt.Sprintf("[%d..%d]", v.Low, v.High)
}

// structure counts what the graph of the states has.
func structure(ctx context.Context, t *report.Table, space *explicit.Space) error {
	m := space.Model()
	t.Append("states", m.NumStates(), nil)
	t.Append("initial states", len(m.Initial), nil)
	var merged any
	if n := space.Merged(); n > 0 {
		merged = fmt.Sprintf("without %d that repeat another one of their state", n)
	}
	t.Append("choices", m.NumChoices(), merged)
	t.Append("transitions", m.NumTransitions(), nil)
	deadlocks := 0
	if m.Deadlocks != nil {
		deadlocks = m.Deadlocks.Count()
	}
	t.Append("deadlocks", deadlocks, nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	comps := m.Components(nil, nil)
	t.Append("strongly connected components", comps.Num(), nil)
	t.Append("bottom components", len(comps.Bottom(m)), nil)
	if m.Kind != sparse.MDP {
		return nil
	}
	mecs, err := m.EndComponents(ctx, nil, nil)
	if err != nil {
		return err
	}
	t.Append("maximal end components", mecs.Num(), nil)
	return nil
}
