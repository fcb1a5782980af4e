// Package schema has the JSON Schemas (2020-12) of what commands print with
// --format json. What several of them share is in common.json.
package schema

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Commands returns the commands that have a schema, in alphabetical order.
func Commands() []string {
	entries, _ := files.ReadDir(".") // the embedded directory always exists
	var commands []string
	for _, entry := range entries {
		if name := strings.TrimSuffix(entry.Name(), ".json"); name != "common" {
			commands = append(commands, strings.ReplaceAll(name, "-", " "))
		}
	}
	return commands
}

// ForCommand returns the JSON Schema of a command, with all definitions that it refers to. It returns an error if the command has no schema.
func ForCommand(command string) ([]byte, error) {
	if command == "merge" {
		return nil, errors.New("merge prints the document of the command whose shards it merges: want that command")
	}
	if !slices.Contains(Commands(), command) {
		return nil, fmt.Errorf("found %q, want a command that prints JSON: %s", command, strings.Join(Commands(), ", "))
	}
	schema, err := files.ReadFile(strings.ReplaceAll(command, " ", "-") + ".json")
	if err != nil {
		return nil, err
	}
	common, err := files.ReadFile("common.json")
	if err != nil {
		return nil, err
	}
	var shared, special struct {
		Defs definitions `json:"$defs"`
	}
	if err := json.Unmarshal(common, &shared); err != nil {
		return nil, fmt.Errorf("common.json: %w", err)
	}
	if err := json.Unmarshal(schema, &special); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil {
		return nil, err
	}
	allDefs := maps.Clone(shared.Defs)
	maps.Copy(allDefs, special.Defs)
	usedDefs := make(definitions)
	usedDefs.addReferences(schema, allDefs)
	if members["$defs"], err = json.Marshal(usedDefs); err != nil {
		return nil, err
	}
	document, err := json.MarshalIndent(members, "", "  ")
	return append(document, '\n'), err
}

// definitions are the JSON Schemas of named types.
type definitions map[string]json.RawMessage

// addReferences adds those of the available definitions to which a schema refers, directly or through other definitions.
func (d definitions) addReferences(schema []byte, available definitions) {
	for _, match := range regexp.MustCompile(`"#/\$defs/([a-z_]+)"`).FindAllSubmatch(schema, -1) {
		name := string(match[1])
		if d[name] == nil {
			d[name] = available[name]
			d.addReferences(available[name], available)
		}
	}
}
