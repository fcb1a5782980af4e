package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
func (h *API) info(context.Context, *infoQuestion, *reply) (any, error) {
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
	Max    int    `json:"tile"` // the tile that wins
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
func (h *API) generate(_ context.Context, q *generateQuestion, _ *reply) (any, error) {
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

// propertyEntry is a property of the file. From, To and DocFrom are places in the text, counted in
// units of UTF-16: To is behind its semicolon, DocFrom where the comment above it begins.
type propertyEntry struct {
	Index   int    `json:"index"`
	Name    string `json:"name,omitempty"`
	Text    string `json:"text"`
	Line    int    `json:"line"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	DocFrom int    `json:"doc_from"`
	Error   string `json:"error,omitempty"`
	// Needs are the constants without a value.
	Needs []string `json:"needs,omitempty"`
}

type diagnosis struct {
	Places     []result.Place  `json:"places"`
	Advice     []result.Place  `json:"advice,omitempty"` // warnings and hints
	Fixes      []fix           `json:"fixes,omitempty"`
	Message    string          `json:"message,omitempty"` // an error without a place
	Warnings   []string        `json:"warnings,omitempty"`
	Type       string          `json:"type,omitempty"`
	Properties []propertyEntry `json:"properties"`
	Constants  []constant      `json:"constants"`
	Outline    []outlineEntry  `json:"outline"`
	Labels     []string        `json:"labels,omitempty"`
	// Digest is the same for texts whose properties mean the same; empty for texts with errors.
	Digest string `json:"digest,omitempty"`
}

// diagnose returns the problems of the texts, with the messages of the command line, and their
// contents.
func (h *API) diagnose(ctx context.Context, q *diagnoseQuestion, _ *reply) (any, error) {
	d := diagnosis{Places: []result.Place{}, Properties: []propertyEntry{}, Constants: []constant{}, Outline: []outlineEntry{}}
	found, failure := d, error(nil)
	// After a timeout the goroutine may still write to found, which is then not used.
	err := ending.Await(ctx, func() {
		job := h.job(&q.source)
		texts, _ := checkTexts(&job) // the plan reports the error
		found.addTexts(texts, &q.source)
		failure = h.diagnoseTexts(ctx, &found, &q.source)
	})
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, failure
	}
	d = found
	plan, err := runner.NewPlan(ctx, h.job(&q.source))
	e, ok := errors.AsType[*runner.PlanError](err)
	undefined := ok && e.Step == result.Constants && (q.Props == "" || d.lacksValues()) // not an error in the text
	if err != nil && !undefined && len(d.Places) == 0 {
		d.Message = err.Error()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if plan != nil {
		d.addPlan(plan)
	}
	return d, nil
}

// lacksValues reports whether a constant has no value, or one that it cannot have.
func (d *diagnosis) lacksValues() bool {
	return slices.ContainsFunc(d.Constants, func(c constant) bool { return c.Value == "" && c.Count == 0 })
}

// diagnoseTexts adds the problems of the texts. JANI models are checked by the plan.
func (h *API) diagnoseTexts(ctx context.Context, d *diagnosis, s *source) error {
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
			fixes, err := files.Fixes(ctx, name, editor.Range{To: len(files.Text(name))})
			if err != nil {
				return err
			}
			for _, x := range fixes[:min(len(fixes), maxFixes)] {
				d.Fixes = append(d.Fixes, fixOf(files, name, props, x))
			}
		}
		d.Outline = outlineOf(files, model)
		return nil
	})
}

// maxFixes is the largest number of corrections of a text in an answer.
const maxFixes = 100

// fix is a change that may correct a problem. Its edits do not overlap, and stand from the last to
// the first.
type fix struct {
	Title string     `json:"title"`
	Line  int        `json:"line"` // of the problem
	File  string     `json:"file"`
	Of    string     `json:"of"` // the message of the problem
	Edits []textEdit `json:"edits"`
}

// textEdit replaces a part of a text. Places count units of UTF-16.
type textEdit struct {
	InProps bool   `json:"in_props"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Text    string `json:"text"`
}

func fixOf(files *editor.Files, name, props string, x editor.Fix) fix {
	out := fix{Title: x.Title, File: name, Line: int(x.Of.Pos.Line), Of: x.Of.Message, Edits: []textEdit{}}
	for _, e := range x.Edits {
		text := files.Text(e.File)
		out.Edits = append(out.Edits, textEdit{e.File == props, editor.UTF16(text[:e.From]), editor.UTF16(text[:e.To]), e.Text})
	}
	slices.SortStableFunc(out.Edits, func(a, b textEdit) int { return b.From - a.From })
	return out
}

// addPlan adds what only a plan knows.
func (d *diagnosis) addPlan(plan *runner.Plan) {
	d.Warnings = plan.Warnings
	if len(d.Properties) == 0 { // those of a JANI model
		for i, t := range plan.Tasks {
			d.Properties = append(d.Properties, propertyEntry{Index: i, Name: t.Name, Text: t.Text, Line: int(t.Pos.Line)})
		}
	}
	for i, t := range plan.Tasks {
		if t.Rejected != nil && i < len(d.Properties) {
			d.Properties[i].Error = t.Rejected.Msg
		}
	}
}

// addTexts adds the contents of the texts, and removes the values of constants that the texts
// define from the source.
func (d *diagnosis) addTexts(t *checkedTexts, s *source) {
	if t == nil {
		return
	}
	d.Type, d.Labels = t.model.ModelType().String(), t.model.Labels()
	d.Constants = constantsOf(t, s)
	d.Digest = digestOf(t, s)
	s.without(d.Constants)
	if t.parsed == nil {
		return
	}
	lacking := map[string]bool{}
	for _, c := range d.Constants {
		lacking[c.Name] = c.Value == "" && c.Count == 0
	}
	for _, x := range t.parsed.Items {
		p, ok := x.(*syntax.Property)
		if !ok {
			continue
		}
		e := entryOf(p, s.Props)
		e.Index = len(d.Properties)
		for _, name := range t.model.Undefined() {
			if lacking[name] {
				e.Needs = append(e.Needs, name)
			}
		}
		if t.props != nil {
			for _, name := range t.props.Needs(e.Index) {
				if lacking[name] && !slices.Contains(e.Needs, name) {
					e.Needs = append(e.Needs, name)
				}
			}
		}
		d.Properties = append(d.Properties, e)
	}
}

// digestOf returns a digest of the model and of everything in the properties that other properties can refer to. Results of the same
// property and constants can be compared if their texts have the same digest. It is empty if the properties have errors.
func digestOf(t *checkedTexts, s *source) string {
	if t.parsed != nil && t.props == nil {
		return ""
	}
	sum := sha256.New()
	add := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	add(s.Model)
	if t.parsed != nil {
		for _, x := range t.parsed.Items {
			if p, ok := x.(*syntax.Property); !ok || p.Name != nil {
				add(s.Props[x.Pos().Offset:x.End().Offset])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// entryOf describes a property of a text.
func entryOf(p *syntax.Property, text string) propertyEntry {
	from, to := int(p.Pos().Offset), int(p.End().Offset)
	rest := strings.TrimLeft(text[to:], " \t\r\n")
	if strings.HasPrefix(rest, ";") {
		to = len(text) - len(rest) + 1
	}
	doc := from
	for range len(p.Doc) { // one comment a line; one behind something else is about that
		line := strings.LastIndex(strings.TrimRight(text[:doc], " \t\n"), "\n") + 1
		if !strings.HasPrefix(strings.TrimSpace(text[line:doc]), "//") {
			break
		}
		doc = line
	}
	e := propertyEntry{Text: syntax.ExprString(p.X), Line: int(p.Pos().Line)}
	e.DocFrom, e.From, e.To = editor.UTF16([]byte(text[:doc])), editor.UTF16([]byte(text[:from])), editor.UTF16([]byte(text[:to]))
	if p.Name != nil {
		e.Name = p.Name.Name
	}
	return e
}

type examplesQuestion struct{}

//go:embed examples
var exampleFiles embed.FS

// examples returns example models.
func (h *API) examples(ctx context.Context, _ *examplesQuestion, out *reply) (any, error) {
	all := []text{}
	for _, x := range []struct{ name, about string }{
		{"die", "A fair die from a fair coin (Knuth and Yao)"},
		{"channel", "A lossy channel with open constants (DTMC)"},
		{"robot", "A robot that chooses between a short and a safe way (MDP)"},
		{"queue", "A queue with one server (CTMC)"},
		{"race", "Two players and a token (SMG)"},
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
