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
}

// task is one property to check.
type task struct {
	source     *source
	index      int    // in source.props
	name, text string // text without the name
	pos        syntax.Pos
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
	file, err := syntax.ParseProperties(job.PropsFile, job.Properties)
	if err != nil {
		return nil, err
	}
	props, err := p.model.CheckProperties(file)
	if err != nil {
		return nil, err
	}
	sources := []*source{{file: job.PropsFile, props: props}}
	var errs []error
	for _, text := range job.Props {
		s, err := p.textSource(file, props.Len(), text)
		sources = append(sources, s)
		errs = append(errs, err)
	}
	return sources, errors.Join(errs...)
}

// textSource checks a text over the declarations of the file, which has been
// checked: what is wrong now is wrong in the text.
func (p *plan) textSource(file *syntax.Properties, first int, text string) (*source, error) {
	tree, err := syntax.ParseProperties("", []byte(text))
	if err != nil {
		return nil, err
	}
	tree.Items = slices.Concat(file.Items, tree.Items)
	props, err := p.model.CheckProperties(tree)
	return &source{props: props, first: first}, err
}

// selectTasks lists the properties of all sources, or those that are selected
// by name or by 1-based number.
func selectTasks(sources []*source, selected []string) ([]*task, error) {
	var all []*task
	for _, s := range sources {
		for i, info := range s.props.List()[s.first:] {
			t := &task{source: s, index: s.first + i, name: info.Name, text: info.Text, pos: info.Pos}
			if t.name != "" {
				t.text = strings.TrimPrefix(t.text, strconv.Quote(t.name)+": ")
			}
			all = append(all, t)
		}
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
			if t.source == s {
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
