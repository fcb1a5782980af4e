package jani_test

import (
	"fmt"
	"strings"
)

// Documents are long. These write their parts; expressions are JSON.

func document(kind, declarations string, automata []string, system string, properties ...string) string {
	if declarations != "" {
		declarations += ",\n"
	}
	return fmt.Sprintf("{\"jani-version\": 1, \"name\": \"test\", \"type\": %q, \"features\": [\"derived-operators\"],\n%s\"automata\": [%s],\n\"system\": %s,\n\"properties\": [%s]}",
		kind, declarations, strings.Join(automata, ",\n"), system, strings.Join(properties, ",\n"))
}

func variables(of ...string) string { return `"variables": [` + strings.Join(of, ", ") + `]` }

func bounded(name string, low, high int, initial string) string {
	if initial != "" {
		initial = `, "initial-value": ` + initial
	}
	return fmt.Sprintf(`{"name": %q, "type": {"kind": "bounded", "base": "int", "lower-bound": %d, "upper-bound": %d}%s}`, name, low, high, initial)
}

// What edges cost, and which locations are the end.
const (
	cost = `{"name": "cost", "type": "real", "transient": true, "initial-value": 0}`
	end  = `{"name": "end", "type": "bool", "transient": true, "initial-value": false}`
)

// automaton starts in its first location. Locations are "name" or "name ref=value".
func automaton(name, variables string, locations []string, edges ...string) string {
	var locs []string
	for _, l := range locations {
		l, transient, ok := strings.Cut(l, " ")
		values := ""
		if ok {
			ref, value, _ := strings.Cut(transient, "=")
			values = fmt.Sprintf(`, "transient-values": [{"ref": %q, "value": %s}]`, ref, value)
		}
		locs = append(locs, fmt.Sprintf(`{"name": %q%s}`, l, values))
	}
	first, _, _ := strings.Cut(locations[0], " ")
	return fmt.Sprintf(`{"name": %q, "variables": [%s], "locations": [%s], "initial-locations": [%q], "edges": [%s]}`,
		name, variables, strings.Join(locs, ", "), first, strings.Join(edges, ",\n"))
}

// edge is "location" or "location action".
func edge(from, guard string, destinations ...string) string {
	location, action, ok := strings.Cut(from, " ")
	head := fmt.Sprintf(`"location": %q, `, location)
	if ok {
		head += fmt.Sprintf(`"action": %q, `, action)
	}
	if guard != "" {
		head += `"guard": {"exp": ` + guard + `}, `
	}
	return fmt.Sprintf(`{%s"destinations": [%s]}`, head, strings.Join(destinations, ", "))
}

// rated gives an edge a rate.
func rated(rate, edge string) string { return `{"rate": {"exp": ` + rate + `}, ` + edge[1:] }

func to(location string, assignments ...string) string { return likely("", location, assignments...) }

func likely(prob, location string, assignments ...string) string {
	if prob != "" {
		prob = fmt.Sprintf(`, "probability": {"exp": %s}`, prob)
	}
	return fmt.Sprintf(`{"location": %q%s, "assignments": [%s]}`, location, prob, strings.Join(assignments, ", "))
}

// set assigns to a variable, or to what a JSON object says; "x@1" has an index.
func set(ref, value string) string {
	ref, index, ok := strings.Cut(ref, "@")
	if !strings.HasPrefix(ref, "{") {
		ref = fmt.Sprintf("%q", ref)
	}
	if ok {
		index = `, "index": ` + index
	}
	return fmt.Sprintf(`{"ref": %s, "value": %s%s}`, ref, value, index)
}

func op(name string, left, right any) string {
	return fmt.Sprintf(`{"op": %q, "left": %s, "right": %s}`, name, operand(left), operand(right))
}

// operand writes numbers, names, and JSON objects as they are.
func operand(x any) string {
	s, ok := x.(string)
	if !ok || strings.HasPrefix(s, "{") {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("%q", s)
}

// system composes automata with vectors such as "a,-,b:result".
func system(elements string, listSteps ...string) string {
	var es, vs []string
	for e := range strings.FieldsSeq(elements) {
		es = append(es, fmt.Sprintf(`{"automaton": %q}`, e))
	}
	for _, v := range listSteps {
		actions, result, _ := strings.Cut(v, ":")
		var entries []string
		for a := range strings.SplitSeq(actions, ",") {
			if a == "-" {
				entries = append(entries, "null")
			} else {
				entries = append(entries, fmt.Sprintf("%q", a))
			}
		}
		if result != "" {
			result = fmt.Sprintf(`, "result": %q`, result)
		}
		vs = append(vs, fmt.Sprintf(`{"synchronise": [%s]%s}`, strings.Join(entries, ", "), result))
	}
	return fmt.Sprintf(`{"elements": [%s], "syncs": [%s]}`, strings.Join(es, ", "), strings.Join(vs, ", "))
}

// property asks for a value in the initial states.
func property(name, values string) string {
	return fmt.Sprintf(`{"name": %q, "expression": {"op": "filter", "fun": "values", "states": {"op": "initial"}, "values": %s}}`, name, values)
}

func eventually(operator, states string) string {
	return fmt.Sprintf(`{"op": %q, "exp": {"op": "F", "exp": %s}}`, operator, operand(states))
}

func expected(operator, exp, accumulate, rest string) string {
	return fmt.Sprintf(`{"op": %q, "exp": %s, "accumulate": [%s]%s}`, operator, operand(exp), accumulate, rest)
}
