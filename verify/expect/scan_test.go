package expect

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// The scanners find in random texts what these regular expressions, which say the same in other words, find there.
func TestScannersAgainstRegularExpressions(t *testing.T) {
	pieces := strings.Split("RESULT|RESULTS|result|Result|TILECHECK|TileCheck|x|_| |  |\t|\n|(|)|a=1|:|=|{|,|[|]|[(|)]|),(|1|0|.|/|-|+|e|E|0x|p|f|9999", "|")
	forms := map[string]struct {
		form *regexp.Regexp
		ours func(text string) bool
	}{
		"decimal": {regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`), func(s string) bool { _, ok := isDecimal(s); return ok }},
		"small decimal": {regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`), func(s string) bool {
			n, ok := isDecimal(s)
			return ok && n <= 4
		}},
		"fraction":    {regexp.MustCompile(`^-?[0-9]+/[0-9]+$`), isFraction},
		"hexadecimal": {regexp.MustCompile(`^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+$`), isHexadecimal},
		"interval":    {regexp.MustCompile(`^\[([^,]+),([^,]+)\]$`), isInterval},
		"curve":       {regexp.MustCompile(`^\[\([^(),]+(,[^(),]+)+\)(,\([^(),]+(,[^(),]+)+\))*\]$`), isCurve},
	}
	result := regexp.MustCompile(`RESULT[ \t]*(\(([^)]+)\))?[ \t]*:[ \t]*([^ \t\n\r]+)`)
	terms := regexp.MustCompile(`\bTILECHECK[ \t]*(\([^)]*\))?[ \t]*:`)
	lookalike := regexp.MustCompile(`\bRESULTS?\b|^[ \t]*(?i:result)[ \t]*[:(={]|\bTILECHECK\b|^[ \t]*(?i:tilecheck)[ \t]*[:(={]`)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range needs.Some(20000) {
		from := rng.IntN(len(pieces) / 2) // texts of neighbouring pieces have a form more often
		var text strings.Builder
		for range rng.IntN(9) {
			text.WriteString(pieces[min(from+rng.IntN(len(pieces)/2+1), len(pieces)-1)])
		}
		s := text.String()
		for name, form := range forms {
			if form.ours(s) != form.form.MatchString(s) {
				t.Errorf("seed %d: %q as %s: %v", seed, s, name, form.ours(s))
			}
		}
		var ours []int
		for from := 0; ; {
			m, ok := findResult([]byte(s), from)
			if !ok {
				break
			}
			ours, from = append(ours, m.begin, m.end, m.conditionsBegin, m.conditionsEnd, m.valueBegin), m.end
		}
		var want []int
		for _, m := range result.FindAllStringSubmatchIndex(s, -1) {
			want = append(want, m[0], m[1], max(m[4], 0), max(m[5], 0), m[6])
		}
		if !slices.Equal(ours, want) {
			t.Errorf("seed %d: %q has results at %d, want %d", seed, s, ours, want)
		}
		if got, want := findTerms([]byte(s)), append(terms.FindStringIndex(s), -1)[0]; got != want {
			t.Errorf("seed %d: %q has terms at %d, want %d", seed, s, got, want)
		}
		want = lookalike.FindStringIndex(s)
		begin := -1
		if want != nil {
			matched := s[want[0]:want[1]]
			begin = want[0] + len(matched) - len(bytes.TrimLeft([]byte(matched), " \t"))
		}
		if got := findLookalike([]byte(s)); got != begin {
			t.Errorf("seed %d: %q looks like an annotation at %d, want %d", seed, s, got, begin)
		}
	}
}
