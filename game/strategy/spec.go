package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrTooLarge is returned by a Chooser when the distribution of a strategy's moves is beyond computing.
var ErrTooLarge = errors.New("the distribution of the moves is too large to compute")

// SpecError says what is wrong with a spec string.
type SpecError struct {
	Spec  string
	Found string // what is wrong, "depth is 0"
	Want  string // what would do, "1 to 8"
}

// Error returns `strategy "spec": found, want want`.
func (e *SpecError) Error() string {
	return fmt.Sprintf("strategy %q: %s, want %s", e.Spec, e.Found, e.Want)
}

// kind is a family of strategies, chosen by the word before the colon.
type kind struct {
	name    string
	options string // what may follow the colon, for people
	about   string // one sentence
	source  string // where it comes from
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
	for _, k := range kinds() {
		out = append(out, Entry{Name: k.name, Options: k.options, About: k.about, Source: k.source, Example: k.example})
	}
	return out
}

// Parse makes a strategy from a spec: the name of a family, or its name, a colon and its options. The error is a *SpecError.
func Parse(spec string, s Setting) (Strategy, error) {
	name, args, _ := strings.Cut(spec, ":")
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
	if i < 0 {
		var names []string
		for _, k := range all {
			names = append(names, k.name)
		}
		return nil, &SpecError{spec, fmt.Sprintf("unknown name %q", name), strings.Join(names, ", ")}
	}
	return all[i].parse(spec, args, s)
}

// options reads key=value pairs separated by commas. The first mistake is kept and returned by done; keys are asked for one by one, and
// what nobody asked for is a mistake too.
type options struct {
	spec   string
	keys   []string // as written
	values []string
	asked  []string
	err    error
}

func newOptions(spec, args string) *options {
	o := &options{spec: spec}
	if args == "" {
		return o
	}
	for pair := range strings.SplitSeq(args, ",") {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || key == "" || value == "":
			o.fail(fmt.Sprintf("option %q", pair), "key=value")
		case slices.Contains(o.keys, key):
			o.fail(key+" is there twice", "it once")
		}
		o.keys, o.values = append(o.keys, key), append(o.values, value)
	}
	return o
}

func (o *options) fail(found, want string) {
	if o.err == nil {
		o.err = &SpecError{o.spec, found, want}
	}
}

// text returns the value of key, or otherwise when it is not given.
func (o *options) text(key, otherwise string) string {
	o.asked = append(o.asked, key)
	if i := slices.Index(o.keys, key); i >= 0 {
		return o.values[i]
	}
	return otherwise
}

// word returns the value of key, which must be one of allowed; the first is the default.
func (o *options) word(key string, allowed ...string) string {
	value := o.text(key, allowed[0])
	if !slices.Contains(allowed, value) {
		o.fail(fmt.Sprintf("%s is %s", key, value), strings.Join(allowed, ", "))
	}
	return value
}

// number returns the value of key, an integer from lo to hi.
func (o *options) number(key string, otherwise, lo, hi int) int {
	value := o.text(key, strconv.Itoa(otherwise))
	n, err := strconv.Atoi(value)
	if err != nil || n < lo || n > hi {
		o.fail(fmt.Sprintf("%s is %s", key, value), fmt.Sprintf("an integer from %d to %d", lo, hi))
	}
	return n
}

// done returns the first mistake, or that a key is unknown.
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
