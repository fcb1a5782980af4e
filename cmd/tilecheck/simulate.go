package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"

	"tilecheck/native/explicit/files/named"

	"tilecheck/native/explicit"
	"tilecheck/native/simulate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report/table"
)

type simulateCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model, - or files of states (m.all, m.tra,sta, .drn, .umb)." file:"states"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	typeFlags `embed:""`

	Steps    int64   `help:"Length of the path." default:"20" want:"[0,]" placeholder:"N"`
	Time     float64 `help:"Go on until so much time has passed (steps, in a discrete-time model) instead." placeholder:"T"`
	Deadlock bool    `help:"Go on until a deadlock instead."`
	MaxPath  int64   `help:"Longest path with --time or --deadlock." default:"10000" placeholder:"N"`
	Seed     *uint64 `help:"Seed of the random numbers (default: drawn, and printed)." placeholder:"N"`

	Vars        []string `help:"Variables to show (default: all)." placeholder:"NAME"`
	Changes     bool     `help:"Only states in which a shown variable changes."`
	Probs       bool     `help:"Show the probability of every step."`
	Rewards     bool     `help:"Show rewards."`
	NoLoopCheck bool     `help:"Go on at a deterministic self-loop, which would repeat for ever."`

	Board  bool         `help:"Draw the variables v_0, v_1, ... as a board of 2048."`
	Cols   int          `help:"Columns of the board (default: a square board)." placeholder:"C"`
	Format table.Format `help:"Output format: table, json, csv (PRISM's -simpath) or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// Run prints one path.
func (c *simulateCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limit(ctx, c.Timeout)
	defer cancel()
	whole := c.Time > 0 || c.Deadlock
	err := cmp.Or(
		env.without(whole, "with --time or --deadlock, want --max-path", "steps"),
		env.without(!whole, "without --time or --deadlock, want --steps", "max-path"),
		env.without(!c.Board, "without --board", "cols"),
		env.without(c.Board, "with --board", "format", "probs", "rewards"),
	)
	if err != nil {
		return err
	}
	src, warnings, err := c.source(ctx, env)
	if err != nil {
		return err
	}
	slots, err := c.slots(src.Program())
	if err != nil {
		return err
	}
	seed, err := env.seedOr(c.Seed)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintf(env.stderr, "warning: %s\n", w)
	}
	env.printing()
	path := simulate.Walk(ctx, src, c.options(seed))
	p := pathPrinter{cmd: c, prog: src.Program(), path: path, slots: slots, seed: seed}
	if err := p.print(env); err != nil {
		return err
	}
	// A model error ends the path; what led there has been printed.
	return path.Err
}

// source reads the model or the files of states, and what to be warned of.
func (c *simulateCmd) source(ctx context.Context, env *world) (simulate.Source, []string, error) {
	flags := spaceFlags{ModelFile: c.ModelFile, Const: c.Const, typeFlags: c.typeFlags}
	if named.Is(c.ModelFile) {
		space, err := flags.read(ctx, env)
		if err != nil {
			return nil, nil, err
		}
		steps := explicit.NewSteps(space)
		return steps, steps.Warnings(), nil
	}
	m, warnings, err := flags.compile(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	return simulate.FromModel(m), warnings, nil
}

func (c *simulateCmd) options(seed uint64) simulate.PathOptions {
	opt := simulate.PathOptions{
		MaxSteps: c.MaxPath, NoLoopCheck: c.NoLoopCheck, Rewards: c.Rewards, Seed: seed,
		Time: c.Time, Deadlock: c.Deadlock,
	}
	if c.Time == 0 && !c.Deadlock {
		opt.Steps = c.Steps
	}
	return opt
}

func (c *simulateCmd) slots(prog *sema.Program) ([]int, error) {
	if len(c.Vars) > 0 {
		slots, err := simulate.VarSlots(prog, c.Vars)
		if err != nil {
			return nil, usageError("--vars: %w", err)
		}
		return slots, nil
	}
	slots := make([]int, len(prog.Vars))
	for i := range slots {
		slots[i] = i
	}
	return slots, nil
}

// pathPrinter prints one path in one format, while it is drawn.
type pathPrinter struct {
	cmd   *simulateCmd
	prog  *sema.Program
	path  *simulate.Path
	slots []int
	seed  uint64

	state []int32 // that was visited last
	chose bool    // there was more than one choice
}

func (p *pathPrinter) print(env *world) error {
	switch {
	case p.cmd.Board:
		return p.boards(env.stdout)
	case p.cmd.Format == table.CSV:
		return simulate.WriteTable(env.stdout, p.path, simulate.TableOptions{
			Separator: ",", Vars: p.slots, Probs: p.cmd.Probs, Rewards: p.cmd.Rewards, Changes: p.cmd.Changes,
		})
	}
	var rows *table.Rows
	for v := range p.path.Visits() {
		if rows == nil { // there is a path
			rows = p.table().Stream(env.stdout, p.cmd.Format, env.reportOptions())
		}
		if !p.shown(v) {
			continue
		}
		if err := rows.Append(p.row(v)...); err != nil {
			return err
		}
	}
	if rows == nil {
		return nil
	}
	return rows.Close(p.notes()...)
}

// table is the step table of the thesis's Figure 2.3, without its rows.
func (p *pathPrinter) table() *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "action"}, {Name: "step", Align: table.Right}}}
	add := func(on bool, name, group, field string) {
		if on {
			t.Columns = append(t.Columns, table.Column{Name: name, Group: group, Field: field, Align: table.Right})
		}
	}
	add(p.cmd.Probs, "probability", "", "")
	add(p.prog.Type == syntax.CTMC, "time", "", "")
	for _, slot := range p.slots {
		add(true, p.prog.Vars[slot].Name, "variables", "")
	}
	for i := range p.prog.Rewards {
		name := p.rewardName(i)
		add(p.cmd.Rewards, name+" state", "state_rewards", name)
		add(p.cmd.Rewards, name+" step", "step_rewards", name)
	}
	return t
}

// shown notes what there is to say of the path, and reports whether a state gets a row.
func (p *pathPrinter) shown(v *simulate.Visit) bool {
	differs := v.In == nil || !p.cmd.Changes
	for _, slot := range p.slots {
		differs = differs || v.State[slot] != p.state[slot]
	}
	p.state = append(p.state[:0], v.State...)
	p.chose = p.chose || v.Out != nil && v.Out.Choices > 1
	return differs
}

func (p *pathPrinter) row(v *simulate.Visit) []any {
	row := []any{p.action(v), v.Number}
	if p.cmd.Probs && v.In != nil {
		row = append(row, v.In.Probability)
	} else if p.cmd.Probs {
		row = append(row, nil)
	}
	if p.prog.Type == syntax.CTMC {
		row = append(row, v.Time)
	}
	for _, slot := range p.slots {
		row = append(row, p.value(v, slot))
	}
	for i, x := range v.Rewards {
		row = append(row, x)
		if v.Out != nil {
			row = append(row, v.Out.Rewards[i])
		} else {
			row = append(row, nil)
		}
	}
	return row
}

func (p *pathPrinter) action(v *simulate.Visit) string {
	if v.In == nil {
		return ""
	}
	return simulate.ActionText(p.prog, v.In)
}

func (p *pathPrinter) value(v *simulate.Visit, slot int) any {
	x := v.State[slot]
	if p.prog.Vars[slot].Type == sema.Bool {
		return x != 0
	}
	return x
}

func (p *pathPrinter) rewardName(i int) string {
	if name := p.prog.Rewards[i].Name; name != "" {
		return name
	}
	return strconv.Itoa(i + 1)
}

func (p *pathPrinter) notes() []string {
	why := p.path.End.String()
	if p.path.End == simulate.AtRequest {
		why = p.path.Err.Error()
	}
	notes := []string{fmt.Sprintf("seed %d; the path ends here: %s", p.seed, why)}
	if p.chose && p.prog.Type != syntax.DTMC && p.prog.Type != syntax.CTMC {
		notes = append(notes, "choices were resolved uniformly")
	}
	return notes
}

// boards draws every shown state as a board of 2048 with the action that led to it.
func (p *pathPrinter) boards(w io.Writer) error {
	b, err := newBoardDrawing(p.prog, p.cmd.Cols)
	if err != nil {
		return err
	}
	for v := range p.path.Visits() {
		if !p.shown(v) {
			continue
		}
		heading := "start"
		if v.In != nil {
			heading = p.action(v)
		}
		if _, err := fmt.Fprintf(w, "%d %s\n%s\n", v.Number, heading, b.draw(v.State)); err != nil {
			return err
		}
	}
	if p.state == nil {
		return nil // there is no path
	}
	for _, note := range p.notes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}
