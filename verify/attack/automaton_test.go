package attack

import (
	"encoding/json"
	"fmt"

	"tilecheck/prism/syntax"
)

// automaton returns a Markov automaton with questions about its unbounded behaviour. Its text is JANI.
func (r maker) automaton() *instance {
	for {
		m := r.system("ma", 3+r.IntN(3), 3)
		m.width = 1
		for s := range m.choices {
			m.rate = append(m.rate, nil)
			if r.one(2) {
				m.choices[s] = m.choices[s][:1]
				m.rate[s] = r.amount()
			}
		}
		m = m.reachable()
		if len(m.choices) < 3 || m.resolutions() > 300 {
			continue
		}
		i := &instance{kind: "ma", file: "m.jani", text: m.jani(), dialect: syntax.Storm, skip: []string{"jani", "tra", "tra exact", "pexp", "pexp exact"}} // .tra and .pexp have no exit rates
		for range 5 {
			i.questions = append(i.questions, writer{r, m}.question())
		}
		return i
	}
}

// jani writes a Markov automaton.
func (m *system) jani() string {
	type object = map[string]any
	var edges []any
	for s, choices := range m.choices {
		for _, c := range choices {
			edge := object{"location": "l", "guard": object{"exp": object{"op": "=", "left": "x", "right": s}}}
			var destinations []any
			for _, b := range c.vertices[0] {
				destinations = append(destinations, object{
					"location": "l", "probability": object{"exp": object{"op": "/", "left": json.Number(b.weight.Num().String()), "right": json.Number(b.weight.Denom().String())}},
					"assignments": []any{object{"ref": "x", "value": b.target}},
				})
			}
			if edge["destinations"] = destinations; m.rate[s] != nil {
				edge["rate"] = object{"exp": object{"op": "/", "left": m.rate[s].Num().Int64(), "right": m.rate[s].Denom().Int64()}}
			}
			edges = append(edges, edge)
		}
	}
	text, err := json.Marshal(object{
		"jani-version": 1, "name": "m", "type": "ma",
		"variables": []any{object{"name": "x", "initial-value": 0, "type": object{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": len(m.choices) - 1}}},
		"automata":  []any{object{"name": "a", "locations": []any{object{"name": "l"}}, "initial-locations": []any{"l"}, "edges": edges}},
		"system":    object{"elements": []any{object{"automaton": "a"}}},
	})
	if err != nil {
		panic(fmt.Sprint("a map is not JSON: ", err))
	}
	return string(text)
}
