package syntax

import "reflect"

// Equal reports whether two trees mean the same text: everything is compared
// but positions, file names, parentheses that only repeat the shape of the
// tree, and spellings that stand for each other (the word of a model type,
// `const` for `const int`, `rate` for `const double`). Comments are compared.
func Equal(a, b Node) bool {
	return equalValues(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

func equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		a, b = unparen(a), unparen(b)
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		a, b = a.Elem(), b.Elem()
		return a.Type() == b.Type() && equalValues(a, b)
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Pointer() == b.Pointer() || equalValues(a.Elem(), b.Elem())
	case reflect.Slice:
		return equalSlices(a, b)
	case reflect.Struct:
		return equalStructs(a, b)
	}
	return a.Equal(b)
}

// unparen returns the first interface value below v that is not in parentheses.
func unparen(v reflect.Value) reflect.Value {
	for !v.IsNil() {
		switch p := v.Interface().(type) {
		case *Paren:
			v = reflect.ValueOf(&p.X).Elem()
		case *SysBrackets:
			v = reflect.ValueOf(&p.X).Elem()
		default:
			return v
		}
	}
	return v
}

func equalSlices(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !equalValues(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func equalStructs(a, b reflect.Value) bool {
	for i := range a.NumField() {
		if !ignored(a.Type(), a.Type().Field(i)) && !equalValues(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// ignored reports whether a field says how or where something is written and not what.
func ignored(t reflect.Type, f reflect.StructField) bool {
	switch f.Type {
	case reflect.TypeFor[Span](), reflect.TypeFor[Pos]():
		return true
	}
	switch t {
	case reflect.TypeFor[Model](), reflect.TypeFor[Properties]():
		return f.Name == "File"
	case reflect.TypeFor[TypeDecl]():
		return f.Name == "Word"
	case reflect.TypeFor[ConstDecl]():
		return f.Name == "Typed"
	}
	return false
}
