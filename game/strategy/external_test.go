package strategy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/game"
)

// fakePrograms are programs that answer each board with the next of some answers.
type fakePrograms struct {
	answers []string
	sent    []string
	running int
}

func (f *fakePrograms) MoveTime() time.Duration { return time.Second }

func (f *fakePrograms) Start(_ context.Context, command []string) (Conversation, error) {
	f.running++
	f.sent = append(f.sent, fmt.Sprintf("start %q", command))
	return f, nil
}
func (f *fakePrograms) Tell(line string) { f.sent = append(f.sent, line) }

func (f *fakePrograms) Ask(line string, _ time.Duration) (string, error) {
	f.Tell(line)
	if len(f.answers) == 0 {
		return "", errors.New("ended")
	}
	answer := f.answers[0]
	f.answers = f.answers[1:]
	return answer, nil
}

func (f *fakePrograms) Close() error {
	f.running--
	return nil
}

func TestExternalPlayer(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	f := &fakePrograms{answers: []string{"left", "up", "down", "sideways"}}
	s, err := Parse("exec:my 'own player' -x ", Setting{Rules: rules, Max: 4, Programs: f})
	if err != nil || s.String() != "exec:my 'own player' -x" {
		t.Fatalf("%v, %v", s, err)
	}
	w, err := rules.Shape().Wide([]int{65536, 65536, 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	legal := rules.LegalWide(w)
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	if _, err := s.Player().Choose(w.Low, legal, rng()); err == nil || !strings.Contains(err.Error(), "not prepared") {
		t.Errorf("not prepared: %v", err)
	}
	if err := Prepare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p := s.Player().(WidePlayer)
	p.Start()
	if d, err := p.ChooseWide(w, legal, rng()); d != game.Left || err != nil {
		t.Errorf("%v, %v, want left", d, err)
	}
	p.Start()
	for _, want := range []string{
		`sent "board 65536 65536 / 2 .", received "up", which moves nothing: want one of left,right,down`,
		"",
		`sent "board 65536 65536 / 2 .", received "sideways", want left, right, up or down`,
		"ended",
	} {
		if _, err := p.ChooseWide(w, legal, rng()); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := ClosePlayer(p); err != nil || f.running != 0 {
		t.Errorf("%d programs run, %v", f.running, err)
	}
	seed := fmt.Sprint(rng().Uint64())
	board := "board 65536 65536 / 2 ."
	want := []string{`start ["my" "own player" "-x"]`, "tilecheck 1", "game 2x2 16 " + seed, board, "game 2x2 16 " + seed, board, board, board, board}
	if !slices.Equal(f.sent, want) {
		t.Errorf("sent %q, want %q", f.sent, want)
	}
	if _, err := s.Chooser().Decide(w.Low, legal, 0); err == nil {
		t.Error("no error for probabilities of a program")
	}
	for spec, want := range map[string]string{
		"exec:":   "no command",
		"exec:'a": "is not closed",
	} {
		if _, err := Parse(spec, Setting{Rules: rules, Programs: f}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := Parse("exec:x", Setting{Rules: rules}); err == nil || !strings.Contains(err.Error(), "no program is started here") {
		t.Errorf("without programs: %v", err)
	}
}

// TestExternalPlayerUnderShield checks that the program of a player under a shield ends.
func TestExternalPlayerUnderShield(t *testing.T) {
	f := &fakePrograms{answers: []string{"left"}}
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	s, err := Parse("shield:loss=1,player=exec:x", Setting{Rules: rules, Max: 8, Programs: f})
	if err == nil {
		err = Prepare(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := rules.Shape().Parse("2 2 / . .")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Player()
	p.Start()
	if _, err := p.Choose(b, rules.Legal(b), rand.New(rand.NewPCG(1, 2))); err != nil || f.running != 1 {
		t.Errorf("%d programs, %v", f.running, err)
	}
	if err := ClosePlayer(p); err != nil || f.running != 0 {
		t.Errorf("%d programs run after Close, %v", f.running, err)
	}
}
