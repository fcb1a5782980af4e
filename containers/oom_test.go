package containers

import "testing"

func TestKilledCount(t *testing.T) {
	for text, want := range map[string]int{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n": 2, // version 2
		"oom_kill_disable 0\nunder_oom 0\noom_kill 1\n":                1, // version 1
		"oom_kill_disable 0\nunder_oom 0\noom_kill 0\n":                0,
	} {
		if got, err := killedCount(text); got != want || err != nil {
			t.Errorf("of %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "oom_kill_disable 0\nunder_oom 0\n", "oom_kill\n", "oom_kill x\n"} {
		if got, err := killedCount(text); err == nil {
			t.Errorf("of %q: %d, want an error", text, got)
		}
	}
}
