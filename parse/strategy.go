package parse

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// StrategyForm is the form of a file of PRISM's -exportstrat.
type StrategyForm int

// The forms. An induced model is an explicit model, and not read here.
const (
	Actions StrategyForm = iota // type=actions
	Indices                     // type=indices
)

// Decision is what a strategy does in one state. States in which it is not
// defined have none.
type Decision struct {
	// Valuation is the state as "0,true,2", in the order of the model's
	// variables. It is empty when the file has numbers (states=false, or indices); then State is the number.
	Valuation string
	State     int
	// Memory is the state of the strategy's memory, -1 when it has none.
	Memory int
	// Action is the action of the form Actions, empty for an unlabelled choice;
	// Choice the number of the choice in its state of the form Indices, else -1.
	Action string
	Choice int
}

var decisionForm = regexp.MustCompile(`^(?:\(([^()=]*)\)|([0-9]{1,9}))(?:,([0-9]{1,9}))?=(.*)$`)

// ReadStrategy reads a deterministic strategy, with or without memory, as
// PRISM exports it. Randomised strategies and those over beliefs are refused.
// Errors are *syntax.Error with the line.
func ReadStrategy(r io.Reader, name string, form StrategyForm) ([]Decision, error) {
	var out []Decision
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, defaultLine)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSuffix(clean(scan.Bytes()), "\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		d, err := decision(line, form)
		if err != nil {
			return nil, &syntax.Error{File: name, Pos: syntax.Pos{Line: int32(n), Col: 1}, Msg: err.Error()}
		}
		out = append(out, d)
	}
	return out, scan.Err()
}

func decision(line string, form StrategyForm) (Decision, error) {
	g := decisionForm.FindStringSubmatch(line)
	if g == nil {
		return Decision{}, fmt.Errorf("found %q, want (state)=action or number=action", clip(line, 80))
	}
	d := Decision{Valuation: g[1], Memory: -1, Choice: -1}
	if g[2] != "" {
		d.State = int(count(g[2]))
	}
	if g[3] != "" {
		d.Memory = int(count(g[3]))
	}
	if form == Actions {
		d.Action = g[4]
		if strings.ContainsAny(g[4], ":{[+ ") {
			return Decision{}, fmt.Errorf("found %q: randomised strategies are not read", clip(g[4], 80))
		}
		return d, nil
	}
	choice, err := strconv.Atoi(g[4])
	if err != nil {
		return Decision{}, fmt.Errorf("found %q, want the number of a choice", clip(g[4], 80))
	}
	d.Choice = choice
	return d, nil
}
