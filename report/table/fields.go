package table

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"tilecheck/result"
)

// Fields returns the members that a struct has in JSON, present or not. Those
// of a nested struct are joined with "_".
func Fields[T any]() []string {
	var keys []string
	for _, column := range columnsOf(reflect.TypeFor[T]()) {
		keys = append(keys, column.key)
	}
	return keys
}

// FieldTexts returns the members in the order of the table's columns as text; the text of an
// absent member is empty.
func FieldTexts[T any](record *T) []string {
	return cellTexts(columnsOf(reflect.TypeFor[T]()), reflect.ValueOf(record).Elem())
}

// cellTexts returns the text of each of the given columns for one record.
func cellTexts(columns []column, record reflect.Value) (cells []string) {
	for _, column := range columns {
		cells = append(cells, cellText(column.valueIn(record)))
	}
	return cells
}

// column is a column of a CSV file: a field of a struct that JSON has.
type column struct {
	key       string // in JSON; the keys of a nested struct begin with the key of that struct and "_"
	path      []int  // the index of the field in its struct, after those of the structs that contain it
	omitsZero bool
}

// columnsOf returns the columns for a struct type, or for a type that is a pointer to a struct.
func columnsOf(structure reflect.Type) (columns []column) {
	if structure.Kind() == reflect.Pointer {
		structure = structure.Elem()
	}
	for i := range structure.NumField() {
		field := structure.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		isEmbedded := field.Anonymous && name == ""
		switch {
		case name == "-":
		case isEmbedded || isNested(field.Type):
			if !isEmbedded {
				name += "_"
			}
			for _, inner := range columnsOf(field.Type) {
				columns = append(columns, column{name + inner.key, append([]int{i}, inner.path...), inner.omitsZero})
			}
		default:
			columns = append(columns, column{name, []int{i}, options == "omitempty"})
		}
	}
	return columns
}

// valueIn returns the value of a column in a record. It is not valid (see [reflect.Value.IsValid]) if JSON omits the field.
func (column column) valueIn(record reflect.Value) reflect.Value {
	for _, index := range column.path {
		if record.Kind() == reflect.Pointer {
			record = record.Elem()
		}
		if !record.IsValid() { // the pointer to the struct is nil
			return record
		}
		record = record.Field(index)
	}
	if column.omitsZero && record.IsZero() {
		return reflect.Value{}
	}
	return record
}

// isNested reports whether a field is a struct that is no value of its own.
func isNested(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[fmt.Stringer]()) || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return false
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// cellText returns the text of a field in CSV; "" for a field that is absent.
func cellText(field reflect.Value) string {
	if !field.IsValid() || field.Kind() == reflect.Pointer && field.IsNil() {
		return ""
	}
	if stringer, ok := field.Interface().(fmt.Stringer); ok {
		return stringer.String()
	}
	return plain(reflect.Indirect(field).Interface())
}

// plain returns the text of a value in CSV: a float64 in full precision, texts joined by "; ", and other lists, maps and structs as JSON.
func plain(value any) string {
	switch typed := value.(type) {
	case nil:
		return ""
	case float64:
		return result.JSONNumber(typed).String()
	case []string:
		return strings.Join(typed, "; ")
	}
	switch reflect.TypeOf(value).Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct:
		if text, err := Encode(value); err == nil {
			return strings.TrimSuffix(string(text), "\n")
		}
	}
	return fmt.Sprint(value)
}
