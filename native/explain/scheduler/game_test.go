package scheduler_test

import (
	"bytes"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
)

// TestGameFormats: only JSON has what to remember if a player does not follow the strategy. Lists and chains have the pairs that are reachable if
// all players follow it.
func TestGameFormats(t *testing.T) {
	const game = "smg player p [a], [end] endplayer player q [b], [c] endplayer module m x:[0..2]; [a] x=0 -> (x'=1); [b] x=1 -> (x'=0); [c] x=1 -> (x'=2); [end] x=2 -> true; endmodule"
	computed := scheduled(t, game, "<<p>> Pmax=? [ (F x=1) & (F x=2) ]", check.Options{})
	written := map[string]string{}
	for _, format := range []scheduler.Format{scheduler.Actions, scheduler.InducedModel, scheduler.JSON} {
		var out bytes.Buffer
		if err := scheduler.WriteController(t.Context(), &out, computed.Space, computed.Controller, format, format.Defaults()); err != nil {
			t.Fatal(err)
		}
		written[format.String()] = out.String()
	}
	if strings.Contains(written["actions"], "(2)") {
		t.Errorf("the list is %q, want nothing of state 2, which q avoids", written["actions"])
	}
	numPairs := strings.Count(written["actions"], "\n")
	if numTransitions := strings.Count(written["induced"], "\n") - 2; numTransitions != numPairs {
		t.Errorf("the chain has %d transitions, want %d as the list has pairs\n%s%s", numTransitions, numPairs, written["actions"], written["induced"])
	}
	if !strings.Contains(written["json"], `"x": 2`) || !strings.Contains(written["json"], `"prob": 0`) {
		t.Errorf("JSON has no state 2 or no choice with probability 0:\n%s", written["json"])
	}
	everyone, err := scheduler.ReadController(t.Context(), "x.json", []byte(written["json"]), computed.Space, nil)
	if err != nil || len(everyone.Nodes) != numPairs {
		t.Errorf("read back: %v, want %d nodes", err, numPairs)
	}
	first, err := scheduler.ReadController(t.Context(), "x.json", []byte(written["json"]), computed.Space, []bool{true, false})
	if err != nil {
		t.Fatal(err)
	}
	numFree := 0
	for _, node := range first.Nodes {
		if isOfSecond := computed.Space.Model().Player[node.State] == 1; node.IsFree != isOfSecond || isOfSecond && len(node.Moves) != 2 {
			t.Errorf("state %d: free %v with %d moves", node.State, node.IsFree, len(node.Moves))
		}
		if node.IsFree {
			numFree++
		}
	}
	if numFree == 0 {
		t.Error("no node is free")
	}
}
