package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// The structure of a JANI document. Expressions are numbers, truth values, names and objects.
type (
	object map[string]any

	document struct {
		Version    int         `json:"jani-version"`
		Name       string      `json:"name"`
		Type       string      `json:"type"`
		Features   []string    `json:"features"`
		Actions    []named     `json:"actions,omitempty"`
		Variables  []variable  `json:"variables"`
		Restrict   *expression `json:"restrict-initial,omitempty"`
		Automata   []automaton `json:"automata"`
		System     system      `json:"system"`
		Properties []property  `json:"properties"`
	}
	named struct {
		Name string `json:"name"`
	}
	expression struct {
		Exp any `json:"exp"`
	}
	variable struct {
		Name      string `json:"name"`
		Type      any    `json:"type"`
		Transient bool   `json:"transient,omitempty"`
		Initial   any    `json:"initial-value,omitempty"`
	}
	automaton struct {
		Name      string     `json:"name"`
		Locations []location `json:"locations"`
		Initial   []string   `json:"initial-locations"`
		Edges     []edge     `json:"edges"`
	}
	location struct {
		Name     string       `json:"name"`
		Values   []assignment `json:"transient-values,omitempty"`
		Progress *expression  `json:"time-progress,omitempty"`
	}
	edge struct {
		Location     string        `json:"location"`
		Action       string        `json:"action,omitempty"`
		Rate         *expression   `json:"rate,omitempty"`
		Guard        *expression   `json:"guard,omitempty"`
		Destinations []destination `json:"destinations"`
	}
	destination struct {
		Location    string       `json:"location"`
		Probability *expression  `json:"probability,omitempty"`
		Assignments []assignment `json:"assignments,omitempty"`
	}
	assignment struct {
		Ref   string `json:"ref"`
		Value any    `json:"value"`
	}
	system struct {
		Elements []element `json:"elements"`
		Syncs    []vector  `json:"syncs,omitempty"`
	}
	element struct {
		Automaton string `json:"automaton"`
	}
	vector struct {
		Actions []*string `json:"synchronise"`
		Result  string    `json:"result,omitempty"`
	}
	property struct {
		Name       string `json:"name"`
		Expression any    `json:"expression"`
	}
)

// only is the name of the single location of every automaton.
const only = "l"

// Property is a property over a program with labels of a properties file.
type Property struct {
	sema.Property
	Labels []sema.LabelDef // those of the program first
}

// Write writes a program and those of the properties that JANI can express. refused has the reasons for the others. The
// error is about the program or from the writer.
func Write(w io.Writer, name string, p *sema.Program, properties []Property) (refused []error, err error) {
	x := &exporter{program: p, names: make(map[string]bool), variants: make(map[use][]string)}
	if err := x.model(name); err != nil {
		return nil, err
	}
	for i, q := range properties {
		if err := x.property(i, q); err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", q.Text, err))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return refused, enc.Encode(x.out)
}

type exporter struct {
	program *sema.Program
	out     document
	names   map[string]bool // of variables
	labels  []string        // names of Program.Labels
	rewards []string        // names of Program.Rewards
	// variants are the reward assignments of a module's edges with an action. They
	// depend on the synchronisation vector.
	variants map[use][]string
	further  []sema.LabelDef // labels of the current property
	size     int             // operators and operands so far
}

// use is the edges of a module with an action.
type use struct{ module, action int }

var types = map[syntax.ModelType]string{syntax.DTMC: "dtmc", syntax.MDP: "mdp", syntax.CTMC: "ctmc", syntax.LTS: "lts", syntax.PTA: "pta"}

func (x *exporter) model(name string) error {
	p := x.program
	typ, ok := types[p.Type]
	if !ok {
		return fmt.Errorf("a %s has no form as a JANI model here, want a DTMC, MDP, CTMC, LTS or PTA", p.Type)
	}
	x.out = document{Version: 1, Name: name, Type: typ, Features: []string{"derived-operators"}, Properties: []property{}, Variables: []variable{}}
	for _, v := range p.Vars {
		x.names[v.Name] = true
		if err := x.variable(v); err != nil {
			return err
		}
	}
	if p.Init != nil {
		init, err := x.expr(p.Init)
		if err != nil {
			return err
		}
		x.out.Restrict = &expression{init}
	}
	x.transients()
	ways, err := x.compose()
	if err != nil {
		return err
	}
	for i := range p.Modules {
		here := location{Name: only}
		if invariant := p.Modules[i].Invariant; invariant != nil {
			progress, err := x.expr(invariant)
			if err != nil {
				return err
			}
			here.Progress = &expression{progress}
		}
		x.out.Automata = append(x.out.Automata, automaton{Name: p.Modules[i].Name, Locations: []location{here}, Initial: []string{only}, Edges: []edge{}})
		x.out.System.Elements = append(x.out.System.Elements, element{p.Modules[i].Name})
	}
	if len(p.Modules) == 0 {
		return errors.New("the model has no modules, want one")
	}
	if err := x.values(); err != nil {
		return err
	}
	for _, w := range ways {
		if err := x.vector(w); err != nil {
			return err
		}
	}
	if err := x.edges(); err != nil {
		return err
	}
	x.actions()
	return nil
}

// actions declares the actions that edges and vectors name, in the order in which they do.
func (x *exporter) actions() {
	declared := make(map[string]bool)
	declare := func(name string) {
		if name != "" && !declared[name] {
			declared[name] = true
			x.out.Actions = append(x.out.Actions, named{name})
		}
	}
	for _, a := range x.out.Automata {
		for _, e := range a.Edges {
			declare(e.Action)
		}
	}
	for _, v := range x.out.System.Syncs {
		for _, a := range v.Actions {
			if a != nil {
				declare(*a)
			}
		}
		declare(v.Result)
	}
}

func (x *exporter) variable(v sema.Variable) error {
	out := variable{Name: v.Name}
	switch {
	case v.Type == sema.Bool:
		out.Type, out.Initial = "bool", v.Init != 0
	case v.Type == sema.Clock:
		out.Type, out.Initial = "clock", 0
	default:
		out.Type, out.Initial = "int", v.Init
		if v.Bounded {
			out.Type = object{"kind": "bounded", "base": "int", "lower-bound": v.Low, "upper-bound": v.High}
		}
	}
	if x.program.Init != nil {
		out.Initial = nil
	}
	x.out.Variables = append(x.out.Variables, out)
	return nil
}

// name returns an unused variable name similar to like.
func (x *exporter) name(like string) string {
	name := like
	for i := 2; x.names[name]; i++ {
		name = fmt.Sprintf("%s_%d", like, i)
	}
	x.names[name] = true
	return name
}

// transients declares labels and reward structures as transient variables.
func (x *exporter) transients() {
	for _, r := range x.program.Rewards {
		name := r.Name
		if name == "" {
			name = "reward"
		}
		name = x.name(name)
		x.rewards = append(x.rewards, name)
		x.out.Variables = append(x.out.Variables, variable{Name: name, Type: "real", Transient: true, Initial: 0})
	}
	for _, l := range x.program.Labels {
		name := x.name(l.Name)
		x.labels = append(x.labels, name)
		x.out.Variables = append(x.out.Variables, variable{Name: name, Type: "bool", Transient: true, Initial: false})
	}
}

// values assigns labels and state rewards in the location of the first automaton.
func (x *exporter) values() error {
	l := &x.out.Automata[0].Locations[0]
	for i, label := range x.program.Labels {
		value, err := x.expr(label.X)
		if err != nil {
			return err
		}
		l.Values = append(l.Values, assignment{x.labels[i], value})
	}
	for i := range x.program.Rewards {
		value, err := x.earned(i, func(it *sema.RewardItem) bool { return !it.Transition })
		if err != nil {
			return err
		}
		if value != nil {
			l.Values = append(l.Values, assignment{x.rewards[i], value})
		}
	}
	return nil
}

// earned returns the sum of the items of a reward structure for which counts is true; nil if there are none.
func (x *exporter) earned(structure int, counts func(*sema.RewardItem) bool) (any, error) {
	var sum any
	items := x.program.Rewards[structure].Items
	for i := range items {
		if !counts(&items[i]) {
			continue
		}
		value, err := x.expr(items[i].Value)
		if err != nil {
			return nil, err
		}
		guard, err := x.expr(items[i].Guard)
		if err != nil {
			return nil, err
		}
		if guard != true {
			value = object{"op": "ite", "if": guard, "then": value, "else": 0}
		}
		if sum == nil {
			sum = value
		} else {
			sum = binary("+", sum, value)
		}
	}
	return sum, nil
}

// edges writes the commands of all modules; labelled commands once for each variant of reward assignments.
func (x *exporter) edges() error {
	for i := range x.program.Modules {
		m := &x.program.Modules[i]
		for k := range m.Commands {
			c := &m.Commands[k]
			if c.Action == sema.Unlabelled {
				rewards, err := x.assigned(sema.Unlabelled)
				if err != nil {
					return err
				}
				if err := x.edge(i, c, "", rewards); err != nil {
					return err
				}
				continue
			}
			u := use{i, c.Action}
			for variant, key := range x.variants[u] {
				rewards, err := x.rewarded(key)
				if err != nil {
					return err
				}
				if err := x.edge(i, c, x.action(u, variant), rewards); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// assigned returns the reward assignments of a step with an action.
func (x *exporter) assigned(action int) ([]assignment, error) {
	var out []assignment
	for i := range x.program.Rewards {
		value, err := x.earned(i, func(it *sema.RewardItem) bool { return it.Transition && it.Action == action })
		if err != nil {
			return nil, err
		}
		if value != nil {
			out = append(out, assignment{x.rewards[i], value})
		}
	}
	return out, nil
}

// edge writes a command. In a CTMC each update becomes an edge, since the updates race.
func (x *exporter) edge(module int, c *sema.Command, action string, rewards []assignment) error {
	guard, err := x.expr(c.Guard)
	if err != nil {
		return err
	}
	e := edge{Location: only, Action: action, Guard: &expression{guard}}
	if guard == true {
		e.Guard = nil
	}
	a := &x.out.Automata[module]
	for i := range c.Updates {
		u := &c.Updates[i]
		if u.ProbHigh != nil {
			return errors.New("intervals of probabilities are not written")
		}
		prob, err := x.expr(u.Prob)
		if err != nil {
			return err
		}
		d := destination{Location: only}
		for _, s := range u.Assigns {
			value, err := x.expr(s.Value)
			if err != nil {
				return err
			}
			d.Assignments = append(d.Assignments, assignment{x.program.Vars[s.Slot].Name, value})
		}
		d.Assignments = append(d.Assignments, rewards...)
		if x.program.Type == syntax.CTMC {
			e.Rate, e.Destinations = &expression{prob}, []destination{d}
			a.Edges = append(a.Edges, e)
			continue
		}
		if prob != number("1") {
			d.Probability = &expression{prob}
		}
		e.Destinations = append(e.Destinations, d)
	}
	if x.program.Type != syntax.CTMC {
		a.Edges = append(a.Edges, e)
	}
	return nil
}

// action returns the name of an action in a variant.
func (x *exporter) action(u use, variant int) string {
	name := x.program.Actions[u.action]
	if variant == 0 {
		return name
	}
	return name + strings.Repeat("'", variant)
}

// number is a JSON number.
func number(text string) json.Number { return json.Number(text) }

// maxSize is the greatest number of operators and operands of a document.
const maxSize = 20_000_000

func binary(op string, x, y any) object { return object{"op": op, "left": x, "right": y} }

// timed reports whether time passes in states.
func (x *exporter) timed() bool {
	return x.program.Type == syntax.CTMC || x.program.Type == syntax.PTA
}

// value writes a constant: a fraction as a decimal number or a quotient.
func value(v sema.Value) (any, error) {
	switch v.Type {
	case sema.Bool:
		return v.Bool, nil
	case sema.Int:
		return number(fmt.Sprint(v.Int)), nil
	}
	if v.Rat == nil {
		if math.IsInf(v.Float, 0) || math.IsNaN(v.Float) {
			return nil, fmt.Errorf("%v is no number of JSON", v.Float)
		}
		return nil, fmt.Errorf("%v stands for a number that is no fraction, which JSON cannot have", v.Float)
	}
	if n, exact := v.Rat.FloatPrec(); exact && n < 400 {
		text := v.Rat.FloatString(max(n, 1))
		return number(text), nil
	}
	return binary("/", number(v.Rat.Num().String()+".0"), number(v.Rat.Denom().String()+".0")), nil
}
