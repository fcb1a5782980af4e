package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"tilecheck/result"
)

// Schema is the version of the fields of JSON and of JSON lines. A new member does not change it; a removed or renamed member or a new meaning
// does. Version 3 has one name for each meaning (CHANGELOG.md has the table).
const Schema = 3

// document is the one object that every command prints in JSON: what is about
// all results, the results, which may come one by one, and notes. The schemas in
// package schema say what a command has in it.
type document struct {
	bytes.Buffer
	rows int
}

// open begins the object, up to its results.
func (d *document) open(opt Options, summary any) error {
	members := object{{"", "tilecheck", opt.VersionText()}, {"", "schema", Schema}, {"", "command", opt.Command}, {"", "summary", summary}}
	d.WriteString("{")
	for _, m := range members {
		if m.value == nil {
			continue
		}
		if err := d.member(m.key, m.value); err != nil {
			return err
		}
		d.WriteByte(',')
	}
	d.WriteString("\n  \"results\": [")
	return nil
}

// member writes a member of the JSON object.
func (d *document) member(key string, x any) error {
	d.WriteString("\n  \"" + key + "\": ")
	return d.indented(x, "  ")
}

// result adds one result.
func (d *document) result(x any) error {
	if d.rows++; d.rows > 1 {
		d.WriteByte(',')
	}
	d.WriteString("\n    ")
	return d.indented(x, "    ")
}

// close ends the object.
func (d *document) close(notes []string) error {
	if d.rows > 0 {
		d.WriteString("\n  ")
	}
	d.WriteString("],")
	err := d.member("notes", append([]string{}, notes...))
	d.WriteString(objectEnd)
	return err
}

// indented writes a value as indented JSON, each further line after prefix.
func (d *document) indented(x any, prefix string) error {
	text, err := Encode(x)
	if err == nil {
		err = json.Indent(&d.Buffer, bytes.TrimSpace(text), prefix, "  ")
	}
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	return nil
}

// titled is the summary of what has a title and no more.
type titled struct {
	Title string `json:"title"`
}

// Summary returns the summary of a table that has only a title; nil without one.
func Summary(title string) any {
	if title == "" {
		return nil
	}
	return titled{title}
}

// writeDocument prints all results at once.
func writeDocument[T any](w io.Writer, opt Options, summary any, results []T, notes []string) error {
	var d document
	if err := d.open(opt, summary); err != nil {
		return err
	}
	for i := range results {
		if err := d.result(&results[i]); err != nil {
			return err
		}
	}
	if err := d.close(notes); err != nil {
		return err
	}
	_, err := w.Write(d.Bytes())
	return err
}

// WriteRecords prints results, each a struct with tags for JSON, as JSON or CSV.
// The summary, for JSON alone, is what is about all of them; nil for nothing.
func WriteRecords[T any](w io.Writer, f Format, opt Options, summary any, records []T, notes []string) error {
	if f == JSON {
		return writeDocument(w, opt, summary, records, notes)
	}
	rows := [][]string{Fields[T]()}
	for i := range records {
		rows = append(rows, FieldTexts(&records[i]))
	}
	return writeCSV(w, rows)
}

// WriteExperiment prints results as CSV like WriteRecords, with a column for each constant.
func WriteExperiment[T any](w io.Writer, records []T) error {
	return writeCSV(w, experimentRows(records))
}

// experimentRows returns the rows of a CSV file: the titles, then each record. Each constant has a column. If there are no
// constants, their field keeps one empty column.
func experimentRows[T any](records []T) [][]string {
	names := map[string][]string{} // of the constants, by the field that has them
	for i := range records {
		eachField(reflect.ValueOf(&records[i]).Elem(), "", func(key string, v reflect.Value) {
			for _, c := range valuationOf(v) {
				if !slices.Contains(names[key], c.Name) {
					names[key] = append(names[key], c.Name)
				}
			}
		})
	}
	var titles []string
	for _, key := range Fields[T]() {
		if len(names[key]) == 0 {
			titles = append(titles, key)
		}
		for _, name := range names[key] {
			titles = append(titles, key+"_"+name)
		}
	}
	rows := [][]string{titles}
	for i := range records {
		var cells []string
		eachField(reflect.ValueOf(&records[i]).Elem(), "", func(key string, v reflect.Value) {
			if len(names[key]) == 0 {
				cells = append(cells, cellText(v))
			}
			for _, name := range names[key] {
				cells = append(cells, valuationOf(v).Text(name))
			}
		})
		rows = append(rows, cells)
	}
	return rows
}

// valuationOf returns the constants in a field; nil if it has none.
func valuationOf(v reflect.Value) result.Valuation {
	if !v.IsValid() {
		return nil
	}
	constants, _ := v.Interface().(result.Valuation)
	return constants
}

// WriteJSON writes an object, indented, and a line break.
func WriteJSON(w io.Writer, x any) error {
	text, err := Encode(x)
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

// Encode is json.Marshal and a line break, without the escapes for HTML, which
// would make properties hard to read.
func Encode(x any) ([]byte, error) {
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
		key, err := Encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := Encode(x)
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
