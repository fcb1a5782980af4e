package settings

import (
	"strings"
	"testing"
)

// What sbatch 22.05 documents is a value, and what could become a second line, an
// option of ours or a text for a shell is none.
//
// Source: sbatch(1), --time and the names of the options.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		name     string
		check    func(string) error
		yes, not []string
	}{
		{"name", CheckName, []string{"main", "gpu-a100", "a,b", "x_1.y"}, []string{"", "-main", "a b", "a\n#SBATCH --wrap=x", "a;b", "a'b", "$(id)", "ä", strings.Repeat("a", 300)}},
		{"time", CheckTime, []string{"30", "30:00", "2:30:00", "1-0", "1-12:30", "1-12:30:15"}, []string{"", "2h", "1-", "-1", "1\n", "1:1:1:1", "1-1:1:1:1", "1 2", "UNLIMITED"}},
		{
			"sbatch", CheckSbatch,
			[]string{"--qos=short", "--exclusive", "--gres=gpu:2", "--constraint=[a|b]&c", "--mail-user=a@b.c", "--nodelist=n[1-3]", "--mem-per-cpu=2G"},
			[]string{
				"", "-q", "--", "qos=short", "--qos=short\n#SBATCH --wrap=x", "--qos=a b", "--comment='x'", "--comment=\"x\"", "--comment=a#b", "--comment=\\x", "--Q=1", "--qos=",
				"--output=/home/u/.bashrc", "--out=/home/u/.bashrc", "--o=/x", "--array=0-9", "--wrap=id", "--wr=id", "--export=ALL", "--exp=ALL", "--e=/x", "--chdir=/", "--uid=0", "--no-requeue",
			},
		},
	} {
		for _, s := range tt.yes {
			if err := tt.check(s); err != nil {
				t.Errorf("%s %q: %v", tt.name, s, err)
			}
		}
		for _, s := range tt.not {
			if err := tt.check(s); err == nil {
				t.Errorf("%s %q is a value, want an error", tt.name, s)
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %q: the error has a second line: %v", tt.name, s, err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		s  Settings
		ok bool
	}{
		{Settings{}, true},
		{Settings{Partition: "main", Time: "10", Memory: 1 << 30, CPUs: 2, Sbatch: []string{"--qos=a"}, Shards: 64, Tasks: 8}, true},
		{Settings{Partition: "a b"}, false},
		{Settings{Account: "a\nb"}, false},
		{Settings{Time: "x"}, false},
		{Settings{Memory: -1}, false},
		{Settings{CPUs: 4096}, false},
		{Settings{Shards: MaxShards + 1}, false},
		{Settings{Tasks: -1}, false},
		{Settings{Sbatch: []string{"--qos=a", "--wrap=id"}}, false},
		{Settings{Sbatch: make([]string, 1000)}, false},
	} {
		if err := tt.s.Check(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.s, err)
		}
	}
}

func TestOver(t *testing.T) {
	got := Settings{Partition: "a", Sbatch: []string{"--qos=b"}}.Over(Settings{Partition: "c", Account: "d", Sbatch: []string{"--qos=e"}, Shards: 3})
	if got.Partition != "a" || got.Account != "d" || got.Shards != 3 || strings.Join(got.Sbatch, " ") != "--qos=e --qos=b" {
		t.Errorf("%+v", got)
	}
}
