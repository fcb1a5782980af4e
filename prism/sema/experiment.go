package sema

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// ConstDef is a definition of a constant in a -const switch. The values are text; the type of the constant determines their meaning.
type ConstDef struct {
	Name string
	Low  string // the only value, unless IsRange
	High string
	Step string // of a range; empty for 1
	// IsRange says that there was a colon.
	IsRange bool
	// MoreValues has the values of a list after the first one, with commas between them: 2,5 of t=1,2,5. PRISM has no lists.
	MoreValues string
}

// String returns the definition in the syntax of the -const switch.
func (d ConstDef) String() string {
	switch {
	case !d.IsRange:
		return d.Name + "=" + strings.Join(d.values(), ",")
	case d.Step == "":
		return d.Name + "=" + d.Low + ":" + d.High
	}
	return d.Name + "=" + d.Low + ":" + d.Step + ":" + d.High
}

// values returns the values of a definition that is not a range.
func (d ConstDef) values() []string {
	if d.MoreValues == "" {
		return []string{d.Low}
	}
	return append([]string{d.Low}, strings.Split(d.MoreValues, ",")...)
}

// DefinitionError is an error in the syntax of constant definitions, or a value that a constant cannot have.
type DefinitionError struct{ Err error }

func (e *DefinitionError) Error() string { return e.Err.Error() }

func (e *DefinitionError) Unwrap() error { return e.Err }

// ParseConsts parses the arguments of -const switches. A definition is name=value, name=low:high or name=low:step:high; commas separate
// definitions. Unlike PRISM, ParseConsts ignores blanks around names and values. The error is a *DefinitionError.
//
// Source: UndefinedConstants.parseConstSwitch of PRISM 4.10; reference, section 5.6.
func ParseConsts(args []string) ([]ConstDef, error) {
	var definitions []ConstDef
	for _, arg := range args {
		argDefs, err := parseDefinitions(arg)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, argDefs...)
	}
	return definitions, nil
}

// parseDefinitions parses the argument of a -const switch. A value without a name belongs to the constant before it: t=1,2 gives t the values 1
// and 2.
func parseDefinitions(arg string) ([]ConstDef, error) {
	var definitions []ConstDef
	for text := range strings.SplitSeq(arg, ",") {
		value := strings.TrimSpace(text)
		canExtendList := len(definitions) > 0 && !definitions[len(definitions)-1].IsRange
		switch {
		case value == "":
		case canExtendList && isListValue(value):
			list := &definitions[len(definitions)-1]
			list.MoreValues = strings.TrimPrefix(list.MoreValues+","+value, ",")
		default:
			definition, ok := parseConst(text)
			if !ok {
				return nil, &DefinitionError{fmt.Errorf("invalid format in definition of undefined constants: found %q, want name=value, name=value,value,..., name=low:high or name=low:step:high", text)}
			}
			definitions = append(definitions, definition)
		}
	}
	return definitions, nil
}

// isListValue reports whether a text without a name can be a value of a list: a number, true or false.
func isListValue(text string) bool {
	isDefinition := strings.ContainsAny(text, "=:")
	isNumber := strings.ContainsAny(text[:1], "0123456789-+.")
	return !isDefinition && (isNumber || text == "true" || text == "false")
}

// parseConst parses one definition of a -const switch; ok is false if its format is wrong.
func parseConst(text string) (definition ConstDef, ok bool) {
	name, value, hasValue := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !hasValue || name == "" || value == "" || strings.HasSuffix(value, ":") {
		return ConstDef{}, false
	}
	numbers := strings.Split(value, ":")
	for i := range numbers {
		numbers[i] = strings.TrimSpace(numbers[i])
	}
	switch len(numbers) {
	case 1:
		return ConstDef{Name: name, Low: numbers[0]}, true
	case 2:
		return ConstDef{Name: name, Low: numbers[0], High: numbers[1], IsRange: true}, true
	case 3:
		if numbers[1] == "" { // an empty step is an error, not the default
			return ConstDef{}, false
		}
		return ConstDef{Name: name, Low: numbers[0], Step: numbers[1], High: numbers[2], IsRange: true}, true
	}
	return ConstDef{}, false
}

// Valuation assigns values to constants, in file order.
type Valuation []NamedValue

// Map returns the values by the names of their constants, as Instantiate accepts them.
func (v Valuation) Map() map[string]Value {
	values := make(map[string]Value, len(v))
	for _, constant := range v {
		values[constant.Name] = constant.Val
	}
	return values
}

// String returns the valuation as --const reads it back, such as N=1,p=0.25.
func (v Valuation) String() string {
	var text strings.Builder
	for i, constant := range v {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(constant.Name + "=" + constant.Val.ExactText())
	}
	return text.String()
}

// Experiment enumerates the valuations of the undefined constants of a model
// and of selected properties. It is immutable.
type Experiment struct {
	model []constRange
	props map[int][]constRange // by property
	// Warnings list definitions of undeclared constants, which PRISM silently ignores.
	Warnings []error
}

// Experiment returns the valuations that definitions of constants describe. Each undefined constant of the model, and of the selected properties,
// must have a definition. selected has the indices of properties; nil selects all. props may be nil.
//
// Values of double constants are exact: 0.1 is 1/10 and 1/3 is a third. A range low:step:high has the values low+i*step. Like PRISM, it includes
// a value that exceeds high by at most a thousandth of the step.
func (m *Model) Experiment(props *Properties, selected []int, definitions []ConstDef) (*Experiment, error) {
	experiment := &Experiment{props: make(map[int][]constRange)}
	var constants []*constant
	constants = append(constants, m.constants...)
	if props != nil {
		constants = append(constants, props.constants...)
	}
	ranges, err := parseRanges(constants, definitions, props.constantsOfProperties(selected))
	if err != nil {
		return nil, &DefinitionError{err}
	}
	var missing []*constant
	experiment.model = rangesOf(undefinedConstants(m.constants), ranges, &missing)
	for _, i := range props.selectedProperties(selected) {
		experiment.props[i] = rangesOf(undefinedConstants(props.usedConstants(props.props[i].expr)), ranges, &missing)
	}
	undeclared := undeclaredDefinitions(constants, definitions)
	if len(missing) > 0 {
		message := undefinedMessage(missing)
		for _, name := range undeclared {
			message += "; " + undeclaredText(name, missing)
		}
		return nil, syntax.ErrorList{{File: missing[0].file, Pos: missing[0].declaration.Name.Pos(), Msg: message}}
	}
	for _, name := range undeclared {
		experiment.Warnings = append(experiment.Warnings, errors.New(undeclaredText(name, nil)))
	}
	return experiment, nil
}

// undeclaredDefinitions returns the names in definitions for which there is no constant.
func undeclaredDefinitions(constants []*constant, definitions []ConstDef) []string {
	var names []string
	for _, definition := range definitions {
		isDeclared := func(constant *constant) bool { return constant.name == definition.Name }
		if !slices.ContainsFunc(constants, isDeclared) {
			names = append(names, definition.Name)
		}
	}
	return names
}

// undeclaredText returns the warning about the definition of an undeclared constant. It suggests the most similar name of the undefined
// constants.
func undeclaredText(name string, undefined []*constant) string {
	names := namesOf(undefined, func(constant *constant) string { return constant.name })
	suggestion := syntax.Nearest(name, slices.Values(names))
	isOtherCase := func(candidate string) bool { return strings.EqualFold(name, candidate) }
	if i := slices.IndexFunc(names, isOtherCase); i >= 0 {
		suggestion = names[i]
	}
	text := fmt.Sprintf("there is no constant %q, so its value is ignored", name)
	if suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", suggestion)
	}
	return text
}

// selectedProperties returns the indices of the selected properties; all properties if selected is nil.
func (properties *Properties) selectedProperties(selected []int) []int {
	if properties == nil || selected != nil {
		return selected
	}
	indices := make([]int, len(properties.props))
	for i := range indices {
		indices[i] = i
	}
	return indices
}

// constantsOfProperties returns the constants of the properties file that the selected properties use.
func (properties *Properties) constantsOfProperties(selected []int) map[*constant]bool {
	used := make(map[*constant]bool)
	for _, i := range properties.selectedProperties(selected) {
		for _, constant := range properties.usedConstants(properties.props[i].expr) {
			used[constant] = true
		}
	}
	return used
}

// undefinedConstants returns the constants without a definition in the file.
func undefinedConstants(constants []*constant) []*constant {
	var undefined []*constant
	for _, constant := range constants {
		if constant.declaration.Value == nil {
			undefined = append(undefined, constant)
		}
	}
	return undefined
}

// parseRanges parses the definitions of constants. It ignores definitions of undeclared constants, and of constants of the properties file that are
// not in usedConstants. It returns an error if a constant has two definitions.
func parseRanges(constants []*constant, definitions []ConstDef, usedConstants map[*constant]bool) (map[*constant]constRange, error) {
	byName := make(map[string]*constant)
	for _, declared := range constants {
		byName[declared.name] = declared
	}
	ranges := make(map[*constant]constRange)
	for _, definition := range definitions {
		constant := byName[definition.Name]
		if constant == nil {
			continue
		}
		if constant.declaration.Value != nil {
			return nil, alreadyDefined(constant)
		}
		if constant.fromProperties && !usedConstants[constant] {
			continue
		}
		if _, isDuplicate := ranges[constant]; isDuplicate {
			first := definitions[slices.IndexFunc(definitions, func(earlier ConstDef) bool { return earlier.Name == definition.Name })]
			return nil, fmt.Errorf("constant %q has two definitions, %s and %s", definition.Name, first, definition)
		}
		valueRange, err := newRange(constant, definition)
		if err != nil {
			return nil, err
		}
		ranges[constant] = valueRange
	}
	return ranges, nil
}

// alreadyDefined returns the error for a second definition of a constant that has one in its file.
func alreadyDefined(constant *constant) error {
	if constant.fromProperties {
		return fmt.Errorf("constant %q has already been defined; to set it here, declare it without a value: const %s %s;", constant.name, constant.valueType, constant.name)
	}
	return fmt.Errorf("constant %q has already been defined in the model; to set it here, declare it without a value: const %s %s;", constant.name, constant.valueType, constant.name)
}

// rangesOf returns the ranges of the constants that have a range. It appends each constant without a range to missing, once.
func rangesOf(constants []*constant, ranges map[*constant]constRange, missing *[]*constant) []constRange {
	var knownRanges []constRange
	for _, constant := range constants {
		valueRange, isDefined := ranges[constant]
		switch {
		case isDefined:
			knownRanges = append(knownRanges, valueRange)
		case !slices.Contains(*missing, constant):
			*missing = append(*missing, constant)
		}
	}
	return knownRanges
}

// Models returns the valuations of the undefined model constants; the first constant varies slowest. Without such constants there is one
// empty valuation.
func (x *Experiment) Models() iter.Seq[Valuation] { return combinations(x.model) }

// Properties returns the valuations of the constants that property i needs; the first constant varies slowest. Property i must be selected.
func (x *Experiment) Properties(i int) iter.Seq[Valuation] { return combinations(x.props[i]) }

// All iterates over the pairs of a valuation of the model's constants and a valuation of the constants that property i needs.
func (x *Experiment) All(i int) iter.Seq2[Valuation, Valuation] {
	return func(yield func(model, property Valuation) bool) {
		for modelValues := range x.Models() {
			for propertyValues := range x.Properties(i) {
				if !yield(modelValues, propertyValues) {
					return
				}
			}
		}
	}
}

// Varying returns the names of the constants with several values: of the model, and of the properties file if property i needs them.
func (x *Experiment) Varying(i int) (model, property []string) {
	return varyingConstants(x.model), varyingConstants(x.props[i])
}

// varyingConstants returns the names of the constants with several values.
func varyingConstants(ranges []constRange) []string {
	var varying []string
	for _, values := range ranges {
		if values.numValues > 1 {
			varying = append(varying, values.constant.name)
		}
	}
	return varying
}

// combinations iterates over all combinations of the values of constants. The last constant varies fastest.
func combinations(ranges []constRange) iter.Seq[Valuation] {
	return func(yield func(Valuation) bool) {
		valueIndices := make([]int, len(ranges)) // the current value of each constant
		for hasNext := true; hasNext; hasNext = nextCombination(valueIndices, ranges) {
			valuation := make(Valuation, len(ranges))
			for i, values := range ranges {
				valuation[i] = NamedValue{values.constant.name, values.value(valueIndices[i])}
			}
			if !yield(valuation) {
				return
			}
		}
	}
}

// nextCombination advances valueIndices to the next combination of values; the last constant varies fastest. It returns false after the last combination.
func nextCombination(valueIndices []int, ranges []constRange) bool {
	for i, values := range slices.Backward(ranges) {
		valueIndices[i]++
		if valueIndices[i] < values.numValues {
			return true
		}
		valueIndices[i] = 0
	}
	return false
}

// ValuesOf returns the values that a definition gives to a constant, and their number. values has at most limit of them. props may be nil.
func (m *Model) ValuesOf(props *Properties, definition ConstDef, limit int) (values []Value, count int, err error) {
	constants := m.constants
	if props != nil {
		constants = append(slices.Clip(constants), props.constants...)
	}
	i := slices.IndexFunc(constants, func(constant *constant) bool { return constant.name == definition.Name })
	if i < 0 {
		return nil, 0, &DefinitionError{fmt.Errorf("constant %q is not declared", definition.Name)}
	}
	valueRange, err := newRange(constants[i], definition)
	if err != nil {
		return nil, 0, &DefinitionError{err}
	}
	for i := range min(valueRange.numValues, limit) {
		values = append(values, valueRange.value(i))
	}
	return values, valueRange.numValues, nil
}

// constRange holds the values of a constant: count numbers low, low+step, ..., or one Bool, or a list.
type constRange struct {
	constant     *constant
	low, step    *big.Rat
	boolValue    bool
	listedValues []Value
	numValues    int
}

// value returns the value of the range with an index.
func (r constRange) value(index int) Value {
	if r.listedValues != nil {
		return r.listedValues[index]
	}
	if r.constant.valueType == Bool {
		return BoolValue(r.boolValue)
	}
	fraction := new(big.Rat).SetInt64(int64(index))
	fraction.Mul(fraction, r.step).Add(fraction, r.low)
	if r.constant.valueType == Int {
		return IntValue(int32(fraction.Num().Int64())) // fits, because it is between low and high
	}
	return RatValue(fraction)
}

// newRange parses the values in the definition of a constant. It returns an error for a value of another type, an empty range, or too many
// values.
func newRange(constant *constant, definition ConstDef) (constRange, error) {
	switch {
	case definition.MoreValues != "":
		return listRange(constant, definition)
	case constant.valueType == Bool:
		return boolRange(constant, definition)
	}
	low, err := parseNumber(constant, definition.Low)
	if err != nil {
		return constRange{}, err
	}
	if definition.IsRange {
		return numberRange(constant, definition, low)
	}
	return constRange{constant: constant, low: low, step: big.NewRat(1, 1), numValues: 1}, nil
}

// numberRange parses the values of a range low:step:high of numbers. low is the parsed lower bound.
func numberRange(constant *constant, definition ConstDef, low *big.Rat) (constRange, error) {
	high, err := parseNumber(constant, definition.High)
	if err != nil {
		return constRange{}, err
	}
	width := new(big.Rat).Sub(high, low)
	if width.Sign() < 0 {
		return constRange{}, fmt.Errorf("low value %s for constant %s is higher than the high value %s", definition.Low, constant.name, definition.High)
	}
	step := big.NewRat(1, 1)
	if definition.Step != "" {
		if step, err = parseStep(constant, definition, width); err != nil {
			return constRange{}, err
		}
	}
	numSteps := countSteps(constant.valueType, width, step)
	if !numSteps.IsInt64() || numSteps.Int64() >= math.MaxInt32 {
		return constRange{}, fmt.Errorf("constant %s has too many values from %s to %s", constant.name, definition.Low, definition.High)
	}
	return constRange{constant: constant, low: low, step: step, numValues: int(numSteps.Int64()) + 1}, nil
}

// countSteps returns the number of steps that fit in the width of a range. As in PRISM, the last step of a Double may exceed the width by a
// thousandth of the step.
func countSteps(valueType Type, width, step *big.Rat) *big.Int {
	quotient := new(big.Rat).Quo(width, step)
	if valueType == Double {
		quotient.Add(quotient, big.NewRat(1, 1000))
	}
	return new(big.Int).Div(quotient.Num(), quotient.Denom())
}

// listRange parses the values of a list. A duplicate value is an error.
func listRange(constant *constant, definition ConstDef) (constRange, error) {
	result := constRange{constant: constant}
	for _, text := range definition.values() {
		parsed, err := newRange(constant, ConstDef{Name: definition.Name, Low: text})
		if err != nil {
			return result, err
		}
		value := parsed.value(0)
		if slices.ContainsFunc(result.listedValues, func(other Value) bool { return other.String() == value.String() }) {
			return result, fmt.Errorf("constant %s has the value %s twice", constant.name, text)
		}
		result.listedValues = append(result.listedValues, value)
	}
	result.numValues = len(result.listedValues)
	return result, nil
}

// parseStep parses the step of a range of the given width.
func parseStep(constant *constant, definition ConstDef, width *big.Rat) (*big.Rat, error) {
	step, err := parseNumber(constant, definition.Step)
	switch {
	case err != nil:
		return nil, err
	case step.Sign() <= 0:
		return nil, fmt.Errorf("step value %s for constant %s must be positive", definition.Step, constant.name)
	case step.Cmp(width) > 0:
		return nil, fmt.Errorf("step value %s for constant %s is bigger than the difference between %s and %s", definition.Step, constant.name, definition.Low, definition.High)
	}
	return step, nil
}

// boolRange parses the value of a Boolean constant.
func boolRange(constant *constant, definition ConstDef) (constRange, error) {
	switch {
	case definition.IsRange:
		return constRange{}, fmt.Errorf("cannot define ranges for Boolean constants, found one for %s", constant.name)
	case definition.Low != "true" && definition.Low != "false":
		return constRange{}, invalidValue(constant, definition.Low)
	}
	return constRange{constant: constant, boolValue: definition.Low == "true", numValues: 1}, nil
}

// invalidValue returns the error for a text that is not a value of the type of a constant.
func invalidValue(constant *constant, text string) error {
	return fmt.Errorf("value %s for constant %s is not a valid %s", text, constant.name, nameOfValues(constant.valueType))
}

// parseNumber parses the value of a constant: an integer, or for a double a decimal number or a fraction a/b.
func parseNumber(constant *constant, text string) (*big.Rat, error) {
	if constant.valueType == Int {
		integer, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, invalidValue(constant, text)
		}
		return new(big.Rat).SetInt64(integer), nil
	}
	// a/b/c is (a/b)/c.
	var quotient *big.Rat
	for i, operand := range strings.Split(text, "/") {
		number := parseDecimal(operand)
		switch {
		case number == nil || i > 0 && number.Sign() == 0:
			return nil, invalidValue(constant, text)
		case i == 0:
			quotient = number
		default:
			quotient.Quo(quotient, number)
		}
	}
	return quotient, nil
}

// parseDecimal parses a finite decimal number; nil if the text is not one.
func parseDecimal(text string) *big.Rat {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return nil
	}
	return decimalRat(text)
}
