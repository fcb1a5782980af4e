package main

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/report/table"
)

type infoCmd struct {
	spaceFlags `embed:""`
	Format     table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// Run builds the state space and prints what it is like.
func (c *infoCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	start := time.Now()
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	t := &table.Facts{Title: c.ModelFile, Notes: space.Warnings()}
	t.Add(table.Column{Field: "model"}, c.ModelFile, nil)
	declarations(t, space)
	if err := structure(ctx, t, space); err != nil {
		return err
	}
	size := space.Bytes()
	t.Add(table.Column{Name: "bits per state"}, space.StateBits(), nil)
	t.Add(table.Column{Name: "bytes"}, size, units.HumanSize(float64(size)))
	t.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, "to build or read")
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

// declarations lists what the model declares.
func declarations(t *table.Facts, space *explicit.Space) {
	p := space.Program()
	t.Add(table.Column{Name: "type"}, p.Type.String(), nil)
	if space.Imported() {
		t.Add(table.Column{Field: "modules"}, nil, nil)
	} else {
		t.Add(table.Column{Name: "modules"}, len(p.Modules), nil)
	}
	type variable struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Bits int    `json:"bits"`
	}
	variables := make([]variable, len(p.Vars))
	for i, v := range p.Vars {
		variables[i] = variable{v.Name, typeText(v), bits.Len64(uint64(int64(v.High) - int64(v.Low)))}
	}
	t.Add(table.Column{Name: "variables"}, table.Cell{Text: strconv.Itoa(len(variables)), Value: variables}, nil)
	for _, v := range variables {
		t.Add(table.Column{Name: "variable " + v.Name, Field: "-"}, v.Bits, "bits, "+v.Type)
	}
	t.Add(table.Column{Name: "actions"}, len(p.Actions), nil)
	for i, player := range p.Players {
		t.Add(table.Column{Name: "player " + player.Name, Field: "-"}, i+1, "owns "+ownsText(p, player))
	}
	t.Add(table.Column{Name: "labels"}, len(p.Labels), nil)
	t.Add(table.Column{Name: "reward structures"}, len(p.Rewards), nil)
}

// ownsText lists the modules and the actions of a player.
func ownsText(p *sema.Program, player sema.Player) string {
	var names []string
	for _, i := range player.Modules {
		names = append(names, p.Modules[i].Name)
	}
	for _, i := range player.Actions {
		names = append(names, "["+p.Actions[i]+"]")
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
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
func structure(ctx context.Context, t *table.Facts, space *explicit.Space) error {
	m := space.Model()
	t.Add(table.Column{Name: "states"}, m.NumStates(), nil)
	t.Add(table.Column{Name: "initial states"}, len(m.Initial), nil)
	var merged, repeated any
	if n := space.Merged(); n > 0 {
		merged, repeated = fmt.Sprintf("without %d that repeat another one of their state", n), n
	}
	t.Add(table.Column{Field: "repeated_choices"}, repeated, nil)
	t.Add(table.Column{Name: "choices"}, m.NumChoices(), merged)
	t.Add(table.Column{Name: "transitions"}, m.NumTransitions(), nil)
	t.Add(table.Column{Name: "deadlocks"}, m.NumDeadlocks(), nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	comps := m.Components(nil, nil)
	t.Add(table.Column{Name: "strongly connected components", Field: "components"}, comps.Num(), nil)
	t.Add(table.Column{Name: "bottom components"}, len(comps.Bottom(m)), nil)
	if m.Kind != sparse.MDP {
		t.Add(table.Column{Field: "end_components"}, nil, nil)
		return nil
	}
	mecs, err := m.EndComponents(ctx, nil, nil)
	if err != nil {
		return err
	}
	t.Add(table.Column{Name: "maximal end components", Field: "end_components"}, mecs.Num(), nil)
	return nil
}
