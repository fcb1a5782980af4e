package syntax_test

import (
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

func TestReadStorm(t *testing.T) {
	for text, want := range map[string]string{
		`Tmin=? [ F "a" ]`: `Tmin=? [ F "a" ]`,
		`const int T; T=? [ F<=T "a" ]; R=? [ C<=T ]`:           `T=? [ F<=T "a" ]; R=? [ C<=T ]`,
		`Pmax=? [ F{"r"}<=2 "a" ]`:                              `Pmax=? [ F^{rew{"r"}<=2} "a" ]`,
		`Pmax=? [ "b" U^{rew{"r"}<2, steps>=3,time[1,2]} "a" ]`: `Pmax=? [ "b" U^{rew{"r"}<2,steps>=3,time[1,2]} "a" ]`,
		`Pmax=? [ F^{steps<=2} "a" ]`:                           `Pmax=? [ F<=2 "a" ]`,
		`Pmax=? [ F^{rew<=2+3} "a" | "b" ]`:                     `Pmax=? [ F^{rew<=2+3} "a"|"b" ]`,
		`LRA=? [ "a" ]`:                                         `S=? [ "a" ]`,
		`LRAmax=? [ "a" & LRA>=1/2 [ "b" ] ]`:                   `Smax=? [ "a"&S>=1/2 [ "b" ] ]`,
		`Smin=? [ "a" ]`:                                        `Smin=? [ "a" ]`,
		`R{"r"}max=? [ LRA ]; Rmin=? [ MP ]`:                    `R{"r"}max=? [ S ]; Rmin=? [ S ]`,
		`const int LRA; P=? [ F LRA>=2 ]; R=? [ C<=LRA ]`:       `P=? [ F LRA>=2 ]; R=? [ C<=LRA ]`,
	} {
		for range 2 { // what was printed is read as the same
			props, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var found []string
			for _, x := range props.Items {
				if p, ok := x.(*syntax.Property); ok {
					found = append(found, syntax.ExprString(p.X))
				}
			}
			if got := strings.Join(found, "; "); got != want {
				t.Errorf("%s: found %s, want %s", text, got, want)
			}
			for i := range text { // no part of it is more than an error
				if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text[i:])); err != nil && !strings.HasPrefix(err.Error(), "p:") {
					t.Errorf("%s: %v", text[i:], err)
				}
				if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text[:i])); err != nil && !strings.HasPrefix(err.Error(), "p:") {
					t.Errorf("%s: %v", text[:i], err)
				}
			}
			if strings.Contains(text, "const") {
				break
			}
			text = want
		}
	}
	for text, want := range map[string]string{
		`Pmax=? [ F^{money<=2} "a" ]`:   `p:1:13: found "money", want "rew", "steps" or "time"`,
		`Pmax=? [ F^{rew{"r"}} "a" ]`:   `p:1:21: found "}", want a bound such as <=2 or [1,2]`,
		`Pmax=? [ F^{rew{"r"}<=1 "a" ]`: `p:1:25: found '"', want "}"`,
		`T=? F "a"`:                     `p:1:5: found "F", want "["`,
		`LRAmax=? "a"`:                  `p:1:10: found '"', want "["`,
	} {
		if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: found %v, want %s", text, err, want)
		}
	}
}

// TestEcho: PRISM is asked about a reward structure, Storm about time.
func TestEcho(t *testing.T) {
	props, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(`Tmax=? [ F "a" ]`))
	if err != nil {
		t.Fatal(err)
	}
	x := props.Items[0].(*syntax.Property).X
	const asked = `R{"` + syntax.TimeRewards + `"}max=? [ F "a" ]`
	if got := syntax.Echo(x); got != asked {
		t.Errorf("echo %s, want %s", got, asked)
	}
	for dialect, want := range map[syntax.Dialect]string{syntax.PRISM: asked, syntax.Storm: `Tmax=? [ F "a" ]`} {
		var b strings.Builder
		if err := syntax.Fprint(&b, x, syntax.Options{Dialect: dialect}); err != nil || b.String() != want {
			t.Errorf("%v: found %s, %v, want %s", dialect, b.String(), err, want)
		}
	}
}

// What only Storm has stays an error, which says so.
func TestStormOnly(t *testing.T) {
	for _, text := range []string{`T=? [ F "a" ]`, `Pmax=? [ F{"r"}<=2 "a" ]`, `Pmax=? [ F^{steps<=2} "a" ]`, `Smax=? [ "a" ]`, `LRA=? [ "a" ]`, `LRAmin=? [ "a" ]`} {
		if _, err := syntax.ParseProperties("p", []byte(text)); err == nil || !strings.Contains(err.Error(), "Storm's dialect accepts it (--dialect storm)") {
			t.Errorf("%s: found %v", text, err)
		}
	}
	if _, err := syntax.ParseProperties("p", []byte(`P=? [ F "a"`)); err == nil || strings.Contains(err.Error(), "Storm") {
		t.Errorf("an error in both dialects: %v", err)
	}
}
