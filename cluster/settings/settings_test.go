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
		// Source: kubernetes.io/docs/concepts/overview/working-with-objects/names and labels; the grammar of distribution/reference.
		{"image", CheckImage, []string{"tilecheck", "registry.example:5000/team/tilecheck:1.0", "a/b@sha256:" + strings.Repeat("0", 64)}, []string{"", "a b", "a/B", "a:b:c", "a\nb", "-a", "$(id)", "https://a/b"}},
		{"object", CheckObject, []string{"shared", "a.b-c", "1a"}, []string{"", "Shared", "a_b", "a/b", "a\n", "-a", "a-", "../a", strings.Repeat("a", 254)}},
		{"namespace", CheckNamespace, []string{"team", "a-1"}, []string{"", "a.b", "A", "-a", strings.Repeat("a", 64)}},
		{"context", CheckContext, []string{"kind-a", "user@a.b:6443/x", "a b"}, []string{"", "--token=x", "a\nb", "a\x1b[31m", strings.Repeat("a", 300)}},
		{"mount", CheckMount, []string{"/mnt/shared", "/tmp/a", "/a b", "/mnt/$(x)"}, []string{"", "/", "mnt", "/mnt/", "/mnt/../etc", "/mnt//a", "/proc", "/proc/1", "/sys/fs", "/dev", "/tmp", "/a:b", "/a\nb", "C:/x", "/" + strings.Repeat("a", 1024)}},
		{"run-as", CheckRunAs, []string{"1000:1000", "65534:0"}, []string{"", "1000", "0:0", "0:1000", "-1:1", "1:-1", "a:b", "01:1", "+1:1", "1:1:1", "1 :1", "99999999999999999999:1", "2147483648:1"}},
		{"node", CheckNode, []string{"disk=ssd", "kubernetes.io/arch=amd64", "a="}, []string{"", "disk", "=ssd", "a b=c", "a=b c", "a=b\n", "a/b/c=d", "a=" + strings.Repeat("a", 64)}},
		{"label", CheckLabel, []string{"kueue.x-k8s.io/queue-name=main"}, []string{"tilecheck/round=x", "app.kubernetes.io/name=x", "batch.kubernetes.io/job-name=x", "job-name=x", "a"}},
		{"toleration", CheckToleration, []string{"spot", "a=b", "a=b:NoSchedule", "a:NoExecute"}, []string{"", ":NoSchedule", "a:Never", "a=:NoSchedule", "a=b=c", "a b", "a=b:"}},
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
		{Settings{Kubernetes: Kubernetes{Image: "a", Claim: "b", Mount: "/c", Namespace: "d", Context: "e", RunAs: "1:1", Labels: []string{"a=b"}}}, true},
		{Settings{Kubernetes: Kubernetes{Image: "a b"}}, false},
		{Settings{Kubernetes: Kubernetes{Namespace: "--all"}}, false},
		{Settings{Kubernetes: Kubernetes{Context: "--kubeconfig=x"}}, false},
		{Settings{Kubernetes: Kubernetes{Parallelism: -1}}, false},
		{Settings{Kubernetes: Kubernetes{Tolerations: []string{"a:b"}}}, false},
		{Settings{Kubernetes: Kubernetes{Nodes: make([]string, 1000)}}, false},
	} {
		if err := tt.s.Check(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.s, err)
		}
	}
}

func TestOver(t *testing.T) {
	got := Settings{Partition: "a", Sbatch: []string{"--qos=b"}, Kubernetes: Kubernetes{Image: "a", Labels: []string{"a=b"}}}.Over(Settings{Partition: "c", Account: "d", Sbatch: []string{"--qos=e"}, Shards: 3, Kubernetes: Kubernetes{Image: "b", Claim: "c", Labels: []string{"c=d"}}})
	if got.Partition != "a" || got.Account != "d" || got.Shards != 3 || strings.Join(got.Sbatch, " ") != "--qos=e --qos=b" {
		t.Errorf("%+v", got)
	}
	if k := got.Kubernetes; k.Image != "a" || k.Claim != "c" || strings.Join(k.Labels, " ") != "c=d a=b" {
		t.Errorf("%+v", k)
	}
}

// Source: sbatch(1), --time.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]int64{
		"30": 1800, "1:30": 90, "2:00:00": 7200, "1-0": 86400, "1-12:30": 131400, "1-12:30:15": 131415, "0": 0, "0:00": 0, "x": 0, "": 0,
	} {
		if got, err := Seconds(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d seconds, %v, want %d", text, got, err, want)
		}
	}
}
