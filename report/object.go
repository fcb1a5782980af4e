package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order. A member whose value
// is nil, or an object without present members, is absent from the JSON.
type object []member

type member struct {
	key   string
	value any
}

func (m member) absent() bool {
	o, ok := m.value.(object)
	return m.value == nil || ok && !o.present()
}

func (o object) present() bool {
	for _, m := range o {
		if !m.absent() {
			return true
		}
	}
	return false
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, m := range o {
		if m.absent() {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		for i, x := range []any{m.key, m.value} {
			text, err := encode(x)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.key, err)
			}
			if i == 1 {
				b.WriteByte(':')
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// columns returns the keys of all members, present or not. Those of a nested
// object are joined with "_".
func (o object) columns() []string {
	var keys []string
	o.each(func(key string, _ any) { keys = append(keys, key) })
	return keys
}

// cells returns the values in the order of columns as text; that of an absent
// member is empty.
func (o object) cells() []string {
	var cells []string
	o.each(func(_ string, value any) { cells = append(cells, plain(value)) })
	return cells
}

func (o object) each(visit func(key string, value any)) {
	for _, m := range o {
		inner, ok := m.value.(object)
		if !ok {
			visit(m.key, m.value)
			continue
		}
		inner.each(func(key string, value any) { visit(m.key+"_"+key, value) })
	}
}

// plain is the text of a value in CSV: numbers in full precision, lists joined with "; ".
func plain(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case float64:
		return machineNumber(x)
	case []string:
		return strings.Join(x, "; ")
	}
	return fmt.Sprint(value)
}

// number is a float64 that JSON can hold: NaN and the infinities become strings.
type number float64

func (n number) String() string { return machineNumber(float64(n)) }

// MarshalJSON implements [json.Marshaler].
func (n number) MarshalJSON() ([]byte, error) { return jsonNumber(n.String()), nil }

// jsonNumber quotes the names of numbers without digits.
func jsonNumber(text string) []byte {
	if strings.HasSuffix(text, "N") || strings.HasSuffix(text, "y") {
		return strconv.AppendQuote(nil, text)
	}
	return []byte(text)
}

// encode is json.Marshal without the escapes for HTML, which would make
// properties hard to read.
func encode(x any) ([]byte, error) {
	if f, ok := x.(float64); ok {
		x = number(f)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return nil, err
	}
	// The runner of GitHub Actions takes ##[ for a command wherever it is. In JSON it is only in strings.
	return bytes.ReplaceAll(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("##["), []byte(`#\u0023[`)), nil
}

// writeJSON writes the one object of a report, indented, with a final newline.
func writeJSON(w io.Writer, o object) error {
	text, err := encode(o)
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// some returns x, or nil when x is the zero value: most fields of a verdict
// that do not apply are zero.
func some[T comparable](x T) any {
	var zero T
	if x == zero {
		return nil
	}
	return x
}

// list returns xs, or nil when it is empty.
func list(xs []string) any {
	if len(xs) == 0 {
		return nil
	}
	return xs
}

// deref returns what p points to, or nil.
func deref(p *float64) any {
	if p == nil {
		return nil
	}
	return number(*p)
}

func seedNumber(p *uint64) any {
	if p == nil {
		return nil
	}
	return *p
}
