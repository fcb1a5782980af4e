package qvbs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"tilecheck/internal/limited"
	"tilecheck/prism/syntax"
	"tilecheck/verify/expect"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// indexFile is the name of the file that describes a model and its cases.
const indexFile = "index.json"

// unknownStates stands for an unknown number of states; it is above any limit.
const unknownStates = math.MaxInt64

// maxIndex is the greatest size of an index file in bytes; reference results have thousands of digits.
const maxIndex = 64 << 20

// Options select cases.
type Options struct {
	// MaxStates is the largest number of states. It excludes cases with more states or with an unknown number of states. 0 means no
	// limit.
	MaxStates int64
	// Name returns the name of a file for messages; nil means the name itself.
	Name func(file string) string
}

// Set has the tests of a benchmark set.
type Set struct {
	// Tests are the cases, ordered by their numbers of states. A case has a model, one valuation of its constants and one property. The
	// model is in PRISM's language or, if that is missing, in JANI.
	Tests []regress.Test
	// These are the numbers of cases that were left out: with too many states, with missing files, and with a reference result of an
	// unknown form.
	LargeCases, MissingModels, UnreadableResults int
}

// Discover returns the cases of all models in the directories and their subdirectories. The cases are sorted by their numbers of states. A model
// is a directory with an index file in JSON.
func Discover(fileSystem fs.FS, folders []string, options Options) (*Set, error) {
	discovered := &discovery{fileSystem: fileSystem, options: options}
	if discovered.options.Name == nil {
		discovered.options.Name = func(file string) string { return file }
	}
	visit := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != indexFile {
			return err
		}
		return discovered.addModel(name)
	}
	for _, dir := range folders {
		if err := fs.WalkDir(fileSystem, dir, visit); err != nil {
			return nil, err
		}
	}
	bySize := func(first, second benchmarkCase) int { return cmp.Compare(first.states, second.states) }
	slices.SortStableFunc(discovered.cases, bySize)
	for _, benchmark := range discovered.cases {
		discovered.set.Tests = append(discovered.set.Tests, benchmark.test)
	}
	return &discovered.set, nil
}

// discovery is the state of Discover.
type discovery struct {
	fileSystem fs.FS
	options    Options
	set        Set
	cases      []benchmarkCase
}

// benchmarkCase is a test with the number of states of its model.
type benchmarkCase struct {
	states int64 // or unknownStates
	test   regress.Test
}

// The parts of index.json that are used.
type (
	modelIndex struct {
		Type  string
		Files []modelFile
	}
	modelFile struct {
		File     string
		Original stringOrList     `json:"original-file"`
		Fixed    []parameter      `json:"file-parameter-values"`
		Open     []indexValuation `json:"open-parameter-values"`
	}
	// indexValuation has the values of the open constants of a model, its number of states, and its reference results.
	indexValuation struct {
		Values  []parameter
		States  []struct{ Number json.RawMessage }
		Results []json.RawMessage
	}
	parameter struct {
		Name  string
		Value json.RawMessage
	}
	propertyResult struct {
		Property string
		Value    json.RawMessage
	}
	// stringOrList is one string or a list of strings.
	stringOrList []string
)

// UnmarshalJSON implements json.Unmarshaler.
func (n *stringOrList) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(n))
	}
	*n = make(stringOrList, 1)
	return json.Unmarshal(text, &(*n)[0])
}

// addModel adds the cases that the index file of a model lists. It ignores the index of the whole benchmark set, which is a list.
func (d *discovery) addModel(name string) error {
	src, err := limited.ReadFile(d.fileSystem, name, maxIndex)
	if err != nil {
		return err
	}
	var index modelIndex
	if err := json.Unmarshal(src, &index); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) { // the index of the whole benchmark set
			return nil
		}
		return jsonError(name, src, 0, err)
	}
	reader := &indexReader{discovery: d, name: name, src: src}
	for i := range index.Files {
		if err := reader.addFile(&index.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

// indexReader adds the cases of one index file. It finds the places of the reference results in the text.
type indexReader struct {
	*discovery
	name       string
	src        []byte
	searchFrom int // the next reference result is at this offset of src or behind it
}

// addFile adds a case for each reference result of a model file.
func (r *indexReader) addFile(file *modelFile) error {
	dir := path.Dir(r.name)
	model, props := r.chooseFiles(dir, file.File, file.Original)
	run := suite.Run{Dir: dir, Model: model, Props: props}
	undefined := r.undefinedConstants(model, props)
	for i := range file.Open {
		valuation := &file.Open[i]
		constants := definitions(slices.Concat(file.Fixed, valuation.Values), undefined)
		for _, resultText := range valuation.Results {
			if err := r.addCase(resultText, valuation.numStates(), run, constants); err != nil {
				return err
			}
		}
	}
	return nil
}

// numStates returns the number of states of the model under this valuation of its constants, or unknownStates.
func (v *indexValuation) numStates() int64 {
	states := int64(unknownStates)
	if len(v.States) == 0 || json.Unmarshal(v.States[0].Number, &states) != nil || states <= 0 {
		return unknownStates
	}
	return states
}

// addCase adds the case of one reference result, given in JSON. A case that is too large or cannot be run is only counted.
func (r *indexReader) addCase(resultText json.RawMessage, states int64, run suite.Run, constants []string) error {
	offset := r.searchFrom + max(bytes.Index(r.src[r.searchFrom:], resultText), 0) // results are read in the order of the text
	r.searchFrom = offset + len(resultText)
	var reference propertyResult
	if err := json.Unmarshal(resultText, &reference); err != nil {
		return jsonError(r.name, r.src, offset, err)
	}
	expected, ok := parseReference(reference.Value)
	switch {
	case r.options.MaxStates > 0 && states > r.options.MaxStates:
		r.set.LargeCases++
		return nil
	case run.Model == "":
		r.set.MissingModels++
		return nil
	case !ok:
		r.set.UnreadableResults++
		return nil
	}
	pos := position(r.src, offset)
	expected.Property, expected.File, expected.Pos = reference.Property, r.options.Name(r.name), pos
	expected.Result.Pos, expected.Terms.Pos = pos, pos
	run.Args = []string{"-property", reference.Property}
	r.cases = append(r.cases, benchmarkCase{states, regress.Test{
		Run: run, Dialect: syntax.Storm, Consts: constants, Extra: []regress.Extra{expected},
	}})
	return nil
}

// jsonError returns a JSON error with its position in the file. src is the file, and the JSON text begins at src[start].
func jsonError(name string, src []byte, start int, err error) error {
	syntaxErr := &syntax.Error{File: name, Msg: err.Error()}
	switch jsonErr := err.(type) {
	case *json.SyntaxError:
		start += int(jsonErr.Offset)
	case *json.UnmarshalTypeError:
		start += int(jsonErr.Offset)
		syntaxErr.Msg = fmt.Sprintf("found a JSON %s, want %s", jsonErr.Value, jsonKind(jsonErr.Type))
	}
	syntaxErr.Pos = position(src, start)
	return syntaxErr
}

// jsonKind returns the kind of JSON value that is decoded into a Go type of an index file.
func jsonKind(target reflect.Type) string {
	switch target.Kind() {
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	}
	return "a number"
}

// position returns the line and column of an offset in a text.
func position(src []byte, offset int) syntax.Pos {
	before := src[:min(offset, len(src))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	line := bytes.Count(before, []byte("\n")) + 1
	return syntax.Pos{Offset: int32(len(before)), Line: int32(line), Col: int32(len(before)-lineStart) + 1}
}

// chooseFiles returns the files of a case in PRISM's language or, if they are missing, the JANI model. model is empty if neither exists.
func (d *discovery) chooseFiles(dir, janiFile string, original []string) (model, props string) {
	for _, name := range original {
		if !d.isIn(dir, name) {
			continue
		}
		switch path.Ext(name) {
		case ".prism", ".pm", ".nm", ".sm":
			model = path.Join(dir, name)
		case ".props", ".pctl", ".prctl", ".csl":
			props = path.Join(dir, name)
		}
	}
	switch {
	case model != "" && props != "":
		return model, props
	case strings.HasSuffix(janiFile, ".jani") && d.isIn(dir, janiFile):
		return path.Join(dir, janiFile), ""
	}
	return "", ""
}

// isIn reports whether a directory has a file. A name with a path is not accepted.
func (d *discovery) isIn(dir, name string) bool {
	if path.Base(name) != name {
		return false
	}
	_, err := fs.Stat(d.fileSystem, path.Join(dir, name))
	return err == nil
}

// undefinedConstant matches the declaration of a constant without a value in PRISM's language.
var undefinedConstant = regexp.MustCompile(`\bconst\s+(?:\w+\s+)?(\w+)\s*;`)

// undefinedConstants returns the constants that the files of a case declare without a value.
func (d *discovery) undefinedConstants(model, props string) map[string]bool {
	undefined := make(map[string]bool)
	for _, name := range []string{model, props} {
		if name == "" {
			continue
		}
		text, _ := limited.ReadFile(d.fileSystem, name, maxIndex) // the run of the case reports an error
		var jani struct{ Constants []parameter }
		isJANI := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &jani) == nil
		if !isJANI {
			for _, match := range undefinedConstant.FindAllSubmatch(text, -1) {
				undefined[string(match[1])] = true
			}
		}
		for _, constant := range jani.Constants {
			if constant.Value == nil {
				undefined[constant.Name] = true
			}
		}
	}
	return undefined
}

// definitions returns the values of the undefined constants, in the form name=value. It omits values of other constants.
func definitions(values []parameter, undefined map[string]bool) []string {
	var definitions []string
	for _, value := range values {
		if undefined[value.Name] {
			definitions = append(definitions, value.Name+"="+strings.Trim(string(value.Value), `"`))
		}
	}
	return definitions
}

// The relative errors that QComp allows.
const (
	boundedTolerance = 1e-6 // where an engine says how far its value may be off
	roundedTolerance = 1e-3 // where the reference is a rounded number
)

// parseReference converts a reference result in JSON to an expectation. The result is true or false, ∞, a number, a fraction or an interval. For any
// other form ok is false.
func parseReference(raw json.RawMessage) (expectation regress.Extra, ok bool) {
	expected := &expect.Expectation{Text: "reference"}
	tolerance := boundedTolerance // a rounded number has another tolerance
	terms := &expect.Terms{Text: "reference", Tolerance: &tolerance, Reference: expect.Precise}
	var object struct{ Num, Den, Lower, Upper json.Number }
	var truth bool
	var number json.Number
	var word string
	switch {
	case json.Unmarshal(raw, &truth) == nil:
		expected.Value = fmt.Sprint(truth)
	case json.Unmarshal(raw, &word) == nil && word == "∞":
		expected.Value = "Infinity"
	case json.Unmarshal(raw, &number) == nil && number != "":
		expected.Value = number.String()
		if isDecimal := strings.ContainsAny(expected.Value, ".eE"); isDecimal {
			terms.Reference, tolerance = expect.Rounded, roundedTolerance
		}
	case json.Unmarshal(raw, &object) == nil && object.Num != "" && object.Den != "":
		expected.Value = object.Num.String() + "/" + object.Den.String()
	case json.Unmarshal(raw, &object) == nil && object.Lower != "" && object.Upper != "":
		expected.Value = "[" + object.Lower.String() + "," + object.Upper.String() + "]"
		terms.Reference = expect.Rounded
	default:
		return regress.Extra{}, false
	}
	return regress.Extra{Result: expected, Terms: terms}, true
}
