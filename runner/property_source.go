package runner

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Source is the properties file, or one text of Job.Props together with the
// declarations of the file.
type Source struct {
	File       string // the name in diagnostics
	Props      *sema.Properties
	Experiment *sema.Experiment
	// Tree has the declarations and properties of Props, in the same order. Parsed has
	// the rejected properties too.
	Tree, Parsed *syntax.Properties

	// Base is the file whose declarations and properties stand before those of a
	// text; nil for the file itself.
	Base *Source

	// rejected has the errors of the properties that Props lacks.
	rejected map[*syntax.Property]*syntax.Error
	// names has the names of properties that have another name in Tree.
	names map[*syntax.Property]string
	// refused has the properties of a JANI model that PRISM's language cannot express.
	refused map[*syntax.Property]*syntax.Error
}

// Own returns the items of Tree that Base does not have.
func (s *Source) Own() []syntax.PropItem {
	if s.Base == nil {
		return s.Tree.Items
	}
	return s.Tree.Items[len(s.Base.Tree.Items):]
}

// First returns the index in Props of the first property that Base does not have.
func (s *Source) First() int {
	if s.Base == nil {
		return 0
	}
	return s.Base.Props.Len()
}

// readProperties reads and checks the properties file. It rejects a property with errors, and every property that refers to a rejected one. It
// returns an error if a declaration is wrong, or if it rejects all properties.
func (p *Plan) readProperties() error {
	source, err := p.readPropertiesFile()
	if err != nil {
		return planError(result.Parse, err)
	}
	source.Props, err = p.Model.CheckProperties(source.Tree)
	firstErr := err
	for err != nil {
		errs, ok := errors.AsType[syntax.ErrorList](err)
		if !ok || !source.reject(errs) {
			return planError(result.TypeError, firstErr)
		}
		source.Props, err = p.Model.CheckProperties(source.Tree)
	}
	if source.Props.Len() == 0 && len(p.Job.Props) == 0 && firstErr != nil {
		return planError(result.TypeError, firstErr)
	}
	p.sources = []*Source{source}
	return nil
}

// readPropertiesFile reads the properties file. If the job has none, a JANI model provides its own properties. It rejects properties that are not
// supported for the model.
func (p *Plan) readPropertiesFile() (*Source, error) {
	if p.jani != nil && p.Job.PropsFile == "" {
		modelProperties := p.jani.Properties
		return (&Source{File: p.Job.File, Parsed: modelProperties, rejected: maps.Clone(p.jani.Refused), names: p.jani.Names, refused: p.jani.Refused}).accepted(), nil
	}
	tree, err := syntax.ParsePropertiesOf(p.Job.Dialect, p.Job.PropsFile, p.Job.Properties)
	source := &Source{File: p.Job.PropsFile, Tree: tree, Parsed: tree, rejected: make(map[*syntax.Property]*syntax.Error)}
	if refused := p.timedErrors(source); refused != nil && err == nil {
		source.reject(refused)
		source.refused = maps.Clone(source.rejected)
	}
	return source, err
}

// timedErrors returns an error for each formula of a Markov automaton about steps or time that is not supported, in the order of the text. In other
// formulas, it turns bounds on time into bounds on the reward that counts the time.
func (p *Plan) timedErrors(source *Source) syntax.ErrorList {
	if source.Parsed == nil || !p.Model.IsMarkovAutomaton() {
		return nil
	}
	var errs syntax.ErrorList
	for _, item := range source.Parsed.Items {
		property, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		syntax.Inspect(property.X, func(node syntax.Node) bool {
			isUnsupported := false
			switch node := node.(type) {
			case *syntax.Temporal:
				isUnsupported = len(node.Costs) > 0 && !node.Costs[0].Timed || node.Bound != nil && !p.supportsTimeBound(node)
			case *syntax.RewardPath:
				isUnsupported = !p.supportsObjective(node)
			}
			if isUnsupported {
				errs = append(errs, &syntax.Error{File: source.File, Pos: node.Pos(), Msg: "this kind of bounds of a Markov automaton is not supported"})
			}
			return !isUnsupported
		})
	}
	return errs
}

// supportsObjective reports whether a reward objective of a Markov automaton is supported. JANI has rewards of steps and rewards at exits beside those
// per unit of time, so only the rewards of other models have a time.
func (p *Plan) supportsObjective(objective *syntax.RewardPath) bool {
	switch {
	case objective.Discount != nil || len(objective.Costs) > 0:
		return false
	case objective.Bound != nil:
		return p.jani == nil
	}
	return objective.Kind == syntax.Cumulative || objective.Kind == syntax.LongRun
}

// supportsTimeBound reports whether the time bound of an operator of a Markov automaton is supported. In a JANI model it turns the bound into a bound
// on the reward that counts the time.
func (p *Plan) supportsTimeBound(operator *syntax.Temporal) bool {
	if p.jani != nil {
		return jani.Elapse(operator)
	}
	return (operator.Op == syntax.Future || operator.Op == syntax.Until) && len(operator.Costs) == 0
}

// readTexts reads and checks all texts of Job.Props. Its error joins the errors of all texts.
func (p *Plan) readTexts() error {
	var errs []error
	step := result.Parse
	for i, text := range p.Job.Props {
		source, err := p.readText(p.Job.PropName(i), text)
		if planErr, ok := errors.AsType[*PlanError](err); ok {
			err, step = planErr.Err, planErr.Step
		}
		p.sources = append(p.sources, source)
		errs = append(errs, err)
	}
	return planError(step, errors.Join(errs...))
}

// readText reads and checks one text of Job.Props behind the declarations of the properties file. The file has been checked before, so an error is
// always about the text.
func (p *Plan) readText(name, text string) (*Source, error) {
	tree, err := syntax.ParsePropertiesOf(p.Job.Dialect, name, []byte(text))
	if err != nil {
		return nil, planError(result.Parse, err)
	}
	if refused := p.timedErrors(&Source{File: name, Parsed: tree}); refused != nil {
		return nil, planError(result.Unsupported, refused)
	}
	file := p.sources[0]
	tree.Items = slices.Concat(file.Tree.Items, tree.Items)
	props, err := p.Model.CheckProperties(tree)
	return &Source{File: name, Tree: tree, Props: props, Base: file, Parsed: tree}, planError(result.TypeError, err)
}

// reject removes the properties that contain the errors from the tree. It returns false if an error is not in a property.
func (s *Source) reject(errs syntax.ErrorList) bool {
	for _, err := range errs {
		i := slices.IndexFunc(s.Parsed.Items, func(property syntax.PropItem) bool {
			return property.Pos().Compare(err.Pos) <= 0 && err.Pos.Compare(property.End()) < 0
		})
		if i < 0 {
			return false
		}
		property, ok := s.Parsed.Items[i].(*syntax.Property)
		if !ok {
			return false
		}
		if s.rejected[property] == nil {
			s.rejected[property] = err
		}
	}
	s.accepted()
	return true
}

// accepted sets Tree to the properties and declarations that are not rejected. It returns the source.
func (s *Source) accepted() *Source {
	accepted := *s.Parsed
	accepted.Items = slices.DeleteFunc(slices.Clone(s.Parsed.Items), func(item syntax.PropItem) bool {
		property, ok := item.(*syntax.Property)
		return ok && s.rejected[property] != nil
	})
	s.Tree = &accepted
	return s
}

// name returns the name of a property, empty if it has none.
func (s *Source) name(property *syntax.Property) string {
	if name, ok := s.names[property]; ok {
		return name
	}
	if property.Name == nil {
		return ""
	}
	return property.Name.Name
}

// tasks returns the tasks for the source's own properties, in the order of the text, with the rejected ones.
func (s *Source) tasks() []*Task {
	var tasks []*Task
	index := 0
	infos := s.Props.List()
	for _, item := range s.Parsed.Items {
		property, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		task := &Task{Source: s, Index: index, Pos: property.Pos(), Property: property, Rejected: s.rejected[property]}
		if task.Rejected != nil {
			task.Name, task.Class = s.name(property), result.TypeError
			if s.refused[property] != nil {
				task.Class = result.Unsupported
			}
			task.Text = syntax.ExprString(property.X)
			tasks = append(tasks, task)
			continue
		}
		task.Name, task.Text, task.Pos = infos[index].Name, infos[index].Text, infos[index].Pos
		if task.Name != "" {
			task.Text = strings.TrimPrefix(task.Text, strconv.Quote(task.Name)+": ")
			task.Name = s.name(property)
		}
		if index++; task.Index >= s.First() {
			tasks = append(tasks, task)
		}
	}
	return tasks
}
