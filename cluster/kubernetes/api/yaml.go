package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// YAML returns an object as YAML, with the names that its fields have in JSON, in alphabetical order.
func YAML(object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	writeYAML(&encoded, tree, "")
	return encoded.Bytes(), nil
}

// writeYAML writes a nonempty map or list of JSON, one line for each scalar in it. indent is the indentation of its lines, which the caller has
// written for the first line.
func writeYAML(buffer *bytes.Buffer, value any, indent string) {
	switch value := value.(type) {
	case map[string]any:
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				buffer.WriteString(indent)
			}
			buffer.WriteString(scalar(key) + ":")
			writeField(buffer, value[key], indent)
		}
	case []any:
		for i, element := range value {
			if i > 0 {
				buffer.WriteString(indent)
			}
			buffer.WriteString("- ")
			if nested, ok := element.(map[string]any); ok && len(nested) > 0 {
				writeYAML(buffer, nested, indent+"  ")
			} else {
				buffer.WriteString(scalar(element) + "\n")
			}
		}
	}
}

// writeField writes the value of a field after its name: a nonempty map or list on the next lines, any other value on the same line. indent is the
// indentation of the field.
func writeField(buffer *bytes.Buffer, value any, indent string) {
	valueIndent := indent // the elements of a list have the indentation of the field
	isEmpty := true
	switch value := value.(type) {
	case map[string]any:
		isEmpty = len(value) == 0
		valueIndent += "  "
	case []any:
		isEmpty = len(value) == 0
	}
	if isEmpty {
		buffer.WriteString(" " + scalar(value) + "\n")
		return
	}
	buffer.WriteString("\n" + valueIndent)
	writeYAML(buffer, value, valueIndent)
}

// scalar returns a value on one line. A text is quoted as in Go, if it needs quotes, because YAML has the same escapes. Other values are as in JSON.
func scalar(value any) string {
	if plainText, ok := value.(string); ok {
		if isPlain(plainText) {
			return plainText
		}
		return strconv.Quote(plainText)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// isPlain reports whether a text needs no quotes in YAML. Words that YAML 1.1 reads as true, false or null need them.
func isPlain(text string) bool {
	switch strings.ToLower(text) {
	case "", "y", "yes", "n", "no", "on", "off", "true", "false", "null":
		return false
	}
	if isQuantity(text) {
		return true
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const allowed = letters + "0123456789-_./=:'[]"
	first := strings.TrimPrefix(text, "--")
	startsPlain := first != "" && strings.IndexByte(letters+"/", first[0]) >= 0
	return startsPlain && strings.Trim(text, allowed) == "" && !strings.HasSuffix(text, ":")
}

// isQuantity reports whether a text is a number with a binary unit, such as 3Gi.
func isQuantity(s string) bool {
	unit := strings.TrimLeft(s, "0123456789")
	return len(unit) == 2 && len(s) > 2 && strings.IndexByte("KMGTPE", unit[0]) >= 0 && unit[1] == 'i'
}
