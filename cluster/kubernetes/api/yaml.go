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

// YAML writes an object as people read it, its fields by their names.
func YAML(object any) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	writeYAML(&b, tree, "")
	return b.Bytes(), nil
}

// writeYAML writes the lines of a value. Their indent is written already in front of the first one.
func writeYAML(b *bytes.Buffer, value any, indent string) {
	begin := "" // of each line but the first
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			b.WriteString(begin + scalar(key) + ":")
			begin = indent
			switch v := value[key].(type) {
			case map[string]any:
				if len(v) > 0 {
					b.WriteString("\n" + indent + "  ")
					writeYAML(b, v, indent+"  ")
					continue
				}
			case []any:
				if len(v) > 0 {
					b.WriteString("\n" + indent)
					writeYAML(b, v, indent)
					continue
				}
			}
			b.WriteString(" " + scalar(value[key]) + "\n")
		}
	case []any:
		for _, v := range value {
			b.WriteString(begin + "- ")
			begin = indent
			if m, ok := v.(map[string]any); ok && len(m) > 0 {
				writeYAML(b, m, indent+"  ")
				continue
			}
			b.WriteString(scalar(v) + "\n")
		}
	}
}

// scalar writes what stands on one line. Go's escapes in strings are those of YAML, and
// other values are written as in JSON.
func scalar(value any) string {
	if s, ok := value.(string); ok {
		if plain(s) {
			return s
		}
		return strconv.Quote(s)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// plain reports whether a text needs no quotes. Words that YAML 1.1 takes for truth
// values and for nothing need them.
func plain(s string) bool {
	switch strings.ToLower(s) {
	case "", "y", "yes", "n", "no", "on", "off", "true", "false", "null":
		return false
	}
	if unit := strings.TrimLeft(s, "0123456789"); len(unit) == 2 && len(s) > 2 && strings.IndexByte("KMGTPE", unit[0]) >= 0 && unit[1] == 'i' {
		return true // a quantity
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	first := strings.TrimPrefix(s, "--")
	return first != "" && strings.IndexByte(letters+"/", first[0]) >= 0 &&
		strings.Trim(s, letters+"0123456789-_./=:'[]") == "" && !strings.HasSuffix(s, ":")
}
