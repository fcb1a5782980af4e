package serve

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/editor"
	"tilecheck/game"
	"tilecheck/game/strategy"
	"tilecheck/internal/ending"
	"tilecheck/internal/usage"
	"tilecheck/modelgen"
	"tilecheck/prism/jani"
	"tilecheck/prism/syntax"
	"tilecheck/properties"
	"tilecheck/result"
	"tilecheck/runner"
)

type infoQuestion struct{}

// info describes what the page can request.
func (h *handler) info(context.Context, *infoQuestion, *reply) (any, error) {
	engines := []string{h.native.Name()}
	for _, e := range h.Engines {
		engines = append(engines, e.Name())
	}
	var families []map[string]string
	for _, e := range strategy.List() {
		families = append(families, map[string]string{"name": e.Name, "options": e.Options, "about": e.About, "example": e.Example})
	}
	tables := []board{} // solved games
	for _, t := range h.Tables {
		if p := t.Problem(); Winning(p) {
			tables = append(tables, board{Rows: p.Shape.Rows, Cols: p.Shape.Cols, Max: game.Value(p.MaxExp)})
		}
	}
	return map[string]any{
		"version": h.Version, "tables": tables, "engines": engines, "folders": h.Folders != nil, "states": h.Limits.States,
		"seconds": h.Limits.Time.Seconds(), "strategies": families,
	}, nil
}

type generateQuestion struct {
	Rows   int    `json:"rows"`
	Cols   int    `json:"cols"`
	Max    int    `json:"max"`
	Policy string `json:"policy"`
	Spawn  string `json:"spawn"`
}

// text is a model with its properties.
type text struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Model string `json:"model"`
	Props string `json:"props"`
	Const string `json:"const,omitempty"`
}

// generate makes a model of the game, as tilecheck gen does, with the properties of the catalogue.
func (h *handler) generate(_ context.Context, q *generateQuestion, _ *reply) (any, error) {
	cfg := modelgen.Config{Rows: q.Rows, Cols: q.Cols, Max: q.Max}
	var errs [2]error
	cfg.Policy, errs[0] = modelgen.ParsePolicy(cmp.Or(q.Policy, "none"))
	cfg.Spawn, errs[1] = modelgen.ParseSpawn(cmp.Or(q.Spawn, "uniform"))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, badRequest{err}
	}
	model, err := modelgen.Build(cfg)
	if err != nil {
		return nil, badRequest{usage.Errorf("%w", err)}
	}
	out := text{Name: "2048.prism"}
	if out.Model, err = printTree(model); err != nil {
		return nil, err
	}
	for _, p := range properties.All() {
		name := "\"" + strings.ReplaceAll(p.Name, "-", "_") + "\": "
		if hasLabel(model, p.Name) { // a property cannot have the name of a label
			name = ""
		}
		out.Props += "// " + p.Meaning + "\n" + name + p.Text + ";\n\n"
	}
	return out, nil
}

// hasLabel reports whether a model has a label.
func hasLabel(m *syntax.Model, name string) bool {
	return slices.ContainsFunc(m.Items, func(x syntax.Item) bool {
		l, ok := x.(*syntax.LabelDecl)
		return ok && l.Name.Name == name
	})
}

type diagnoseQuestion struct{ source }

type propertyEntry struct {
	Index int    `json:"index"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
	Line  int    `json:"line"`
	Error string `json:"error,omitempty"`
	// Needs are the constants without a value.
	Needs []string `json:"needs,omitempty"`
}

type diagnosis struct {
	Places     []result.Place  `json:"places"`
	Advice     []result.Place  `json:"advice,omitempty"`  // warnings and hints
	Message    string          `json:"message,omitempty"` // an error without a place
	Warnings   []string        `json:"warnings,omitempty"`
	Type       string          `json:"type,omitempty"`
	Properties []propertyEntry `json:"properties"`
	Undefined  []string        `json:"undefined"`
	Outline    []outlineEntry  `json:"outline"`
	Labels     []string        `json:"labels,omitempty"`
}

// diagnose returns the problems of the texts, with the messages of the command line, and their
// contents.
func (h *handler) diagnose(ctx context.Context, q *diagnoseQuestion, _ *reply) (any, error) {
	d := diagnosis{Places: []result.Place{}, Properties: []propertyEntry{}, Undefined: []string{}, Outline: []outlineEntry{}}
	job := h.job(&q.source)
	found, failure := d, error(nil)
	// After a timeout the goroutine may still write to found, which is then not used.
	if err := ending.Await(ctx, func() { failure = h.diagnoseTexts(ctx, &found, &q.source) }); err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, failure
	}
	d = found
	plan, err := runner.NewPlan(ctx, job)
	e, ok := errors.AsType[*runner.PlanError](err)
	undefined := ok && e.Step == result.Constants // constants without values are not an error in the text
	if undefined && q.Props != "" || err != nil && !undefined && len(d.Places) == 0 {
		d.Message = err.Error()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if undefined {
		d.undefined(&job)
	}
	if plan != nil {
		d.addPlan(plan)
	}
	return d, nil
}

// diagnoseTexts adds the problems of the texts. JANI models are checked by the plan.
func (h *handler) diagnoseTexts(ctx context.Context, d *diagnosis, s *source) error {
	if jani.Is([]byte(s.Model)) {
		return nil
	}
	return h.withTexts(ctx, s, func(files *editor.Files, model, props string) error {
		names := []string{model}
		if s.Props != "" {
			names = append(names, props)
		}
		for _, name := range names {
			found, err := files.Diagnostics(ctx, name)
			if err != nil {
				return err
			}
			for _, x := range found {
				place := result.Place{File: name, Line: int(x.Pos.Line), Column: int(x.Pos.Col), Message: x.Message}
				if x.Severity == editor.Error {
					d.Places = append(d.Places, place)
				} else {
					d.Advice = append(d.Advice, place)
				}
			}
		}
		d.Outline = outlineOf(files, model)
		return nil
	})
}

// addPlan adds the contents of a plan.
func (d *diagnosis) addPlan(plan *runner.Plan) {
	d.Type = plan.Model.ModelType().String()
	d.Labels = plan.Model.Labels()
	d.Warnings = plan.Warnings
	for i, t := range plan.Tasks {
		e := propertyEntry{Index: i, Name: t.Name, Text: t.Text, Line: int(t.Pos.Line)}
		if t.Rejected != nil {
			e.Error = t.Rejected.Msg
		}
		d.Properties = append(d.Properties, e)
	}
}

// undefined lists the constants without a value, and the properties.
func (d *diagnosis) undefined(job *runner.Job) {
	m, ps, err := checkTexts(job)
	if err != nil {
		return // the plan has reported the error
	}
	d.Type, d.Labels = m.ModelType().String(), m.Labels()
	d.Undefined = append(d.Undefined, m.Undefined()...)
	if ps == nil {
		return
	}
	for i, p := range ps.List() {
		d.Properties = append(d.Properties, propertyEntry{Index: i, Name: p.Name, Text: p.Text, Line: int(p.Pos.Line), Needs: ps.Needs(i)})
	}
	for _, name := range ps.Undefined() {
		if !slices.Contains(d.Undefined, name) {
			d.Undefined = append(d.Undefined, name)
		}
	}
}

type examplesQuestion struct{}

//go:embed examples
var exampleFiles embed.FS

// examples returns example models.
func (h *handler) examples(ctx context.Context, _ *examplesQuestion, out *reply) (any, error) {
	all := []text{}
	for _, x := range []struct{ name, about string }{
		{"die", "A fair die from a fair coin (Knuth and Yao)"},
		{"channel", "A lossy channel that gives up after some tries (DTMC)"},
		{"robot", "A robot that chooses between a short and a safe way (MDP)"},
		{"queue", "A queue with one server (CTMC)"},
	} {
		model, err := exampleFiles.ReadFile("examples/" + x.name + ".prism")
		if err != nil {
			return nil, err
		}
		props, err := exampleFiles.ReadFile("examples/" + x.name + ".props")
		if err != nil {
			return nil, err
		}
		all = append(all, text{Name: x.name + ".prism", About: x.about, Model: string(model), Props: string(props)})
	}
	for _, g := range []generateQuestion{{Rows: 2, Cols: 2, Max: 16}, {Rows: 2, Cols: 3, Max: 32}} {
		made, err := h.generate(ctx, &g, out)
		if err != nil {
			return nil, err
		}
		t := made.(text)
		t.About = fmt.Sprintf("The game 2048 on %dx%d to %d (MDP)", g.Rows, g.Cols, g.Max)
		t.Name = fmt.Sprintf("2048-%dx%d.prism", g.Rows, g.Cols)
		all = append(all, t)
	}
	return map[string]any{"examples": all}, nil
}
