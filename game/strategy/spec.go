package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrTooLarge is the error of a Chooser if the exact distribution of the moves would take too much time or memory.
var ErrTooLarge = errors.New("the distribution of the moves is too large to compute")

// SpecError is an error in the spec of a strategy.
type SpecError struct {
	Spec  string
	Found string // the mistake, for example "depth is 0"
	Want  string // correct values, for example "1 to 8"
}

// Error returns `strategy "spec": found, want want`.
func (e *SpecError) Error() string {
	return fmt.Sprintf("strategy %q: %s, want %s", e.Spec, e.Found, e.Want)
}

// family is a family of strategies. Its name is the word before the colon of a spec.
type family struct {
	name    string
	options string // the options after the colon, for people
	about   string // one sentence
	source  string // the document that describes it
	example string // a spec
	parse   func(spec, args string, s Setting) (Strategy, error)
}

// Entry describes a family of strategies.
type Entry struct {
	Name, Options, About, Source, Example string
}

// List returns the families that Parse knows, in a fixed order.
func List() []Entry {
	var out []Entry
	for _, k := range families() {
		out = append(out, Entry{Name: k.name, Options: k.options, About: k.about, Source: k.source, Example: k.example})
	}
	return out
}

// Parse returns the strategy that a spec describes: the name of a family, and perhaps options after a colon. The error is a *SpecError.
func Parse(spec string, setting Setting) (Strategy, error) {
	name, args, _ := strings.Cut(spec, ":")
	kinds := families()
	i := slices.IndexFunc(kinds, func(kind family) bool { return kind.name == name })
	if i < 0 {
		var names []string
		for _, kind := range kinds {
			names = append(names, kind.name)
		}
		return nil, &SpecError{spec, fmt.Sprintf("unknown name %q", name), strings.Join(names, ", ")}
	}
	return kinds[i].parse(spec, args, setting)
}

// options parses key=value pairs separated by commas. Callers ask for the value of each key they know. done returns the first error; a key that
// was not asked for is an error too.
type options struct {
	spec   string
	keys   []string // as written
	values []string
	asked  []string
	err    error
}

// newOptions parses options such as depth=2,eval=snake. The method done returns the errors.
func newOptions(spec, args string) *options {
	result := &options{spec: spec}
	if args == "" {
		return result
	}
	for pair := range strings.SplitSeq(args, ",") {
		key, value, isPair := strings.Cut(pair, "=")
		switch {
		case !isPair || key == "" || value == "":
			result.fail(fmt.Sprintf("option %q", pair), "key=value")
		case slices.Contains(result.keys, key):
			result.fail(key+" is there twice", "it once")
		}
		result.keys, result.values = append(result.keys, key), append(result.values, value)
	}
	return result
}

func (o *options) fail(found, want string) {
	if o.err == nil {
		o.err = &SpecError{o.spec, found, want}
	}
}

// text returns the value of key, or otherwise if the spec does not have the key.
func (o *options) text(key, otherwise string) string {
	o.asked = append(o.asked, key)
	if i := slices.Index(o.keys, key); i >= 0 {
		return o.values[i]
	}
	return otherwise
}

// word returns the value of key, which must be one of allowed. The first one is the default.
func (o *options) word(key string, allowed ...string) string {
	value := o.text(key, allowed[0])
	if !slices.Contains(allowed, value) {
		o.fail(fmt.Sprintf("%s is %s", key, value), strings.Join(allowed, ", "))
	}
	return value
}

// number returns the value of an option that is an integer from smallest to largest.
func (o *options) number(key string, defaultValue, smallest, largest int) int {
	value := o.text(key, strconv.Itoa(defaultValue))
	number, err := strconv.Atoi(value)
	if err != nil || number < smallest || number > largest {
		o.fail(fmt.Sprintf("%s is %s", key, value), fmt.Sprintf("an integer from %d to %d", smallest, largest))
	}
	return number
}

// done returns the first error of all options, or an error for an option that was not asked for. Call it after all options are read.
func (o *options) done() error {
	for _, key := range o.keys {
		if !slices.Contains(o.asked, key) {
			want := "no option"
			if len(o.asked) > 0 {
				want = strings.Join(o.asked, ", ")
			}
			o.fail(fmt.Sprintf("unknown option %q", key), want)
		}
	}
	return o.err
}
