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

// readProperties reads and checks the properties file. A property with errors is
// rejected, and so is a property that refers to it. If all properties are rejected, or a
// declaration is wrong, the file is an error.
func (p *Plan) readProperties() error {
	s, err := p.readPropertiesFile()
	if err != nil {
		return planError(result.Parse, err)
	}
	s.Props, err = p.Model.CheckProperties(s.Tree)
	first := err
	for err != nil {
		list, ok := errors.AsType[syntax.ErrorList](err)
		if !ok || !s.reject(list) {
			return planError(result.TypeError, first)
		}
		s.Props, err = p.Model.CheckProperties(s.Tree)
	}
	if s.Props.Len() == 0 && len(p.Job.Props) == 0 && first != nil {
		return planError(result.TypeError, first)
	}
	p.sources = []*Source{s}
	return nil
}

// readPropertiesFile reads the properties file. Without one, a JANI model has its own properties.
func (p *Plan) readPropertiesFile() (*Source, error) {
	if p.jani != nil && p.Job.PropsFile == "" {
		own := p.jani.Properties
		return (&Source{File: p.Job.File, Parsed: own, rejected: maps.Clone(p.jani.Refused), names: p.jani.Names, refused: p.jani.Refused}).accepted(), nil
	}
	tree, err := syntax.ParsePropertiesOf(p.Job.Dialect, p.Job.PropsFile, p.Job.Properties)
	s := &Source{File: p.Job.PropsFile, Tree: tree, Parsed: tree, rejected: make(map[*syntax.Property]*syntax.Error)}
	if refused := p.timedErrors(s); refused != nil && err == nil {
		s.reject(refused)
		s.refused = maps.Clone(s.rejected)
	}
	return s, err
}

// timedErrors returns, in the order of the text, an error for each formula about steps or time
// that is not supported for a Markov automaton. It turns the other bounds into bounds on its time.
func (p *Plan) timedErrors(s *Source) syntax.ErrorList {
	if s.Parsed == nil || !p.Model.IsMarkovAutomaton() {
		return nil
	}
	var out syntax.ErrorList
	for _, item := range s.Parsed.Items {
		x, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		syntax.Inspect(x.X, func(n syntax.Node) bool {
			timed := false
			switch n := n.(type) {
			case *syntax.Temporal:
				timed = len(n.Costs) > 0 && !n.Costs[0].Timed || n.Bound != nil && !p.supportsTimeBound(n)
			case *syntax.RewardPath:
				timed = n.Kind != syntax.Cumulative && n.Kind != syntax.LongRun || n.Bound != nil || n.Discount != nil || len(n.Costs) > 0
			case *syntax.Reward:
				n.Time = n.Time && p.jani == nil // the embedded model of a JANI model only has time as a reward
			}
			if timed {
				out = append(out, &syntax.Error{File: s.File, Pos: n.Pos(), Msg: "instants and this kind of bounds of a Markov automaton are not supported"})
			}
			return !timed
		})
	}
	return out
}

// supportsTimeBound reports whether the time bound of an operator of a Markov automaton is supported. In the properties of a JANI
// model it becomes a cost bound.
func (p *Plan) supportsTimeBound(operator *syntax.Temporal) bool {
	if p.jani != nil {
		return jani.Elapse(operator)
	}
	return (operator.Op == syntax.Future || operator.Op == syntax.Until) && len(operator.Costs) == 0
}

// readTexts reads and checks the further texts. It reports all their diagnostics.
func (p *Plan) readTexts() error {
	var errs []error
	step := result.Parse
	for i, text := range p.Job.Props {
		s, err := p.readText(p.Job.PropName(i), text)
		if e, ok := errors.AsType[*PlanError](err); ok {
			err, step = e.Err, e.Step
		}
		p.sources = append(p.sources, s)
		errs = append(errs, err)
	}
	return planError(step, errors.Join(errs...))
}

// readText reads and checks a text with the declarations of the file. The file is
// checked before, so every error is in the text.
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

// reject removes the properties with errors from the tree. It reports false if an
// error is outside of every property.
func (s *Source) reject(errs syntax.ErrorList) bool {
	for _, e := range errs {
		i := slices.IndexFunc(s.Parsed.Items, func(x syntax.PropItem) bool {
			return x.Pos().Compare(e.Pos) <= 0 && e.Pos.Compare(x.End()) < 0
		})
		if i < 0 {
			return false
		}
		x, ok := s.Parsed.Items[i].(*syntax.Property)
		if !ok {
			return false
		}
		if s.rejected[x] == nil {
			s.rejected[x] = e
		}
	}
	s.accepted()
	return true
}

// accepted removes the rejected properties from the tree.
func (s *Source) accepted() *Source {
	good := *s.Parsed
	good.Items = slices.DeleteFunc(slices.Clone(s.Parsed.Items), func(item syntax.PropItem) bool {
		x, ok := item.(*syntax.Property)
		return ok && s.rejected[x] != nil
	})
	s.Tree = &good
	return s
}

// name returns the name of a property, empty if it has none.
func (s *Source) name(x *syntax.Property) string {
	if name, ok := s.names[x]; ok {
		return name
	}
	if x.Name == nil {
		return ""
	}
	return x.Name.Name
}

// tasks lists the properties of a source in the order of the text.
func (s *Source) tasks() []*Task {
	var out []*Task
	index := 0
	infos := s.Props.List()
	for _, item := range s.Parsed.Items {
		x, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		t := &Task{Source: s, Index: index, Pos: x.Pos(), Property: x, Rejected: s.rejected[x]}
		if t.Rejected != nil {
			t.Name, t.Class = s.name(x), result.TypeError
			if s.refused[x] != nil {
				t.Class = result.Unsupported
			}
			t.Text = syntax.ExprString(x.X)
			out = append(out, t)
			continue
		}
		t.Name, t.Text, t.Pos = infos[index].Name, infos[index].Text, infos[index].Pos
		if t.Name != "" {
			t.Text = strings.TrimPrefix(t.Text, strconv.Quote(t.Name)+": ")
			t.Name = s.name(x)
		}
		if index++; t.Index >= s.First() {
			out = append(out, t)
		}
	}
	return out
}
