package syntax

import "reflect"

// Equal reports whether two syntax trees have the same meaning and comments. It ignores positions, file names, superfluous parentheses, and
// synonyms such as const and const int.
func Equal(first, second Node) bool {
	return equalValues(reflect.ValueOf(&first).Elem(), reflect.ValueOf(&second).Elem())
}

// equalValues reports whether two nodes, or two fields of nodes, are equal as syntax trees.
func equalValues(first, second reflect.Value) bool {
	switch first.Kind() {
	case reflect.Interface:
		first, second = unparen(first), unparen(second)
		if first.IsNil() || second.IsNil() {
			return first.IsNil() && second.IsNil()
		}
		first, second = first.Elem(), second.Elem()
		return first.Type() == second.Type() && equalValues(first, second)
	case reflect.Pointer:
		if first.IsNil() || second.IsNil() {
			return first.IsNil() && second.IsNil()
		}
		return first.Pointer() == second.Pointer() || equalValues(first.Elem(), second.Elem())
	case reflect.Slice:
		return equalSlices(first, second)
	case reflect.Struct:
		return equalStructs(first, second)
	}
	return first.Equal(second)
}

// unparen removes the parentheses around an expression or system term in an interface value.
func unparen(value reflect.Value) reflect.Value {
	for !value.IsNil() {
		switch wrapped := value.Interface().(type) {
		case *Paren:
			value = reflect.ValueOf(&wrapped.X).Elem()
		case *SysBrackets:
			value = reflect.ValueOf(&wrapped.X).Elem()
		default:
			return value
		}
	}
	return value
}

// equalSlices reports whether two slices have the same length and equal elements.
func equalSlices(first, second reflect.Value) bool {
	if first.Len() != second.Len() {
		return false
	}
	for i := range first.Len() {
		if !equalValues(first.Index(i), second.Index(i)) {
			return false
		}
	}
	return true
}

// equalStructs reports whether two structs are equal in all fields that Equal compares.
func equalStructs(first, second reflect.Value) bool {
	for i := range first.NumField() {
		if !isIgnoredField(first.Type(), first.Type().Field(i)) && !equalValues(first.Field(i), second.Field(i)) {
			return false
		}
	}
	return true
}

// isIgnoredField reports whether a field has no meaning: a position, a file name, or the choice between synonyms.
func isIgnoredField(valueType reflect.Type, field reflect.StructField) bool {
	switch field.Type {
	case reflect.TypeFor[Span](), reflect.TypeFor[Pos]():
		return true
	}
	switch valueType {
	case reflect.TypeFor[Model](), reflect.TypeFor[Properties]():
		return field.Name == "File"
	case reflect.TypeFor[TypeDecl]():
		return field.Name == "Word"
	case reflect.TypeFor[ConstDecl]():
		return field.Name == "HasType"
	}
	return false
}
