package qvbs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
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
	// MaxStates is the largest number of states according to the set; cases with an unknown number are then left out.
	// 0 means no limit.
	MaxStates int64
	// Name returns the name of a file for messages; nil means the name itself.
	Name func(file string) string
}

// Set is the tests of a benchmark set.
type Set struct {
	// Tests are the cases, ordered by the number of states as far as that is known: a model, in PRISM's language if
	// possible, otherwise in JANI; one valuation of its constants; and one property.
	Tests []regress.Test
	// Large counts the cases left out for their number of states, Missing those whose files do not exist, and Unread those
	// whose reference result has an unknown form.
	Large, Missing, Unread int
}

// Discover lists the cases of all models below some directories.
func Discover(fsys fs.FS, dirs []string, opt Options) (*Set, error) {
	d := &discovery{fsys: fsys, options: opt}
	if d.options.Name == nil {
		d.options.Name = func(file string) string { return file }
	}
	for _, dir := range dirs {
		err := fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() != indexFile {
				return err
			}
			return d.addModel(name)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.cases, func(a, b benchmarkCase) int { return cmp.Compare(a.states, b.states) })
	for _, c := range d.cases {
		d.set.Tests = append(d.set.Tests, c.test)
	}
	return &d.set, nil
}

type discovery struct {
	fsys    fs.FS
	options Options
	set     Set
	cases   []benchmarkCase
}

type benchmarkCase struct {
	states int64 // or unknownStates
	test   regress.Test
}

// The parts of index.json that are used.
type (
	modelIndex struct {
		Type  string
		Files []struct {
			File     string
			Original stringOrList `json:"original-file"`
			Fixed    []parameter  `json:"file-parameter-values"`
			Open     []struct {
				Values  []parameter
				States  []struct{ Number json.RawMessage }
				Results []json.RawMessage
			} `json:"open-parameter-values"`
		}
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

func (n *stringOrList) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(n))
	}
	*n = make(stringOrList, 1)
	return json.Unmarshal(text, &(*n)[0])
}

// addModel adds the cases of a model's index file. An index that is a JSON list belongs to a whole set and is skipped.
func (d *discovery) addModel(name string) error {
	src, err := limited.ReadFile(d.fsys, name, maxIndex)
	if err != nil {
		return err
	}
	var m modelIndex
	if err := json.Unmarshal(src, &m); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
			return nil
		}
		return jsonError(name, src, 0, err)
	}
	from := 0 // the results appear in the text in this order
	for _, f := range m.Files {
		model, props := d.chooseFiles(path.Dir(name), f.File, f.Original)
		open := d.openConstants(model, props)
		for _, v := range f.Open {
			states := int64(unknownStates)
			if len(v.States) > 0 && (json.Unmarshal(v.States[0].Number, &states) != nil || states <= 0) {
				states = unknownStates
			}
			for _, raw := range v.Results {
				at := max(bytes.Index(src[from:], raw), 0) + from
				from = at + len(raw)
				var r propertyResult
				if err := json.Unmarshal(raw, &r); err != nil {
					return jsonError(name, src, at, err)
				}
				want, ok := reference(r.Value)
				switch {
				case d.options.MaxStates > 0 && states > d.options.MaxStates:
					d.set.Large++
				case model == "":
					d.set.Missing++
				case !ok:
					d.set.Unread++
				default:
					want.Result.Pos = position(src, at)
					want.Terms.Pos = want.Result.Pos
					want.Property, want.File, want.Pos = r.Property, d.options.Name(name), want.Result.Pos
					d.cases = append(d.cases, benchmarkCase{states, regress.Test{
						Run: suite.Run{
							Dir: path.Dir(name), Model: model, Props: props, Args: []string{"-property", r.Property},
						},
						Dialect: syntax.Storm, Consts: definitions(slices.Concat(f.Fixed, v.Values), open), Extra: []regress.Extra{want},
					}})
				}
			}
		}
	}
	return nil
}

// jsonError returns an error at a place of a file, for a JSON text that begins at offset from.
func jsonError(name string, src []byte, from int, err error) error {
	e := &syntax.Error{File: name, Msg: err.Error()}
	switch x := err.(type) {
	case *json.SyntaxError:
		from += int(x.Offset)
	case *json.UnmarshalTypeError:
		from += int(x.Offset)
		e.Msg = fmt.Sprintf("found a JSON %s, which no %s has here", x.Value, indexFile)
	}
	e.Pos = position(src, from)
	return e
}

func position(src []byte, off int) syntax.Pos {
	before := src[:min(off, len(src))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return syntax.Pos{Offset: int32(len(before)), Line: int32(bytes.Count(before, []byte("\n"))) + 1, Col: int32(len(before)-line) + 1}
}

// chooseFiles returns the files of a case: model and properties in PRISM's language, or a JANI model, which includes its
// properties. If neither exists, model is empty.
func (d *discovery) chooseFiles(dir, file string, original []string) (model, props string) {
	exists := func(name string) bool { // the files of a model are in its directory
		_, err := fs.Stat(d.fsys, path.Join(dir, name))
		return err == nil && path.Base(name) == name
	}
	for _, name := range original {
		switch path.Ext(name) {
		case ".prism", ".pm", ".nm", ".sm":
			if exists(name) {
				model = path.Join(dir, name)
			}
		case ".props", ".pctl", ".prctl", ".csl":
			if exists(name) {
				props = path.Join(dir, name)
			}
		}
	}
	switch {
	case model != "" && props != "":
		return model, props
	case strings.HasSuffix(file, ".jani") && exists(file):
		return path.Join(dir, file), ""
	}
	return "", ""
}

// openConstant matches the declaration of a constant without a value in PRISM's language.
var openConstant = regexp.MustCompile(`\bconst\s+(?:\w+\s+)?(\w+)\s*;`)

// openConstants returns the constants that the files of a case leave undefined. It ignores files that cannot be read: running
// the case reports that.
func (d *discovery) openConstants(model, props string) map[string]bool {
	out := make(map[string]bool)
	for _, name := range []string{model, props} {
		if name == "" {
			continue
		}
		text, _ := limited.ReadFile(d.fsys, name, maxIndex)
		var m struct{ Constants []parameter }
		if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &m) != nil {
			for _, found := range openConstant.FindAllSubmatch(text, -1) {
				out[string(found[1])] = true
			}
		}
		for _, c := range m.Constants {
			if c.Value == nil {
				out[c.Name] = true
			}
		}
	}
	return out
}

// definitions returns definitions, as for -const, of the open constants. A file's own parameters may already have values.
func definitions(values []parameter, open map[string]bool) []string {
	var out []string
	for _, v := range values {
		if open[v.Name] {
			out = append(out, v.Name+"="+strings.Trim(string(v.Value), `"`))
		}
	}
	return out
}

// The relative errors that QComp allows.
const (
	boundedTolerance = 1e-6 // where an engine says how far its value may be off
	roundedTolerance = 1e-3 // where the reference is a rounded number
)

// reference converts a reference result: a fraction, integer, interval, Boolean, infinity or rounded number. Unless the
// number is rounded, the terms require exactly that the engine's promised bounds contain it.
func reference(raw json.RawMessage) (regress.Extra, bool) {
	e := &expect.Expectation{Text: "reference"}
	tolerance := boundedTolerance
	terms := &expect.Terms{Text: "reference", Tolerance: &tolerance, Reference: expect.Precise}
	var x struct{ Num, Den, Lower, Upper json.Number }
	var b bool
	var n json.Number
	var s string
	switch {
	case json.Unmarshal(raw, &b) == nil:
		e.Value = fmt.Sprint(b)
	case json.Unmarshal(raw, &s) == nil && s == "∞":
		e.Value = "Infinity"
	case json.Unmarshal(raw, &n) == nil && n != "":
		e.Value = n.String()
		if strings.ContainsAny(e.Value, ".eE") {
			terms.Reference, tolerance = expect.Rounded, roundedTolerance
		}
	case json.Unmarshal(raw, &x) == nil && x.Num != "" && x.Den != "":
		e.Value = x.Num.String() + "/" + x.Den.String()
	case json.Unmarshal(raw, &x) == nil && x.Lower != "" && x.Upper != "":
		e.Value = "[" + x.Lower.String() + "," + x.Upper.String() + "]"
		terms.Reference = expect.Rounded
	default:
		return regress.Extra{}, false
	}
	return regress.Extra{Result: e, Terms: terms}, true
}
