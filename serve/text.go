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
	for _, engine := range h.Engines {
		engines = append(engines, engine.Name())
	}
	var families []map[string]string
	for _, family := range strategy.List() {
		families = append(families, map[string]string{"name": family.Name, "options": family.Options, "about": family.About, "example": family.Example})
	}
	tables := []board{} // solved games
	for _, table := range h.Tables {
		if problem := table.Problem(); Winning(problem) {
			tables = append(tables, board{Rows: problem.Shape.Rows, Cols: problem.Shape.Cols, Max: game.Value(problem.MaxExp)})
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
func (h *API) generate(_ context.Context, question *generateQuestion, _ *reply) (any, error) {
	cfg := modelgen.Config{Rows: question.Rows, Cols: question.Cols, Max: question.Max}
	var errs [2]error
	cfg.Policy, errs[0] = modelgen.ParsePolicy(cmp.Or(question.Policy, "none"))
	cfg.Spawn, errs[1] = modelgen.ParseSpawn(cmp.Or(question.Spawn, "uniform"))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, badRequest{err}
	}
	model, err := modelgen.Build(cfg)
	if err != nil {
		return nil, badRequest{usage.Errorf("%w", err)}
	}
	generated := text{Name: "2048.prism"}
	if generated.Model, err = printTree(model); err != nil {
		return nil, err
	}
	for _, listed := range properties.All() {
		name := "\"" + strings.ReplaceAll(listed.Name, "-", "_") + "\": "
		if hasLabel(model, listed.Name) { // a property cannot have the name of a label
			name = ""
		}
		generated.Props += "// " + listed.Meaning + "\n" + name + listed.Text + ";\n\n"
	}
	return generated, nil
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
func (h *API) diagnose(ctx context.Context, question *diagnoseQuestion, _ *reply) (any, error) {
	answer := diagnosis{Places: []result.Place{}, Properties: []propertyEntry{}, Constants: []constant{}, Outline: []outlineEntry{}}
	total, failure := answer, error(nil)
	// After a timeout the goroutine may still write to found, which is then not used.
	err := ending.Await(ctx, func() {
		job := h.job(&question.source)
		texts, _ := checkTexts(&job) // the plan reports the error
		total.addTexts(texts, &question.source)
		failure = h.diagnoseTexts(ctx, &total, &question.source)
	})
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, failure
	}
	answer = total
	plan, err := runner.NewPlan(ctx, h.job(&question.source))
	planErr, ok := errors.AsType[*runner.PlanError](err)
	undefined := ok && planErr.Step == result.Constants && (question.Props == "" || answer.lacksValues()) // not an error in the text
	if err != nil && !undefined && len(answer.Places) == 0 {
		answer.Message = err.Error()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if plan != nil {
		answer.addPlan(plan)
	}
	return answer, nil
}

// lacksValues reports whether a constant has no value, or one that it cannot have.
func (d *diagnosis) lacksValues() bool {
	return slices.ContainsFunc(d.Constants, func(c constant) bool { return c.Value == "" && c.Count == 0 })
}

// diagnoseTexts adds the problems of the texts. JANI models are checked by the plan.
func (h *API) diagnoseTexts(ctx context.Context, answer *diagnosis, input *source) error {
	if jani.IsJANI([]byte(input.Model)) {
		return nil
	}
	return h.withTexts(ctx, input, func(files *editor.Files, model, props string) error {
		names := []string{model}
		if input.Props != "" {
			names = append(names, props)
		}
		for _, name := range names {
			diagnostics, err := files.Diagnostics(ctx, name)
			if err != nil {
				return err
			}
			for _, found := range diagnostics {
				place := result.Place{File: name, Line: int(found.Pos.Line), Column: int(found.Pos.Col), Message: found.Message}
				if found.Severity == editor.Error {
					answer.Places = append(answer.Places, place)
				} else {
					answer.Advice = append(answer.Advice, place)
				}
			}
			fixes, err := files.Fixes(ctx, name, editor.Range{To: len(files.Text(name))})
			if err != nil {
				return err
			}
			for _, found := range fixes[:min(len(fixes), maxFixes)] {
				answer.Fixes = append(answer.Fixes, fixOf(files, name, props, found))
			}
		}
		answer.Outline = outlineOf(files, model)
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

func fixOf(files *editor.Files, name, props string, suggested editor.Fix) fix {
	converted := fix{Title: suggested.Title, File: name, Line: int(suggested.Of.Pos.Line), Of: suggested.Of.Message, Edits: []textEdit{}}
	for _, edit := range suggested.Edits {
		text := files.Text(edit.File)
		converted.Edits = append(converted.Edits, textEdit{edit.File == props, editor.UTF16(text[:edit.From]), editor.UTF16(text[:edit.To]), edit.Text})
	}
	slices.SortStableFunc(converted.Edits, func(first, second textEdit) int { return second.From - first.From })
	return converted
}

// addPlan adds the warnings of the plan, the properties of a JANI model, and the errors of rejected properties.
func (d *diagnosis) addPlan(plan *runner.Plan) {
	d.Warnings = plan.Warnings
	if len(d.Properties) == 0 { // those of a JANI model
		for i, task := range plan.Tasks {
			d.Properties = append(d.Properties, propertyEntry{Index: i, Name: task.Name, Text: task.Text, Line: int(task.Pos.Line)})
		}
	}
	for i, task := range plan.Tasks {
		if task.Rejected != nil && i < len(d.Properties) {
			d.Properties[i].Error = task.Rejected.Msg
		}
	}
}

// addTexts adds the contents of the texts, and removes the values of constants that the texts
// define from the source.
func (d *diagnosis) addTexts(texts *checkedTexts, input *source) {
	if texts == nil {
		return
	}
	d.Type, d.Labels = texts.model.ModelType().String(), texts.model.Labels()
	d.Constants = constantsOf(texts, input)
	d.Digest = digestOf(texts, input)
	input.without(d.Constants)
	if texts.parsed == nil {
		return
	}
	lacksValue := map[string]bool{}
	for _, constant := range d.Constants {
		lacksValue[constant.Name] = constant.Value == "" && constant.Count == 0
	}
	for _, item := range texts.parsed.Items {
		property, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		entry := entryOf(property, input.Props)
		entry.Index = len(d.Properties)
		for _, name := range texts.model.Undefined() {
			if lacksValue[name] {
				entry.Needs = append(entry.Needs, name)
			}
		}
		if texts.props != nil {
			for _, name := range texts.props.Needs(entry.Index) {
				if lacksValue[name] && !slices.Contains(entry.Needs, name) {
					entry.Needs = append(entry.Needs, name)
				}
			}
		}
		d.Properties = append(d.Properties, entry)
	}
}

// digestOf returns a digest of the model and of everything in the properties that other properties can refer to. Results of the same
// property and constants can be compared if their texts have the same digest. It is empty if the properties have errors.
func digestOf(texts *checkedTexts, input *source) string {
	if texts.parsed != nil && texts.props == nil {
		return ""
	}
	sum := sha256.New()
	add := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	add(input.Model)
	if texts.parsed != nil {
		for _, item := range texts.parsed.Items {
			if property, ok := item.(*syntax.Property); !ok || property.Name != nil {
				add(input.Props[item.Pos().Offset:item.End().Offset])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// entryOf describes a property of a text.
func entryOf(property *syntax.Property, text string) propertyEntry {
	start, end := int(property.Pos().Offset), int(property.End().Offset)
	following := strings.TrimLeft(text[end:], " \t\r\n")
	if strings.HasPrefix(following, ";") {
		end = len(text) - len(following) + 1
	}
	doc := start
	for range len(property.Doc) { // each comment has a line of its own; a comment after other text is not about the property
		line := strings.LastIndex(strings.TrimRight(text[:doc], " \t\n"), "\n") + 1
		if !strings.HasPrefix(strings.TrimSpace(text[line:doc]), "//") {
			break
		}
		doc = line
	}
	result := propertyEntry{Text: syntax.ExprString(property.X), Line: int(property.Pos().Line)}
	result.DocFrom, result.From, result.To = editor.UTF16([]byte(text[:doc])), editor.UTF16([]byte(text[:start])), editor.UTF16([]byte(text[:end]))
	if property.Name != nil {
		result.Name = property.Name.Name
	}
	return result
}

type examplesQuestion struct{}

//go:embed examples
var exampleFiles embed.FS

// examples returns example models.
func (h *API) examples(ctx context.Context, _ *examplesQuestion, response *reply) (any, error) {
	texts := []text{}
	for _, builtin := range []struct{ name, about string }{
		{"die", "A fair die from a fair coin (Knuth and Yao)"},
		{"channel", "A lossy channel with open constants (DTMC)"},
		{"robot", "A robot that chooses between a short and a safe way (MDP)"},
		{"queue", "A queue with one server (CTMC)"},
		{"race", "Two players and a token (SMG)"},
	} {
		model, err := exampleFiles.ReadFile("examples/" + builtin.name + ".prism")
		if err != nil {
			return nil, err
		}
		props, err := exampleFiles.ReadFile("examples/" + builtin.name + ".props")
		if err != nil {
			return nil, err
		}
		texts = append(texts, text{Name: builtin.name + ".prism", About: builtin.about, Model: string(model), Props: string(props)})
	}
	for _, example := range []generateQuestion{{Rows: 2, Cols: 2, Max: 16}, {Rows: 2, Cols: 3, Max: 32}} {
		generated, err := h.generate(ctx, &example, response)
		if err != nil {
			return nil, err
		}
		generatedText := generated.(text)
		generatedText.About = fmt.Sprintf("The game 2048 on %dx%d to %d (MDP)", example.Rows, example.Cols, example.Max)
		generatedText.Name = fmt.Sprintf("2048-%dx%d.prism", example.Rows, example.Cols)
		texts = append(texts, generatedText)
	}
	return map[string]any{"examples": texts}, nil
}
