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
	eachField(reflect.ValueOf(new(T)).Elem(), "", func(key string, _ reflect.Value) { keys = append(keys, key) })
	return keys
}

// FieldTexts returns the members in the order of the table's columns as text; the text of an
// absent member is empty.
func FieldTexts(record any) []string {
	var cells []string
	eachField(reflect.ValueOf(record).Elem(), "", func(_ string, v reflect.Value) { cells = append(cells, cellText(v)) })
	return cells
}

// eachField calls visit for each field of a struct that JSON has, with its JSON key and its value. The keys of a nested struct begin with the key of
// that struct and "_". The value is not valid (see [reflect.Value.IsValid]) if JSON omits the field.
func eachField(structure reflect.Value, prefix string, visit func(key string, value reflect.Value)) {
	isAbsent := structure.Kind() == reflect.Pointer && structure.IsNil()
	if isAbsent {
		structure = reflect.New(structure.Type().Elem())
	}
	structure = reflect.Indirect(structure)
	for i := range structure.NumField() {
		field, value := structure.Type().Field(i), structure.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if field.Anonymous && name == "" {
			eachField(value, prefix, visit)
			continue
		}
		if isNested(field.Type) {
			eachField(value, prefix+name+"_", func(key string, value reflect.Value) {
				if isAbsent {
					value = reflect.Value{}
				}
				visit(key, value)
			})
			continue
		}
		if isAbsent || options == "omitempty" && value.IsZero() {
			value = reflect.Value{}
		}
		visit(prefix+name, value)
	}
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
