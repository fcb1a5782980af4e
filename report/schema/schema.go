// Package schema has the JSON Schemas (2020-12) of what commands print with
// --format json. What several of them share is in common.json.
package schema

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Commands lists the commands that have a schema, in the order of their names.
func Commands() []string {
	entries, _ := files.ReadDir(".") // which is there
	var out []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".json"); name != "common" {
			out = append(out, strings.ReplaceAll(name, "-", " "))
		}
	}
	return out
}

// ForCommand returns the schema of a command, with all definitions that it refers to. The error says that the command
// has none.
func ForCommand(command string) ([]byte, error) {
	if !slices.Contains(Commands(), command) {
		return nil, fmt.Errorf("found %q, want a command that prints JSON: %s", command, strings.Join(Commands(), ", "))
	}
	text, err := files.ReadFile(strings.ReplaceAll(command, " ", "-") + ".json")
	if err != nil {
		return nil, err
	}
	common, err := files.ReadFile("common.json")
	if err != nil {
		return nil, err
	}
	var shared, own struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(common, &shared); err != nil {
		return nil, fmt.Errorf("common.json: %w", err)
	}
	if err := json.Unmarshal(text, &own); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	defs := make(map[string]json.RawMessage)
	var add func(text []byte)
	add = func(text []byte) {
		for _, m := range regexp.MustCompile(`"#/\$defs/([a-z_]+)"`).FindAllSubmatch(text, -1) {
			name := string(m[1])
			if defs[name] != nil {
				continue
			}
			if defs[name] = own.Defs[name]; defs[name] == nil {
				defs[name] = shared.Defs[name]
			}
			add(defs[name])
		}
	}
	add(text)
	if whole["$defs"], err = json.Marshal(defs); err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(whole, "", "  ")
	return append(out, '\n'), err
}
