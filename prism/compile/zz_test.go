package compile
import ("testing";"fmt")
func TestDbg(t *testing.T){
	f := func(x, y, c string) string {
		return fmt.Sprintf("floor((%s>3 ? mod(%s*7,5) : min(%s,4))*%s) + (%s<%s ? 1 : 0)", x, y, y, c, x, y)
	}
	text := "mdp module m a:[0..9]; b:[0..9]; c:[0..9]; d:[0..9];\n" +
		"[] true -> (a'=" + f("a", "b", "0.5") + "); [] true -> (a'=" + f("a", "b", "0.75") + ");\n" +
		"[] true -> (c'=" + f("c", "d", "0.5") + "); [] true -> 0.1:(b'=mod(b+3,10)) + 0.9:(d'=mod(d+7,10));\n" +
		"endmodule rewards true : a+10*b+100*c+1000*d; endrewards"
	for _,mc:=range []int{0,5} {
	m := model(t, text, Options{memoCost: mc})
	for h:=1;h<200;h++{
	mon := Monitor{Kind: CumulReward, High: float64(h)}
	a,_:=m.NewInterpreter(mon); b,_:=m.NewMachine(t.Context(),mon)
	o1,o2:=a.Run(NewStream(1,0)),b.Run(NewStream(1,0))
	if o1!=o2 { t.Log(mc,h,o1,o2, m.StateText(a.(*interpreter).state)); break }
	b.Close()
	}
	}
}
