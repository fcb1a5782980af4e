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

// index is the name of the file that says what there is of a model.
const index = "index.json"

// unknown is more states than any limit.
const unknown = math.MaxInt64

// maxIndex is the size of such a file in bytes; references have thousands of digits.
const maxIndex = 64 << 20

// Options say which cases are wanted.
type Options struct {
	// MaxStates is the largest number of states, as the set states it; cases of
	// which it is not known are left out then. 0 is no limit.
	MaxStates int64
	// Name is how people call a file; nil leaves names as they are.
	Name func(file string) string
}

// Set is what a benchmark set has to test.
type Set struct {
	// Tests are the cases, the smallest first as far as their states are known: a
	// model in PRISM's language where there is one, in JANI otherwise, one valuation
	// of its constants, and one property.
	Tests []regress.Test
	// Large is the number of cases left out because of their states, Missing of those
	// whose files are not there, and Unread of those whose reference means nothing to us.
	Large, Missing, Unread int
}

// Discover lists the cases of all models below some directories.
func Discover(fsys fs.FS, dirs []string, opt Options) (*Set, error) {
	d := &discovery{fsys: fsys, opt: opt}
	if d.opt.Name == nil {
		d.opt.Name = func(file string) string { return file }
	}
	for _, dir := range dirs {
		err := fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() != index {
				return err
			}
			return d.model(name)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.cases, func(a, b sized) int { return cmp.Compare(a.states, b.states) })
	for _, c := range d.cases {
		d.set.Tests = append(d.set.Tests, c.test)
	}
	return &d.set, nil
}

type discovery struct {
	fsys  fs.FS
	opt   Options
	set   Set
	cases []sized
}

type sized struct {
	states int64 // unknown if nobody counted them
	test   regress.Test
}

// The parts of index.json that matter.
type (
	modelIndex struct {
		Type  string
		Files []struct {
			File     string
			Original names   `json:"original-file"`
			Fixed    []value `json:"file-parameter-values"`
			Open     []struct {
				Values  []value
				States  []struct{ Number json.RawMessage }
				Results []json.RawMessage
			} `json:"open-parameter-values"`
		}
	}
	value struct {
		Name  string
		Value json.RawMessage
	}
	outcome struct {
		Property string
		Value    json.RawMessage
	}
	// names are one name or a list of them.
	names []string
)

func (n *names) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(n))
	}
	*n = make(names, 1)
	return json.Unmarshal(text, &(*n)[0])
}

// model adds the cases of a model. An index without files is that of a whole set.
func (d *discovery) model(name string) error {
	src, err := limited.ReadFile(d.fsys, name, maxIndex)
	if err != nil {
		return err
	}
	var m modelIndex
	if err := json.Unmarshal(src, &m); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
			return nil
		}
		return mistake(name, src, 0, err)
	}
	from := 0 // results are in the order of the text
	for _, f := range m.Files {
		model, props := d.files(path.Dir(name), f.File, f.Original)
		open := d.undefined(model, props)
		for _, v := range f.Open {
			states := int64(unknown)
			if len(v.States) > 0 && (json.Unmarshal(v.States[0].Number, &states) != nil || states <= 0) {
				states = unknown
			}
			for _, raw := range v.Results {
				at := max(bytes.Index(src[from:], raw), 0) + from
				from = at + len(raw)
				var r outcome
				if err := json.Unmarshal(raw, &r); err != nil {
					return mistake(name, src, at, err)
				}
				want, ok := reference(r.Value)
				switch {
				case d.opt.MaxStates > 0 && states > d.opt.MaxStates:
					d.set.Large++
				case model == "":
					d.set.Missing++
				case !ok:
					d.set.Unread++
				default:
					want.Result.Pos = posAt(src, at)
					want.Terms.Pos = want.Result.Pos
					want.Property, want.File, want.Pos = r.Property, d.opt.Name(name), want.Result.Pos
					d.cases = append(d.cases, sized{states, regress.Test{
						Run: suite.Run{
							Dir: path.Dir(name), Model: model, Props: props, Args: []string{"-property", r.Property},
						},
						Dialect: syntax.Storm, Consts: constants(slices.Concat(f.Fixed, v.Values), open), Extra: []regress.Extra{want},
					}})
				}
			}
		}
	}
	return nil
}

// mistake is the error of a text that begins at an offset of a file.
func mistake(name string, src []byte, from int, err error) error {
	e := &syntax.Error{File: name, Msg: err.Error()}
	switch x := err.(type) {
	case *json.SyntaxError:
		from += int(x.Offset)
	case *json.UnmarshalTypeError:
		from += int(x.Offset)
		e.Msg = fmt.Sprintf("found a JSON %s, which no %s has here", x.Value, index)
	}
	e.Pos = posAt(src, from)
	return e
}

func posAt(src []byte, off int) syntax.Pos {
	before := src[:min(off, len(src))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return syntax.Pos{Offset: int32(len(before)), Line: int32(bytes.Count(before, []byte("\n"))) + 1, Col: int32(len(before)-line) + 1}
}

// files chooses the files of a case: those in PRISM's language, or the model in
// JANI, which has its properties in it. Without either the model is empty.
func (d *discovery) files(dir, file string, original []string) (model, props string) {
	there := func(name string) bool { // the files of a model are in its directory
		_, err := fs.Stat(d.fsys, path.Join(dir, name))
		return err == nil && path.Base(name) == name
	}
	for _, name := range original {
		switch path.Ext(name) {
		case ".prism", ".pm", ".nm", ".sm":
			if there(name) {
				model = path.Join(dir, name)
			}
		case ".props", ".pctl", ".prctl", ".csl":
			if there(name) {
				props = path.Join(dir, name)
			}
		}
	}
	switch {
	case model != "" && props != "":
		return model, props
	case strings.HasSuffix(file, ".jani") && there(file):
		return path.Join(dir, file), ""
	}
	return "", ""
}

// openConstant is a constant of PRISM's language that its text leaves open.
var openConstant = regexp.MustCompile(`\bconst\s+(?:\w+\s+)?(\w+)\s*;`)

// undefined are the constants that the files of a case leave open; what cannot be
// read is told when the case is run.
func (d *discovery) undefined(model, props string) map[string]bool {
	out := make(map[string]bool)
	for _, name := range []string{model, props} {
		if name == "" {
			continue
		}
		text, _ := limited.ReadFile(d.fsys, name, maxIndex)
		var m struct{ Constants []value }
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

// constants are definitions, as of -const, of those that are open: a file's own
// parameters may have their values in it.
func constants(values []value, open map[string]bool) []string {
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
	epsilon      = 1e-6 // where an engine says how far its value may be off
	approximated = 1e-3 // where the reference is a rounded number
)

// reference reads the value of a result: a fraction, an integer, an interval, a
// Boolean, infinity, or a number that was rounded. What it says of an engine's
// bounds and fractions, it says exactly, unless it was rounded.
func reference(raw json.RawMessage) (regress.Extra, bool) {
	e := &expect.Expectation{Text: "reference"}
	tolerance := epsilon
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
			terms.Reference, tolerance = expect.Rounded, approximated
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
