package strategy_test

import (
	"testing"

	"tilecheck/game"
)

// The memory of the Chooser goes along with that of the Player, move by move, and a new game begins with memory 0.
func TestThesisMemory(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	rng := newRand(0)
	for _, spec := range []string{"pref:right,down,up,left", "alt:up,left,down,right/left,up,down,right"} {
		s := parse(t, rules, spec)
		player, chooser, switches := s.Player(), s.Chooser(), 0
		for range 20 {
			player.Start()
			memory := 0
			b := rules.Start(rng)
			for legal := rules.Legal(b); legal != 0; legal = rules.Legal(b) {
				choices, err := chooser.Decide(b, legal, memory)
				if err != nil || len(choices) != 1 {
					t.Fatalf("%v: %d choices, error %v, want one choice", s, len(choices), err)
				}
				d, err := player.Choose(b, legal, rng)
				if err != nil || d != choices[0].Dir {
					t.Fatalf("%v: the player moves %v, error %v, and the chooser %v", s, d, err, choices[0].Dir)
				}
				if choices[0].Memory >= s.Memory() {
					t.Fatalf("%v: memory is %d, want below %d", s, choices[0].Memory, s.Memory())
				}
				if choices[0].Memory != memory {
					switches++
				}
				memory = choices[0].Memory
				next, _, err := rules.Move(b, d)
				if err != nil {
					t.Fatal(err)
				}
				b = rules.AddRandom(next, rng)
			}
		}
		if (switches > 0) != (s.Memory() > 1) {
			t.Errorf("%v: the memory changed %d times", s, switches)
		}
	}
}

// By hand: both lists prefer their first move, which switches to the other; a move further down does not.
func TestAlternatingByHand(t *testing.T) {
	s := parse(t, newRules(t, game.Shape{Rows: 4, Cols: 4}), "alt:up,left,down,right/left,up,down,right")
	const all, noUp = game.Moves(15), game.Moves(1<<game.Left | 1<<game.Right | 1<<game.Down)
	for _, c := range []struct {
		legal  game.Moves
		memory int
		dir    game.Dir
		after  int
	}{
		{all, 0, game.Up, 1},
		{all, 1, game.Left, 0},
		{noUp, 0, game.Left, 0},
		{noUp, 1, game.Left, 0},
		{1 << game.Up, 1, game.Up, 1},
		{1 << game.Right, 0, game.Right, 0},
	} {
		got, err := s.Chooser().Decide(0, c.legal, c.memory)
		if err != nil || len(got) != 1 || got[0].Dir != c.dir || got[0].Memory != c.after {
			t.Errorf("legal %v, memory %d: %v, error %v, want %v and memory %d", c.legal, c.memory, got, err, c.dir, c.after)
		}
	}
}
