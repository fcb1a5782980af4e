package native

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// plan is a job whose files are checked and whose properties are selected.
type plan struct {
	model *sema.Model
	tasks []*task // at least one
	// warnings are those of the job, which every verdict carries.
	warnings []string
}

// source is where properties come from: a file, or one text of runner.Job.Props
// together with the declarations of the file.
type source struct {
	file       string
	props      *sema.Properties
	experiment *sema.Experiment
	first      int // the properties before it are the file's
	tree       *syntax.Properties
	// rejected has what is wrong with properties of the tree that props lacks.
	rejected map[*syntax.Property]*syntax.Error
}

// task is one property to check.
type task struct {
	source     *source
	index      int    // in source.props
	name, text string // text without the name
	pos        syntax.Pos
	rejected   *syntax.Error // nil unless the property cannot be checked
}

func newPlan(job *runner.Job) (*plan, error) {
	tree, err := syntax.ParseModel(job.File, job.Model)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	if p.model, err = sema.CheckModel(tree); err != nil {
		return nil, err
	}
	sources, err := p.sources(job)
	if err != nil {
		return nil, err
	}
	if p.tasks, err = selectTasks(sources, job.Select); err != nil {
		return nil, err
	}
	return p, p.defineConstants(sources, job.Consts)
}

// sources checks the properties file and the further texts. All diagnostics of
// the texts are reported at once, if the file has none.
func (p *plan) sources(job *runner.Job) ([]*source, error) {
	file, err := p.fileSource(job)
	if err != nil {
		return nil, err
	}
	sources := []*source{file}
	var errs []error
	for _, text := range job.Props {
		s, err := p.textSource(file, text)
		sources = append(sources, s)
		errs = append(errs, err)
	}
	return sources, errors.Join(errs...)
}

// fileSource checks the properties file. A property with errors, or one that
// refers to such a property, is rejected and costs the others nothing; a file
// that has no others is an error, and so is one whose declarations are wrong.
func (p *plan) fileSource(job *runner.Job) (*source, error) {
	tree, err := syntax.ParseProperties(job.PropsFile, job.Properties)
	if err != nil {
		return nil, err
	}
	s := &source{file: job.PropsFile, tree: tree, rejected: make(map[*syntax.Property]*syntax.Error)}
	s.props, err = p.model.CheckProperties(tree)
	first, good := err, *tree
	for err != nil {
		list, ok := errors.AsType[syntax.ErrorList](err)
		if !ok || !s.reject(&good, list) {
			return nil, first
		}
		s.props, err = p.model.CheckProperties(&good)
	}
	if s.props.Len() == 0 && len(job.Props) == 0 {
		return s, first
	}
	return s, nil
}

// reject takes the properties that errors are in out of a tree. It reports false
// if an error is in none.
func (s *source) reject(tree *syntax.Properties, errs syntax.ErrorList) bool {
	for _, e := range errs {
		i := slices.IndexFunc(s.tree.Items, func(x syntax.PropItem) bool {
			return x.Pos().Compare(e.Pos) <= 0 && e.Pos.Compare(x.End()) < 0
		})
		if i < 0 {
			return false
		}
		x, ok := s.tree.Items[i].(*syntax.Property)
		if !ok {
			return false
		}
		if s.rejected[x] == nil {
			s.rejected[x] = e
		}
	}
	tree.Items = slices.DeleteFunc(slices.Clone(tree.Items), func(item syntax.PropItem) bool {
		x, ok := item.(*syntax.Property)
		return ok && s.rejected[x] != nil
	})
	return true
}

// textSource checks a text over the declarations of the file, which has been
// checked: what is wrong now is wrong in the text.
func (p *plan) textSource(file *source, text string) (*source, error) {
	tree, err := syntax.ParseProperties("", []byte(text))
	if err != nil {
		return nil, err
	}
	var declared []syntax.PropItem
	for _, item := range file.tree.Items {
		if x, ok := item.(*syntax.Property); !ok || file.rejected[x] == nil {
			declared = append(declared, item)
		}
	}
	tree.Items = slices.Concat(declared, tree.Items)
	props, err := p.model.CheckProperties(tree)
	return &source{tree: tree, props: props, first: file.props.Len()}, err
}

// selectTasks lists the properties of all sources, or those that are selected
// by name or by 1-based number.
func selectTasks(sources []*source, selected []string) ([]*task, error) {
	var all []*task
	for _, s := range sources {
		all = append(all, s.tasks()...)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("no properties to check")
	case len(selected) == 0:
		return all, nil
	}
	var tasks []*task
	for _, word := range selected {
		i := slices.IndexFunc(all, func(t *task) bool { return t.name != "" && t.name == word })
		if n, err := strconv.Atoi(word); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(all) {
			return nil, fmt.Errorf("no property %q, want a name or a number from 1 to %d", word, len(all))
		}
		tasks = append(tasks, all[i])
	}
	return tasks, nil
}

// tasks lists the properties of a source in the order of the text.
func (s *source) tasks() []*task {
	var out []*task
	index := 0
	infos := s.props.List()
	for _, item := range s.tree.Items {
		x, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		t := &task{source: s, index: index, pos: x.Pos(), rejected: s.rejected[x]}
		if t.rejected != nil {
			if x.Name != nil {
				t.name = x.Name.Name
			}
			t.text = syntax.ExprString(x.X)
			out = append(out, t)
			continue
		}
		t.name, t.text, t.pos = infos[index].Name, infos[index].Text, infos[index].Pos
		if t.name != "" {
			t.text = strings.TrimPrefix(t.text, strconv.Quote(t.name)+": ")
		}
		if index++; t.index >= s.first {
			out = append(out, t)
		}
	}
	return out
}

// defineConstants types the definitions of constants. A name that one source
// does not declare may belong to another, so that only what no source knows is
// a warning.
func (p *plan) defineConstants(sources []*source, consts []string) error {
	defs, err := sema.ParseConsts(consts)
	if err != nil {
		return err
	}
	unknown := make(map[string]int)
	for _, s := range sources {
		sel := []int{}
		for _, t := range p.tasks {
			if t.source == s && t.rejected == nil {
				sel = append(sel, t.index)
			}
		}
		if s.experiment, err = p.model.Experiment(s.props, sel, defs); err != nil {
			return err
		}
		for _, w := range s.experiment.Warnings {
			if unknown[w.Error()]++; unknown[w.Error()] == len(sources) {
				p.warnings = append(p.warnings, w.Error())
			}
		}
	}
	return nil
}
