package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// envelope is the one object that every command prints in JSON. The schemas in
// the folder schema say what a command has in it.
type envelope struct {
	Tilecheck string   `json:"tilecheck"`
	Command   string   `json:"command"`
	Summary   any      `json:"summary,omitempty"` // what is about all results
	Results   any      `json:"results"`
	Notes     []string `json:"notes"`
	Error     *Problem `json:"error,omitempty"` // see Ending
}

// titled is the summary of what has a title and no more.
type titled struct {
	Title string `json:"title"`
}

func summaryOf(title string) any {
	if title == "" {
		return nil
	}
	return titled{title}
}

// writeEnvelope prints results, an array, as JSON.
func writeEnvelope(w io.Writer, opt Options, summary, results any, notes []string) error {
	if notes == nil {
		notes = []string{}
	}
	return writeJSON(w, envelope{opt.version(), opt.Command, summary, results, notes, nil})
}

// WriteRecords prints results, each a struct with tags for JSON, as JSON or CSV.
// The summary, for JSON alone, is what is about all of them; nil for nothing.
func WriteRecords[T any](w io.Writer, f Format, opt Options, summary any, records []T, notes []string) error {
	if f == FormatJSON {
		return writeEnvelope(w, opt, summary, records, notes)
	}
	rows := [][]string{columnsOf[T]()}
	for i := range records {
		rows = append(rows, cellsOf(&records[i]))
	}
	return writeCSV(w, rows)
}

// writeJSON writes an object, indented, and a line break.
func writeJSON(w io.Writer, x any) error {
	text, err := encode(x)
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// encode is json.Marshal and a line break, without the escapes for HTML, which
// would make properties hard to read.
func encode(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return b.Bytes(), err
}

// object is a JSON object whose members keep their order, those of one group in
// an object of their own. A member without a value is absent.
type object []member

type member struct {
	group, key string
	value      any
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		x := m.value
		if m.group != "" && x != nil {
			if slices.ContainsFunc(o[:i], func(before member) bool { return before.group == m.group && before.value != nil }) {
				continue
			}
			m.key, x = m.group, o.of(m.group)
		}
		if x == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(x)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// of is the object that a group is.
func (o object) of(group string) object {
	var out object
	for _, m := range o {
		if m.group == group {
			out = append(out, member{"", m.key, m.value})
		}
	}
	return out
}
