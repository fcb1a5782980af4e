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

// open writes the beginning of the JSON object: the members before the results. It omits the summary if that is nil.
func (d *document) open(opt Options, summary any) error {
	members := object{{"", "tilecheck", opt.VersionText()}, {"", "schema", Schema}, {"", "command", opt.Command}, {"", "summary", summary}}
	d.WriteString("{")
	for _, added := range members {
		if added.value == nil {
			continue
		}
		if err := d.member(added.key, added.value); err != nil {
			return err
		}
		d.WriteByte(',')
	}
	d.WriteString("\n  \"results\": [")
	return nil
}

// member writes a member of the JSON object.
func (d *document) member(key string, value any) error {
	d.WriteString("\n  \"" + key + "\": ")
	return d.indented(value, "  ")
}

// result adds one result.
func (d *document) result(value any) error {
	if d.rows++; d.rows > 1 {
		d.WriteByte(',')
	}
	d.WriteString("\n    ")
	return d.indented(value, "    ")
}

// close writes the end of the JSON object: the end of the results, and the notes.
func (d *document) close(notes []string) error {
	if d.rows > 0 {
		d.WriteString("\n  ")
	}
	d.WriteString("],")
	err := d.member("notes", append([]string{}, notes...))
	d.WriteString(objectEnd)
	return err
}

// indented writes a value as indented JSON. Each line but the first begins with prefix.
func (d *document) indented(value any, prefix string) error {
	text, err := Encode(value)
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

// writeDocument writes a JSON object with all results to w. It writes nothing if a result cannot be encoded.
func writeDocument[T any](w io.Writer, opt Options, summary any, results []T, notes []string) error {
	var doc document
	if err := doc.open(opt, summary); err != nil {
		return err
	}
	for i := range results {
		if err := doc.result(&results[i]); err != nil {
			return err
		}
	}
	if err := doc.close(notes); err != nil {
		return err
	}
	_, err := w.Write(doc.Bytes())
	return err
}

// WriteRecords writes results to w as JSON or CSV. A result is a struct with JSON tags. Only JSON has the summary, which is about all results, and
// the notes. summary may be nil.
func WriteRecords[T any](w io.Writer, format Format, opt Options, summary any, records []T, notes []string) error {
	if format == JSON {
		return writeDocument(w, opt, summary, records, notes)
	}
	columns := columnsOf(reflect.TypeFor[T]())
	rows := [][]string{Fields[T]()}
	for i := range records {
		rows = append(rows, cellTexts(columns, reflect.ValueOf(&records[i]).Elem()))
	}
	return writeCSV(w, rows)
}

// WriteExperiment prints results like WriteRecords, without a summary and notes. CSV has a column for each constant.
func WriteExperiment[T any](w io.Writer, format Format, opt Options, records []T) error {
	if format == JSON {
		return WriteRecords(w, format, opt, nil, records, nil)
	}
	return writeCSV(w, experimentRows(records))
}

// experimentRows returns the rows of a CSV file: the titles, then each record. It replaces the field with the constants of a model by a column for
// each constant. If there are no constants, the field remains as one empty column.
func experimentRows[T any](records []T) [][]string {
	columns := columnsOf(reflect.TypeFor[T]())
	constants := make([][]string, len(columns)) // the names of the constants in each column
	for i := range records {
		for number, column := range columns {
			for _, constant := range valuationOf(column.valueIn(reflect.ValueOf(&records[i]).Elem())) {
				if !slices.Contains(constants[number], constant.Name) {
					constants[number] = append(constants[number], constant.Name)
				}
			}
		}
	}
	var titles []string
	for number, column := range columns {
		if len(constants[number]) == 0 {
			titles = append(titles, column.key)
		}
		for _, name := range constants[number] {
			titles = append(titles, column.key+"_"+name)
		}
	}
	rows := [][]string{titles}
	for i := range records {
		var cells []string
		for number, column := range columns {
			field := column.valueIn(reflect.ValueOf(&records[i]).Elem())
			if len(constants[number]) == 0 {
				cells = append(cells, cellText(field))
			}
			for _, name := range constants[number] {
				cells = append(cells, valuationOf(field).Text(name))
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

// valuationOf returns the constants in a field; nil if it has none.
func valuationOf(field reflect.Value) result.Valuation {
	if !field.IsValid() {
		return nil
	}
	constants, _ := field.Interface().(result.Valuation)
	return constants
}

// WriteJSON writes a value to w as indented JSON, with a newline at the end.
func WriteJSON(w io.Writer, value any) error {
	text, err := Encode(value)
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	_, err = w.Write(indented.Bytes())
	return err
}

// Encode returns a value as JSON, with a newline at the end. Unlike json.Marshal, it does not escape the characters <, > and &, which properties
// contain.
func Encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
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
	var text bytes.Buffer
	text.WriteByte('{')
	for i, current := range o {
		if current.value == nil {
			continue
		}
		key, value := current.key, current.value
		if current.group != "" {
			isWritten := func(earlier member) bool { return earlier.group == current.group && earlier.value != nil }
			if slices.ContainsFunc(o[:i], isWritten) {
				continue
			}
			key, value = current.group, o.groupMembers(current.group)
		}
		if text.Len() > 1 {
			text.WriteByte(',')
		}
		keyText, err := Encode(key)
		if err != nil {
			return nil, err
		}
		valueText, err := Encode(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		text.Write(keyText)
		text.WriteByte(':')
		text.Write(valueText)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// groupMembers returns the object with the members of a group.
func (o object) groupMembers(group string) object {
	var members object
	for _, candidate := range o {
		if candidate.group == group {
			members = append(members, member{"", candidate.key, candidate.value})
		}
	}
	return members
}
