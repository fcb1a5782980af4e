package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/native"
	"tilecheck/native/simulate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report"
)

type simulateCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model (- for standard input)." file:"in"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

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

	Board  bool          `help:"Draw the variables v_0, v_1, ... as a board of 2048."`
	Cols   int           `help:"Columns of the board (default: a square board)." placeholder:"C"`
	Format report.Format `help:"Output format: table, json, csv (PRISM's -simpath) or markdown." default:"table" placeholder:"FORMAT"`

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
	src, err := env.readSource(c.ModelFile)
	if err != nil {
		return err
	}
	m, warnings, err := native.Load(c.ModelFile, src, c.Const)
	if err != nil {
		return err
	}
	slots, err := c.slots(m.Program())
	if err != nil {
		return err
	}
	seed, err := seedOr(c.Seed)
	if err != nil {
		return err
	}
	path, walkErr := simulate.Walk(ctx, m, c.options(seed))
	if path == nil {
		return walkErr
	}
	p := pathPrinter{cmd: c, prog: m.Program(), path: path, slots: slots, seed: seed, warnings: warnings}
	if err := p.print(env); err != nil {
		return err
	}
	// A model error ends the path; what led there has been printed.
	return walkErr
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

// pathPrinter prints one path in one format.
type pathPrinter struct {
	cmd      *simulateCmd
	prog     *sema.Program
	path     *simulate.Path
	slots    []int
	seed     uint64
	warnings []error
}

func (p *pathPrinter) print(env *world) error {
	for _, w := range p.warnings {
		fmt.Fprintf(env.stderr, "warning: %v\n", w)
	}
	switch {
	case p.cmd.Board:
		return p.boards(env.stdout)
	case p.cmd.Format == report.FormatCSV:
		return simulate.WriteTable(env.stdout, p.prog, p.path, simulate.TableOptions{
			Separator: ",", Vars: p.slots, Probs: p.cmd.Probs, Rewards: p.cmd.Rewards, Changes: p.cmd.Changes,
		})
	}
	return p.table().Write(env.stdout, p.cmd.Format, env.reportOptions())
}

// table is the step table of the thesis's Figure 2.3.
func (p *pathPrinter) table() *report.Table {
	ctmc := p.prog.Type == syntax.CTMC
	t := &report.Table{
		Columns: []report.Column{{Name: "action"}, {Name: "step", Align: report.Right}},
		Notes:   p.notes(),
	}
	add := func(on bool, name string) {
		if on {
			t.Columns = append(t.Columns, report.Column{Name: name, Align: report.Right})
		}
	}
	add(p.cmd.Probs, "probability")
	add(ctmc, "time")
	for _, slot := range p.slots {
		add(true, p.prog.Vars[slot].Name)
	}
	for i := range p.prog.Rewards {
		add(p.cmd.Rewards, p.rewardName(i)+" state")
		add(p.cmd.Rewards, p.rewardName(i)+" step")
	}
	for i := range p.path.States {
		if p.shown(i) {
			t.Append(p.row(i, ctmc)...)
		}
	}
	return t
}

// shown reports whether state i gets a row.
func (p *pathPrinter) shown(i int) bool {
	if i == 0 || !p.cmd.Changes {
		return true
	}
	for _, slot := range p.slots {
		if p.path.States[i][slot] != p.path.States[i-1][slot] {
			return true
		}
	}
	return false
}

func (p *pathPrinter) row(i int, ctmc bool) []any {
	row := []any{p.action(i), i}
	if p.cmd.Probs {
		row = append(row, p.probability(i))
	}
	if ctmc {
		row = append(row, p.path.Time(i))
	}
	for _, slot := range p.slots {
		row = append(row, p.value(i, slot))
	}
	if p.cmd.Rewards {
		for r := range p.prog.Rewards {
			row = append(row, p.path.StateRewards[i][r])
			if i < len(p.path.Steps) {
				row = append(row, p.path.Steps[i].Rewards[r])
			} else {
				row = append(row, nil)
			}
		}
	}
	return row
}

func (p *pathPrinter) action(i int) string {
	if i == 0 {
		return ""
	}
	return simulate.ActionText(p.prog, &p.path.Steps[i-1])
}

func (p *pathPrinter) probability(i int) any {
	if i == 0 {
		return nil
	}
	return p.path.Steps[i-1].Probability
}

func (p *pathPrinter) value(i, slot int) any {
	v := p.path.States[i][slot]
	if p.prog.Vars[slot].Type == sema.Bool {
		return v != 0
	}
	return v
}

func (p *pathPrinter) rewardName(i int) string {
	if name := p.prog.Rewards[i].Name; name != "" {
		return name
	}
	return strconv.Itoa(i + 1)
}

func (p *pathPrinter) notes() []string {
	notes := []string{fmt.Sprintf("seed %d; the path ends here: %s", p.seed, p.path.End)}
	if p.nondeterministic() {
		notes = append(notes, "choices were resolved uniformly")
	}
	return notes
}

func (p *pathPrinter) nondeterministic() bool {
	if p.prog.Type == syntax.DTMC || p.prog.Type == syntax.CTMC {
		return false
	}
	return slices.ContainsFunc(p.path.Steps, func(s simulate.Step) bool { return s.Choices > 1 })
}

// boards draws every shown state as a board of 2048 with the action that led to it.
func (p *pathPrinter) boards(w io.Writer) error {
	b, err := newBoardDrawing(p.prog, p.cmd.Cols)
	if err != nil {
		return err
	}
	for i, state := range p.path.States {
		if !p.shown(i) {
			continue
		}
		heading := "start"
		if i > 0 {
			heading = p.action(i)
		}
		if _, err := fmt.Fprintf(w, "%d %s\n%s\n", i, heading, b.draw(state)); err != nil {
			return err
		}
	}
	for _, note := range p.notes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}
