package plan

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Plan is a job whose files are checked and whose properties are selected.
type Plan struct {
	Tree  *syntax.Model // as parsed
	Model *sema.Model
	Tasks []*Task // at least one
	// Warnings are those of the job, which every verdict carries.
	Warnings []string
}

// Source is where properties come from: a file, or one text of runner.Job.Props
// together with the declarations of the file.
type Source struct {
	File       string // as diagnostics call it
	Props      *sema.Properties
	Experiment *sema.Experiment
	// Tree has the declarations and properties that Props knows, in its order.
	Tree *syntax.Properties

	// Base is the file whose declarations and properties a text has before its
	// own, nil for the file itself.
	Base *Source

	all []syntax.PropItem // Tree with what was rejected
	// rejected has what is wrong with properties that Props lacks.
	rejected map[*syntax.Property]*syntax.Error
}

// Task is one property to check.
type Task struct {
	Source     *Source
	Index      int    // in Source.Props; meaningless if rejected
	Name, Text string // Text as PRISM echoes it, without the name
	Pos        syntax.Pos
	Property   *syntax.Property
	// Rejected says what is wrong with a property that cannot be checked.
	Rejected *syntax.Error
}

// Own returns the part of Tree that is not Base's.
func (s *Source) Own() []syntax.PropItem {
	if s.Base == nil {
		return s.Tree.Items
	}
	return s.Tree.Items[len(s.Base.Tree.Items):]
}

// First is the index in Props of the first property that is not Base's.
func (s *Source) First() int {
	if s.Base == nil {
		return 0
	}
	return s.Base.Props.Len()
}

// Models yields the valuations of the model's constants.
func (p *Plan) Models() iter.Seq[sema.Valuation] { return p.Tasks[0].Source.Experiment.Models() }

// Valuations yields the valuations of the constants of the task's property.
func (t *Task) Valuations() iter.Seq[sema.Valuation] { return t.Source.Experiment.Properties(t.Index) }

// maxVerdicts is the largest number of verdicts of one job: a range with a digit
// too many should be told, and not take all memory.
const maxVerdicts = 1_000_000

// Verdicts returns the number of verdicts that the job is to have.
func (p *Plan) Verdicts() int { return p.count(maxVerdicts) }

// count returns the number of verdicts, or limit if there are more.
func (p *Plan) count(limit int) int {
	n := 0
	for range p.Models() {
		for _, t := range p.Tasks {
			if t.Rejected != nil {
				n++
			} else {
				for range t.Valuations() {
					if n++; n >= limit {
						return limit
					}
				}
			}
			if n >= limit {
				return limit
			}
		}
	}
	return n
}

// Constants returns valuations as verdicts carry them.
func Constants(valuations ...sema.Valuation) []result.Constant {
	out := []result.Constant{}
	for _, v := range valuations {
		for _, c := range v {
			out = append(out, result.Constant{Name: c.Name, Value: c.Val.String()})
		}
	}
	return out
}

// New checks the files of a job as PRISM does before anything runs. The error is
// a syntax.ErrorList, or several joined, or says what is wrong with the job.
//
// States that files give have no Tree.
func New(job *runner.Job) (*Plan, error) {
	if job.States != nil {
		return Over(job.States.Model, job)
	}
	tree, err := syntax.ParseModel(job.File, job.Model)
	if err != nil {
		return nil, err
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	p, err := Over(model, job)
	if err != nil {
		return nil, err
	}
	p.Tree = tree
	return p, nil
}

// Over is New for a model that is there already; the job's is not read, and the
// plan has no Tree.
func Over(model *sema.Model, job *runner.Job) (*Plan, error) {
	p := &Plan{Model: model}
	sources, err := p.sources(job)
	if err != nil {
		return nil, err
	}
	if p.Tasks, err = selectTasks(sources, job.Select); err != nil {
		return nil, err
	}
	if err := p.defineConstants(sources, job.Consts); err != nil {
		return p, err
	}
	if p.count(maxVerdicts+1) > maxVerdicts {
		return p, fmt.Errorf("the constants have values for more than %d results, want fewer", maxVerdicts)
	}
	return p, nil
}

// sources checks the properties file and the further texts. All diagnostics of
// the texts are reported at once, if the file has none.
func (p *Plan) sources(job *runner.Job) ([]*Source, error) {
	file, err := p.fileSource(job)
	if err != nil {
		return nil, err
	}
	sources := []*Source{file}
	var errs []error
	for i, text := range job.Props {
		s, err := p.textSource(file, job.PropName(i), text)
		sources = append(sources, s)
		errs = append(errs, err)
	}
	return sources, errors.Join(errs...)
}

// fileSource checks the properties file. A property with errors, or one that
// refers to such a property, is rejected and costs the others nothing; a file
// that has no others is an error, and so is one whose declarations are wrong.
func (p *Plan) fileSource(job *runner.Job) (*Source, error) {
	tree, err := syntax.ParseProperties(job.PropsFile, job.Properties)
	if err != nil {
		return nil, err
	}
	s := &Source{File: job.PropsFile, Tree: tree, all: tree.Items, rejected: make(map[*syntax.Property]*syntax.Error)}
	s.Props, err = p.Model.CheckProperties(tree)
	first := err
	for err != nil {
		list, ok := errors.AsType[syntax.ErrorList](err)
		if !ok || !s.reject(list) {
			return nil, first
		}
		s.Props, err = p.Model.CheckProperties(s.Tree)
	}
	if s.Props.Len() == 0 && len(job.Props) == 0 {
		return s, first
	}
	return s, nil
}

// reject takes the properties that errors are in out of the tree. It reports
// false if an error is in none.
func (s *Source) reject(errs syntax.ErrorList) bool {
	for _, e := range errs {
		i := slices.IndexFunc(s.all, func(x syntax.PropItem) bool {
			return x.Pos().Compare(e.Pos) <= 0 && e.Pos.Compare(x.End()) < 0
		})
		if i < 0 {
			return false
		}
		x, ok := s.all[i].(*syntax.Property)
		if !ok {
			return false
		}
		if s.rejected[x] == nil {
			s.rejected[x] = e
		}
	}
	good := *s.Tree
	good.Items = slices.DeleteFunc(slices.Clone(s.all), func(item syntax.PropItem) bool {
		x, ok := item.(*syntax.Property)
		return ok && s.rejected[x] != nil
	})
	s.Tree = &good
	return true
}

// textSource checks a text over the declarations of the file, which has been
// checked: what is wrong now is wrong in the text.
func (p *Plan) textSource(file *Source, name, text string) (*Source, error) {
	tree, err := syntax.ParseProperties(name, []byte(text))
	if err != nil {
		return nil, err
	}
	tree.Items = slices.Concat(file.Tree.Items, tree.Items)
	props, err := p.Model.CheckProperties(tree)
	return &Source{File: name, Tree: tree, Props: props, Base: file, all: tree.Items}, err
}

// selectTasks lists the properties of all sources, or those that are selected
// by name or by 1-based number.
func selectTasks(sources []*Source, selected []string) ([]*Task, error) {
	var all []*Task
	for _, s := range sources {
		all = append(all, s.tasks()...)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("no properties to check")
	case len(selected) == 0:
		return all, nil
	}
	var tasks []*Task
	for _, word := range selected {
		i := slices.IndexFunc(all, func(t *Task) bool { return t.Name != "" && t.Name == word })
		if n, err := strconv.Atoi(word); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(all) {
			return nil, selectionError("no property %q, want a name or a number from 1 to %d", word, len(all))
		}
		tasks = append(tasks, all[i])
	}
	return tasks, nil
}

// tasks lists the properties of a source in the order of the text.
func (s *Source) tasks() []*Task {
	var out []*Task
	index := 0
	infos := s.Props.List()
	for _, item := range s.all {
		x, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		t := &Task{Source: s, Index: index, Pos: x.Pos(), Property: x, Rejected: s.rejected[x]}
		if t.Rejected != nil {
			if x.Name != nil {
				t.Name = x.Name.Name
			}
			t.Text = syntax.ExprString(x.X)
			out = append(out, t)
			continue
		}
		t.Name, t.Text, t.Pos = infos[index].Name, infos[index].Text, infos[index].Pos
		if t.Name != "" {
			t.Text = strings.TrimPrefix(t.Text, strconv.Quote(t.Name)+": ")
		}
		if index++; t.Index >= s.First() {
			out = append(out, t)
		}
	}
	return out
}

// defineConstants types the definitions of constants. A name that one source
// does not declare may belong to another, so that only what no source knows is
// a warning.
func (p *Plan) defineConstants(sources []*Source, consts []string) error {
	defs, err := sema.ParseConsts(consts)
	if err != nil {
		return err
	}
	unknown := make(map[string]int)
	for _, s := range sources {
		sel := []int{}
		for _, t := range p.Tasks {
			if t.Source == s && t.Rejected == nil {
				sel = append(sel, t.Index)
			}
		}
		if s.Experiment, err = p.Model.Experiment(s.Props, sel, defs); err != nil {
			return err
		}
		for _, w := range s.Experiment.Warnings {
			if unknown[w.Error()]++; unknown[w.Error()] == len(sources) {
				p.Warnings = append(p.Warnings, w.Error())
			}
		}
	}
	return nil
}
