package serve

import (
	"iter"
	"slices"
	"strings"

	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// constant is a constant of the model or of the properties.
type constant struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Value is the value that the text gives; empty for a constant without one.
	Value string `json:"value,omitempty"`
	Props bool   `json:"props,omitempty"` // declared in the properties
	// Values are the first values that the request gives, Count is their number.
	Values []string `json:"values,omitempty"`
	Count  int      `json:"count,omitempty"`
	Error  string   `json:"error,omitempty"` // why the values of the request cannot be used
}

// definition gives a constant the values of a list. Each is a value or a range of --const.
type definition struct {
	name   string
	values []string
}

// definitions splits Const. It has the syntax of --const, and lists of values: N={1,2,5}.
func (s *source) definitions() []definition {
	var definitions []definition
	depth, start := 0, 0
	for i, character := range s.Const + "," {
		switch {
		case character == '{':
			depth++
		case character == '}':
			depth--
		case character == ',' && depth <= 0 || i == len(s.Const):
			name, value, _ := strings.Cut(s.Const[start:i], "=")
			if start = i + 1; strings.TrimSpace(name) == "" {
				continue
			}
			current := definition{name: strings.TrimSpace(name), values: []string{value}}
			if list := strings.TrimSpace(value); strings.HasPrefix(list, "{") && strings.HasSuffix(list, "}") {
				current.values = strings.Split(list[1:len(list)-1], ",")
			}
			definitions = append(definitions, current)
		}
	}
	return definitions
}

// consts yields one text for --const for each combination of the values in the lists of Const. The first
// constant varies slowest. Without constants it yields one empty text.
func (s *source) consts() iter.Seq[string] {
	defs := s.definitions()
	return func(yield func(string) bool) {
		for index := range combinations(defs) {
			definitions := make([]string, len(defs))
			for i := range slices.Backward(defs) {
				n := len(defs[i].values)
				definitions[i] = defs[i].name + "=" + defs[i].values[index%n]
				index /= n
			}
			if !yield(strings.Join(definitions, ",")) {
				return
			}
		}
	}
}

// combinations returns the number of combinations of the values, at most maxResults+1.
func combinations(defs []definition) int {
	n := 1
	for _, d := range defs {
		n = min(n*len(d.values), maxResults+1)
	}
	return n
}

// without removes the definitions of constants that the texts define.
func (s *source) without(defined []constant) {
	var remaining []string
	for _, current := range s.definitions() {
		if slices.ContainsFunc(defined, func(declared constant) bool { return declared.Name == current.name && declared.Value != "" }) {
			continue
		}
		value := current.values[0]
		if len(current.values) > 1 {
			value = "{" + strings.Join(current.values, ",") + "}"
		}
		remaining = append(remaining, current.name+"="+value)
	}
	s.Const = strings.Join(remaining, ",")
}

// maxListedValues is the largest number of values of a constant in an answer.
const maxListedValues = 500

// constantsOf returns the constants of the texts, with the values that the source gives.
func constantsOf(texts *checkedTexts, input *source) []constant {
	constants := []constant{}
	add := func(list []sema.Constant, values map[string]string, props bool) {
		for _, declared := range list {
			constants = append(constants, constant{Name: declared.Name, Type: declared.Type.String(), Value: values[declared.Name], Props: props})
		}
	}
	add(texts.model.Constants(), definedIn(texts.tree.Items), false)
	if texts.props != nil {
		add(texts.props.Constants(), definedIn(texts.parsed.Items), true)
	}
	for _, current := range input.definitions() {
		i := slices.IndexFunc(constants, func(declared constant) bool { return declared.Name == current.name })
		if i >= 0 && constants[i].Value == "" {
			constants[i].addValues(texts, current)
		}
	}
	return constants
}

// definedIn returns the values of the constants that items define, as text.
func definedIn[T any](items []T) map[string]string {
	values := map[string]string{}
	for _, item := range items {
		if decl, ok := any(item).(*syntax.ConstDecl); ok && decl.Value != nil {
			values[decl.Name.Name] = syntax.ExprString(decl.Value)
		}
	}
	return values
}

// addValues adds the values of the constant that a definition lists. It sets c.Error if the definition is invalid.
func (c *constant) addValues(texts *checkedTexts, constantDefinition definition) {
	for _, text := range constantDefinition.values {
		defs, err := sema.ParseConsts([]string{constantDefinition.name + "=" + text})
		if err != nil {
			c.Error = err.Error()
			return
		}
		for _, def := range defs {
			values, omitted, err := texts.model.ValuesOf(texts.props, def, maxListedValues-len(c.Values))
			if err != nil {
				c.Error = err.Error()
				return
			}
			for _, value := range values {
				c.Values = append(c.Values, value.ExactText())
			}
			c.Count += omitted
		}
	}
}

// checkTexts resolves the model and the properties of a job without values for constants.
func checkTexts(job *runner.Job) (*checkedTexts, error) {
	tree, err := modelTree(job)
	if err != nil {
		return nil, err
	}
	checked := &checkedTexts{tree: tree}
	if checked.model, err = sema.CheckModel(tree); err != nil {
		return nil, err
	}
	if len(job.Properties) == 0 {
		return checked, nil
	}
	if checked.parsed, err = syntax.ParsePropertiesOf(job.Dialect, job.PropsFile, job.Properties); err != nil {
		return checked, err
	}
	if checked.props, err = checked.model.CheckProperties(checked.parsed); err != nil {
		checked.props = nil
	}
	return checked, err
}

// checkedTexts are a model and its properties. The fields of the properties are nil if there are
// none, or if they have errors.
type checkedTexts struct {
	model  *sema.Model
	tree   *syntax.Model
	props  *sema.Properties
	parsed *syntax.Properties
}

func modelTree(job *runner.Job) (*syntax.Model, error) {
	if !jani.IsJANI(job.Model) {
		return syntax.ParseModelOf(job.Dialect, job.File, job.Model)
	}
	tree, err := jani.Read(job.File, job.Model, nil)
	if err != nil {
		return nil, err
	}
	return tree.Model, nil
}
