package simulate

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const discrete = `dtmc
const int k = 3;
module m  s : [0..3] init 0;  b : bool init false;
  [] true -> (s'=min(3,s+1));
endmodule
label "goal" = s=2;
rewards "a" true : 1; endrewards
rewards "b" true : 2; endrewards
`

// show writes an objective as a formula, for comparison.
func show(objective *Objective) string {
	monitor := objective.Monitor
	var s string
	switch monitor.Kind {
	case compile.Until:
		s = expr(monitor.Left) + " U" + interval(monitor) + " " + expr(monitor.Right)
	case compile.Next:
		s = "X " + expr(monitor.Right)
	case compile.ReachReward:
		s = fmt.Sprintf("R%d F %s", monitor.Reward, expr(monitor.Right))
	case compile.CumulReward:
		s = fmt.Sprintf("R%d C<=%v", monitor.Reward, monitor.High)
	case compile.InstantReward:
		s = fmt.Sprintf("R%d I=%v", monitor.Reward, monitor.High)
	}
	if objective.Negate {
		s = "!(" + s + ")"
	}
	if !objective.Query() {
		s += fmt.Sprintf(" %s%v", objective.Rel, objective.Bound)
	}
	return s
}

func interval(monitor compile.Monitor) string {
	if math.IsInf(monitor.Low, -1) && math.IsInf(monitor.High, 1) {
		return ""
	}
	open, end := "[", "]"
	if monitor.IsLowStrict {
		open = "("
	}
	if monitor.IsHighStrict {
		end = ")"
	}
	return fmt.Sprintf("%s%v,%v%s", open, monitor.Low, monitor.High, end)
}

func expr(e sema.Expr) string {
	switch e := e.(type) {
	case *sema.Const:
		return e.Val.String()
	case *sema.Var:
		return [...]string{"s", "b"}[e.Slot]
	case *sema.Label:
		return `"` + e.Name + `"`
	case *sema.Unary:
		return e.Op.String() + expr(e.X)
	case *sema.Binary:
		return "(" + expr(e.X) + e.Op.String() + expr(e.Y) + ")"
	}
	return fmt.Sprintf("%T", e)
}

// The rewritings are those of the PRISM manual, and of the reference, section 3.2.
func TestObjective(t *testing.T) {
	m := load(t, discrete)
	for _, tt := range []struct{ property, want string }{
		{`P=? [ F s=2 ]`, `true U (s=2)`},
		{`P=? [ (F s=2) ]`, `true U (s=2)`},
		{`P=? [ !(F s=2) ]`, `!(true U (s=2))`},
		{`P=? [ !(!(F s=2)) ]`, `true U (s=2)`},
		{`P=? [ G s<2 ]`, `!(true U !(s<2))`},
		{`P=? [ !(G s<2) ]`, `true U !(s<2)`},
		{`P=? [ s<2 U b ]`, `(s<2) U b`},
		{`P=? [ s<2 W b ]`, `!(((s<2)&!b) U (!(s<2)&!b))`},
		{`P=? [ b R s<2 ]`, `!(!b U !(s<2))`},
		{`P=? [ X b ]`, `X b`},
		{`P=? [ !(X b) ]`, `!(X b)`},
		{`P=? [ F<=2 b ]`, `true U[-Inf,2] b`},
		{`P=? [ F<2 b ]`, `true U[-Inf,2) b`},
		{`P=? [ F>=2 b ]`, `true U[2,+Inf] b`},
		{`P=? [ F>2 b ]`, `true U(2,+Inf] b`},
		{`P=? [ F=2 b ]`, `true U[2,2] b`},
		{`P=? [ F[1,k] b ]`, `true U[1,3] b`},
		{`P=? [ G<=2 b ]`, `!(true U[-Inf,2] !b)`},
		{`P=? [ s=0 W<=2 b ]`, `!(((s=0)&!b) U[-Inf,2] (!(s=0)&!b))`},
		{`P=? [ b R[1,2] s=0 ]`, `!(!b U[1,2] !(s=0))`},
		{`P=? [ F "goal" ]`, `true U (s=2)`},
		{`label "far" = s>1; P=? [ F "far" ]`, `true U (s>1)`},
		{`P=? [ "init" U "deadlock" ]`, `"init" U "deadlock"`},
		{`P>=0.5 [ F b ]`, `true U b >=0.5`},
		{`P<k/4 [ G b ]`, `!(true U !b) <0.75`},
		{`Pmin=? [ F b ]`, `true U b`},
		{`R=? [ F b ]`, `R0 F b`},
		{`R{"b"}=? [ (F b) ]`, `R1 F b`},
		{`R{2}=? [ C<=k ]`, `R1 C<=3`},
		{`R=? [ I=0 ]`, `R0 I=0`},
		{`R>4.5 [ C<=2 ]`, `R0 C<=2 >4.5`},
		{`"x": P=? [ F b ]`, `true U b`},
	} {
		property := m.property(t, tt.property)
		objective, err := NewObjective(property, 7)
		if err != nil {
			t.Errorf("%s: %v", tt.property, err)
			continue
		}
		if got := show(objective); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.property, got, tt.want)
		}
		if objective.Monitor.MaxPath != 7 {
			t.Errorf("%s: maximum path length %d, want 7", tt.property, objective.Monitor.MaxPath)
		}
	}
}

// What is refused and why follows PRISM's simulator (testdata/conformance/sim_unsupported);
// the places are counted by hand.
func TestObjectiveRefused(t *testing.T) {
	dtmc := load(t, discrete)
	ctmc := load(t, decay)
	noRewards := load(t, "dtmc module m s:[0..1]; [] true -> true; endmodule")
	for _, tt := range []struct {
		m        *model
		property string
		class    result.Class
		at       string
		want     string // part of the message
	}{
		{dtmc, `S=? [ s=2 ]`, result.Unsupported, "1:1", "found an S operator"},
		{dtmc, `"init"`, result.Unsupported, "1:1", "found an expression of type bool"},
		{dtmc, `P=? [ F s=2 ] + 1`, result.Unsupported, "1:1", "found an expression of type double"},
		{dtmc, `!P>0.5 [ F s=2 ]`, result.Unsupported, "1:1", "found an expression of type bool"},
		{dtmc, `E [ F s=2 ]`, result.Unsupported, "1:1", "found an E operator"},
		{dtmc, `A [ F s=2 ]`, result.Unsupported, "1:1", "found an A operator"},
		{dtmc, `multi(P>0.5 [ F s=2 ])`, result.Unsupported, "1:1", "found multi(...)"},
		{dtmc, `filter(min, P=? [ F s=2 ])`, result.Unsupported, "1:1", "found a filter"},
		{dtmc, `P=? [ F s=2 {s=1} ]`, result.Unsupported, "1:1", "found a filter"},
		{dtmc, `P=? [ F P>0.5 [ X s=2 ] ]`, result.Unsupported, "1:9", "found a P operator inside"},
		{dtmc, `P=? [ F s=1 & R>1 [ C<=2 ] ]`, result.Unsupported, "1:15", "found an R operator inside"},
		{dtmc, `R=? [ F S>0.5 [ b ] ]`, result.Unsupported, "1:9", "found an S operator inside"},
		{dtmc, `P=? [ F s=2 & filter(exists, b) ]`, result.Unsupported, "1:15", "found a filter inside"},
		{dtmc, `P=? [ G F s=2 ]`, result.Unsupported, "1:9", "temporal operator F inside"},
		{dtmc, `P=? [ (F s=1) & (F s=2) ]`, result.Unsupported, "1:7", "combination of path formulas"},
		{dtmc, `P=? [ s=0 ]`, result.Unsupported, "1:7", "one temporal operator"},
		{dtmc, `P=? [ s=0 W>=1 b ]`, result.Unsupported, "1:7", "weak until (W) with a lower bound"},
		{dtmc, `R=? [ C ]`, result.Unsupported, "1:7", "total reward C without a time bound"},
		{dtmc, `R=? [ S ]`, result.Unsupported, "1:7", "long-run reward S"},
		{dtmc, `R=? [ G b ]`, result.Unsupported, "1:7", "simulation wants F, C<=t or I=t"},
		{dtmc, `R=? [ (F s=1) & (F s=2) ]`, result.Unsupported, "1:7", "combination of path formulas in an R operator"},
		{dtmc, `R=? [ s=1 ]`, result.Unsupported, "1:7", "in an R operator"},
		{dtmc, `R=? [ F<=3 b ]`, result.Unsupported, "1:8", "F with a bound in an R operator"},
		{dtmc, `R{"a"}/{"b"}=? [ S ]`, result.Unsupported, "1:1", "ratio of rewards"},
		{dtmc, `R{3}=? [ F b ]`, result.TypeError, "1:3", "index \"3\""},
		{noRewards, `R=? [ C<=1 ]`, result.TypeError, "1:1", "no rewards"},
		{dtmc, `P>1.5 [ F b ]`, result.TypeError, "1:3", "bound 1.5 of a P operator"},
		{dtmc, `P=? [ F<=2.0 b ]`, result.TypeError, "1:10", "want an int for a DTMC"},
		{dtmc, `R=? [ C<=1.5 ]`, result.TypeError, "1:10", "want an int for a DTMC"},
		{dtmc, `R=? [ I=-1 ]`, result.TypeError, "1:9", "time bound -1 of the I operator"},
		{dtmc, `P=? [ F<=-1 b ]`, result.TypeError, "1:10", "upper bound <=-1"},
		{dtmc, `P=? [ F<0 b ]`, result.TypeError, "1:9", "upper bound <0"},
		{dtmc, `P=? [ F>=-1 b ]`, result.TypeError, "1:10", "lower bound -1"},
		{dtmc, `P=? [ F[3,2] b ]`, result.TypeError, "1:11", "bounds [3,2] of the F operator are empty"},
		{dtmc, `P=? [ F<=(mod(1,k-3)) b ]`, result.TypeError, "1:11", "mod"},
		{ctmc, `P=? [ F<=0/0 gone ]`, result.TypeError, "1:10", "not a number"},
		{ctmc, `R=? [ C<=1/0 ]`, result.TypeError, "1:10", "time bound +Inf"},
	} {
		_, err := NewObjective(tt.m.property(t, tt.property), 0)
		failure, ok := errors.AsType[*result.Failure](err)
		if !ok {
			t.Errorf("%s: error %v, want a failure", tt.property, err)
			continue
		}
		if failure.Class != tt.class || failure.Pos.String() != tt.at || failure.File != "m.props" || !strings.Contains(failure.Message, tt.want) {
			t.Errorf("%s\n got %s %v\nwant %s at %s: ...%s...", tt.property, failure.Class, failure, tt.class, tt.at, tt.want)
		}
	}
	objective, err := NewObjective(ctmc.property(t, `P=? [ F<=0.5 gone ]`), 0)
	if err != nil || objective.Monitor.High != 0.5 {
		t.Errorf("a CTMC has real time bounds: got %+v, %v", objective, err)
	}
	if _, err := NewObjective(load(t, strings.Replace(discrete, "dtmc", "mdp", 1)).property(t, `<<>> P=? [ F b ]`), 0); err == nil || !strings.Contains(err.Error(), "strategy operator") {
		t.Errorf("strategy operator: got %v", err)
	}
	if objective := (&Objective{Rel: syntax.OpGe}); objective.Query() {
		t.Error("P>= is no query")
	}
}
