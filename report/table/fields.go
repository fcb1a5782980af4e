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

// FieldTexts returns the members in the order of columnsOf as text; that of an
// absent one is empty.
func FieldTexts(record any) []string {
	var cells []string
	eachField(reflect.ValueOf(record).Elem(), "", func(_ string, v reflect.Value) { cells = append(cells, cellText(v)) })
	return cells
}

// eachField visits the fields of a struct. One that is absent is not valid.
func eachField(v reflect.Value, prefix string, visit func(key string, v reflect.Value)) {
	absent := v.Kind() == reflect.Pointer && v.IsNil()
	if absent {
		v = reflect.New(v.Type().Elem())
	}
	v = reflect.Indirect(v)
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			eachField(x, prefix, visit)
			continue
		}
		if isNested(f.Type) {
			eachField(x, prefix+name+"_", func(key string, x reflect.Value) {
				if absent {
					x = reflect.Value{}
				}
				visit(key, x)
			})
			continue
		}
		if absent || options == "omitempty" && x.IsZero() {
			x = reflect.Value{}
		}
		visit(prefix+name, x)
	}
}

// isNested reports whether a field is a struct that is no value of its own.
func isNested(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[fmt.Stringer]()) || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return false
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// cellText is the text of a field in CSV.
func cellText(v reflect.Value) string {
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	return plain(reflect.Indirect(v).Interface())
}

// plain is the text of a value in CSV: numbers in full precision, lists joined
// with "; ", and what is none of that as JSON.
func plain(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case float64:
		return result.JSONNumber(x).String()
	case []string:
		return strings.Join(x, "; ")
	}
	switch reflect.TypeOf(value).Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct:
		if text, err := Encode(value); err == nil {
			return strings.TrimSuffix(string(text), "\n")
		}
	}
	return fmt.Sprint(value)
}
